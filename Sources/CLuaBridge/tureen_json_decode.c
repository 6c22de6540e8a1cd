#include <string.h>

#include "tureen_decoder.h"
#include "tureen_limits.h"

static int read_array(tureen_decoder *d, int depth) {
  d->p++;
  lua_newtable(d->L);
  lua_pushvalue(d->L, d->array_mark);
  lua_setmetatable(d->L, -2);
  if (tureen_is_empty(d, ']')) return 1;
  int more = 1;
  for (lua_Integer i = 1; more > 0; i++) {
    if (!tureen_decode_value(d, depth)) return 0;
    lua_rawseti(d->L, -2, i);
    more = tureen_has_next(d, ']');
  }
  return more == 0;
}

/* Returns 1 for the member `name` (with quotes) of a page's cursor. The key is between `key` and d->p. */
static int is_member(tureen_decoder *d, const char *key, const char *name, int depth) {
  if (d->page == NULL || depth != 1 || d->is_lazy) return 0;
  size_t length = strlen(name);
  return (size_t)(d->p - key) == length && memcmp(key, name, length) == 0;
}

/* Moves past the list `entryLengths` at d->p, which is not part of the result. */
static int skip_lengths(tureen_decoder *d) {
  const char *close = memchr(d->p, ']', (size_t)(d->end - d->p));
  if (close == NULL) return tureen_decoder_fail(d, "the text ends inside a list");
  d->p = close + 1;
  return 1;
}

/* Pushes the entries of a cursor as records. */
static int read_entries(tureen_decoder *d, int depth) {
  if (d->lengths != NULL) return d->records->read_entries(d);
  d->is_lazy = 1;
  if (!tureen_decode_value(d, depth)) return 0;
  d->is_lazy = 0;
  return 1;
}

static int read_member(tureen_decoder *d, int depth) {
  tureen_skip_blanks(d);
  if (d->p >= d->end || *d->p != '"') return tureen_decoder_fail(d, "expected a key in quotes");
  const char *key = d->p;
  if (!tureen_decode_string(d)) return 0;
  int holds_entries = is_member(d, key, "\"currentPageOrderedEntries\"", depth);
  int holds_lengths = d->lengths != NULL && is_member(d, key, "\"entryLengths\"", depth);
  tureen_skip_blanks(d);
  if (d->p >= d->end || *d->p != ':') return tureen_decoder_fail(d, "expected ':'");
  d->p++;
  if (holds_lengths) {
    lua_pop(d->L, 1);
    return skip_lengths(d);
  }
  if (!(holds_entries ? read_entries(d, depth) : tureen_decode_value(d, depth))) return 0;
  lua_rawset(d->L, -3);
  return 1;
}

static int read_object(tureen_decoder *d, int depth) {
  d->p++;
  if (tureen_is_empty(d, '}')) {
    lua_newtable(d->L);
    return 1;
  }
  unsigned short *hint = &d->hints[depth < TUREEN_DECODER_HINTS ? depth : 0];
  int count = 0, more = 1;
  lua_createtable(d->L, 0, *hint);
  while (more > 0) {
    if (!read_member(d, depth)) return 0;
    if (count < 64) count++; /* never preallocate more: the remaining elements may be few */
    more = tureen_has_next(d, '}');
  }
  *hint = (unsigned short)count;
  return more == 0;
}

static int read_word(tureen_decoder *d, const char *word, size_t length) {
  if ((size_t)(d->end - d->p) < length || memcmp(d->p, word, length) != 0)
    return tureen_decoder_fail(d, "unknown word");
  d->p += length;
  return 1;
}

/* Reads a list or an object.                                                                         [-0, +0..1, m] */
static int read_container(tureen_decoder *d, int depth) {
  if (depth >= TUREEN_JSON_DEPTH + d->around) return tureen_decoder_fail(d, "nested too deeply");
  if (!lua_checkstack(d->L, 12)) return tureen_decoder_fail(d, "no room for a value nested this deeply");
  if (*d->p == '[') return read_array(d, depth + 1);
  return d->is_lazy ? d->records->read_record(d) : read_object(d, depth + 1);
}

int tureen_decode_value(tureen_decoder *d, int depth) {
  tureen_skip_blanks(d);
  if (d->p >= d->end) return tureen_decoder_fail(d, "the text ends where a value should stand");
  switch (*d->p) {
    case '{':
    case '[': return read_container(d, depth);
    case '"': return tureen_decode_string(d);
    case 't':
      if (!read_word(d, "true", 4)) return 0;
      lua_pushboolean(d->L, 1);
      return 1;
    case 'f':
      if (!read_word(d, "false", 5)) return 0;
      lua_pushboolean(d->L, 0);
      return 1;
    case 'n':
      if (!read_word(d, "null", 4)) return 0;
      lua_pushlightuserdata(d->L, NULL);
      return 1;
    default:
      if (*d->p == '-' || (*d->p >= '0' && *d->p <= '9')) return tureen_decode_number(d);
      return tureen_decoder_fail(d, "unexpected character");
  }
}

static int check_utf8(tureen_decoder *d) {
  size_t valid = tureen_utf8_prefix(d->start, (size_t)(d->end - d->start));
  if (d->start + valid == d->end) return 1;
  d->p = d->start + valid;
  return tureen_decoder_fail(d, "not valid UTF-8");
}

/* Pushes the single value in the text.                                                               [-0, +0..1, m] */
int tureen_decode_whole(tureen_decoder *d) {
  lua_State *L = d->L;
  luaL_checkstack(L, 12, NULL);
  int top = lua_gettop(L);
  luaL_getmetatable(L, TUREEN_ARRAY);
  d->array_mark = top + 1;
  tureen_meter_bytes(L, (size_t)(d->end - d->start));
  int ok = d->lengths != NULL || check_utf8(d);
  if (ok) ok = tureen_decode_value(d, 0);
  if (ok) {
    tureen_skip_blanks(d);
    if (d->p < d->end) ok = tureen_decoder_fail(d, "something follows the value");
  }
  if (ok) lua_replace(L, top + 1);
  lua_settop(L, top + ok);
  return ok;
}

int tureen_json_decode_answer(lua_State *L, const char *text, size_t length, tureen_json_error *error) {
  tureen_decoder d = {.L = L, .start = text, .p = text, .end = text + length, .error = error};
  d.around = TUREEN_JSON_AROUND;
  return tureen_decode_whole(&d);
}

int tureen_json_decode(lua_State *L, const char *text, size_t length, tureen_json_error *error) {
  tureen_decoder d = {.L = L, .start = text, .p = text, .end = text + length, .error = error};
  return tureen_decode_whole(&d);
}
