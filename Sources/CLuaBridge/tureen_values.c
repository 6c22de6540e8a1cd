/* The buffer, the array mark and the error value, which encoder and decoder share. */
#include "tureen_bridge_internal.h"
#include "tureen_limits.h"

#include <stdarg.h>
#include <stdlib.h>

static const char buffer_type[] = "tureen.buffer";

void tureen_buffer_free(tureen_buffer *buffer) {
  if (buffer->data != NULL) buffer->allocate(buffer->context, buffer->data, buffer->capacity, 0);
  buffer->data = NULL;
  buffer->length = buffer->capacity = 0;
}

static int buffer_gc(lua_State *L) {
  tureen_buffer_free(luaL_checkudata(L, 1, buffer_type));
  return 0;
}

tureen_buffer *tureen_buffer_new(lua_State *L) {
  tureen_buffer *buffer = lua_newuserdatauv(L, sizeof *buffer, 0);
  buffer->data = NULL;
  buffer->length = buffer->capacity = 0;
  buffer->allocate = lua_getallocf(L, &buffer->context);
  luaL_setmetatable(L, buffer_type);
  return buffer;
}

char *tureen_buffer_reserve(lua_State *L, tureen_buffer *buffer, size_t more) {
  if (buffer->capacity - buffer->length >= more) return buffer->data + buffer->length;
  if (more > SIZE_MAX / 4 || buffer->length > SIZE_MAX / 4) luaL_error(L, "not enough memory");
  size_t capacity = buffer->capacity < 256 ? 256 : buffer->capacity * 2;
  while (capacity - buffer->length < more) capacity *= 2;
  tureen_meter_check(L); /* a table that contains another many times can produce an enormous text */
  char *data = buffer->allocate(buffer->context, buffer->data, buffer->capacity, capacity);
  if (data == NULL) {
    lua_gc(L, LUA_GCCOLLECT, 0);
    data = buffer->allocate(buffer->context, buffer->data, buffer->capacity, capacity);
  }
  if (data == NULL) luaL_error(L, "not enough memory");
  buffer->data = data;
  buffer->capacity = capacity;
  return data + buffer->length;
}

/* Pushes the message, preceded by its position in the script if that is known.                          [-0, +1, e] */
static int error_tostring(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_pushliteral(L, "where");
  if (lua_rawget(L, 1) == LUA_TSTRING) lua_pushliteral(L, ": ");
  else lua_pop(L, 1);
  lua_pushliteral(L, "message");
  if (lua_rawget(L, 1) != LUA_TSTRING) {
    lua_pop(L, 1);
    lua_pushliteral(L, "unknown error");
  }
  lua_concat(L, lua_gettop(L) - 1);
  return 1;
}

int tureen_push_position(lua_State *L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame); level++) {
    lua_getinfo(L, "Sl", &frame);
    int embedded = frame.source[0] == '=' && frame.source[1] == '[';
    if (frame.currentline > 0 && !embedded) {
      lua_pushfstring(L, "%s:%d", frame.short_src, frame.currentline);
      return 1;
    }
  }
  return 0;
}

void tureen_push_error(lua_State *L, const char *code) {
  lua_createtable(L, 0, 5);
  lua_insert(L, -2);
  lua_setfield(L, -2, "message");
  lua_pushliteral(L, "bridge");
  lua_setfield(L, -2, "domain");
  lua_pushstring(L, code);
  lua_setfield(L, -2, "code");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "retryable");
  luaL_setmetatable(L, TUREEN_ERROR_TYPE);
}

int tureen_raise(lua_State *L, const char *code, const char *format, ...) {
  va_list arguments;
  luaL_checkstack(L, 8, NULL);
  va_start(arguments, format);
  lua_pushvfstring(L, format, arguments);
  va_end(arguments);
  tureen_push_error(L, code);
  if (tureen_push_position(L)) lua_setfield(L, -2, "where");
  return lua_error(L);
}

void tureen_json_open(lua_State *L) {
  static const luaL_Reg buffer_methods[] = {{"__gc", buffer_gc}, {"__close", buffer_gc}, {NULL, NULL}};
  if (luaL_newmetatable(L, buffer_type)) luaL_setfuncs(L, buffer_methods, 0);
  lua_pop(L, 1);
  if (luaL_newmetatable(L, TUREEN_ARRAY)) {
    lua_pushliteral(L, "array");
    lua_setfield(L, -2, "__jsontype"); /* other JSON libraries for Lua know this one */
  }
  lua_pop(L, 1);
  if (luaL_newmetatable(L, TUREEN_ERROR_TYPE)) {
    lua_pushcfunction(L, error_tostring);
    lua_setfield(L, -2, "__tostring");
  }
  lua_pop(L, 1);
}
