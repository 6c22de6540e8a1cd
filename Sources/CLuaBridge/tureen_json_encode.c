#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tureen_decoder.h"
#include "tureen_limits.h"

/* The position of the encoder: a chain of the enclosing tables, to detect cycles and for paths in errors. */
typedef struct frame {
  const struct frame *parent;
  const void *table;
  const char *key; /* NULL: an element of a list, at `index` */
  size_t key_length;
  lua_Integer index;
} frame;

typedef struct encoder {
  lua_State *L;
  tureen_buffer *out;
  const char *caller, *root;
  int is_metered;
} encoder;

static const char mixed_keys[] = "mixes string keys with others, so it is neither an object nor an array";

static void put(encoder *e, const char *bytes, size_t length) {
  memcpy(tureen_buffer_reserve(e->L, e->out, length), bytes, length);
  e->out->length += length;
}

static void put_byte(encoder *e, char byte) {
  *tureen_buffer_reserve(e->L, e->out, 1) = byte;
  e->out->length++;
}

static int is_name(const char *key, size_t length) {
  if (length == 0) return 0;
  for (size_t i = 0; i < length; i++) {
    char c = key[i];
    int letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (i == 0 || c < '0' || c > '9')) return 0;
  }
  return 1;
}

/* Pushes the path to the encoder's position.                                                            [-0, +1, e] */
static void push_path(encoder *e, const frame *at, int depth) {
  if (at == NULL || at->parent == NULL) {
    lua_pushfstring(e->L, "%s: %s", e->caller, e->root);
    return;
  }
  if (depth > 20) lua_pushliteral(e->L, "...");
  else push_path(e, at->parent, depth + 1);
  if (at->parent->key == NULL) {
    lua_pushfstring(e->L, "[%I]", (LUAI_UACINT)at->parent->index);
  } else if (is_name(at->parent->key, at->parent->key_length)) {
    lua_pushfstring(e->L, ".%s", at->parent->key);
  } else {
    lua_pushfstring(e->L, "[\"%s\"]", at->parent->key);
  }
  lua_concat(e->L, 2);
}

/* Raises "<path> <reason>". `at` is the frame of the value itself.                                      [-0, +0, v] */
static int fail(encoder *e, const frame *at, const char *reason) {
  luaL_checkstack(e->L, 40, NULL);
  push_path(e, at, 0);
  return tureen_raise(e->L, "invalidArguments", "%s %s", lua_tostring(e->L, -1), reason);
}

static void put_integer(encoder *e, lua_Integer value) {
  char digits[24], *p = digits + sizeof digits;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do *--p = (char)('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (value < 0) *--p = '-';
  put(e, p, (size_t)(digits + sizeof digits - p));
}

/* Writes the shortest of 15, 16 or 17 digits that reads back as the same number, always recognizable as a float. A number of a
 * server that is too large for a float is an infinity here, and has to be as large when it goes back. */
static void put_float(encoder *e, const frame *at, double value) {
  char text[40];
  if (isnan(value)) fail(e, at, "is NaN, which JSON cannot hold");
  if (isinf(value)) {
    put(e, value > 0 ? "1e999" : "-1e999", value > 0 ? 5 : 6);
    return;
  }
  int length = 0;
  for (int digits = 15; digits <= 17; digits++) {
    length = snprintf(text, sizeof text - 2, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  int plain = 1;
  for (int i = 0; i < length; i++) {
    if ((text[i] >= '0' && text[i] <= '9') || text[i] == '-' || text[i] == '+') continue;
    plain = 0;
    if (text[i] != 'e') text[i] = '.'; /* some locales print a comma */
  }
  if (plain) {
    text[length++] = '.';
    text[length++] = '0';
  }
  put(e, text, (size_t)length);
}

static void put_string(encoder *e, const frame *at, const char *text, size_t length) {
  static const char hex[] = "0123456789abcdef";
  if (tureen_utf8_prefix(text, length) != length) fail(e, at, "is not valid UTF-8");
  put_byte(e, '"');
  size_t start = 0;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    put(e, text + start, i - start);
    start = i + 1;
    switch (c) {
      case '"': put(e, "\\\"", 2); break;
      case '\\': put(e, "\\\\", 2); break;
      case '\n': put(e, "\\n", 2); break;
      case '\r': put(e, "\\r", 2); break;
      case '\t': put(e, "\\t", 2); break;
      default: {
        char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        put(e, escape, 6);
      }
    }
  }
  put(e, text + start, length - start);
  put_byte(e, '"');
}

static void put_value(encoder *e, int index, const frame *parent, int depth);

/* Writes an object, whose first key is known to be a string.                                            [-0, +0, e] */
static void put_object(encoder *e, int table, frame *at, int depth) {
  lua_State *L = e->L;
  int first = 1;
  put_byte(e, '{');
  lua_pushnil(L);
  while (lua_next(L, table)) {
    if (lua_type(L, -2) != LUA_TSTRING) fail(e, at, mixed_keys);
    at->key = lua_tolstring(L, -2, &at->key_length);
    frame inside = {.parent = at};
    if (!first) put_byte(e, ',');
    first = 0;
    put_string(e, &inside, at->key, at->key_length);
    put_byte(e, ':');
    put_value(e, lua_gettop(L), at, depth);
    lua_pop(L, 1);
  }
  put_byte(e, '}');
}

/* Returns the length of a table without string keys; raises if it is not a sequence.                    [-0, +0, e] */
static lua_Integer sequence_length(encoder *e, int table, const frame *at) {
  lua_State *L = e->L;
  lua_Integer count = 0, highest = 0;
  lua_pushnil(L);
  while (lua_next(L, table)) {
    lua_pop(L, 1);
    if (e->is_metered) tureen_meter_work(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING) fail(e, at, mixed_keys);
    if (!lua_isinteger(L, -1)) fail(e, at, "has a key that is neither a string nor a position");
    lua_Integer key = lua_tointeger(L, -1);
    if (key < 1) fail(e, at, "has a position below 1");
    if (key > highest) highest = key;
    count++;
  }
  if (highest != count) fail(e, at, "is an array with holes; use tureen.null for empty elements");
  return count;
}

static void put_array(encoder *e, int table, frame *at, int depth) {
  lua_Integer count = sequence_length(e, table, at);
  at->key = NULL;
  put_byte(e, '[');
  for (lua_Integer i = 1; i <= count; i++) {
    at->index = i;
    if (i > 1) put_byte(e, ',');
    lua_rawgeti(e->L, table, i);
    put_value(e, lua_gettop(e->L), at, depth);
    lua_pop(e->L, 1);
  }
  put_byte(e, ']');
}

static int has_array_mark(lua_State *L, int table) {
  if (!lua_getmetatable(L, table)) return 0;
  luaL_getmetatable(L, TUREEN_ARRAY);
  int marked = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return marked;
}

static void put_table(encoder *e, int table, frame *at, int depth) {
  lua_State *L = e->L;
  luaL_checkstack(L, 8, "value nested too deeply");
  at->table = lua_topointer(L, table);
  for (const frame *up = at->parent; up != NULL; up = up->parent)
    if (up->table == at->table) fail(e, at, "contains itself");
  if (depth > TUREEN_JSON_DEPTH) fail(e, at, "is nested too deeply");
  if (has_array_mark(L, table)) {
    put_array(e, table, at, depth);
    return;
  }
  if (luaL_getmetafield(L, table, "__unawaited") != LUA_TNIL) fail(e, at, "is a call without await, not its answer");
  lua_pushnil(L);
  int first = lua_next(L, table) ? lua_type(L, -2) : LUA_TNIL;
  if (first != LUA_TNIL) lua_pop(L, 2);
  if (first == LUA_TNIL || first == LUA_TSTRING) put_object(e, table, at, depth);
  else put_array(e, table, at, depth);
}

static void put_value(encoder *e, int index, const frame *parent, int depth) {
  lua_State *L = e->L;
  frame at = {.parent = parent};
  if (e->is_metered) tureen_meter_work(L, 1);
  switch (lua_type(L, index)) {
    case LUA_TNIL: put(e, "null", 4); return;
    case LUA_TBOOLEAN: lua_toboolean(L, index) ? put(e, "true", 4) : put(e, "false", 5); return;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) put_integer(e, lua_tointeger(L, index));
      else put_float(e, &at, lua_tonumber(L, index));
      return;
    case LUA_TSTRING: {
      size_t length;
      const char *text = lua_tolstring(L, index, &length);
      put_string(e, &at, text, length);
      return;
    }
    case LUA_TLIGHTUSERDATA:
      if (lua_touserdata(L, index) == NULL) {
        put(e, "null", 4);
        return;
      }
      break;
    case LUA_TTABLE: put_table(e, index, &at, depth + 1); return;
    case LUA_TUSERDATA: {
      size_t length;
      const char *text = tureen_record_text(L, index, &length);
      if (text == NULL) break;
      put(e, text, length);
      return;
    }
    default: break;
  }
  char reason[64];
  snprintf(reason, sizeof reason, "is a %s, which JSON cannot hold", lua_typename(L, lua_type(L, index)));
  fail(e, &at, reason);
}

void tureen_json_encode(lua_State *L, int index, const char *caller, const char *root, tureen_buffer *out) {
  encoder e = {L, out, caller, root, tureen_meter_of(L) != NULL};
  put_value(&e, lua_absindex(L, index), NULL, 0);
}
