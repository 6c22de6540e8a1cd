/* What a script with limits has used. Internal to this target. */
#ifndef TUREEN_LIMITS_INTERNAL_H
#define TUREEN_LIMITS_INTERNAL_H

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>

#include "include/tureen_bridge.h"
#include "tureen_weak_lua.h"

/* What one state used; the context of its allocator. */
typedef struct tureen_meter {
  tureen_limits limits;
  lua_Hook hook;
  uint64_t used_bytes, used_instructions;
  uint64_t work;     /* of C functions, not yet among the instructions */
  uint64_t refusals; /* requests for memory that were refused */
  int64_t end_ms;    /* of the monotonic clock; 0: the time has not begun, or there is no limit */
  int64_t looked_ns; /* when the clock was last looked at */
  int64_t cpu_ns;    /* processor time of earlier runs */
  int64_t cpu_mark_ns; /* the thread's processor time when this run began; -1 between runs */
  int reached;         /* TUREEN_LIMIT_..., the first one */
  const void *refused;
  size_t refused_size; /* of the last request that was refused, 0 when it was granted when it came again */
  lua_State *running;  /* the state or a coroutine of it */
  char where[128];     /* "file:line: " when the limit was noticed */
} tureen_meter;

/* A new state with limits and nothing loaded; NULL when there is no memory, or not that little. */
lua_State *tureen_meter_open(const tureen_limits *limits, lua_Hook hook);
/* Closes a state, with limits or without. */
void tureen_meter_close(lua_State *L);
/* The state's meter; NULL when it has no limits.                                                        [-0, +0, -] */
tureen_meter *tureen_meter_of(lua_State *L);
/* From here on this coroutine, or the state itself, runs.                                               [-0, +0, -] */
void tureen_meter_note(lua_State *L);
/* Lua code begins to run on this thread. The script's time runs from the first call on. `meter` may be NULL. */
void tureen_meter_begin(tureen_meter *meter);
/* It has ended, or waits: 1, or 0 when none ran. */
int tureen_meter_pause(tureen_meter *meter);
/* Milliseconds the script has left; -1 when there is no end.                                            [-0, +0, -] */
int64_t tureen_meter_left_ms(lua_State *L);
/* In the hook of a state with limits: counts the instructions since the last time, raises when that reaches a limit.
 *                                                                                                        [-0, +0, v] */
void tureen_meter_hook(lua_State *L);
/* Raises when a limit is reached.                                                                       [-0, +0, v] */
void tureen_meter_check(lua_State *L);
/* The same, after work outside of the virtual machine was counted as so many instructions.              [-0, +0, v] */
void tureen_meter_work(lua_State *L, uint64_t steps);
/* Bytes that a library function walks, as work.                                                         [-0, +0, v] */
void tureen_meter_bytes(lua_State *L, size_t bytes);
/* Counts a new coroutine: what it leaves uncounted at its end is counted now.                           [-0, +0, v] */
void tureen_meter_coroutine(lua_State *L);
/* How many requests for memory were refused so far.                                                     [-0, +0, -] */
uint64_t tureen_meter_refusals(lua_State *L);
/* An error was caught that is at the top: raises when it came of a limit. `refusals`: how many there were before it could
 * be raised.                                                                                            [-0, +0, v] */
void tureen_meter_caught(lua_State *L, uint64_t refusals);
/* The same without raising: notes that the memory limit is reached when the error came of it.           [-0, +0, -] */
void tureen_meter_note_error(lua_State *L, uint64_t refusals);
/* Says where which limit was reached: 1; or 0 when none was. */
int tureen_meter_message(const tureen_meter *meter, char *text, size_t size);
/* 1 when the state has the restricted environment.                                                      [-0, +0, -] */
int tureen_meter_restricts(lua_State *L);

#endif
