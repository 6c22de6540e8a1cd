/* string.find, match, gmatch and gsub for scripts with limits: like Lua's, but a long match can be ended. */
#define _GNU_SOURCE /* memmem */
#include <string.h>

#include "tureen_guards.h"
#include "tureen_pattern.h"

/* Pushes capture `number`, starting with 0; 0 is the whole match if the pattern has no captures.        [-0, +1, e] */
static void push_capture(tureen_matcher *m, int number, const char *start, const char *end) {
  if (number >= m->count) {
    if (number > 0) luaL_error(m->L, "invalid capture index %%%d", number + 1);
    lua_pushlstring(m->L, start, (size_t)(end - start));
    return;
  }
  const tureen_capture *capture = &m->captures[number];
  if (capture->length == TUREEN_CAPTURE_OPEN) luaL_error(m->L, "unfinished capture");
  if (capture->length == TUREEN_CAPTURE_POSITION) lua_pushinteger(m->L, capture->start - m->subject + 1);
  else lua_pushlstring(m->L, capture->start, (size_t)capture->length);
}

/* Pushes all captures and returns their number; the whole match if there are none and `wants_whole`.    [-0, +n, e] */
static int push_captures(tureen_matcher *m, const char *start, const char *end, int wants_whole) {
  int count = m->count == 0 && wants_whole ? 1 : m->count;
  luaL_checkstack(m->L, count, "too many captures");
  for (int i = 0; i < count; i++) push_capture(m, i, start, end);
  return count;
}

/* Returns the offset of a position; negative ones count from the end, and length + 1 if it is beyond the end. */
static size_t offset_of(lua_Integer position, size_t length) {
  if (position > 0) return (lua_Unsigned)position - 1 > length ? length + 1 : (size_t)position - 1;
  if (position == 0 || position < -(lua_Integer)length) return 0;
  return length - (size_t)-position;
}

/* Compiles the pattern at 2 for the subject at 1, and pushes its items.                                 [-0, +1, e] */
static tureen_matcher begin(lua_State *L, int may_anchor, int *is_anchored) {
  size_t length, pattern_length;
  tureen_matcher m = {.L = L};
  m.subject = luaL_checklstring(L, 1, &length);
  m.end = m.subject + length;
  const char *pattern = luaL_checklstring(L, 2, &pattern_length);
  *is_anchored = may_anchor && pattern_length > 0 && *pattern == '^';
  m.items = tureen_pattern_compile(L, pattern + *is_anchored, pattern_length - (size_t)*is_anchored);
  return m;
}

/* Plain find: searches the bytes themselves.                                                          [-0, +1..2, e] */
static int find_plain(lua_State *L, const char *subject, size_t length, size_t from) {
  size_t sought_length;
  const char *sought = lua_tolstring(L, 2, &sought_length);
  const char *found = sought_length == 0 ? subject + from : memmem(subject + from, length - from, sought, sought_length);
  tureen_meter_bytes(L, (found == NULL ? length - from : (size_t)(found - subject) - from) + sought_length);
  if (found == NULL) {
    lua_pushnil(L);
    return 1;
  }
  lua_pushinteger(L, found - subject + 1);
  lua_pushinteger(L, found - subject + (lua_Integer)sought_length);
  return 2;
}

static int find_or_match(lua_State *L, int is_find) {
  size_t length;
  const char *subject = luaL_checklstring(L, 1, &length);
  size_t pattern_length;
  const char *pattern = luaL_checklstring(L, 2, &pattern_length);
  size_t from = offset_of(luaL_optinteger(L, 3, 1), length);
  int is_plain = is_find && (lua_toboolean(L, 4) || pattern_length == 0 ||
                             strcspn(pattern, "^$*+?.([%-") == pattern_length);
  if (from > length) {
    lua_pushnil(L);
    return 1;
  }
  if (is_plain) return find_plain(L, subject, length, from);
  int is_anchored;
  tureen_matcher m = begin(L, 1, &is_anchored);
  for (const char *start = m.subject + from; start <= m.end; start++) {
    const char *end = tureen_pattern_match(&m, start);
    if (end == NULL && is_anchored) break;
    if (end == NULL) continue;
    if (!is_find) return push_captures(&m, start, end, 1);
    lua_pushinteger(L, start - m.subject + 1);
    lua_pushinteger(L, end - m.subject);
    return push_captures(&m, start, end, 0) + 2;
  }
  lua_pushnil(L);
  return 1;
}

static int strings_find(lua_State *L) { return find_or_match(L, 1); }
static int strings_match(lua_State *L) { return find_or_match(L, 0); }

/* The iterator of gmatch. Upvalues: subject, pattern, items, the next position, the end of the last match (from 0; -1: none). */
static int next_match(lua_State *L) {
  size_t length;
  tureen_matcher m = {.L = L, .items = lua_touserdata(L, lua_upvalueindex(3))};
  m.subject = lua_tolstring(L, lua_upvalueindex(1), &length);
  m.end = m.subject + length;
  lua_Integer from = lua_tointeger(L, lua_upvalueindex(4)), last = lua_tointeger(L, lua_upvalueindex(5));
  for (; from <= (lua_Integer)length; from++) {
    const char *end = tureen_pattern_match(&m, m.subject + from);
    if (end == NULL || end - m.subject == last) continue;
    lua_pushinteger(L, end - m.subject);
    lua_pushvalue(L, -1);
    lua_replace(L, lua_upvalueindex(4));
    lua_replace(L, lua_upvalueindex(5));
    return push_captures(&m, m.subject + from, end, 1);
  }
  lua_pushinteger(L, from);
  lua_replace(L, lua_upvalueindex(4));
  return 0;
}

static int strings_gmatch(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  luaL_checkstring(L, 2);
  size_t from = offset_of(luaL_optinteger(L, 3, 1), length);
  lua_settop(L, 2);
  int is_anchored;
  begin(L, 0, &is_anchored);
  lua_pushinteger(L, (lua_Integer)from);
  lua_pushinteger(L, -1);
  lua_pushcclosure(L, next_match, 5);
  return 1;
}

/* Adds the replacement text with %0 to %9 replaced.                                                     [-0, +0, e] */
static void add_text(tureen_matcher *m, luaL_Buffer *out, const char *start, const char *end) {
  size_t length;
  const char *text = lua_tolstring(m->L, 3, &length), *text_end = text + length;
  for (const char *escape; (escape = memchr(text, '%', (size_t)(text_end - text))) != NULL; text = escape + 2) {
    tureen_meter_work(m->L, 1);
    luaL_addlstring(out, text, (size_t)(escape - text));
    char what = escape + 1 < text_end ? escape[1] : 0;
    if (what == '%') luaL_addchar(out, '%');
    else if (what == '0') luaL_addlstring(out, start, (size_t)(end - start));
    else if (what >= '1' && what <= '9') {
      push_capture(m, what - '1', start, end);
      luaL_tolstring(m->L, -1, NULL); /* a position is a number */
      lua_remove(m->L, -2);
      luaL_addvalue(out);
    } else {
      luaL_error(m->L, "invalid use of '%%' in replacement string");
    }
  }
  luaL_addlstring(out, text, (size_t)(text_end - text));
}

/* Adds the replacement from the table or function at 3, or the match itself.                            [-0, +0, e] */
static void add_value(tureen_matcher *m, luaL_Buffer *out, const char *start, const char *end) {
  lua_State *L = m->L;
  if (lua_istable(L, 3)) {
    push_capture(m, 0, start, end);
    lua_gettable(L, 3);
  } else {
    lua_pushvalue(L, 3);
    lua_call(L, push_captures(m, start, end, 1), 1);
  }
  if (!lua_toboolean(L, -1)) {
    lua_pop(L, 1);
    luaL_addlstring(out, start, (size_t)(end - start));
  } else if (!lua_isstring(L, -1)) {
    luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
  } else {
    luaL_addvalue(out);
  }
}

static int strings_gsub(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  luaL_checkstring(L, 2);
  int type = lua_type(L, 3);
  luaL_argexpected(L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                   "string/function/table");
  lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)length + 1), count = 0;
  if (type == LUA_TNUMBER) lua_tolstring(L, 3, NULL);
  int is_anchored;
  tureen_matcher m = begin(L, 1, &is_anchored);
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  const char *start = m.subject, *last = NULL;
  while (count < most) {
    const char *end = tureen_pattern_match(&m, start);
    if (end != NULL && end != last) {
      count++;
      if (type == LUA_TSTRING || type == LUA_TNUMBER) add_text(&m, &out, start, end);
      else add_value(&m, &out, start, end);
      start = last = end;
    } else if (start < m.end) {
      luaL_addchar(&out, *start++);
    } else {
      break;
    }
    if (is_anchored) break;
  }
  luaL_addlstring(&out, start, (size_t)(m.end - start));
  luaL_pushresult(&out);
  lua_pushinteger(L, count);
  return 2;
}

/* string.rep, because the library's function loops for each repetition, even of an empty string. */
static int guarded_rep(lua_State *L) {
  size_t length, separator = 0;
  luaL_checklstring(L, 1, &length);
  if (!lua_isnoneornil(L, 3)) luaL_checklstring(L, 3, &separator);
  if (length + separator > 0) {
    lua_Integer times = luaL_checkinteger(L, 2);
    if (times > 0 && (lua_Unsigned)times < (lua_Unsigned)1 << 40) tureen_meter_work(L, (uint64_t)times / 4);
    return tureen_pass_on(L);
  }
  luaL_checkinteger(L, 2);
  lua_pushliteral(L, "");
  return 1;
}

void tureen_strings_open(lua_State *L) {
  static const luaL_Reg functions[] = {{"find", strings_find},
                                       {"match", strings_match},
                                       {"gmatch", strings_gmatch},
                                       {"gsub", strings_gsub},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
  tureen_guard(L, "rep", guarded_rep);
}
