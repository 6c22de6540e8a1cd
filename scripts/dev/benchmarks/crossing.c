/* Lua module `crossing`: the way from Lua into Swift and back, as the bridge goes it, with nothing at the other end. A C shim
 * checks the argument, a table of Swift's functions is called with a context, the result is pushed when Swift is gone. */
#include <lauxlib.h>
#include <lua.h>
#include <stdint.h>

typedef struct crossing_text {
  const char *data;
  size_t length;
} crossing_text;

typedef struct crossing_table {
  void *context;
  int64_t (*integer)(void *context, int64_t value);
  void (*text)(void *context, const char *data, size_t length, crossing_text *out);
} crossing_table;

void crossing_fill(crossing_table *table); /* crossing.swift */

static int integer(lua_State *L) {
  const crossing_table *table = lua_touserdata(L, lua_upvalueindex(1));
  lua_pushinteger(L, table->integer(table->context, luaL_checkinteger(L, 1)));
  return 1;
}

static int text(lua_State *L) {
  const crossing_table *table = lua_touserdata(L, lua_upvalueindex(1));
  crossing_text answer = {NULL, 0};
  size_t length;
  const char *data = luaL_checklstring(L, 1, &length);
  table->text(table->context, data, length, &answer);
  lua_pushlstring(L, answer.data, answer.length);
  return 1;
}

/* No Swift: what Lua's own call costs. */
static int nothing(lua_State *L) {
  lua_pushinteger(L, luaL_checkinteger(L, 1));
  return 1;
}

int luaopen_crossing(lua_State *L) {
  static const luaL_Reg functions[] = {{"integer", integer}, {"text", text}, {"nothing", nothing}, {NULL, NULL}};
  luaL_newlibtable(L, functions);
  crossing_fill(lua_newuserdatauv(L, sizeof(crossing_table), 0));
  luaL_setfuncs(L, functions, 1);
  return 1;
}
