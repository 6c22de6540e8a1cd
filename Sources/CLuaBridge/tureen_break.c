/* Interrupts Lua code from another thread, for programs that own their process: Ctrl-C ends an endless loop.
 *
 * A hook slows every script down, so there is none until a break is requested. Only the state's own thread can set one, and only
 * a signal reaches that thread in the middle of a loop. The hook is set in the running coroutine, which `tureen_break_note`
 * records. Coroutines that C modules resume are not known. */
#include "tureen_break.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Milliseconds that Lua code may run after a request, or after it last returned to the host, so that it can end in order. */
#define GRACE 500

/* The signal. Its default action is to be ignored, so a stray one is harmless. */
#define SIGNAL SIGURG

/* The watched state of the process. Only its thread, including its signal handler, uses the members that are not atomic. */
static struct {
  atomic_int is_watched;
  pthread_t thread;
  lua_State *state;
  const void *identity; /* of `state` */
  lua_Hook hook;
  _Atomic(lua_State *) running; /* the state or a coroutine of it; NULL while no script runs; otherwise `thread` is set */
  atomic_int wants_end; /* set by any thread, read by the signal handler */
  atomic_int is_asked;
  _Atomic int64_t since_ms;
  atomic_int is_nudged;        /* a signal arrived; neither the hook nor the host has run since */
  _Atomic int64_t nudged_cpu_ms; /* the thread's processor time at the first such signal */
  _Atomic int64_t stuck_ms;      /* the processor time from then until the latest signal */
  int is_broken;
  char *message; /* with the traceback of the interrupted code */
} watched;

static int64_t milliseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t now_ms(void) { return milliseconds(CLOCK_MONOTONIC); }

/* Returns 1 on the thread of the watched state. Other threads may have states with hooks for their limits. */
static int is_watched_here(void) {
  return atomic_load(&watched.running) != NULL && pthread_equal(pthread_self(), watched.thread);
}

/* Returns a pointer that all coroutines of a state share. */
static const void *identity(lua_State *L) { return lua_topointer(L, LUA_REGISTRYINDEX); }

/* The signal handler, which runs at any point on the state's thread. Uses only async-signal-safe functions. */
static void handle(int number) {
  (void)number;
  lua_State *L = atomic_load(&watched.running);
  if (L == NULL || !pthread_equal(pthread_self(), watched.thread)) return;
  if (atomic_load(&watched.wants_end) && !atomic_load(&watched.is_asked)) {
    atomic_store(&watched.since_ms, now_ms());
    atomic_store(&watched.is_asked, 1);
  }
  int64_t cpu_ms = milliseconds(CLOCK_THREAD_CPUTIME_ID);
  if (!atomic_exchange(&watched.is_nudged, 1)) atomic_store(&watched.nudged_cpu_ms, cpu_ms);
  atomic_store(&watched.stuck_ms, cpu_ms - atomic_load(&watched.nudged_cpu_ms));
  lua_sethook(L, watched.hook, LUA_MASKCOUNT, 1);
}

void tureen_break_heard(void) {
  if (!is_watched_here() || !atomic_exchange(&watched.is_nudged, 0)) return;
  atomic_store(&watched.stuck_ms, 0);
}

int64_t tureen_break_stuck_ms(void) { return atomic_load(&watched.stuck_ms); }

void tureen_break_note(lua_State *L) {
  if (!is_watched_here() || identity(L) != watched.identity) return;
  atomic_store(&watched.running, L);
  if (atomic_load(&watched.is_asked)) lua_sethook(L, watched.hook, LUA_MASKCOUNT, 1);
}

int tureen_break_claim(void) { return !atomic_exchange(&watched.is_watched, 1); }

int tureen_break_begin(lua_State *L, lua_Hook hook) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGNAL);
  watched.thread = pthread_self();
  watched.state = L;
  watched.identity = identity(L);
  watched.hook = hook;
  pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
  if (sigaction(SIGNAL, &action, NULL) != 0) return 0;
  atomic_store(&watched.running, L);
  return 1;
}

void tureen_break_ask(void) {
  atomic_store(&watched.wants_end, 1);
  tureen_break_nudge();
}

void tureen_break_ask_here(void) {
  atomic_store(&watched.wants_end, 1);
  handle(SIGNAL);
}

void tureen_break_nudge(void) {
  if (atomic_load(&watched.running) != NULL) pthread_kill(watched.thread, SIGNAL);
}

/* Returns 1 if this thread's state was asked to end. */
static int is_asked_here(void) {
  return atomic_load(&watched.is_asked) && is_watched_here();
}

void tureen_break_came_back(void) {
  tureen_break_heard();
  if (is_asked_here()) atomic_store(&watched.since_ms, now_ms());
}

/* Stores the script's position: its innermost line outside our modules, and the traceback.              [-0, +0, m] */
static void note_place(lua_State *L) {
  lua_Debug frame;
  int level = 0, is_found = 0;
  while (!is_found && lua_getstack(L, level++, &frame))
    is_found = lua_getinfo(L, "Sl", &frame) && frame.currentline > 0 && strncmp(frame.short_src, "[tureen ", 8) != 0;
  if (is_found) lua_pushfstring(L, "%s:%d: interrupted", frame.short_src, frame.currentline);
  else lua_pushliteral(L, "interrupted");
  luaL_traceback(L, L, lua_tostring(L, -1), 0);
  watched.message = strdup(lua_tostring(L, -1));
  lua_pop(L, 2);
}

void tureen_break_look(lua_State *L) {
  if (!is_asked_here() || (!watched.is_broken && now_ms() - atomic_load(&watched.since_ms) < GRACE)) return;
  if (!watched.is_broken) {
    watched.is_broken = 1;
    note_place(L);
  }
  luaL_error(L, "interrupted");
}

const char *tureen_break_message(lua_State *L) {
  if (!watched.is_broken || L != watched.state) return NULL;
  return watched.message == NULL ? "interrupted" : watched.message;
}

int tureen_break_happened(struct lua_State *L) { return tureen_break_message(L) != NULL; }

void tureen_break_forget(lua_State *L) {
  if (atomic_load(&watched.running) != NULL && L == watched.state) atomic_store(&watched.running, NULL);
}
