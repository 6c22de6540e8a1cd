/* Base64 (RFC 4648, with padding) of Lua strings, for binary values that cross the bridge. */
#include "tureen_bridge_internal.h"
#include "tureen_limits.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* to_base64(bytes) -> text                                                                              [-1, +1, e] */
int tureen_to_base64(lua_State *L) {
  size_t length;
  const unsigned char *p = (const unsigned char *)luaL_checklstring(L, 1, &length);
  luaL_Buffer buffer;
  luaL_argcheck(L, length < SIZE_MAX / 2, 1, "too long");
  tureen_meter_bytes(L, length);
  size_t count = (length + 2) / 3 * 4;
  char *out = luaL_buffinitsize(L, &buffer, count);
  for (size_t left = length; left > 0;) {
    size_t n = left < 3 ? left : 3;
    unsigned bits = (unsigned)p[0] << 16 | (n > 1 ? (unsigned)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);
    *out++ = digits[bits >> 18];
    *out++ = digits[bits >> 12 & 63];
    *out++ = n > 1 ? digits[bits >> 6 & 63] : '=';
    *out++ = n > 2 ? digits[bits & 63] : '=';
    p += n;
    left -= n;
  }
  luaL_pushresultsize(&buffer, count);
  return 1;
}

static int digit_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* from_base64(text) -> bytes; raises if the text is not valid Base64.                                   [-1, +1, e] */
int tureen_from_base64(lua_State *L) {
  size_t length;
  const char *p = luaL_checklstring(L, 1, &length);
  luaL_argcheck(L, length % 4 == 0, 1, "no base64");
  tureen_meter_bytes(L, length);
  while (length > 0 && p[length - 1] == '=') length--;
  luaL_Buffer buffer;
  size_t count = length / 4 * 3 + (length % 4 == 0 ? 0 : length % 4 - 1);
  char *out = luaL_buffinitsize(L, &buffer, count);
  unsigned bits = 0;
  for (size_t i = 0; i < length; i++) {
    int value = digit_value(p[i]);
    if (value < 0) return luaL_argerror(L, 1, "no base64");
    bits = bits << 6 | (unsigned)value;
    /* The first of each four digits does not complete a byte. */
    if (i % 4 != 0) *out++ = (char)(bits >> (6 - i % 4 * 2));
  }
  luaL_pushresultsize(&buffer, count);
  return 1;
}
