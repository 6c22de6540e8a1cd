/* The environment of scripts with limits. Internal to this target. */
#ifndef TUREEN_RESTRICT_H
#define TUREEN_RESTRICT_H

#include <lua5.4/lua.h>

/* Opens the standard libraries for restricted scripts.                                                  [-0, +0, e] */
void tureen_restrict_libraries(lua_State *L);
/* Replaces library functions that may run for long where hooks cannot interrupt them. Call it before the bridge is opened, whose
 * modules use them, too.                                                                                [-0, +0, e] */
void tureen_restrict_loops(lua_State *L);
/* Removes everything that could bypass the limits. Call it after the bridge was opened.                 [-0, +0, e] */
void tureen_restrict_escapes(lua_State *L);

#endif
