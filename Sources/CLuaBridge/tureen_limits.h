/* Measures the resources that a script with limits uses. Internal to this target. */
#ifndef TUREEN_LIMITS_INTERNAL_H
#define TUREEN_LIMITS_INTERNAL_H

#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>

#include "include/tureen_bridge.h"
#include "tureen_weak_lua.h"

/* The resources that a state has used; the context of its allocator. */
typedef struct tureen_meter {
  tureen_limits limits;
  lua_Hook hook;
  uint64_t used_bytes, used_instructions;
  uint64_t work;     /* work of C functions that is not yet added to the instructions */
  uint64_t refusals; /* the number of refused memory requests */
  int64_t end_ms;    /* by the monotonic clock; 0: the time has not started, or there is no limit */
  int64_t looked_ns; /* when the clock was last read */
  int64_t cpu_ns;    /* processor time of earlier runs */
  int64_t cpu_mark_ns; /* the thread's processor time when this run began; -1 between runs */
  int reached;         /* the first reached limit, TUREEN_LIMIT_... */
  const void *refused;
  size_t refused_size; /* the size of the last refused request; 0 if it was granted when repeated */
  lua_State *running;  /* the state or a coroutine of it */
  char where[128];     /* "file:line: " when the limit was noticed */
} tureen_meter;

/* Creates a state with limits and without libraries; NULL if there is no memory, or the limit is too low. */
lua_State *tureen_meter_open(const tureen_limits *limits, lua_Hook hook);
/* Closes a state, with limits or without. */
void tureen_meter_close(lua_State *L);
/* Returns the state's meter; NULL if it has no limits.                                                  [-0, +0, -] */
tureen_meter *tureen_meter_of(lua_State *L);
/* Records that this coroutine, or the state itself, is running now.                                     [-0, +0, -] */
void tureen_meter_note(lua_State *L);
/* Called when Lua code starts to run on this thread. The first call starts the script's time. `meter` may be NULL. */
void tureen_meter_begin(tureen_meter *meter);
/* Called when the code has ended or waits. Returns 1, or 0 if none was running. */
int tureen_meter_pause(tureen_meter *meter);
/* Returns the milliseconds that the script has left; -1 without a time limit.                           [-0, +0, -] */
int64_t tureen_meter_left_ms(lua_State *L);
/* Called in the hook of a state with limits: counts the instructions since the last call, and raises at a limit.
 *                                                                                                        [-0, +0, v] */
void tureen_meter_hook(lua_State *L);
/* Raises if a limit is reached.                                                                         [-0, +0, v] */
void tureen_meter_check(lua_State *L);
/* Counts work outside the virtual machine as `steps` instructions, and raises at a limit.               [-0, +0, v] */
void tureen_meter_work(lua_State *L, uint64_t steps);
/* Counts bytes that a library function walks as work.                                                   [-0, +0, v] */
void tureen_meter_bytes(lua_State *L, size_t bytes);
/* Counts a new coroutine, including the instructions that it may leave uncounted at its end.            [-0, +0, v] */
void tureen_meter_coroutine(lua_State *L);
/* Returns the number of refused memory requests so far.                                                 [-0, +0, -] */
uint64_t tureen_meter_refusals(lua_State *L);
/* Called after an error, which is at the top, was caught: raises if a limit caused it. `refusals` is the number of refusals
 * before the protected call.                                                                            [-0, +0, v] */
void tureen_meter_caught(lua_State *L, uint64_t refusals);
/* Like tureen_meter_caught, but does not raise: records that the memory limit was reached if it caused the error. [-0, +0, -] */
void tureen_meter_note_error(lua_State *L, uint64_t refusals);
/* Writes which limit was reached, and where, to `text`. Returns 1, or 0 if none was. */
int tureen_meter_message(const tureen_meter *meter, char *text, size_t size);
/* Returns 1 if the state has the restricted environment.                                                [-0, +0, -] */
int tureen_meter_restricts(lua_State *L);

#endif
