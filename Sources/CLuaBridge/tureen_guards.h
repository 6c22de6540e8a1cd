/* Replacements of library functions for scripts with limits. Internal to this target. */
#ifndef TUREEN_GUARDS_H
#define TUREEN_GUARDS_H

#include "tureen_limits.h"

/* Puts a guard in front of a function in the table at the top. Does nothing if there is no such function. [-0, +0, e] */
void tureen_guard(lua_State *L, const char *name, lua_CFunction function);
/* Called in a guard: continues in the guarded function with all arguments. It may yield.                [-n, +m, e] */
int tureen_pass_on(lua_State *L);

/* Adds pcall and xpcall that do not catch limits to the table at the top.                               [-0, +0, e] */
void tureen_protected_calls_open(lua_State *L);
/* Replaces find, match, gmatch and gsub in the table at the top; other string functions count their work. [-0, +0, e] */
void tureen_strings_open(lua_State *L);
/* Replaces the functions of `table` that walk a table.                                                  [-0, +0, e] */
void tureen_tables_open(lua_State *L);
/* Adds a `load` to the table at the top that compiles in pieces, and only text in a restricted state.   [-0, +0, e] */
void tureen_load_open(lua_State *L);

/* Compiles a file or a text like luaL_loadfilex and luaL_loadbufferx, but in pieces, between which the limits are checked.
 *                                                                                                        [-0, +1, e] */
int tureen_load_file(lua_State *L, const char *path, const char *mode);
int tureen_load_text(lua_State *L, const char *text, size_t length, const char *name, const char *mode);
/* Moves behind what `tureen_load_file` skips at the start of a file. */
void tureen_load_skip_start(const char **text, size_t *length);

#endif
