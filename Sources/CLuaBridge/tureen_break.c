/* Breaking off Lua code from another thread, for programs that own their process: what Ctrl-C does to a loop without an end.
 *
 * A hook slows every script down, so there is none until a break is requested. Only the state's own thread can set one, and only
 * a signal reaches that thread in the middle of a loop. The hook goes into the coroutine that runs just then, which
 * `tureen_break_note` says. Coroutines that C modules resume are not known. */
#include "tureen_break.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Milliseconds Lua code may go on after a request, or after it was last at the host: an orderly end needs them. */
#define GRACE 500

/* The signal: nothing happens to a process that gets it by mistake. */
#define SIGNAL SIGURG

/* One state of the process. All but the atomic ones belong to its thread, its signal handler included. */
static struct {
  atomic_int is_watched;
  pthread_t thread;
  lua_State *state;
  const void *identity; /* of `state` */
  lua_Hook hook;
  _Atomic(lua_State *) running; /* the state or a coroutine of it; NULL before and after; `thread` is set while it is not */
  atomic_int wants_end; /* set by any thread, looked at where the signal arrives */
  atomic_int is_asked;
  _Atomic int64_t since_ms;
  atomic_int is_nudged;        /* a signal came, and neither the hook nor the host has been reached since */
  _Atomic int64_t nudged_cpu_ms; /* processor time of the thread when the first such signal came */
  _Atomic int64_t stuck_ms;      /* and what it has used since then, at the latest one */
  int is_broken;
  char *message; /* with the traceback of where it was broken off */
} watched;

static int64_t milliseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t now_ms(void) { return milliseconds(CLOCK_MONOTONIC); }

/* Whether this thread is the one whose state is watched. Other threads may have states with hooks, for their limits. */
static int is_watched_here(void) {
  return atomic_load(&watched.running) != NULL && pthread_equal(pthread_self(), watched.thread);
}

/* Tells the coroutines of one state from those of another. */
static const void *identity(lua_State *L) { return lua_topointer(L, LUA_REGISTRYINDEX); }

/* On the state's thread, anywhere in the middle of its work. Everything here may be done in a signal handler. */
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

void tureen_break_nudge(void) {
  if (atomic_load(&watched.running) != NULL) pthread_kill(watched.thread, SIGNAL);
}

/* Whether this thread's state was asked to end. */
static int is_asked_here(void) {
  return atomic_load(&watched.is_asked) && is_watched_here();
}

void tureen_break_came_back(void) {
  tureen_break_heard();
  if (is_asked_here()) atomic_store(&watched.since_ms, now_ms());
}

/* Notes where the script is: its innermost line that is not in a module of ours, and the traceback.     [-0, +0, m] */
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
