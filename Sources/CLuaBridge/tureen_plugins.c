/* Functions of the core for plug-ins of scripts. Each has the bridge as upvalue 1. */
#include "tureen_bridge_internal.h"
#include "tureen_json.h"
#include "tureen_limits.h"

/* plug(service, spec) -> number | nil, err. `spec` is a table or nil.                                  [-2, +1..2, e] */
int tureen_plug(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  const char *service = luaL_checkstring(L, 1);
  lua_settop(L, 2);
  tureen_buffer *text = NULL;
  if (!lua_isnil(L, 2)) {
    text = tureen_buffer_new(L);
    tureen_json_encode(L, 2, "plugin", "spec", text);
    *tureen_buffer_reserve(L, text, 1) = 0; /* Swift reads it as a C string */
  }
  tureen_bytes_free(&bridge->refusal);
  int64_t number =
      bridge->host.register_plugin(bridge->host.context, service, text == NULL ? NULL : text->data, 1, &bridge->refusal);
  if (text != NULL) tureen_buffer_free(text);
  if (number > 0) {
    lua_pushinteger(L, number);
    return 1;
  }
  lua_pushnil(L);
  tureen_push_refusal(L, bridge);
  return 2;
}

/* unplug(number) -> true if it was registered                                                           [-1, +1, e] */
int tureen_unplug(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  lua_pushboolean(L, bridge->host.unregister_plugin(bridge->host.context, luaL_checkinteger(L, 1)));
  return 1;
}

/* answer(call, kind, value, caller) -> true if the call was still open. Errors in the value name `caller`.
 *                                                                                                       [-4, +1, e] */
int tureen_answer_call(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  lua_Integer call = luaL_checkinteger(L, 1), kind = luaL_checkinteger(L, 2);
  luaL_checkany(L, 3);
  tureen_buffer *text = tureen_buffer_new(L);
  tureen_json_encode(L, 3, luaL_checkstring(L, 4), "value", text);
  tureen_meter_work(L, text->length / 2); /* the host parses the text as well */
  int32_t status = bridge->host.answer(bridge->host.context, call, (int32_t)kind, text->data, text->length, 1);
  tureen_buffer_free(text);
  lua_pushboolean(L, status == 0);
  return 1;
}
