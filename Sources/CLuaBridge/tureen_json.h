/* JSON text <-> Lua values. Internal to this target. */
#ifndef TUREEN_JSON_H
#define TUREEN_JSON_H

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <stddef.h>

#include "tureen_weak_lua.h"

/* Deepest nesting taken in either direction. Bounds the C stack: a level costs a few hundred bytes. */
#define TUREEN_JSON_DEPTH 1000
/* Levels that an answer of the host has around an entry: a cursor, its list, a row; a conflict's. */
#define TUREEN_JSON_AROUND 8

/* Registry names of the metatables that mark a list and an error. */
#define TUREEN_ARRAY "tureen.array"
#define TUREEN_ERROR_TYPE "tureen.Error"

/* Bytes that grow, owned by a userdata so that an error raised half way frees them. */
typedef struct tureen_buffer {
  char *data;
  size_t length, capacity;
  lua_Alloc allocate; /* the state's: what a script encodes counts as its memory */
  void *context;
} tureen_buffer;

/* Pushes an empty buffer.                                                                               [-0, +1, e] */
tureen_buffer *tureen_buffer_new(lua_State *L);
/* Room for `more` bytes behind the last one; the caller raises `length`.                                [-0, +0, e] */
char *tureen_buffer_reserve(lua_State *L, tureen_buffer *buffer, size_t more);
/* Frees the bytes before the collector would. Safe twice.                                               [-0, +0, -] */
void tureen_buffer_free(tureen_buffer *buffer);

/* Appends the JSON text of the value at `index`. Raises a tureen.Error that names the path to what has no JSON form,
 * starting with `caller` and `root`: "exec: args.entries[3].Name". Calls no metamethods.                 [-0, +0, e] */
void tureen_json_encode(lua_State *L, int index, const char *caller, const char *root, tureen_buffer *out);

/* Why a text is not JSON. */
typedef struct tureen_json_error {
  const char *message;
  size_t offset; /* bytes from the start */
} tureen_json_error;

/* Pushes the value of a JSON text and returns 1; or pushes nothing, fills *error and returns 0. Lists get the array
 * mark, null is the null light userdata. Raises for want of memory only.                             [-0, +0..1, m] */
int tureen_json_decode(lua_State *L, const char *text, size_t length, tureen_json_error *error);

/* The same for an answer of the host: an entry as deep as the store takes it is not too deep in there.   [-0, +0..1, m] */
int tureen_json_decode_answer(lua_State *L, const char *text, size_t length, tureen_json_error *error);

/* Makes the metatables known to the state. Call before anything else here.                              [-0, +0, e] */
void tureen_json_open(lua_State *L);

/* Length of the longest valid UTF-8 prefix; `length` when all of it is valid. */
size_t tureen_utf8_prefix(const char *text, size_t length);

/* Raises a tureen.Error of the domain `bridge`; `format` as for lua_pushfstring.                        [-0, +0, v] */
int tureen_raise(lua_State *L, const char *code, const char *format, ...);
/* Pushes such an error with the message at the top of the stack.                                        [-1, +1, e] */
void tureen_push_error(lua_State *L, const char *code);

#endif
