/* What `require "tureen"` finds in libtureen.so. The Lua functions used here are those of the program that loads it. */
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>

#include "tureen.h"
#include "tureen_bridge.h"

#pragma weak luaL_error

/* Makes a bridge to a host set up from the environment, in the Swift target Tureen: 1, or 0 when it cannot. */
extern int tureen_default_host(tureen_host *out);

/* luaopen_tureen() -> tureen. A state has one bridge, however often this runs.                          [-n, +1, e] */
__attribute__((visibility("default"))) int luaopen_tureen(lua_State *L) {
  tureen_host host;
  if (tureen_bridge_existing(L)) return 1;
  if (!tureen_default_host(&host)) return luaL_error(L, "tureen: the host could not be made");
  return tureen_bridge_open(L, &host);
}
