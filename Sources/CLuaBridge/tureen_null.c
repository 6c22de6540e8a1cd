/* JSON's null is the light userdata NULL. All light userdata of a state share one metatable, so that a program decides
 * whether the bridge sets it. Other light userdata behave as without it. */
#include "tureen_bridge_internal.h"

static int is_null(lua_State *L, int index) { return lua_islightuserdata(L, index) && lua_touserdata(L, index) == NULL; }

/* The name of a value's type in messages. */
static const char *name_of(lua_State *L, int index) { return is_null(L, index) ? "null" : luaL_typename(L, index); }

/* __tostring                                                                                            [-0, +1, e] */
static int null_tostring(lua_State *L) {
  if (is_null(L, 1)) lua_pushliteral(L, "null");
  else lua_pushfstring(L, "userdata: %p", lua_topointer(L, 1));
  return 1;
}

static const char advice[] =
    "JSON null is tureen.null, which is true in a condition: compare it with ==, or use tureen.valueOr(value, default)";

/* Raises the error of a read or write of a member: __index, __newindex.                                 [-0, +0, v] */
static int null_index(lua_State *L) {
  if (!is_null(L, 1)) return luaL_error(L, "attempt to index a %s value", luaL_typename(L, 1));
  if (lua_type(L, 2) == LUA_TSTRING) {
    return luaL_error(L, "attempt to index null (field '%s' of null); %s", lua_tostring(L, 2), advice);
  }
  return luaL_error(L, "attempt to index null; %s", advice);
}

/* Raises the error of an operator, whose name is an upvalue; one operand is a light userdata.           [-0, +0, v] */
static int null_operator(lua_State *L) {
  const char *verb = lua_tostring(L, lua_upvalueindex(1));
  if (!is_null(L, 1) && !is_null(L, 2)) {
    return luaL_error(L, "attempt to %s a %s value", verb, luaL_typename(L, lua_islightuserdata(L, 1) ? 1 : 2));
  }
  if (lua_rawequal(L, 1, 2)) return luaL_error(L, "attempt to %s null; %s", verb, advice);
  return luaL_error(L, "attempt to %s %s and %s; %s", verb, name_of(L, 1), name_of(L, 2), advice);
}

void tureen_null_describe(lua_State *L) {
  static const struct {
    const char *event, *verb;
  } operators[] = {
      {"__concat", "concatenate"},      {"__len", "get the length of"},    {"__lt", "compare"},
      {"__le", "compare"},              {"__add", "add"},                  {"__sub", "subtract"},
      {"__mul", "multiply"},            {"__div", "divide"},               {"__idiv", "divide"},
      {"__mod", "divide"},              {"__pow", "raise to a power"},     {"__unm", "negate"},
      {"__band", "combine the bits of"}, {"__bor", "combine the bits of"}, {"__bxor", "combine the bits of"},
      {"__bnot", "combine the bits of"}, {"__shl", "shift"},               {"__shr", "shift"},
  };
  luaL_checkstack(L, 4, NULL);
  lua_pushlightuserdata(L, NULL);
  lua_createtable(L, 0, 22);
  lua_pushcfunction(L, null_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, null_index);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "__index");
  lua_setfield(L, -2, "__newindex");
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    lua_pushstring(L, operators[i].verb);
    lua_pushcclosure(L, null_operator, 1);
    lua_setfield(L, -2, operators[i].event);
  }
  /* Hides the table: scripts share it. */
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

int tureen_core_describe_null(lua_State *L) {
  tureen_null_describe(L);
  return 0;
}

int tureen_core_value_or(lua_State *L) {
  luaL_checkany(L, 1);
  lua_settop(L, 2);
  if (!lua_isnil(L, 1) && !is_null(L, 1)) lua_pop(L, 1);
  return 1;
}
