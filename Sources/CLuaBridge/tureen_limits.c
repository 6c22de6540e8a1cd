/* What a script may use: memory through Lua's allocator, instructions and time through a hook that Lua calls every so many
 * instructions. Once a limit is reached the hook raises at every instruction, so that nothing a script catches goes on. */
#include "tureen_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tureen_break.h"

/* Instructions between two looks at the clock: about 10 us. A new coroutine counts as as many from the start, because what it
 * has left when it is dropped is never counted. */
#define STEP 1000

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Lua asks, collects its garbage, and asks for the same once more: the second refusal in a row is final. */
static void refuse(tureen_meter *meter, const void *old, size_t size) {
  if (meter->refused_size == size && meter->refused == old && meter->reached == TUREEN_LIMIT_NONE)
    meter->reached = TUREEN_LIMIT_MEMORY;
  meter->refused = old;
  meter->refused_size = size;
}

/* Lua's allocator for states with limits. */
static void *allocate(void *context, void *old, size_t old_size, size_t size) {
  tureen_meter *meter = context;
  if (old == NULL) old_size = 0; /* it tells the kind of value then */
  if (size == 0) {
    free(old);
    meter->used_bytes -= old_size;
    return NULL;
  }
  uint64_t limit = meter->limits.memory_bytes;
  if (limit != 0 && size > old_size && meter->used_bytes - old_size + size > limit) {
    refuse(meter, old, size);
    return NULL;
  }
  void *memory = realloc(old, size);
  if (memory == NULL) return NULL;
  meter->used_bytes = meter->used_bytes - old_size + size;
  if (size > old_size) meter->refused_size = 0;
  return memory;
}

tureen_meter *tureen_meter_of(lua_State *L) {
  void *context;
  return lua_getallocf(L, &context) == allocate ? context : NULL;
}

/* Says in *text what was reached. */
static void describe(const tureen_meter *meter, char *text, size_t size) {
  const tureen_limits *limits = &meter->limits;
  switch (meter->reached) {
    case TUREEN_LIMIT_MEMORY:
      snprintf(text, size, "the script reached its limit of %llu bytes of memory (--memory-limit)",
               (unsigned long long)limits->memory_bytes);
      break;
    case TUREEN_LIMIT_INSTRUCTIONS:
      snprintf(text, size, "the script reached its limit of %llu instructions (--instruction-limit)",
               (unsigned long long)limits->instructions);
      break;
    case TUREEN_LIMIT_TIME:
      snprintf(text, size, "the script reached its time limit of %g s (--time-limit)", (double)limits->time_ms / 1000);
      break;
    default: snprintf(text, size, "no limit was reached");
  }
}

/* Raises for the limit that was reached, and sees to it that this goes on.                              [-0, +0, v] */
static int raise_limit(lua_State *L, tureen_meter *meter) {
  char text[160];
  lua_sethook(L, tureen_hook, LUA_MASKCOUNT, 1);
  lua_Debug frame;
  for (int level = 0; meter->where[0] == 0 && lua_getstack(L, level, &frame); level++)
    if (lua_getinfo(L, "Sl", &frame) && frame.currentline > 0)
      snprintf(meter->where, sizeof meter->where, "%s:%d: ", frame.short_src, frame.currentline);
  describe(meter, text, sizeof text);
  lua_pushstring(L, text);
  return lua_error(L);
}

/* Looks at what was used; `instructions` more than before.                                              [-0, +0, v] */
static void count(lua_State *L, tureen_meter *meter, uint64_t instructions) {
  const tureen_limits *limits = &meter->limits;
  meter->used_instructions += instructions;
  if (meter->reached == TUREEN_LIMIT_NONE && limits->instructions != 0 && meter->used_instructions >= limits->instructions)
    meter->reached = TUREEN_LIMIT_INSTRUCTIONS;
  if (meter->reached == TUREEN_LIMIT_NONE && meter->end_ms != 0 && now_ms() >= meter->end_ms)
    meter->reached = TUREEN_LIMIT_TIME;
  if (meter->reached != TUREEN_LIMIT_NONE) raise_limit(L, meter);
}

void tureen_hook(lua_State *L, lua_Debug *record) {
  (void)record;
  tureen_meter *meter = tureen_meter_of(L);
  if (meter != NULL) count(L, meter, (uint64_t)lua_gethookcount(L));
  tureen_break_look(L);
}

lua_State *tureen_meter_open(const tureen_limits *limits) {
  tureen_meter *meter = calloc(1, sizeof *meter);
  if (meter == NULL) return NULL;
  meter->limits = *limits;
  lua_State *L = lua_newstate(allocate, meter);
  if (L == NULL) {
    free(meter);
    return NULL;
  }
  uint64_t step = limits->instructions != 0 && limits->instructions < STEP ? limits->instructions : STEP;
  if (limits->memory_bytes != 0 || limits->instructions != 0 || limits->time_ms != 0)
    lua_sethook(L, tureen_hook, LUA_MASKCOUNT, (int)step);
  return L;
}

void tureen_meter_start(tureen_meter *meter) {
  if (meter->end_ms != 0 || meter->limits.time_ms == 0) return;
  uint64_t left = meter->limits.time_ms < (uint64_t)INT64_MAX / 2 ? meter->limits.time_ms : (uint64_t)INT64_MAX / 2;
  meter->end_ms = now_ms() + (int64_t)left;
}

int64_t tureen_meter_left_ms(lua_State *L) {
  tureen_meter *meter = tureen_meter_of(L);
  if (meter == NULL || meter->end_ms == 0) return -1;
  int64_t left = meter->end_ms - now_ms();
  return left < 0 ? 0 : left;
}

void tureen_meter_charge(lua_State *L) {
  tureen_meter *meter = tureen_meter_of(L);
  if (meter != NULL) count(L, meter, STEP);
}

void tureen_meter_check(lua_State *L) {
  tureen_meter *meter = tureen_meter_of(L);
  if (meter != NULL) count(L, meter, 0);
}

int tureen_meter_message(const tureen_meter *meter, char *text, size_t size) {
  if (meter == NULL || meter->reached == TUREEN_LIMIT_NONE) return 0;
  size_t length = strlen(meter->where);
  if (length >= size) length = 0;
  memcpy(text, meter->where, length);
  describe(meter, text + length, size - length);
  return 1;
}

int tureen_meter_restricts(lua_State *L) {
  tureen_meter *meter = tureen_meter_of(L);
  return meter != NULL && meter->limits.is_restricted;
}

void tureen_meter_close(lua_State *L) {
  tureen_meter *meter = tureen_meter_of(L);
  lua_close(L);
  free(meter);
}
