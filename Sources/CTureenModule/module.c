/* The entry point of `require "tureen"` in libtureen.so. It uses the Lua functions of the program that loads it. */
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>

#include "tureen.h"
#include "tureen_bridge.h"

#pragma weak luaL_error

/* Creates a bridge to a host with the settings of the environment. Returns 1, or 0 on failure. Defined in the Swift target
 * Tureen. */
extern int tureen_default_host(tureen_host *out);

/* luaopen_tureen() -> tureen. Repeated calls return the same bridge.                                    [-n, +1, e] */
__attribute__((visibility("default"))) int luaopen_tureen(lua_State *L) {
  tureen_host host;
  if (tureen_bridge_is_strange(L)) return luaL_error(L, "tureen: the program that runs this script has another version");
  if (tureen_bridge_existing(L)) return 1;
  if (!tureen_default_host(&host)) return luaL_error(L, "tureen: the host could not be created");
  return tureen_bridge_open(L, &host);
}
