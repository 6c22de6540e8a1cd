/* Lazy records: userdata whose fields are parsed when they are read. Functions that create records have the metatable of records
 * as their first upvalue, which is faster than a look-up by name. */
#include <string.h>

#include "tureen_limits.h"
#include "tureen_page.h"

#define METATABLE lua_upvalueindex(1)

/* The number of members from which on searching a record counts as work. */
#define MANY 64

/* Returns the record at `index`; NULL if it is another value. */
static tureen_record *to_record(lua_State *L, int index) {
  tureen_record *r = lua_touserdata(L, index);
  if (r == NULL || lua_rawlen(L, index) != sizeof *r || r->mark != TUREEN_RECORD_MARK) return NULL;
  return r;
}

/* Returns the record at `index`; raises if it is another value, or if its page was freed first while the state closes. */
static tureen_record *check_record(lua_State *L, int index) {
  tureen_record *r = to_record(L, index);
  if (r == NULL) luaL_typeerror(L, index, TUREEN_RECORD);
  if (r->page->text.data == NULL) tureen_raise(L, "closed", "the record's page is gone");
  return r;
}

/* Returns a decoder for `length` bytes of the record's page.                                            [-0, +0, -] */
static tureen_decoder decoder_of(lua_State *L, const tureen_record *r, uint32_t start, uint32_t length,
                                 tureen_json_error *error) {
  const char *text = r->page->text.data;
  tureen_decoder d = {.L = L, .start = text, .p = text + start, .end = text + start + length};
  d.error = error;
  return d;
}

static int raise_broken(lua_State *L, const tureen_json_error *error) {
  return tureen_raise(L, "invalidJSON", "the record is not JSON: %s at offset %I", error->message,
                      (LUAI_UACINT)error->offset);
}

static int ends_here(tureen_decoder *d) {
  return d->p == d->end || tureen_decoder_fail(d, "something follows the value");
}

/* Returns 1 if the text of a record is UTF-8, which may not have been checked before. Otherwise d->p is at the invalid byte. */
static int check_text(const tureen_record *r, tureen_decoder *d) {
  size_t valid = r->is_checked ? r->length : tureen_utf8_prefix(d->p, r->length);
  if (valid == r->length) return 1;
  d->p += valid;
  return tureen_decoder_fail(d, "not valid UTF-8");
}

/* Returns the members of a record; NULL if its text is not an object.                                   [-0, +0, m] */
static const tureen_index *index_record(lua_State *L, tureen_record *r, tureen_json_error *error) {
  const tureen_index *known = tureen_page_find(r->page, r->start);
  if (known != NULL) return known;
  tureen_meter_bytes(L, r->length);
  tureen_decoder d = decoder_of(L, r, r->start, r->length, error);
  d.page = r->page;
  if (!check_text(r, &d)) return NULL;
  tureen_index *index = tureen_page_index(&d);
  if (index == NULL) return NULL;
  if (!ends_here(&d)) {
    index->start = 0;
    return NULL;
  }
  r->is_checked = 1;
  return index;
}

/* Returns the members of a record; raises if its text is not an object.                                 [-0, +0, e] */
static const tureen_index *want_index(lua_State *L, tureen_record *r) {
  tureen_json_error error = {"", 0};
  const tureen_index *index = index_record(L, r, &error);
  if (index == NULL) raise_broken(L, &error);
  return index;
}

/* Pushes a member's value: an object as a record, other values like tureen.json.decode. The record is at `self`, the metatable of
 * records at `metatable`.                                                                               [-0, +1, e] */
static void push_value(lua_State *L, int self, int metatable, tureen_record *r, tureen_member m) {
  const char first = r->page->text.data[m.value];
  if (first == '{') {
    lua_getiuservalue(L, self, 1);
    tureen_record inner = {TUREEN_RECORD_MARK, r->page, m.value, m.value_length, 1};
    tureen_page_push(L, lua_gettop(L), metatable, inner);
    lua_remove(L, -2);
    want_index(L, lua_touserdata(L, -1));
    return;
  }
  tureen_json_error error = {"", 0};
  tureen_decoder d = decoder_of(L, r, m.value, m.value_length, &error);
  if (first == '[') {
    luaL_getmetatable(L, TUREEN_ARRAY);
    d.array_mark = lua_gettop(L);
  }
  if (!tureen_decode_value(&d, 0)) raise_broken(L, &error);
  if (!ends_here(&d)) raise_broken(L, &error);
  if (first == '[') lua_remove(L, d.array_mark);
}

/* Pushes a member's key.                                                                                [-0, +1, e] */
static void push_key(lua_State *L, tureen_record *r, tureen_member m) {
  if (!m.is_escaped) {
    lua_pushlstring(L, r->page->text.data + m.key, m.key_length);
    return;
  }
  tureen_json_error error = {"", 0};
  tureen_decoder d = decoder_of(L, r, m.key - 1, m.key_length + 2, &error);
  if (!tureen_decode_string(&d)) raise_broken(L, &error);
}

/* Returns 1 if a member's key with escapes is equal to `key`.                                           [-0, +0, e] */
static int is_escaped_key(lua_State *L, tureen_record *r, tureen_member m, const char *key, size_t length) {
  size_t own_length;
  push_key(L, r, m);
  const char *own = lua_tolstring(L, -1, &own_length);
  int is_same = own_length == length && memcmp(own, key, length) == 0;
  lua_pop(L, 1);
  return is_same;
}

/* Returns the position of the last member with a key, as for a table, and sets *member; -1 if there is none.
 *                                                                                                       [-0, +0, e] */
static int64_t find_member(lua_State *L, tureen_record *r, const tureen_index *index, const char *key, size_t length,
                           tureen_member *member) {
  const char *text = r->page->text.data;
  if (index->count > MANY) tureen_meter_work(L, index->count / 4);
  for (uint32_t i = index->count; i-- > 0;) {
    const tureen_member *m = &index->members[i];
    if (!m->is_escaped) {
      if (m->key_length != length || memcmp(text + m->key, key, length) != 0) continue;
      *member = *m;
      return i;
    }
    *member = *m;
    if (is_escaped_key(L, r, *member, key, length)) return i;
    index = want_index(L, r); /* the index may have been replaced meanwhile */
  }
  return -1;
}

/* record[key]: the field, else the method of that name, else nil. Upvalues: metatable, methods.         [-2, +1, e] */
static int record_index(lua_State *L) {
  tureen_record *r = check_record(L, 1);
  if (lua_type(L, 2) != LUA_TSTRING) return 0;
  size_t length;
  const char *key = lua_tolstring(L, 2, &length);
  tureen_json_error error = {"", 0};
  const tureen_index *index = index_record(L, r, &error);
  tureen_member member;
  if (index != NULL && find_member(L, r, index, key, length, &member) >= 0) {
    push_value(L, 1, METATABLE, r, member);
    return 1;
  }
  lua_settop(L, 2);
  /* If the text is not an object, the methods still work, so that a script can inspect the text. */
  if (lua_rawget(L, lua_upvalueindex(2)) == LUA_TNIL && index == NULL) raise_broken(L, &error);
  return 1;
}

static int record_newindex(lua_State *L) {
  check_record(L, 1);
  return tureen_raise(L, "invalidArguments", "a lazy record cannot be changed; record:table() returns a table that can");
}

/* record:table() -> a new table with the whole record                                                   [-1, +1, e] */
static int record_table(lua_State *L) {
  tureen_record *r = check_record(L, 1);
  tureen_json_error error = {"", 0};
  tureen_decoder d = decoder_of(L, r, r->start, r->length, &error);
  lua_settop(L, 1);
  luaL_getmetatable(L, TUREEN_ARRAY);
  d.array_mark = 2;
  if (!check_text(r, &d) || !tureen_decode_value(&d, 0) || !ends_here(&d)) raise_broken(L, &error);
  return 1;
}

/* record:text() -> its JSON text                                                                        [-1, +1, e] */
static int record_text(lua_State *L) {
  tureen_record *r = check_record(L, 1);
  lua_pushlstring(L, r->page->text.data + r->start, r->length);
  return 1;
}

static int record_length(lua_State *L) {
  lua_pushinteger(L, want_index(L, check_record(L, 1))->count);
  return 1;
}

static int record_equal(lua_State *L) {
  tureen_record *a = to_record(L, 1), *b = to_record(L, 2);
  lua_pushboolean(L, a != NULL && b != NULL && a->page == b->page && a->start == b->start);
  return 1;
}

/* The iterator of pairs(record). Upvalues: metatable, the record, the number of visited members.     [-2, +1..2, e] */
static int next_member(lua_State *L) {
  tureen_record *r = check_record(L, lua_upvalueindex(2));
  lua_Integer passed = lua_tointeger(L, lua_upvalueindex(3));
  for (;;) {
    const tureen_index *index = want_index(L, r);
    if (passed >= (lua_Integer)index->count) break;
    tureen_member member = index->members[passed], last;
    size_t length;
    push_key(L, r, member);
    const char *key = lua_tolstring(L, -1, &length);
    int is_last_of_its_name = find_member(L, r, want_index(L, r), key, length, &last) == passed;
    passed++;
    if (is_last_of_its_name) {
      lua_pushinteger(L, passed);
      lua_replace(L, lua_upvalueindex(3));
      push_value(L, lua_upvalueindex(2), METATABLE, r, member);
      return 2;
    }
    lua_pop(L, 1);
  }
  lua_pushnil(L);
  return 1;
}

static int record_pairs(lua_State *L) {
  check_record(L, 1);
  lua_pushvalue(L, METATABLE);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, next_member, 3);
  return 1;
}

int tureen_is_record(lua_State *L, int index) { return to_record(L, index) != NULL; }

const char *tureen_record_text(lua_State *L, int index, size_t *length) {
  tureen_record *r = to_record(L, index);
  if (r == NULL || r->page->text.data == NULL) return NULL;
  want_index(L, r);
  *length = r->length;
  return r->page->text.data + r->start;
}

void tureen_records_open(lua_State *L) {
  static const luaL_Reg methods[] = {{"table", record_table}, {"text", record_text}, {NULL, NULL}};
  static const luaL_Reg operators[] = {{"__newindex", record_newindex}, {"__len", record_length},
                                       {"__eq", record_equal},          {"__pairs", record_pairs},
                                       {"__tostring", record_text},     {NULL, NULL}};
  tureen_page_open(L);
  if (luaL_newmetatable(L, TUREEN_RECORD)) {
    lua_pushvalue(L, -1);
    luaL_setfuncs(L, operators, 1);
    lua_pushvalue(L, -1);
    lua_newtable(L);
    lua_pushvalue(L, -3);
    luaL_setfuncs(L, methods, 1);
    lua_pushcclosure(L, record_index, 2);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
  }
  lua_pop(L, 1);
}
