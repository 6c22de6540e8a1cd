/* The C functions for the embedded Lua modules. Each has its state's bridge as upvalue 1. */
#include "tureen_bridge_internal.h"
#include "tureen_hook.h"
#include "tureen_limits.h"
#include "tureen_report.h"

#include <string.h>

/* Reads the store from the arguments. Wrong types are ignored; the action's own check reports them.     [-0, +0, e] */
static void read_store(lua_State *L, int arguments, tureen_request *request) {
  lua_pushliteral(L, "isGlobalStore");
  lua_rawget(L, arguments);
  request->is_global_store = lua_type(L, -1) == LUA_TBOOLEAN && lua_toboolean(L, -1);
  lua_pushliteral(L, "storeName");
  lua_rawget(L, arguments);
  if (lua_type(L, -1) == LUA_TSTRING) request->store_name = lua_tolstring(L, -1, &request->store_name_length);
  lua_pop(L, 2); /* the table keeps the text alive */
}

/* call(service, action, arguments, caller, wants_records) -> id | nil, err. Errors in the arguments name `caller`;
 * `wants_records`: the script wants the result's entries as lazy records.                              [-5, +1..2, e] */
static int core_call(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  tureen_request request;
  memset(&request, 0, sizeof request);
  lua_settop(L, 5);
  request.service = luaL_checklstring(L, 1, &request.service_length);
  request.action = luaL_checklstring(L, 2, &request.action_length);
  luaL_checktype(L, 3, LUA_TTABLE);
  read_store(L, 3, &request);
  request.wants_records = lua_toboolean(L, 5);
  tureen_buffer *text = tureen_buffer_new(L);
  tureen_json_encode(L, 3, luaL_checkstring(L, 4), "args", text);
  tureen_meter_work(L, text->length / 2); /* the host parses the text as well */
  request.arguments = text->data;
  request.arguments_length = text->length;
  tureen_bytes_free(&bridge->refusal);
  int was_running = tureen_meter_pause(tureen_meter_of(L));
  int64_t id = bridge->host.call(bridge->host.context, &request, &bridge->refusal);
  if (was_running) tureen_meter_begin(tureen_meter_of(L));
  tureen_buffer_free(text);
  if (id > 0) {
    lua_pushinteger(L, id);
    return 1;
  }
  lua_pushnil(L);
  tureen_push_refusal(L, bridge);
  return 2;
}

/* waiting() -> the number of waiting messages                                                           [-0, +1, e] */
static int core_waiting(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  lua_pushinteger(L, bridge->host.waiting(bridge->host.context));
  return 1;
}

/* Decodes the current message. Entries become records if the table at 1 has a true value for the id of the call.
 *                                                                                                    [-0, +0..1, m] */
static int decode_current(lua_State *L, tureen_message *message, tureen_json_error *error) {
  int is_lazy = message->kind == TUREEN_RESULT && lua_rawgeti(L, 1, message->call) == LUA_TBOOLEAN;
  if (message->kind == TUREEN_RESULT) lua_pop(L, 1);
  if (!is_lazy)
    return tureen_json_decode_answer(L, message->payload.data ? message->payload.data : "", message->payload.length, error);
  if (!tureen_json_decode_page(L, &message->payload, error)) return 0;
  if (lua_istable(L, -1)) {
    lua_pushliteral(L, "lazy");
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
  }
  return 1;
}

/* Pushes the arguments of a plug-in's call, the plug-in's number and the action; nil for the arguments and the action if the call
 * was cancelled.                                                                                        [-0, +3, e] */
static void push_call(lua_State *L, tureen_message *message) {
  tureen_json_error error;
  size_t head = message->action_length + 1;
  int is_call = message->kind == TUREEN_CALL && message->payload.length > head;
  if (!is_call || !tureen_json_decode(L, message->payload.data + head, message->payload.length - head, &error))
    lua_pushnil(L);
  lua_pushinteger(L, message->plugin);
  if (is_call) lua_pushlstring(L, message->payload.data, message->action_length);
  else lua_pushnil(L);
  tureen_bytes_free(&message->payload);
}

/* Offers the current message to the state's guest. Returns 1 if it was the guest's. */
static int is_guests(tureen_bridge *bridge) {
  if (bridge->guest.context == NULL) return 0;
  tureen_message message = bridge->current;
  bridge->current.payload = (tureen_bytes){NULL, 0};
  if (bridge->guest.take(bridge->guest.context, &message)) return 1;
  bridge->current.payload = message.payload;
  return 0;
}

/* guest_calls() -> the number of pending calls of the state's guest                                     [-0, +1, e] */
static int core_guest_calls(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  lua_pushinteger(L, bridge->guest.context == NULL ? 0 : bridge->guest.pending(bridge->guest.context));
  return 1;
}

/* take(lazy) -> kind, id, payload | kind, id, arguments, plugin, action | nothing. `lazy`: the ids of calls whose entries become
 * records. A payload that is not JSON becomes an error of the call.                             [-1, +0, 3 or 5, e] */
static int core_take(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  tureen_message *message = &bridge->current;
  lua_settop(L, 1);
  luaL_checktype(L, 1, LUA_TTABLE);
  tureen_bytes_free(&message->payload);
  if (!bridge->host.take(bridge->host.context, message)) return 0;
  if (is_guests(bridge)) {
    lua_pushinteger(L, TUREEN_GUESTS);
    lua_pushinteger(L, 0);
    return 2;
  }
  tureen_json_error error = {"", 0};
  lua_pushinteger(L, message->kind);
  lua_pushinteger(L, message->call);
  if (message->kind == TUREEN_CALL || message->kind == TUREEN_CALL_OVER) {
    push_call(L, message);
    return 5;
  }
  int is_error = message->kind == TUREEN_ERROR || message->kind == TUREEN_FAIL;
  int ok = decode_current(L, message, &error);
  tureen_bytes_free(&message->payload);
  if (ok && is_error && lua_istable(L, -1)) {
    luaL_setmetatable(L, TUREEN_ERROR_TYPE);
  } else if (!ok || is_error) {
    lua_settop(L, 3);
    lua_pushfstring(L, "the host's answer is not usable: %s at offset %d", error.message, (int)error.offset);
    tureen_push_error(L, "internal");
    lua_pushinteger(L, TUREEN_ERROR);
    lua_replace(L, 2);
  }
  return 3;
}

/* cancel(id): asks the host to cancel the call, which still gets an answer.                             [-1, +0, e] */
static int core_cancel(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  bridge->host.cancel(bridge->host.context, luaL_checkinteger(L, 1));
  return 0;
}

static int core_wake(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  bridge->host.wake(bridge->host.context);
  return 0;
}

static int core_interrupted(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  lua_pushboolean(L, bridge->host.interrupted(bridge->host.context));
  return 1;
}

/* configure(options) -> true | nil, err                                                               [-1, +1..2, e] */
static int core_configure(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  luaL_checktype(L, 1, LUA_TTABLE);
  if (tureen_meter_restricts(L))
    return tureen_raise(L, "restricted",
                        "tureen.configure is not available to a restricted script (--restricted); no option allows it");
  tureen_buffer *text = tureen_buffer_new(L);
  tureen_json_encode(L, 1, "configure", "options", text);
  tureen_bytes_free(&bridge->refusal);
  int ok = bridge->host.configure(bridge->host.context, text->data, text->length, &bridge->refusal);
  tureen_buffer_free(text);
  if (ok) {
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_pushnil(L);
  tureen_push_refusal(L, bridge);
  return 2;
}

/* report(text, err?): prints an unhandled error on stderr, and marks the run as failed.              [-1..2, +0, e] */
static int core_report(lua_State *L) {
  tureen_bridge *bridge = lua_touserdata(L, lua_upvalueindex(1));
  bridge->has_failed = 1;
  tureen_bridge_note_failure(L, bridge, 2);
  size_t length;
  const char *text = luaL_tolstring(L, 1, &length);
  tureen_report_line(text, length);
  return 0;
}

/* log(text): prints a line on stderr; does not mark the run as failed.                                  [-1, +0, e] */
static int core_log(lua_State *L) {
  size_t length;
  const char *text = luaL_tolstring(L, 1, &length);
  tureen_report_line(text, length);
  return 0;
}

/* leave(status) -> true if the program is Lua, which `os.exit` ends. If our program runs the script, this does not
 * return, and the run ends with the status.                                                           [-1, +1, v] */
static int core_leave(lua_State *L) {
  tureen_bridge *bridge = lua_touserdata(L, lua_upvalueindex(1));
  lua_Integer status = luaL_checkinteger(L, 1);
  luaL_argcheck(L, status >= 0 && status <= 255, 1, "not an exit status");
  if (bridge->owner == TUREEN_OWNER_RUN) {
    bridge->exit_status = (int)status;
    lua_pushlightuserdata(L, bridge);
    return lua_error(L);
  }
  lua_pushboolean(L, bridge->owner == TUREEN_OWNER_OTHER);
  return 1;
}

/* where() -> "name:line" of the innermost position in the script's own code; nil if there is none.      [-0, +1, e] */
static int core_where(lua_State *L) {
  if (!tureen_push_position(L)) lua_pushnil(L);
  return 1;
}

/* on_main(f, ...) -> the results of f, which runs on the main state, whatever the calling coroutine.    [-n, +m, e] */
static int core_on_main(lua_State *L) {
  int count = lua_gettop(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State *main = lua_tothread(L, -1);
  lua_pop(L, 1);
  if (main == L) {
    lua_call(L, count - 1, LUA_MULTRET);
    return lua_gettop(L);
  }
  if (!lua_checkstack(main, count + 4)) return luaL_error(L, "stack overflow");
  int base = lua_gettop(main);
  lua_xmove(L, main, count);
  tureen_hook_note(main);
  int status = lua_pcall(main, count - 1, LUA_MULTRET, 0);
  tureen_hook_note(L);
  int results = lua_gettop(main) - base;
  if (!lua_checkstack(L, results + 1)) {
    lua_settop(main, base);
    return luaL_error(L, "stack overflow");
  }
  lua_xmove(main, L, results);
  return status == LUA_OK ? results : lua_error(L);
}

/* traceback([thread]) -> text                                                                           [-1, +1, e] */
static int core_traceback(lua_State *L) {
  lua_State *of = lua_tothread(L, 1);
  luaL_traceback(L, of ? of : L, NULL, of ? 0 : 2);
  return 1;
}

/* place(fn) -> where a function is defined, for messages                                                [-1, +1, e] */
static int core_place(lua_State *L) {
  lua_Debug record;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_getinfo(L, ">S", &record);
  if (record.linedefined > 0) lua_pushfstring(L, "the function at %s:%d", record.short_src, record.linedefined);
  else lua_pushliteral(L, "a C function");
  return 1;
}

/* parameters(fn) -> the number of arguments that a function takes, the largest integer for any number       [-1, +1, e] */
static int core_parameters(lua_State *L) {
  lua_Debug record;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_getinfo(L, ">u", &record);
  lua_pushinteger(L, record.isvararg ? LUA_MAXINTEGER : record.nparams);
  return 1;
}

/* raise(code, message): an error of the domain `bridge`, with the script's position.                    [-2, +0, v] */
static int core_raise(lua_State *L) {
  return tureen_raise(L, luaL_checkstring(L, 1), "%s", luaL_checkstring(L, 2));
}

/* Returns the name of an argument's type for error messages. */
static const char *type_name(lua_State *L, int index) {
  if (lua_isnoneornil(L, index)) return "nil";
  if (lua_islightuserdata(L, index) && lua_touserdata(L, index) == NULL) return "null";
  return luaL_typename(L, index);
}

/* array([t]) -> t with the array mark                                                                   [-1, +1, e] */
static int core_array(lua_State *L) {
  if (lua_isnoneornil(L, 1)) {
    lua_settop(L, 0);
    lua_newtable(L);
  }
  if (!lua_istable(L, 1))
    return tureen_raise(L, "invalidArguments", "array: argument 1 't' must be a table, got %s", type_name(L, 1));
  lua_settop(L, 1);
  luaL_getmetatable(L, TUREEN_ARRAY);
  if (lua_getmetatable(L, 1) && !lua_rawequal(L, -1, -2))
    return tureen_raise(L, "invalidArguments", "array: argument 1 't' has a metatable of its own");
  lua_settop(L, 2);
  lua_setmetatable(L, 1);
  return 1;
}

static int core_is_array(lua_State *L) {
  int marked = 0;
  if (lua_istable(L, 1) && lua_getmetatable(L, 1)) {
    luaL_getmetatable(L, TUREEN_ARRAY);
    marked = lua_rawequal(L, -1, -2);
  }
  lua_pushboolean(L, marked);
  return 1;
}

/* encode(value) -> text                                                                                 [-1, +1, e] */
static int core_encode(lua_State *L) {
  luaL_checkany(L, 1);
  tureen_buffer *text = tureen_buffer_new(L);
  tureen_json_encode(L, 1, "encode", "value", text);
  lua_pushlstring(L, text->data, text->length);
  tureen_buffer_free(text);
  return 1;
}

/* decode(text) -> value | nil, err                                                                    [-1, +1..2, e] */
static int core_decode(lua_State *L) {
  size_t length;
  tureen_json_error error;
  if (lua_type(L, 1) != LUA_TSTRING)
    return tureen_raise(L, "invalidArguments", "decode: argument 1 'text' must be a string, got %s", type_name(L, 1));
  const char *text = lua_tolstring(L, 1, &length);
  if (tureen_json_decode(L, text, length, &error)) return 1;
  lua_pushnil(L);
  lua_pushfstring(L, "not JSON: %s at offset %I", error.message, (LUAI_UACINT)error.offset);
  tureen_push_error(L, "invalidJSON");
  lua_pushinteger(L, (lua_Integer)error.offset);
  lua_setfield(L, -2, "offset");
  return 2;
}

/* is_record(value) -> true for a lazy record                                                            [-1, +1, e] */
static int core_is_record(lua_State *L) {
  lua_pushboolean(L, tureen_is_record(L, 1));
  return 1;
}

/* is_error(value) -> true for an error of the bridge                                                    [-1, +1, e] */
static int core_is_error(lua_State *L) {
  int is_error = 0;
  if (lua_istable(L, 1) && lua_getmetatable(L, 1)) {
    luaL_getmetatable(L, TUREEN_ERROR_TYPE);
    is_error = lua_rawequal(L, -1, -2);
  }
  lua_pushboolean(L, is_error);
  return 1;
}

/* import(name) -> module. Upvalues: bridge, core.                                                       [-1, +1, e] */
static int core_import(lua_State *L) {
  tureen_module_import(L, lua_upvalueindex(1), lua_upvalueindex(2), luaL_checkstring(L, 1));
  return 1;
}

void tureen_core_push(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"call", core_call},           {"wait", tureen_clock_wait},   {"waiting", core_waiting},
      {"take", core_take},           {"fd", tureen_clock_fd},       {"wake", core_wake},
      {"now", tureen_clock_now},     {"alarm", tureen_clock_alarm}, {"cancel", core_cancel},
      {"interrupted", core_interrupted}, {"configure", core_configure}, {"report", core_report},
      {"on_main", core_on_main},     {"traceback", core_traceback}, {"raise", core_raise},
      {"place", core_place},         {"parameters", core_parameters}, {"log", core_log},
      {"leave", core_leave},
      {"where", core_where},         {"plug", tureen_plug},         {"unplug", tureen_unplug},
      {"answer", tureen_answer_call},  {"guest_calls", core_guest_calls},
      {"array", core_array},         {"is_array", core_is_array},   {"encode", core_encode},
      {"decode", core_decode},       {"is_record", core_is_record}, {"is_error", core_is_error}, {"to_base64", tureen_to_base64},
      {"from_base64", tureen_from_base64}, {"describe_null", tureen_core_describe_null},
      {"value_or", tureen_core_value_or}, {NULL, NULL}};
  int bridge = lua_gettop(L);
  lua_createtable(L, 0, 36);
  lua_pushvalue(L, bridge);
  luaL_setfuncs(L, functions, 1);
  lua_pushlightuserdata(L, NULL);
  lua_setfield(L, -2, "null");
  luaL_getmetatable(L, TUREEN_ERROR_TYPE);
  lua_setfield(L, -2, "error_type");
  lua_pushvalue(L, bridge);
  lua_pushvalue(L, -2);
  lua_pushcclosure(L, core_import, 2);
  lua_setfield(L, -2, "import");
}
