/* Limits of a state. Internal to this target. */
#ifndef TUREEN_LIMITS_INTERNAL_H
#define TUREEN_LIMITS_INTERNAL_H

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>

#include "include/tureen_bridge.h"
#include "tureen_weak_lua.h"

/* What one state used; the context of its allocator. */
typedef struct tureen_meter {
  tureen_limits limits;
  uint64_t used_bytes, used_instructions;
  int64_t end_ms; /* of the monotonic clock; 0: the time has not begun, or there is no limit */
  int reached;    /* TUREEN_LIMIT_..., the first one */
  const void *refused;
  size_t refused_size; /* of the last request that was refused, 0 when one was granted since */
  char where[128];     /* "file:line: " when the limit was noticed */
} tureen_meter;

/* A new state with limits and nothing loaded; NULL when there is no memory, or not that little. */
lua_State *tureen_meter_open(const tureen_limits *limits);
/* Closes a state, with limits or without. */
void tureen_meter_close(lua_State *L);
/* The state's meter; NULL when it has no limits.                                                        [-0, +0, -] */
tureen_meter *tureen_meter_of(lua_State *L);
/* The script begins: its time runs from the first call on. */
void tureen_meter_start(tureen_meter *meter);
/* Milliseconds the script has left; -1 when there is no end.                                            [-0, +0, -] */
int64_t tureen_meter_left_ms(lua_State *L);
/* Raises when a limit is reached.                                                                       [-0, +0, v] */
void tureen_meter_check(lua_State *L);
/* The same, after a coroutine's worth of instructions was added.                                        [-0, +0, v] */
void tureen_meter_charge(lua_State *L);
/* Says where which limit was reached: 1; or 0 when none was. */
int tureen_meter_message(const tureen_meter *meter, char *text, size_t size);
/* 1 when the state has the restricted environment.                                                      [-0, +0, -] */
int tureen_meter_restricts(lua_State *L);

/* The hook of every state that has one: counts for the limits, and breaks off code that was asked to end.
 *                                                                                                        [-0, +0, v] */
void tureen_hook(lua_State *L, lua_Debug *record);

/* Puts a guard in front of a function of the table at the top.                                          [-0, +0, e] */
void tureen_guard(lua_State *L, const char *name, lua_CFunction function);
/* In a guard: goes on in the guarded function with all arguments; what it calls may yield.              [-n, +m, e] */
int tureen_pass_on(lua_State *L);
/* Guards the coroutine library, which is at the top.                                                    [-0, +0, e] */
void tureen_coroutines_guard(lua_State *L);

/* Opens the standard libraries a restricted script has.                                                 [-0, +0, e] */
void tureen_restrict_libraries(lua_State *L);
/* Takes away what could go around the limits; after the bridge was opened.                              [-0, +0, e] */
void tureen_restrict_escapes(lua_State *L);

#endif
