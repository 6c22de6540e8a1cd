/* Errors from Swift. */
#include "tureen_bridge_internal.h"
#include "tureen_json.h"

void tureen_push_refusal(lua_State *L, tureen_bridge *bridge) {
  tureen_json_error error;
  int ok = tureen_json_decode(L, bridge->refusal.data ? bridge->refusal.data : "", bridge->refusal.length, &error);
  tureen_bytes_free(&bridge->refusal);
  if (ok && lua_istable(L, -1)) {
    luaL_setmetatable(L, TUREEN_ERROR_TYPE);
    return;
  }
  if (ok) lua_pop(L, 1);
  lua_pushliteral(L, "the host refused without a reason");
  tureen_push_error(L, "internal");
}
