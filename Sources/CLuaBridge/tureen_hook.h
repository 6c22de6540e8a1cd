/* Internal to this target. */
#ifndef TUREEN_HOOK_H
#define TUREEN_HOOK_H

#include <lua5.4/lua.h>

/* Records that this coroutine, or the state itself, is running now.                                     [-0, +0, -] */
void tureen_hook_note(lua_State *L);

/* The hook of every state that has one.                                                                 [-0, +0, v] */
void tureen_hook(lua_State *L, lua_Debug *record);

#endif
