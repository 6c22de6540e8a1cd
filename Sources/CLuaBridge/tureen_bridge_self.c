/* Access to the bridge for functions of the core. */
#include "tureen_bridge_internal.h"

#include <stdio.h>
#include <stdlib.h>

void tureen_bytes_free(tureen_bytes *bytes) {
  free(bytes->data);
  bytes->data = NULL;
  bytes->length = 0;
}

tureen_bridge *tureen_bridge_self(lua_State *L) {
  tureen_bridge *bridge = lua_touserdata(L, lua_upvalueindex(1));
  if (!bridge->is_open) tureen_raise(L, "closed", "the bridge is closed");
  return bridge;
}

/* Returns a string field without metamethods; NULL if there is none. Valid as long as the table has it.        [-0, +0, m] */
static const char *text_field(lua_State *L, int index, const char *key) {
  lua_pushstring(L, key);
  const char *text = lua_rawget(L, index) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  lua_pop(L, 1);
  return text;
}

void tureen_bridge_note_failure(lua_State *L, tureen_bridge *bridge, int index) {
  index = lua_absindex(L, index);
  if (bridge == NULL || bridge->failure[0] != 0 || !lua_istable(L, index) || !lua_checkstack(L, 1)) return;
  const char *domain = text_field(L, index, "domain"), *code = text_field(L, index, "code");
  const char *reason = text_field(L, index, "reason");
  if (domain == NULL || code == NULL) return;
  snprintf(bridge->failure, sizeof bridge->failure, "%s/%s/%s", domain, code, reason == NULL ? "" : reason);
}
