/* coroutine.create, resume, wrap and close for states with limits or that can be interrupted: they record the running coroutine,
 * count what a new one may leave uncounted, and do not resume any once a limit is reached. */
#include "tureen_coroutines.h"

#include "tureen_guards.h"
#include "tureen_hook.h"

/* Resumes a coroutine with the `count` values at the top. Returns the number of its results at the top, or -1 with an
 * error there.                                                                                        [-n, +m, v] */
static int resume(lua_State *L, lua_State *coroutine, int count) {
  int results = 0;
  tureen_meter_check(L);
  if (!lua_checkstack(coroutine, count)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  uint64_t refusals = tureen_meter_refusals(L);
  lua_xmove(L, coroutine, count);
  tureen_hook_note(coroutine);
  int status = lua_resume(coroutine, L, count, &results);
  tureen_hook_note(L);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(coroutine, L, 1);
    tureen_meter_caught(L, refusals);
    return -1;
  }
  tureen_meter_check(L);
  if (!lua_checkstack(L, results + 1)) {
    lua_pop(coroutine, results);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(coroutine, L, results);
  return results;
}

static int resumed(lua_State *L) {
  lua_State *coroutine = lua_tothread(L, 1);
  luaL_argexpected(L, coroutine != NULL, 1, "thread");
  int count = resume(L, coroutine, lua_gettop(L) - 1);
  lua_pushboolean(L, count >= 0);
  if (count < 0) count = 1;
  lua_insert(L, -(count + 1));
  return count + 1;
}

/* The function that coroutine.wrap returns. Upvalue 1: the coroutine. */
static int wrapped(lua_State *L) {
  lua_State *coroutine = lua_tothread(L, lua_upvalueindex(1));
  int count = resume(L, coroutine, lua_gettop(L));
  if (count >= 0) return count;
  int status = lua_status(coroutine);
  if (status != LUA_OK && status != LUA_YIELD) { /* it failed (a refusal differs): close its pending variables */
    lua_pushvalue(L, -1);
    lua_xmove(L, coroutine, 1);
    lua_resetthread(coroutine);
    lua_xmove(coroutine, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* Pushes a coroutine that will run the function at 1.                                                    [-0, +1, e] */
static void new_coroutine(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  tureen_meter_coroutine(L);
  lua_State *coroutine = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, coroutine, 1);
}

static int created(lua_State *L) {
  new_coroutine(L);
  return 1;
}

static int wrap(lua_State *L) {
  new_coroutine(L);
  lua_pushcclosure(L, wrapped, 1);
  return 1;
}

/* coroutine.close, which must not run the pending `__close` of a coroutine that a limit has ended: no hook could interrupt it. It
 * catches the error of one that reaches a limit. */
static int guarded_close(lua_State *L) {
  tureen_meter_check(L);
  uint64_t refusals = tureen_meter_refusals(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET); /* never yields */
  if (lua_gettop(L) > 1) tureen_meter_caught(L, refusals);
  return lua_gettop(L);
}

void tureen_coroutines_open(lua_State *L) {
  static const luaL_Reg functions[] = {{"create", created}, {"resume", resumed}, {"wrap", wrap}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
  tureen_guard(L, "close", guarded_close);
}
