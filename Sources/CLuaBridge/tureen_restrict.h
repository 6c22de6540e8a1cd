/* The environment of scripts with limits. Internal to this target. */
#ifndef TUREEN_RESTRICT_H
#define TUREEN_RESTRICT_H

#include <lua5.4/lua.h>

/* Opens the standard libraries a restricted script has.                                                 [-0, +0, e] */
void tureen_restrict_libraries(lua_State *L);
/* Replaces the library functions that go on for long where no hook interrupts them; before the bridge is opened, whose modules
 * use them, too.                                                                                        [-0, +0, e] */
void tureen_restrict_loops(lua_State *L);
/* Takes away what could go around the limits; after the bridge was opened.                              [-0, +0, e] */
void tureen_restrict_escapes(lua_State *L);

#endif
