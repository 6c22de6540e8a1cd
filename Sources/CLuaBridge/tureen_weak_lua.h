/* Declares Lua's functions as weak references, so that libtureen.so loads in programs without Lua, which do not call them.
 * scripts/dev/library fails if a function that is used is missing here.
 * Internal to this target. */
#ifndef TUREEN_WEAK_LUA_H
#define TUREEN_WEAK_LUA_H

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>

#pragma weak luaL_addlstring
#pragma weak luaL_addstring
#pragma weak luaL_addvalue
#pragma weak luaL_argerror
#pragma weak luaL_buffinit
#pragma weak luaL_buffinitsize
#pragma weak luaL_checkany
#pragma weak luaL_checkinteger
#pragma weak luaL_checklstring
#pragma weak luaL_checknumber
#pragma weak luaL_checkstack
#pragma weak luaL_checktype
#pragma weak luaL_checkudata
#pragma weak luaL_error
#pragma weak luaL_getmetafield
#pragma weak luaL_getsubtable
#pragma weak luaL_len
#pragma weak luaL_loadbufferx
#pragma weak luaL_loadfilex
#pragma weak luaL_newmetatable
#pragma weak luaL_newstate
#pragma weak luaL_openlibs
#pragma weak luaL_optinteger
#pragma weak luaL_optlstring
#pragma weak luaL_prepbuffsize
#pragma weak luaL_pushresult
#pragma weak luaL_pushresultsize
#pragma weak luaL_requiref
#pragma weak luaL_setfuncs
#pragma weak luaL_setmetatable
#pragma weak luaL_testudata
#pragma weak luaL_tolstring
#pragma weak luaL_traceback
#pragma weak luaL_typeerror
#pragma weak luaL_where
#pragma weak lua_Integer
#pragma weak lua_Unsigned
#pragma weak lua_absindex
#pragma weak lua_callk
#pragma weak lua_checkstack
#pragma weak lua_close
#pragma weak lua_compare
#pragma weak lua_concat
#pragma weak lua_copy
#pragma weak lua_createtable
#pragma weak lua_error
#pragma weak lua_gc
#pragma weak lua_getallocf
#pragma weak lua_getfield
#pragma weak lua_getglobal
#pragma weak lua_gethookcount
#pragma weak lua_geti
#pragma weak lua_getinfo
#pragma weak lua_getiuservalue
#pragma weak lua_getmetatable
#pragma weak lua_getstack
#pragma weak lua_gettable
#pragma weak lua_gettop
#pragma weak lua_iscfunction
#pragma weak lua_isinteger
#pragma weak lua_isstring
#pragma weak lua_load
#pragma weak lua_newstate
#pragma weak lua_newthread
#pragma weak lua_newuserdatauv
#pragma weak lua_next
#pragma weak lua_pcallk
#pragma weak lua_pushboolean
#pragma weak lua_pushcclosure
#pragma weak lua_pushfstring
#pragma weak lua_pushinteger
#pragma weak lua_pushlightuserdata
#pragma weak lua_pushlstring
#pragma weak lua_pushnil
#pragma weak lua_pushnumber
#pragma weak lua_pushstring
#pragma weak lua_pushvalue
#pragma weak lua_pushvfstring
#pragma weak lua_rawequal
#pragma weak lua_rawget
#pragma weak lua_rawgeti
#pragma weak lua_rawgetp
#pragma weak lua_rawlen
#pragma weak lua_rawset
#pragma weak lua_rawseti
#pragma weak lua_rawsetp
#pragma weak lua_resetthread
#pragma weak lua_resume
#pragma weak lua_rotate
#pragma weak lua_setfield
#pragma weak lua_setglobal
#pragma weak lua_sethook
#pragma weak lua_seti
#pragma weak lua_setiuservalue
#pragma weak lua_setmetatable
#pragma weak lua_settop
#pragma weak lua_setupvalue
#pragma weak lua_status
#pragma weak lua_stringtonumber
#pragma weak lua_toboolean
#pragma weak lua_tointegerx
#pragma weak lua_tolstring
#pragma weak lua_tonumberx
#pragma weak lua_topointer
#pragma weak lua_tothread
#pragma weak lua_touserdata
#pragma weak lua_type
#pragma weak lua_typename
#pragma weak lua_xmove
#pragma weak luaopen_base
#pragma weak luaopen_coroutine
#pragma weak luaopen_math
#pragma weak luaopen_os
#pragma weak luaopen_string
#pragma weak luaopen_table
#pragma weak luaopen_utf8

#endif
