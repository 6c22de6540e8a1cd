/* Converts between JSON text and Lua values. Internal to this target. */
#ifndef TUREEN_JSON_H
#define TUREEN_JSON_H

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <stddef.h>

#include "tureen_weak_lua.h"

/* The maximum nesting in either direction. It limits the C stack, of which a level takes a few hundred bytes. */
#define TUREEN_JSON_DEPTH 1000
/* The levels that a result of the host may have around an entry: a cursor, its list, a row; or those of a conflict. */
#define TUREEN_JSON_AROUND 8

/* The registry names of the metatables of lists and errors. */
#define TUREEN_ARRAY "tureen.array"
#define TUREEN_ERROR_TYPE "tureen.Error"

/* A growing buffer, owned by a userdata, so that it is freed if an error is raised. */
typedef struct tureen_buffer {
  char *data;
  size_t length, capacity;
  lua_Alloc allocate; /* the state's allocator, so that the buffer counts as the script's memory */
  void *context;
} tureen_buffer;

/* Pushes an empty buffer.                                                                               [-0, +1, e] */
tureen_buffer *tureen_buffer_new(lua_State *L);
/* Reserves room for `more` bytes at the end and returns it. The caller increases `length`.              [-0, +0, e] */
char *tureen_buffer_reserve(lua_State *L, tureen_buffer *buffer, size_t more);
/* Frees the bytes early. May be called twice.                                                           [-0, +0, -] */
void tureen_buffer_free(tureen_buffer *buffer);

/* Appends the JSON text of the value at `index`. If part of it has no JSON form, raises a tureen.Error with its path, starting
 * with `caller` and `root`: "exec: args.entries[3].Name". Calls no metamethods.                          [-0, +0, e] */
void tureen_json_encode(lua_State *L, int index, const char *caller, const char *root, tureen_buffer *out);

/* The reason why a text is not JSON. */
typedef struct tureen_json_error {
  const char *message;
  size_t offset; /* bytes from the start */
} tureen_json_error;

/* Pushes the value of a JSON text and returns 1; or pushes nothing, fills *error and returns 0. Lists get the array
 * mark; null is the NULL light userdata. Raises only without memory.                                 [-0, +0..1, m] */
int tureen_json_decode(lua_State *L, const char *text, size_t length, tureen_json_error *error);

/* Like tureen_json_decode, for a result of the host, in which an entry may have the store's maximum depth. [-0, +0..1, m] */
int tureen_json_decode_answer(lua_State *L, const char *text, size_t length, tureen_json_error *error);

/* Registers the metatables in the state. Call it before the other functions.                            [-0, +0, e] */
void tureen_json_open(lua_State *L);

/* Returns the length of the longest valid UTF-8 prefix. */
size_t tureen_utf8_prefix(const char *text, size_t length);

/* Raises a tureen.Error of the domain `bridge`. `format` is that of lua_pushfstring.                    [-0, +0, v] */
int tureen_raise(lua_State *L, const char *code, const char *format, ...);
/* Replaces the message at the top of the stack by a tureen.Error of the domain `bridge`.                [-1, +1, e] */
void tureen_push_error(lua_State *L, const char *code);

#endif
