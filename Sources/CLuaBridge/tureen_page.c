/* Finds the members of a page's records. */
#include "tureen_page.h"
#include "tureen_scan.h"

#include <stdlib.h>
#include <string.h>

static const char page_type[] = "tureen.page";

static int page_gc(lua_State *L) {
  tureen_page *page = luaL_checkudata(L, 1, page_type);
  free(page->text.data);
  for (int i = 0; i < TUREEN_PAGE_INDEXES; i++) free(page->indexes[i].members);
  memset(page, 0, sizeof *page);
  return 0;
}

/* Appends an empty member.                                                                              [-0, +0, m] */
static tureen_member *add_member(tureen_decoder *d, tureen_index *index) {
  if (index->count == index->capacity) {
    if (index->capacity > UINT32_MAX / 2) luaL_error(d->L, "not enough memory");
    uint32_t capacity = index->capacity == 0 ? 64 : index->capacity * 2;
    tureen_member *grown = realloc(index->members, capacity * sizeof *grown);
    if (grown == NULL) luaL_error(d->L, "not enough memory");
    index->members = grown;
    index->capacity = capacity;
  }
  return &index->members[index->count++];
}

/* Moves past the list or object at d->p without parsing it. */
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

/* Moves past the value at d->p, which is not a string. */
static int skip_value(tureen_decoder *d) {
  if (d->p >= d->end) return tureen_decoder_fail(d, "the text ends where a value should stand");
  if (*d->p == '{' || *d->p == '[') return skip_container(d);
  const char *from = d->p;
  tureen_skip_scalar(d);
  return d->p > from || tureen_decoder_fail(d, "unexpected character");
}

static int fail_at(tureen_decoder *d, const char *p, const char *message) {
  d->p = p;
  return tureen_decoder_fail(d, message);
}

/* Moves from a string's opening quote at `p` past its closing one. Returns NULL after `tureen_decoder_fail`. */
static const char *skip_text(tureen_decoder *d, const char *p, int *is_escaped) {
  const char *close = tureen_find_special(p + 1, d->end);
  if (close < d->end && *close == '"') { /* nearly always */
    *is_escaped = 0;
    return close + 1;
  }
  d->p = p;
  return tureen_skip_string(d, is_escaped) ? d->p + 1 : NULL;
}

static const char *skip_gap(tureen_decoder *d, const char *p) {
  if (p < d->end && (unsigned char)*p > ' ') return p; /* nearly always */
  d->p = p;
  tureen_skip_blanks(d);
  return d->p;
}

/* Adds the member at d->p to the index and moves past it. The position is in a local variable, and so in a register, until the
 * end: this is the hot path of reading every record.                                                     [-0, +0, m] */
static int index_member(tureen_decoder *d, tureen_index *index) {
  int is_escaped, is_value_escaped;
  const char *p = skip_gap(d, d->p);
  if (p >= d->end || *p != '"') return fail_at(d, p, "expected a key in quotes");
  const char *key = p + 1;
  p = skip_text(d, p, &is_escaped);
  if (p == NULL) return 0;
  const char *key_end = p - 1;
  p = skip_gap(d, p);
  if (p >= d->end || *p != ':') return fail_at(d, p, "expected ':'");
  const char *value = skip_gap(d, p + 1);
  if (value < d->end && *value == '"') {
    p = skip_text(d, value, &is_value_escaped);
    if (p == NULL) return 0;
    d->p = p;
  } else {
    d->p = value;
    if (!skip_value(d)) return 0;
  }
  tureen_member *added = add_member(d, index);
  added->key = (uint32_t)(key - d->start);
  added->key_length = (uint32_t)(key_end - key);
  added->is_escaped = (uint32_t)is_escaped;
  added->value = (uint32_t)(value - d->start);
  added->value_length = (uint32_t)(d->p - value);
  return 1;
}

static int index_members(tureen_decoder *d, tureen_index *index) {
  d->p++;
  if (tureen_is_empty(d, '}')) return 1;
  int more = 1;
  while (more > 0) {
    if (!index_member(d, index)) return 0;
    more = tureen_has_next(d, '}');
  }
  return more == 0;
}

tureen_index *tureen_page_index(tureen_decoder *d) {
  tureen_page *page = d->page;
  tureen_index *index = &page->indexes[page->next];
  page->next = (page->next + 1) % TUREEN_PAGE_INDEXES;
  uint32_t start = (uint32_t)(d->p - d->start);
  index->start = 0; /* unused until the index is complete */
  index->count = 0;
  if (!index_members(d, index)) return NULL;
  index->start = start;
  return index;
}

const tureen_index *tureen_page_find(const tureen_page *page, uint32_t start) {
  for (int i = 0; i < TUREEN_PAGE_INDEXES; i++)
    if (page->indexes[i].start == start) return &page->indexes[i];
  return NULL;
}

void tureen_page_push(lua_State *L, int page_index, int metatable, tureen_record record) {
  tureen_record *pushed = lua_newuserdatauv(L, sizeof *pushed, 1);
  *pushed = record;
  lua_pushvalue(L, page_index);
  lua_setiuservalue(L, -2, 1);
  lua_pushvalue(L, metatable);
  lua_setmetatable(L, -2);
}

/* Pushes the object that begins at `from` as a record.                                                  [-0, +1, m] */
static void push_object(tureen_decoder *d, const char *from, size_t length, int is_checked) {
  tureen_record record = {TUREEN_RECORD_MARK, d->page, (uint32_t)(from - d->start), (uint32_t)length, is_checked};
  tureen_page_push(d->L, d->page_index, d->record_mark, record);
}

/* Pushes the object at d->p as a record of d->page and moves past it.                                [-0, +0..1, m] */
static int read_record(tureen_decoder *d) {
  const char *from = d->p;
  if (tureen_page_index(d) == NULL) return 0;
  push_object(d, from, (size_t)(d->p - from), 1);
  return 1;
}

/* Reads the next number in d->lengths. Returns 0 if there is none. */
static size_t next_length(tureen_decoder *d) {
  size_t length = 0;
  while (d->lengths < d->end && *d->lengths >= '0' && *d->lengths <= '9')
    length = length * 10 + (size_t)(*d->lengths++ - '0');
  if (d->lengths < d->end && *d->lengths == ',') d->lengths++;
  return length;
}

/* Pushes an entry of `length` bytes as a record without parsing it; other values than objects are parsed. [-0, +0..1, m] */
static int decode_entry(tureen_decoder *d, size_t length) {
  if (length > (size_t)(d->end - d->p)) return tureen_decoder_fail(d, "the text ends inside an entry");
  if (*d->p == '{') {
    push_object(d, d->p, length, 0);
    d->p += length;
    return 1;
  }
  const char *end = d->p + length;
  return tureen_decode_value(d, 1) && (d->p == end || tureen_decoder_fail(d, "an entry does not have its stated length"));
}

static int read_entries(tureen_decoder *d) {
  lua_State *L = d->L;
  if (d->p >= d->end || *d->p != '[') return tureen_decoder_fail(d, "expected a list of entries");
  lua_newtable(L);
  lua_pushvalue(L, d->array_mark);
  lua_setmetatable(L, -2);
  size_t length;
  for (lua_Integer i = 1; (length = next_length(d)) > 0; i++) {
    d->p++; /* the bracket, or the comma after the previous entry */
    if (!decode_entry(d, length)) return 0;
    lua_rawseti(L, -2, i);
    if (d->p >= d->end || (*d->p != ',' && *d->p != ']')) return tureen_decoder_fail(d, "expected ',' or ']'");
  }
  if (d->p >= d->end || *d->p != ']') return tureen_decoder_fail(d, "there are more entries than lengths");
  d->p++;
  return 1;
}

/* Returns the text after the bracket of `entryLengths` if the page ends with it; else NULL. The store adds it for entries that
 * were not checked: they are stored text, which may contain anything. */
static const char *find_lengths(const tureen_bytes *text) {
  static const char name[] = ",\"entryLengths\":[";
  const size_t length = sizeof name - 1;
  if (text->length < length + 2 || memcmp(text->data + text->length - 2, "]}", 2) != 0) return NULL;
  const char *p = text->data + text->length - 2;
  while (p > text->data && ((p[-1] >= '0' && p[-1] <= '9') || p[-1] == ',')) p--;
  return (size_t)(p - text->data) > length && memcmp(p - length, name, length) == 0 ? p : NULL;
}

static const tureen_record_reader records = {read_record, read_entries};

int tureen_json_decode_page(lua_State *L, tureen_bytes *text, tureen_json_error *error) {
  if (text->data == NULL || text->length >= UINT32_MAX)
    return tureen_json_decode_answer(L, text->data ? text->data : "", text->length, error);
  luaL_checkstack(L, 8, NULL);
  tureen_page *page = lua_newuserdatauv(L, sizeof *page, 0);
  memset(page, 0, sizeof *page);
  luaL_setmetatable(L, page_type);
  tureen_decoder d = {.L = L, .start = text->data, .p = text->data, .end = text->data + text->length};
  d.error = error;
  d.page = page;
  d.around = TUREEN_JSON_AROUND;
  d.records = &records;
  d.lengths = find_lengths(text);
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
