/* Lua module `benchclock`: `now()` in seconds, `sleep(seconds)`. Lua's own clocks know whole seconds or CPU time only. */
#include "bench.h"

#include <lauxlib.h>
#include <lua.h>

static int now(lua_State *L) {
  lua_pushnumber(L, bench_wall());
  return 1;
}

static int sleep_seconds(lua_State *L) {
  double seconds = luaL_checknumber(L, 1);
  if (!(seconds >= 0 && seconds < 60)) return luaL_argerror(L, 1, "out of range");
  long long ns = (long long)(seconds * 1e9);
  nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
  return 0;
}

int luaopen_benchclock(lua_State *L) {
  static const luaL_Reg functions[] = {{"now", now}, {"sleep", sleep_seconds}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
