/* Finds where the members of a page's records stand. */
#include "tureen_page.h"

#include <stdlib.h>
#include <string.h>

static const char page_type[] = "tureen.page";

static int page_gc(lua_State *L) {
  tureen_page *page = luaL_checkudata(L, 1, page_type);
  free(page->text.data);
  free(page->members);
  memset(page, 0, sizeof *page);
  return 0;
}

/* A new last member, nothing in it.                                                                     [-0, +0, m] */
static tureen_member *add_member(tureen_decoder *d) {
  tureen_page *page = d->page;
  if (page->count == page->capacity) {
    if (page->capacity > UINT32_MAX / 2) luaL_error(d->L, "not enough memory");
    uint32_t capacity = page->capacity == 0 ? 64 : page->capacity * 2;
    tureen_member *grown = realloc(page->members, capacity * sizeof *grown);
    if (grown == NULL) luaL_error(d->L, "not enough memory");
    page->members = grown;
    page->capacity = capacity;
  }
  tureen_member *added = &page->members[page->count++];
  memset(added, 0, sizeof *added);
  return added;
}

/* Moves behind the list or object at d->p; its inside is looked at when it is read. */
static int skip_container(tureen_decoder *d) {
  int depth = 0, is_escaped;
  for (; d->p < d->end; d->p++) {
    switch (*d->p) {
      case '"':
        if (!tureen_skip_string(d, &is_escaped)) return 0;
        break;
      case '{':
      case '[': depth++; break;
      case '}':
      case ']':
        if (--depth > 0) break;
        d->p++;
        return 1;
      default: break;
    }
  }
  return tureen_decoder_fail(d, "the text ends inside a value");
}

static int skip_value(tureen_decoder *d) {
  int is_escaped;
  tureen_skip_blanks(d);
  if (d->p >= d->end) return tureen_decoder_fail(d, "the text ends where a value should stand");
  if (*d->p == '{' || *d->p == '[') return skip_container(d);
  if (*d->p == '"') {
    if (!tureen_skip_string(d, &is_escaped)) return 0;
    d->p++;
    return 1;
  }
  const char *from = d->p;
  while (d->p < d->end && *d->p != ',' && *d->p != '}' && *d->p != ']' && (unsigned char)*d->p > 0x20) d->p++;
  return d->p > from || tureen_decoder_fail(d, "unexpected character");
}

/* Notes one member of the object that d->p is in, and moves behind it.                                  [-0, +0, m] */
static int index_member(tureen_decoder *d) {
  int is_escaped;
  tureen_skip_blanks(d);
  if (d->p >= d->end || *d->p != '"') return tureen_decoder_fail(d, "expected a key in quotes");
  const char *key = d->p + 1;
  if (!tureen_skip_string(d, &is_escaped)) return 0;
  uint32_t key_length = (uint32_t)(d->p - key);
  d->p++;
  tureen_skip_blanks(d);
  if (d->p >= d->end || *d->p != ':') return tureen_decoder_fail(d, "expected ':'");
  d->p++;
  tureen_skip_blanks(d);
  const char *value = d->p;
  if (!skip_value(d)) return 0;
  tureen_member *added = add_member(d);
  added->key = (uint32_t)(key - d->start);
  added->key_length = key_length;
  added->is_escaped = (uint8_t)is_escaped;
  added->value = (uint32_t)(value - d->start);
  added->value_length = (uint32_t)(d->p - value);
  return 1;
}

/* Notes the members of the object at d->p and moves behind it. They are the last of the page.           [-0, +0, m] */
int tureen_page_index(tureen_decoder *d) {
  d->p++;
  tureen_skip_blanks(d);
  if (d->p < d->end && *d->p == '}') {
    d->p++;
    return 1;
  }
  for (;;) {
    if (!index_member(d)) return 0;
    tureen_skip_blanks(d);
    if (d->p < d->end && *d->p == '}') break;
    if (d->p >= d->end || *d->p != ',') return tureen_decoder_fail(d, "expected ',' or '}'");
    d->p++;
  }
  d->p++;
  return 1;
}

/* Pushes a record; its page is at stack index `page_index`, the metatable at `metatable`.               [-0, +1, m] */
void tureen_page_push(lua_State *L, int page_index, int metatable, const tureen_record *value) {
  tureen_record *pushed = lua_newuserdatauv(L, sizeof *pushed, 1);
  *pushed = *value;
  lua_pushvalue(L, page_index);
  lua_setiuservalue(L, -2, 1);
  lua_pushvalue(L, metatable);
  lua_setmetatable(L, -2);
}

int tureen_decode_record(tureen_decoder *d) {
  tureen_record value = {.page = d->page, .start = (uint32_t)(d->p - d->start), .first = d->page->count};
  if (!tureen_page_index(d)) return 0;
  value.length = (uint32_t)(d->p - d->start) - value.start;
  value.count = d->page->count - value.first;
  tureen_page_push(d->L, d->page_index, d->record_mark, &value);
  return 1;
}

int tureen_json_decode_page(lua_State *L, tureen_bytes *text, tureen_json_error *error) {
  if (text->data == NULL || text->length >= UINT32_MAX)
    return tureen_json_decode(L, text->data ? text->data : "", text->length, error);
  luaL_checkstack(L, 8, NULL);
  tureen_page *page = lua_newuserdatauv(L, sizeof *page, 0);
  memset(page, 0, sizeof *page);
  luaL_setmetatable(L, page_type);
  tureen_decoder d = {.L = L, .start = text->data, .p = text->data, .end = text->data + text->length};
  d.error = error;
  d.page = page;
  d.page_index = lua_gettop(L);
  luaL_getmetatable(L, TUREEN_RECORD);
  d.record_mark = lua_gettop(L);
  int ok = tureen_decode_whole(&d);
  if (ok) {
    page->text = *text;
    text->data = NULL;
    text->length = 0;
  }
  lua_remove(L, d.record_mark);
  lua_remove(L, d.page_index);
  return ok;
}

void tureen_page_open(lua_State *L) {
  static const luaL_Reg methods[] = {{"__gc", page_gc}, {NULL, NULL}};
  if (luaL_newmetatable(L, page_type)) luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
}
