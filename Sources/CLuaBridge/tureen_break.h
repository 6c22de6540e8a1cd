/* What the other files need of breaking off. Internal to this target. */
#ifndef TUREEN_BREAK_INTERNAL_H
#define TUREEN_BREAK_INTERNAL_H

#include <lua5.4/lua.h>

#include "include/tureen_bridge.h"
#include "tureen_weak_lua.h"

/* Takes the place of the one state that is watched: 1, or 0 when there is one already. */
int tureen_break_claim(void);
/* Watches the state from here on, on its thread. `hook` calls `tureen_break_look`. 1, or 0 with errno. */
int tureen_break_begin(lua_State *L, lua_Hook hook);
/* From here on this coroutine, or the state itself, runs.                                               [-0, +0, -] */
void tureen_break_note(lua_State *L);
/* In a hook: the code is not stuck. */
void tureen_break_heard(void);
/* In a hook: raises when the code was asked to end and did not.                                         [-0, +0, v] */
void tureen_break_look(lua_State *L);
/* The script is back at the host, of its own accord. */
void tureen_break_came_back(void);
/* The state is about to be closed. */
void tureen_break_forget(lua_State *L);
/* Where the code of the state was broken off, with the traceback; NULL when it was not. */
const char *tureen_break_message(lua_State *L);

#endif
