/* Compiles chunks for scripts with limits in small pieces, between which the limits are checked. The compiler walks
 * some lists for each of their elements, so a chunk of a megabyte can take minutes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tureen_guards.h"

/* The bytes to compile between two checks. */
#define PIECE 512

/* A text to read in pieces. */
typedef struct pieces {
  const char *text;
  size_t length;
} pieces;

/* Returns the next piece of a text, and counts its bytes.                                               [-0, +0, v] */
static const char *next_piece(lua_State *L, pieces *rest, size_t *size) {
  *size = rest->length < PIECE ? rest->length : PIECE;
  const char *piece = rest->text;
  rest->text += *size;
  rest->length -= *size;
  tureen_meter_work(L, *size);
  tureen_meter_check(L);
  return *size == 0 ? NULL : piece;
}

static const char *read_text(lua_State *L, void *context, size_t *size) { return next_piece(L, context, size); }

int tureen_load_text(lua_State *L, const char *text, size_t length, const char *name, const char *mode) {
  pieces rest = {text, length};
  return lua_load(L, read_text, &rest, name, mode);
}

/* The text from a script's function, which is at `slot` while its pieces are read. */
typedef struct calls {
  pieces rest;
  int function, slot;
} calls;

static const char *read_function(lua_State *L, void *context, size_t *size) {
  calls *c = context;
  if (c->rest.length == 0) {
    luaL_checkstack(L, 2, "too many nested functions");
    lua_pushvalue(L, c->function);
    lua_call(L, 0, 1);
    if (!lua_isnil(L, -1) && !lua_isstring(L, -1)) luaL_error(L, "reader function must return a string");
    lua_replace(L, c->slot);
    c->rest.text = lua_tolstring(L, c->slot, &c->rest.length);
    if (c->rest.text == NULL) c->rest.length = 0;
  }
  return next_piece(L, &c->rest, size);
}

/* load(chunk, name, mode, env). Upvalue 1 overrides `mode` if it is not nil. */
static int limited_load(lua_State *L) {
  const char *mode = lua_isnil(L, lua_upvalueindex(1)) ? luaL_optstring(L, 3, "bt") : lua_tostring(L, lua_upvalueindex(1));
  int has_env = !lua_isnone(L, 4), status;
  uint64_t refusals = tureen_meter_refusals(L);
  lua_settop(L, 5); /* slot 5 holds the piece that a reader function returned */
  if (lua_isstring(L, 1)) {
    size_t length;
    const char *text = lua_tolstring(L, 1, &length);
    status = tureen_load_text(L, text, length, luaL_optstring(L, 2, text), mode);
  } else {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    calls c = {{NULL, 0}, 1, 5};
    status = lua_load(L, read_function, &c, luaL_optstring(L, 2, "=(load)"), mode);
  }
  if (status != LUA_OK) {
    tureen_meter_caught(L, refusals);
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  if (has_env) {
    lua_pushvalue(L, 4);
    if (lua_setupvalue(L, -2, 1) == NULL) lua_pop(L, 1);
  }
  return 1;
}

void tureen_load_open(lua_State *L) {
  if (tureen_meter_restricts(L)) lua_pushliteral(L, "t");
  else lua_pushnil(L);
  lua_pushcclosure(L, limited_load, 1);
  lua_setfield(L, -2, "load");
}

/* A file to read in pieces. */
typedef struct file {
  FILE *stream;
  size_t waiting; /* bytes of `buffer` that were read ahead */
  char buffer[PIECE];
} file;

static const char *read_file(lua_State *L, void *context, size_t *size) {
  file *f = context;
  size_t length = f->waiting;
  f->waiting = 0;
  if (length == 0) length = fread(f->buffer, 1, sizeof f->buffer, f->stream);
  pieces piece = {f->buffer, length};
  return next_piece(L, &piece, size);
}

/* Skips a byte order mark, and a first line that begins with '#' except for its line break; reads the first byte of
 * code ahead. */
static void skip_start(file *f) {
  static const char mark[] = "\xEF\xBB\xBF";
  int byte = getc(f->stream);
  for (size_t i = 0; mark[i] != 0 && byte == (unsigned char)mark[i]; i++) byte = getc(f->stream);
  if (byte == '#')
    while (byte != EOF && byte != '\n') byte = getc(f->stream);
  if (byte == EOF) return;
  f->buffer[0] = (char)byte;
  f->waiting = 1;
}

void tureen_load_skip_start(const char **text, size_t *length) {
  size_t skipped = *length >= 3 && memcmp(*text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  if (skipped < *length && (*text)[skipped] == '#')
    while (skipped < *length && (*text)[skipped] != '\n') skipped++;
  *text += skipped;
  *length -= skipped;
}

/* Replaces the values above the file by an error message.                                                [-n, +1, m] */
static int file_error(lua_State *L, const char *what, const char *path, int code) {
  lua_pushfstring(L, "cannot %s %s: %s", what, path, strerror(code));
  return LUA_ERRFILE;
}

int tureen_load_file(lua_State *L, const char *path, const char *mode) {
  file f = {.stream = fopen(path, "rb")};
  if (f.stream == NULL) return file_error(L, "open", path, errno);
  skip_start(&f);
  lua_pushfstring(L, "@%s", path);
  int status = lua_load(L, read_file, &f, lua_tostring(L, -1), mode);
  int has_failed = ferror(f.stream), code = errno;
  fclose(f.stream);
  lua_remove(L, -2);
  if (!has_failed) return status;
  lua_pop(L, 1);
  return file_error(L, "read", path, code);
}
