/* What functions of the core need of their bridge. */
#include "tureen_bridge_internal.h"

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
