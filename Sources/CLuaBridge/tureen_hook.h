/* Internal to this target. */
#ifndef TUREEN_HOOK_H
#define TUREEN_HOOK_H

#include <lua5.4/lua.h>

/* [-0, +0, v] */
void tureen_hook(lua_State *L, lua_Debug *record);

#endif
