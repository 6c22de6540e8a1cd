/* Functions of scripts with limits that take the place of the library's own. Internal to this target. */
#ifndef TUREEN_GUARDS_H
#define TUREEN_GUARDS_H

#include "tureen_limits.h"

/* Puts a guard in front of a function of the table at the top; nothing happens where there is none.     [-0, +0, e] */
void tureen_guard(lua_State *L, const char *name, lua_CFunction function);
/* In a guard: goes on in the guarded function with all arguments; what it calls may yield.              [-n, +m, e] */
int tureen_pass_on(lua_State *L);

/* Puts pcall and xpcall that do not catch limits in the table at the top.                               [-0, +0, e] */
void tureen_protected_calls_open(lua_State *L);
/* Puts find, match, gmatch and gsub in the table at the top; the other string functions count their work. [-0, +0, e] */
void tureen_strings_open(lua_State *L);
/* The same for the functions of `table` that walk one.                                                  [-0, +0, e] */
void tureen_tables_open(lua_State *L);
/* Puts a `load` in the table at the top that compiles in pieces, and text alone in a restricted state.  [-0, +0, e] */
void tureen_load_open(lua_State *L);

/* Compiles a file or a text, as luaL_loadfilex and luaL_loadbufferx do, but in pieces between which limits are looked at.
 *                                                                                                        [-0, +1, e] */
int tureen_load_file(lua_State *L, const char *path, const char *mode);
int tureen_load_text(lua_State *L, const char *text, size_t length, const char *name, const char *mode);

#endif
