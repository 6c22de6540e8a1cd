/* The environment of scripts with limits: without what could go around them, and on demand without files, processes and
 * loaders. */
#include <lua5.4/lualib.h>

#include "tureen_bridge_internal.h"
#include "tureen_limits.h"
#include "tureen_pattern.h"

/* Elements that a library function may walk in one go: a few tenths of a second. */
#define LONGEST_WALK (1 << 24)

/* A finalizer runs where no hook can interrupt it. */
static int guarded_setmetatable(lua_State *L) {
  if (lua_istable(L, 2)) {
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, 2) != LUA_TNIL)
      return luaL_error(L, "setmetatable: a script with limits can have no '__gc': use '__close'");
    lua_pop(L, 1);
  }
  return tureen_pass_on(L);
}

/* The library's own loops once for each repetition, also when there is nothing to repeat. */
static int guarded_rep(lua_State *L) {
  size_t length, separator = 0;
  luaL_checklstring(L, 1, &length);
  if (!lua_isnoneornil(L, 3)) luaL_checklstring(L, 3, &separator);
  if (length + separator > 0) return tureen_pass_on(L);
  luaL_checkinteger(L, 2);
  lua_pushliteral(L, "");
  return 1;
}

static int guarded_move(lua_State *L) {
  lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3);
  if (last >= first && (lua_Unsigned)last - (lua_Unsigned)first >= LONGEST_WALK)
    return luaL_error(L, "move: a script with limits can move %d elements at once", LONGEST_WALK);
  return tureen_pass_on(L);
}

/* Orders as `<` does, counted: what table.sort calls where the script gives it no function. Upvalue 1: the count. */
static int counted_less(lua_State *L) {
  int steps = (int)lua_tointeger(L, lua_upvalueindex(1));
  tureen_pattern_step(L, &steps, 1);
  lua_pushinteger(L, steps);
  lua_replace(L, lua_upvalueindex(1));
  lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPLT));
  return 1;
}

static int guarded_sort(lua_State *L) {
  if (lua_istable(L, 1) && lua_isnoneornil(L, 2)) {
    lua_settop(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, counted_less, 1);
  }
  return tureen_pass_on(L);
}

/* For insert and remove: a `__len` can say anything. */
static int guarded_length(lua_State *L) {
  if (lua_istable(L, 1) && luaL_len(L, 1) > LONGEST_WALK)
    return luaL_error(L, "a table of a script with limits can have %d elements here", LONGEST_WALK);
  return tureen_pass_on(L);
}

/* A script's message handler; it is left out once a limit is reached. Lua calls it from within the hook that raises, where no
 * hook interrupts it. */
static int message_handler(lua_State *L) {
  const tureen_meter *meter = tureen_meter_of(L);
  if (meter == NULL || meter->reached == TUREEN_LIMIT_NONE) return tureen_pass_on(L);
  lua_settop(L, 1);
  return 1;
}

static int guarded_xpcall(lua_State *L) {
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, message_handler, 1);
  lua_replace(L, 2);
  return tureen_pass_on(L);
}

/* load that takes text only: a binary chunk can do what no Lua text can. */
static int guarded_load(lua_State *L) {
  if (lua_gettop(L) < 3) lua_settop(L, 3);
  lua_pushliteral(L, "t");
  lua_replace(L, 3);
  return tureen_pass_on(L);
}

static int missing(lua_State *L) {
  return luaL_error(L, "%s is not available to a script with limits", lua_tostring(L, lua_upvalueindex(1)));
}

/* require for tureen's own modules; `package` is not there. */
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

/* Hides a metatable that values made by the bridge share: with a `__gc` set there every one of them would get it. */
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
  tureen_guard(L, "load", guarded_load);
  lua_pushcfunction(L, own_require);
  lua_setfield(L, -2, "require");
  lua_getfield(L, -1, LUA_STRLIBNAME);
  lua_pushnil(L);
  lua_setfield(L, -2, "dump");
  lua_pop(L, 1);
  lua_newtable(L); /* `os` anew: what Lua may add to it some day stays out */
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

void tureen_restrict_escapes(lua_State *L) {
  lua_pushglobaltable(L);
  tureen_guard(L, "setmetatable", guarded_setmetatable);
  lua_getfield(L, -1, LUA_STRLIBNAME);
  tureen_guard(L, "rep", guarded_rep);
  tureen_strings_open(L);
  lua_pop(L, 1);
  lua_getfield(L, -1, LUA_TABLIBNAME);
  tureen_guard(L, "move", guarded_move);
  tureen_guard(L, "insert", guarded_length);
  tureen_guard(L, "remove", guarded_length);
  tureen_guard(L, "sort", guarded_sort);
  lua_pop(L, 1);
  lua_getfield(L, -1, LUA_COLIBNAME);
  tureen_coroutines_guard(L);
  lua_pop(L, 1);
  tureen_guard(L, "xpcall", guarded_xpcall);
  lua_pop(L, 1);
  take_away(L, "debug", "sethook");
  take_away(L, "debug", "setmetatable");
  hide_metatable(L, TUREEN_ARRAY);
  hide_metatable(L, TUREEN_ERROR_TYPE);
}
