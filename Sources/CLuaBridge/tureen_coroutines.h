/* Coroutines that are known while they run. Internal to this target. */
#ifndef TUREEN_COROUTINES_H
#define TUREEN_COROUTINES_H

#include <lua5.4/lua.h>

/* Puts create, resume, wrap and close in the coroutine library, which is at the top. Safe twice.        [-0, +0, e] */
void tureen_coroutines_open(lua_State *L);

#endif
