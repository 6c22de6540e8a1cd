/* Compiles patterns to items, in which the matching bytes are a bit set. */
#include <ctype.h>
#include <string.h>

#include "tureen_pattern.h"

static void add(uint64_t *bytes, unsigned char byte) { bytes[byte >> 6] |= (uint64_t)1 << (byte & 63); }

/* Returns 1 if a byte belongs to the class of a letter; other characters match themselves. */
static int is_of_class(int byte, int name) {
  int is;
  switch (tolower(name)) {
    case 'a': is = isalpha(byte); break;
    case 'c': is = iscntrl(byte); break;
    case 'd': is = isdigit(byte); break;
    case 'g': is = isgraph(byte); break;
    case 'l': is = islower(byte); break;
    case 'p': is = ispunct(byte); break;
    case 's': is = isspace(byte); break;
    case 'u': is = isupper(byte); break;
    case 'w': is = isalnum(byte); break;
    case 'x': is = isxdigit(byte); break;
    case 'z': is = byte == 0; break; /* from Lua 5.1; Lua's library still accepts it */
    default: return byte == name;
  }
  return isupper(name) ? !is : is != 0;
}

static void add_class(uint64_t *bytes, unsigned char name) {
  for (int byte = 0; byte < 256; byte++)
    if (is_of_class(byte, name)) add(bytes, (unsigned char)byte);
}

/* Reads a set; p is after its bracket. Returns its end.                                                 [-0, +0, v] */
static const char *read_set(lua_State *L, const char *p, const char *end, uint64_t *bytes) {
  int is_inverse = p < end && *p == '^';
  if (is_inverse) p++;
  const char *close = p; /* a bracket in the first position does not end the set */
  do {
    if (close == end) luaL_error(L, "malformed pattern (missing ']')");
    if (*close++ == '%') {
      if (close == end) luaL_error(L, "malformed pattern (missing ']')");
      close++;
    }
  } while (close == end || *close != ']');
  while (p < close) {
    if (*p == '%') {
      add_class(bytes, (unsigned char)p[1]);
      p += 2;
    } else if (p + 2 < close && p[1] == '-') {
      for (int byte = (unsigned char)*p; byte <= (unsigned char)p[2]; byte++) add(bytes, (unsigned char)byte);
      p += 3;
    } else {
      add(bytes, (unsigned char)*p++);
    }
  }
  for (int i = 0; is_inverse && i < 4; i++) bytes[i] = ~bytes[i];
  return close + 1;
}

/* Reads the description of one byte. Returns its end.                                                   [-0, +0, v] */
static const char *read_bytes(lua_State *L, const char *p, const char *end, uint64_t *bytes) {
  if (*p == '[') return read_set(L, p + 1, end, bytes);
  if (*p == '.') memset(bytes, 0xFF, 4 * sizeof *bytes);
  else if (*p == '%') add_class(bytes, (unsigned char)*++p);
  else add(bytes, (unsigned char)*p);
  return p + 1;
}

static const char *read_repetition(const char *p, const char *end, tureen_item *item) {
  if (p == end) return p;
  switch (*p) {
    case '?': item->repeats = AT_MOST_ONCE; return p + 1;
    case '*': item->repeats = AS_MANY_AS_CAN_BE; return p + 1;
    case '+': item->repeats = AS_MANY_AS_CAN_BE; item->least = 1; return p + 1;
    case '-': item->repeats = AS_FEW_AS_CAN_BE; return p + 1;
    default: return p;
  }
}

/* Reads an item that begins with '%' and is not a class; returns NULL for a class.                      [-0, +0, v] */
static const char *read_escape(lua_State *L, const char *p, const char *end, tureen_item *item) {
  if (p == end) luaL_error(L, "malformed pattern (ends with '%%')");
  if (isdigit((unsigned char)*p)) {
    item->kind = ITEM_BACK;
    item->capture = *p - '1';
    return p + 1;
  }
  if (*p == 'b') {
    if (end - p < 3) luaL_error(L, "malformed pattern (missing arguments to '%%b')");
    item->kind = ITEM_BALANCE;
    item->first = (unsigned char)p[1];
    item->last = (unsigned char)p[2];
    return p + 3;
  }
  if (*p != 'f') return NULL;
  if (p + 1 == end || p[1] != '[') luaL_error(L, "missing '[' after '%%f' in pattern");
  item->kind = ITEM_FRONTIER;
  return read_set(L, p + 2, end, item->bytes);
}

/* Reads one item. Returns its end.                                                                      [-0, +0, v] */
static const char *read_item(lua_State *L, const char *p, const char *end, tureen_item *item) {
  if (*p == '(') {
    int is_position = p + 1 < end && p[1] == ')';
    item->kind = is_position ? ITEM_POSITION : ITEM_OPEN;
    return p + (is_position ? 2 : 1);
  }
  if (*p == ')') {
    item->kind = ITEM_CLOSE;
    return p + 1;
  }
  if (*p == '$' && p + 1 == end) {
    item->kind = ITEM_AT_END;
    return end;
  }
  const char *next = *p == '%' ? read_escape(L, p + 1, end, item) : NULL;
  if (next != NULL) return next;
  item->kind = ITEM_BYTES;
  return read_repetition(read_bytes(L, p, end, item->bytes), end, item);
}

const tureen_item *tureen_pattern_compile(lua_State *L, const char *pattern, size_t length) {
  const char *end = pattern + length;
  if (length >= SIZE_MAX / sizeof(tureen_item) / 2) luaL_error(L, "pattern too long");
  tureen_meter_work(L, length * 4);
  tureen_item *items = lua_newuserdatauv(L, (length + 1) * sizeof *items, 0), *item = items;
  for (const char *p = pattern; p < end; item++) {
    memset(item, 0, sizeof *item);
    p = read_item(L, p, end, item);
  }
  item->kind = ITEM_DONE;
  return items;
}
