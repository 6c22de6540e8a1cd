/* Enforces the limits of scripts. Memory is counted by Lua's allocator; instructions are counted by a hook that Lua calls at
 * intervals, by the allocator and by library functions, whose work counts as instructions; time is measured by the clock. Once a
 * limit is reached, every coroutine raises at its next instruction, and no memory is allocated. */
#include "tureen_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Instructions between two checks of the clock: about 10 us. A new coroutine is charged the same number at its start, because
 * its uncounted rest is lost when it is dropped. */
#define STEP 1000

/* The bytes written or walked that count as one instruction: memory is filled with so many in the 10 ns of an instruction. */
#define BYTES_MADE 64
#define BYTES_WALKED 16

/* The processor time that a script has for each instruction, 50 times what they take, plus an initial amount. Any excess is work
 * that is not counted otherwise, such as comparing long strings or compiling a malicious chunk. */
#define NANOSECONDS_EACH 500
#define NANOSECONDS_MORE 250000000

/* The minimum nanoseconds between two queries of the processor time, which need a system call. */
#define SLOW (STEP * NANOSECONDS_EACH)

/* The default memory limit of restricted scripts: a library function can walk so much within seconds. */
#define RESTRICTED_BYTES (256u << 20)

static int64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t now_ms(void) { return nanoseconds(CLOCK_MONOTONIC) / 1000000; }

static void reach(tureen_meter *meter, int limit) {
  if (meter->reached == TUREEN_LIMIT_NONE) meter->reached = limit;
}

/* Refuses memory. Lua then collects garbage and repeats the request, so the second refusal in a row is final. The first one is
 * final if the code continues without a repetition, which its next instruction detects. */
static void *refuse(tureen_meter *meter, const void *old, size_t size) {
  if (meter->running != NULL) lua_sethook(meter->running, meter->hook, LUA_MASKCOUNT, 1);
  if (meter->refused_size == size && meter->refused == old) reach(meter, TUREEN_LIMIT_MEMORY);
  meter->refusals++;
  meter->refused = old;
  meter->refused_size = size;
  return NULL;
}

/* Counts the cost of filling a larger block. Returns 0 if the script may not have more memory. */
static int may_grow(tureen_meter *meter, size_t more) {
  if (meter->cpu_mark_ns < 0) return 1; /* no script runs */
  meter->used_instructions += more / BYTES_MADE;
  if (meter->limits.instructions != 0 && meter->used_instructions >= meter->limits.instructions)
    reach(meter, TUREEN_LIMIT_INSTRUCTIONS);
  return meter->reached == TUREEN_LIMIT_NONE;
}

/* The allocator of states with limits. */
static void *allocate(void *context, void *old, size_t old_size, size_t size) {
  tureen_meter *meter = context;
  if (old == NULL) old_size = 0; /* for a new block, Lua passes the kind of value here */
  if (size == 0) {
    free(old);
    meter->used_bytes -= old_size;
    return NULL;
  }
  uint64_t limit = meter->limits.memory_bytes;
  if (size > old_size) {
    if (limit != 0 && meter->used_bytes - old_size + size > limit) return refuse(meter, old, size);
    if (size - old_size >= BYTES_MADE && !may_grow(meter, size - old_size)) return NULL;
  }
  void *memory = realloc(old, size);
  if (memory == NULL) return NULL;
  meter->used_bytes = meter->used_bytes - old_size + size;
  if (size == meter->refused_size && old == meter->refused) meter->refused_size = 0;
  return memory;
}

tureen_meter *tureen_meter_of(lua_State *L) {
  void *context;
  return lua_getallocf(L, &context) == allocate ? context : NULL;
}

/* Writes a description of the reached limit to `text`. */
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

/* Raises for the reached limit, and ensures that all later code raises, too.                            [-0, +0, v] */
static int raise_limit(lua_State *L, tureen_meter *meter) {
  lua_sethook(L, meter->hook, LUA_MASKCOUNT, 1);
  lua_Debug frame;
  for (int level = 0; meter->where[0] == 0 && lua_getstack(L, level, &frame); level++)
    if (lua_getinfo(L, "Sl", &frame) && frame.currentline > 0)
      snprintf(meter->where, sizeof meter->where, "%s:%d: ", frame.short_src, frame.currentline);
  lua_pushnil(L); /* a string would need memory; `tureen_meter_message` has the text */
  return lua_error(L);
}

/* Returns 1 if the script's thread has used more processor time than its instructions account for. */
static int is_overdrawn(const tureen_meter *meter) {
  if (meter->cpu_mark_ns < 0) return 0;
  int64_t used = meter->cpu_ns + nanoseconds(CLOCK_THREAD_CPUTIME_ID) - meter->cpu_mark_ns;
  return used > NANOSECONDS_MORE &&
         (uint64_t)(used - NANOSECONDS_MORE) / NANOSECONDS_EACH >= meter->limits.instructions;
}

static void look_at_clocks(tureen_meter *meter) {
  int64_t now = nanoseconds(CLOCK_MONOTONIC), since = now - meter->looked_ns;
  meter->looked_ns = now;
  if (meter->end_ms != 0 && now / 1000000 >= meter->end_ms) reach(meter, TUREEN_LIMIT_TIME);
  if (meter->limits.instructions != 0 && since > SLOW && is_overdrawn(meter)) reach(meter, TUREEN_LIMIT_INSTRUCTIONS);
}

/* Adds `instructions`, and raises if a limit is reached.                                                [-0, +0, v] */
static void count(lua_State *L, tureen_meter *meter, uint64_t instructions) {
  meter->used_instructions += instructions + meter->work;
  meter->work = 0;
  if (meter->limits.instructions != 0 && meter->used_instructions >= meter->limits.instructions)
    reach(meter, TUREEN_LIMIT_INSTRUCTIONS);
  if (meter->reached == TUREEN_LIMIT_NONE) look_at_clocks(meter);
  if (meter->reached != TUREEN_LIMIT_NONE) raise_limit(L, meter);
}

/* Returns the number of instructions between two calls of the hook. */
static int step_of(const tureen_meter *meter) {
  uint64_t most = meter->limits.instructions;
  return most != 0 && most < STEP ? (int)most : STEP;
}

void tureen_meter_hook(lua_State *L) {
  tureen_meter *meter = tureen_meter_of(L);
  if (meter == NULL) return;
  if (meter->refused_size != 0 && meter->cpu_mark_ns >= 0) reach(meter, TUREEN_LIMIT_MEMORY);
  int instructions = lua_gethookcount(L);
  count(L, meter, (uint64_t)instructions);
  /* An immediate check was requested. */
  if (instructions != step_of(meter)) lua_sethook(L, meter->hook, LUA_MASKCOUNT, step_of(meter));
}

lua_State *tureen_meter_open(const tureen_limits *limits, lua_Hook hook) {
  tureen_meter *meter = calloc(1, sizeof *meter);
  if (meter == NULL) return NULL;
  meter->limits = *limits;
  if (limits->is_restricted && limits->memory_bytes == 0) meter->limits.memory_bytes = RESTRICTED_BYTES;
  meter->hook = hook;
  meter->cpu_mark_ns = -1;
  lua_State *L = lua_newstate(allocate, meter);
  if (L == NULL) {
    free(meter);
    return NULL;
  }
  meter->running = L;
  lua_sethook(L, hook, LUA_MASKCOUNT, step_of(meter));
  return L;
}

void tureen_meter_note(lua_State *L) {
  tureen_meter *meter = tureen_meter_of(L);
  if (meter != NULL) meter->running = L;
}

void tureen_meter_begin(tureen_meter *meter) {
  if (meter == NULL || meter->cpu_mark_ns >= 0) return;
  meter->cpu_mark_ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  if (meter->end_ms != 0 || meter->limits.time_ms == 0) return;
  uint64_t left = meter->limits.time_ms < (uint64_t)INT64_MAX / 2 ? meter->limits.time_ms : (uint64_t)INT64_MAX / 2;
  meter->end_ms = now_ms() + (int64_t)left;
}

int tureen_meter_pause(tureen_meter *meter) {
  if (meter == NULL || meter->cpu_mark_ns < 0) return 0;
  meter->cpu_ns += nanoseconds(CLOCK_THREAD_CPUTIME_ID) - meter->cpu_mark_ns;
  meter->cpu_mark_ns = -1;
  return 1;
}

int64_t tureen_meter_left_ms(lua_State *L) {
  tureen_meter *meter = tureen_meter_of(L);
  if (meter == NULL || meter->end_ms == 0) return -1;
  int64_t left = meter->end_ms - now_ms();
  return left < 0 ? 0 : left;
}

void tureen_meter_check(lua_State *L) {
  tureen_meter *meter = tureen_meter_of(L);
  if (meter != NULL) count(L, meter, 0);
}

void tureen_meter_work(lua_State *L, uint64_t steps) {
  tureen_meter *meter = tureen_meter_of(L);
  if (meter == NULL) return;
  meter->work += steps;
  if (meter->work >= STEP) count(L, meter, 0);
}

void tureen_meter_bytes(lua_State *L, size_t bytes) { tureen_meter_work(L, bytes / BYTES_WALKED); }

void tureen_meter_coroutine(lua_State *L) { tureen_meter_work(L, STEP); }

uint64_t tureen_meter_refusals(lua_State *L) {
  const tureen_meter *meter = tureen_meter_of(L);
  return meter == NULL ? 0 : meter->refusals;
}

void tureen_meter_note_error(lua_State *L, uint64_t refusals) {
  tureen_meter *meter = tureen_meter_of(L);
  if (meter == NULL || meter->refusals == refusals || lua_type(L, -1) != LUA_TSTRING) return;
  /* Lua's own message. Some of its functions fail at the first refusal. */
  if (strstr(lua_tostring(L, -1), "not enough memory") != NULL) reach(meter, TUREEN_LIMIT_MEMORY);
}

void tureen_meter_caught(lua_State *L, uint64_t refusals) {
  tureen_meter_note_error(L, refusals);
  tureen_meter_check(L);
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
  if (meter != NULL) meter->running = NULL;
  lua_close(L);
  free(meter);
}
