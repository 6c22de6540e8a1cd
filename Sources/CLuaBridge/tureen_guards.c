/* Guards: C functions that run before a library function, which is their upvalue 1. Also the functions that catch errors. */
#include "tureen_guards.h"

static int passed_on(lua_State *L, int status, lua_KContext context) {
  (void)status;
  (void)context;
  return lua_gettop(L);
}

int tureen_pass_on(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, passed_on);
  return lua_gettop(L);
}

void tureen_guard(lua_State *L, const char *name, lua_CFunction function) {
  if (lua_getfield(L, -1, name) != LUA_TFUNCTION) {
    lua_pop(L, 1);
    return;
  }
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, name);
}

/* Continues after a protected call: returns its results, or false and the error. `refusals` is the meter's count before it.
 *                                                                                                        [-0, +0, v] */
static int protected_results(lua_State *L, int status, lua_KContext refusals, int below) {
  if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - below;
  tureen_meter_caught(L, (uint64_t)refusals);
  lua_pushboolean(L, 0);
  lua_insert(L, -2);
  return 2;
}

static int pcall_ended(lua_State *L, int status, lua_KContext refusals) {
  return protected_results(L, status, refusals, 0);
}

/* pcall. At 1: true, followed by the function's results. */
static int guarded_pcall(lua_State *L) {
  luaL_checkany(L, 1);
  lua_KContext refusals = (lua_KContext)tureen_meter_refusals(L);
  lua_pushboolean(L, 1);
  lua_insert(L, 1);
  return pcall_ended(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, refusals, pcall_ended), refusals);
}

/* Calls the script's message handler, upvalue 1, unless a limit was reached: Lua calls it inside the raising hook, where no hook
 * interrupts it. Upvalue 2: the refusals before the call. */
static int message_handler(lua_State *L) {
  const tureen_meter *meter = tureen_meter_of(L);
  lua_settop(L, 1);
  tureen_meter_note_error(L, (uint64_t)lua_tointeger(L, lua_upvalueindex(2)));
  if (meter == NULL || meter->reached == TUREEN_LIMIT_NONE) return tureen_pass_on(L);
  return 1;
}

static int xpcall_ended(lua_State *L, int status, lua_KContext refusals) {
  return protected_results(L, status, refusals, 1);
}

/* xpcall. At 1: the handler, at 2: true, followed by the function's results. */
static int guarded_xpcall(lua_State *L) {
  luaL_checktype(L, 2, LUA_TFUNCTION);
  int count = lua_gettop(L) - 2;
  lua_KContext refusals = (lua_KContext)tureen_meter_refusals(L);
  lua_pushvalue(L, 2);
  lua_pushinteger(L, (lua_Integer)refusals);
  lua_pushcclosure(L, message_handler, 2);
  lua_pushboolean(L, 1);
  lua_pushvalue(L, 1);
  lua_rotate(L, 3, 3); /* function, handler, guarded handler, true, function, arguments */
  lua_remove(L, 1);
  lua_remove(L, 1);
  return xpcall_ended(L, lua_pcallk(L, count, LUA_MULTRET, 1, refusals, xpcall_ended), refusals);
}

void tureen_protected_calls_open(lua_State *L) {
  lua_pushcfunction(L, guarded_pcall);
  lua_setfield(L, -2, "pcall");
  lua_pushcfunction(L, guarded_xpcall);
  lua_setfield(L, -2, "xpcall");
}
