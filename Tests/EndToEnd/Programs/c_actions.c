/* A Lua module in C whose functions are the actions of a plug-in: what a program that is written in C gives to the scripts of a
 * stock Lua. Loading it registers com.acme.c. */
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>

/* greet(args, success): answers {text = "hello NAME"}. */
static int greet(lua_State *L) {
  lua_getfield(L, 1, "name");
  const char *name = luaL_checkstring(L, -1);
  lua_pushvalue(L, 2);
  lua_createtable(L, 0, 1);
  lua_pushfstring(L, "hello %s", name);
  lua_setfield(L, -2, "text");
  lua_call(L, 1, 0);
  return 0;
}

/* refuse(args, success, error): answers with an error of its own. */
static int refuse(lua_State *L) {
  lua_pushvalue(L, 3);
  lua_createtable(L, 0, 2);
  lua_pushliteral(L, "outOfPaper");
  lua_setfield(L, -2, "code");
  lua_pushliteral(L, "the tray is empty");
  lua_setfield(L, -2, "message");
  lua_call(L, 1, 0);
  return 0;
}

static const luaL_Reg actions[] = {{"greet", greet}, {"refuse", refuse}, {NULL, NULL}};

int luaopen_c_actions(lua_State *L) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "tureen");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "plugin");
  lua_pushliteral(L, "com.acme.c");
  luaL_newlib(L, actions);
  lua_call(L, 2, 0);
  return 0;
}
