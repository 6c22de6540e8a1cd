/* Guards: C functions that stand before the library's own, which is their upvalue 1. Those of coroutines are here, too. */
#include "tureen_limits.h"

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
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, name);
}

/* coroutine.create: what the new one leaves uncounted at its end is counted now. */
static int charged(lua_State *L) {
  tureen_meter_charge(L);
  return tureen_pass_on(L);
}

/* coroutine.close would run the pending `__close` of a coroutine that a limit has ended, where no hook interrupts it. */
static int guarded_close(lua_State *L) {
  tureen_meter_check(L);
  return tureen_pass_on(L);
}

/* What coroutine.wrap gives: resumes the coroutine in upvalue 1. Upvalues 2 and 3: coroutine.resume and close. */
static int wrapped(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_rotate(L, 1, 2);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  if (lua_toboolean(L, 1)) return lua_gettop(L) - 1;
  tureen_meter_check(L); /* an ended coroutine is not closed then, for the reason above */
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(3));
  lua_pushvalue(L, lua_upvalueindex(1));
  int is_dead = lua_status(lua_tothread(L, lua_upvalueindex(1))) > LUA_YIELD;
  if (is_dead) lua_call(L, 1, 2);
  lua_settop(L, 2);
  if (lua_type(L, 2) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, 2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* coroutine.wrap. Upvalues: coroutine.create, resume, close. */
static int guarded_wrap(lua_State *L) {
  tureen_meter_charge(L);
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushvalue(L, lua_upvalueindex(3));
  lua_pushcclosure(L, wrapped, 3);
  return 1;
}

void tureen_coroutines_guard(lua_State *L) {
  lua_getfield(L, -1, "create");
  lua_getfield(L, -2, "resume");
  lua_getfield(L, -3, "close");
  lua_pushcclosure(L, guarded_wrap, 3);
  lua_setfield(L, -2, "wrap");
  tureen_guard(L, "create", charged);
  tureen_guard(L, "close", guarded_close);
}
