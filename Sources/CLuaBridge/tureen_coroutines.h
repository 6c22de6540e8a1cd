/* Coroutines that are tracked while they run. Internal to this target. */
#ifndef TUREEN_COROUTINES_H
#define TUREEN_COROUTINES_H

#include <lua5.4/lua.h>

/* Replaces create, resume, wrap and close in the coroutine library at the top. May be called twice.     [-0, +0, e] */
void tureen_coroutines_open(lua_State *L);

#endif
