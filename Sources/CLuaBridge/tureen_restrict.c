/* The environment of scripts with limits: without functions that bypass them, and for restricted scripts without files, processes
 * and loaders. */
#include <lua5.4/lualib.h>
#include <string.h>

#include "tureen_bridge_internal.h"
#include "tureen_coroutines.h"
#include "tureen_guards.h"
#include "tureen_restrict.h"

/* setmetatable, which refuses finalizers, because no hook can interrupt them. */
static int guarded_setmetatable(lua_State *L) {
  if (lua_istable(L, 2)) {
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, 2) != LUA_TNIL)
      return luaL_error(L, "setmetatable: a script with limits can have no '__gc': use '__close'");
    lua_pop(L, 1);
  }
  return tureen_pass_on(L);
}

/* A guard for library functions that walk their first argument if it is a string. */
static int guarded_walk(lua_State *L) {
  if (lua_type(L, 1) == LUA_TSTRING) tureen_meter_bytes(L, lua_rawlen(L, 1));
  return tureen_pass_on(L);
}

/* Returns a position in a string of that length; negative positions count from the end. */
static lua_Integer position_of(lua_State *L, int argument, lua_Integer otherwise, lua_Integer length) {
  int is_integer;
  lua_Integer position = lua_tointegerx(L, argument, &is_integer);
  if (!is_integer) position = otherwise;
  if (position >= 0) return position > length ? length : position;
  return position < -length ? 0 : length + 1 + position;
}

/* A guard for functions that walk the bytes of a string between two positions. Upvalue 2: the default of the second position; 0:
 * the first one. */
static int guarded_range(lua_State *L) {
  if (lua_type(L, 1) == LUA_TSTRING) {
    lua_Integer length = (lua_Integer)lua_rawlen(L, 1), first = position_of(L, 2, 1, length);
    lua_Integer otherwise = lua_tointeger(L, lua_upvalueindex(2));
    lua_Integer last = position_of(L, 3, otherwise == 0 ? first : otherwise, length);
    if (last > first) tureen_meter_work(L, (uint64_t)(last - first) / 4);
  }
  return tureen_pass_on(L);
}

/* A guard for utf8.offset, which walks as many characters as requested. */
static int guarded_offset(lua_State *L) {
  lua_Integer count = lua_tointeger(L, 2);
  size_t length = lua_type(L, 1) == LUA_TSTRING ? lua_rawlen(L, 1) : 0;
  lua_Unsigned steps = count < 0 ? 0 - (lua_Unsigned)count : (lua_Unsigned)count;
  tureen_meter_work(L, (steps < length ? steps : length) / 4);
  return tureen_pass_on(L);
}

/* A guard for collectgarbage, which walks the whole memory unless it only returns a number. */
static int guarded_collect(lua_State *L) {
  const tureen_meter *meter = tureen_meter_of(L);
  const char *what = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : "collect";
  int walks = strcmp(what, "collect") == 0 || strcmp(what, "step") == 0 || strcmp(what, "generational") == 0 ||
              strcmp(what, "incremental") == 0;
  if (meter != NULL && walks) tureen_meter_bytes(L, (size_t)meter->used_bytes);
  return tureen_pass_on(L);
}

static int missing(lua_State *L) {
  return luaL_error(L, "%s is not available to a script with limits", lua_tostring(L, lua_upvalueindex(1)));
}

/* require for Tureen's own modules; there is no `package`. */
static int own_require(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  lua_settop(L, 1);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, 2, name) != LUA_TNIL) return 1;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  if (lua_getfield(L, -1, name) == LUA_TNIL)
    return luaL_error(L, "module '%s' is not available: a restricted script can load tureen's own modules (--restricted)",
                      name);
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, 2, name);
  return 1;
}

static void take_away(lua_State *L, const char *table, const char *name) {
  if (lua_getglobal(L, table) == LUA_TTABLE) {
    lua_pushfstring(L, "%s.%s", table, name);
    lua_pushcclosure(L, missing, 1);
    lua_setfield(L, -2, name);
  }
  lua_pop(L, 1);
}

/* Hides a metatable that values of the bridge share: a script could add `__gc` to all of them. */
static void hide_metatable(lua_State *L, const char *name) {
  luaL_getmetatable(L, name);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
}

void tureen_restrict_libraries(lua_State *L) {
  static const luaL_Reg libraries[] = {{LUA_GNAME, luaopen_base},          {LUA_COLIBNAME, luaopen_coroutine},
                                       {LUA_TABLIBNAME, luaopen_table},    {LUA_STRLIBNAME, luaopen_string},
                                       {LUA_MATHLIBNAME, luaopen_math},    {LUA_UTF8LIBNAME, luaopen_utf8},
                                       {LUA_OSLIBNAME, luaopen_os},        {NULL, NULL}};
  static const char *const of_os[] = {"clock", "date", "difftime", "time", NULL};
  static const char *const not_base[] = {"dofile", "loadfile", NULL};
  for (const luaL_Reg *library = libraries; library->func != NULL; library++) {
    luaL_requiref(L, library->name, library->func, 1);
    lua_pop(L, 1);
  }
  lua_pushglobaltable(L);
  for (int i = 0; not_base[i] != NULL; i++) {
    lua_pushnil(L);
    lua_setfield(L, -2, not_base[i]);
  }
  lua_pushcfunction(L, own_require);
  lua_setfield(L, -2, "require");
  lua_getfield(L, -1, LUA_STRLIBNAME);
  lua_pushnil(L);
  lua_setfield(L, -2, "dump");
  lua_pop(L, 1);
  lua_newtable(L); /* a new `os`, so that functions of later Lua versions stay out */
  for (int i = 0; of_os[i] != NULL; i++) {
    lua_getfield(L, -2, LUA_OSLIBNAME);
    lua_getfield(L, -1, of_os[i]);
    lua_setfield(L, -3, of_os[i]);
    lua_pop(L, 1);
  }
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, LUA_OSLIBNAME);
  lua_pop(L, 1);
  lua_setfield(L, -2, LUA_OSLIBNAME);
  lua_pop(L, 1);
}

/* Puts a guard before a function that walks a range; `last` is upvalue 2 of guarded_range.              [-0, +0, e] */
static void guard_range(lua_State *L, const char *name, lua_Integer last) {
  lua_getfield(L, -1, name);
  lua_pushinteger(L, last);
  lua_pushcclosure(L, guarded_range, 2);
  lua_setfield(L, -2, name);
}

static void guard_walks(lua_State *L, const char *const *names) {
  for (; *names != NULL; names++) tureen_guard(L, *names, guarded_walk);
}

static void restrict_strings(lua_State *L) {
  static const char *const walk[] = {"format", "lower", "pack", "packsize", "reverse", "unpack", "upper", NULL};
  lua_getglobal(L, LUA_STRLIBNAME);
  tureen_strings_open(L);
  guard_walks(L, walk);
  guard_range(L, "byte", 0);
  lua_getglobal(L, LUA_UTF8LIBNAME);
  guard_range(L, "codepoint", 0);
  guard_range(L, "len", -1);
  tureen_guard(L, "offset", guarded_offset);
  lua_pop(L, 2);
}

void tureen_restrict_loops(lua_State *L) {
  static const char *const of_base[] = {"tonumber", NULL}, *const of_os[] = {"date", NULL};
  lua_pushglobaltable(L);
  tureen_protected_calls_open(L);
  tureen_load_open(L);
  tureen_guard(L, "collectgarbage", guarded_collect);
  guard_walks(L, of_base);
  lua_getfield(L, -1, LUA_TABLIBNAME);
  tureen_tables_open(L);
  lua_getfield(L, -2, LUA_COLIBNAME);
  tureen_coroutines_open(L);
  lua_getfield(L, -3, LUA_OSLIBNAME);
  guard_walks(L, of_os);
  lua_pop(L, 4);
  restrict_strings(L);
}

void tureen_restrict_escapes(lua_State *L) {
  lua_pushglobaltable(L);
  tureen_guard(L, "setmetatable", guarded_setmetatable);
  lua_pop(L, 1);
  take_away(L, "debug", "sethook");
  take_away(L, "debug", "setmetatable");
  hide_metatable(L, TUREEN_ARRAY);
  hide_metatable(L, TUREEN_ERROR_TYPE);
}
