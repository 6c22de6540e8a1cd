/* A Lua module in C that opens Tureen itself and returns its module. */
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>

#include "tureen.h"

int luaopen_c_opens(lua_State *L) { return luaopen_tureen(L); }
