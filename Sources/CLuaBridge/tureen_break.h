/* Interrupting Lua code, for the other files. Internal to this target. */
#ifndef TUREEN_BREAK_INTERNAL_H
#define TUREEN_BREAK_INTERNAL_H

#include <lua5.4/lua.h>

#include "include/tureen_bridge.h"
#include "tureen_weak_lua.h"

/* Claims the role of the process's watched state. Returns 1, or 0 if there is one already. */
int tureen_break_claim(void);
/* Starts to watch the state; call it on the state's thread. `hook` calls `tureen_break_look`. Returns 1, or 0 with errno. */
int tureen_break_begin(lua_State *L, lua_Hook hook);
/* Records that this coroutine, or the state itself, is running now.                                     [-0, +0, -] */
void tureen_break_note(lua_State *L);
/* Called in a hook: the code is not stuck. */
void tureen_break_heard(void);
/* Called in a hook: raises if the code was asked to end and did not.                                    [-0, +0, v] */
void tureen_break_look(lua_State *L);
/* Called when the script has returned to the host by itself. */
void tureen_break_came_back(void);
/* Called before the state is closed. */
void tureen_break_forget(lua_State *L);
/* Returns where the code of the state was interrupted, with the traceback; NULL if it was not. */
const char *tureen_break_message(lua_State *L);

#endif
