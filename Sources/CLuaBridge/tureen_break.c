/* Breaking off Lua code from another thread, for programs that own their process: what Ctrl-C does to a loop without an end.
 *
 * A hook costs every script its speed, so there is none until somebody asks. Only the state's own thread can set one, and only
 * a signal reaches that thread in the middle of a loop. The hook goes into the coroutine that runs just then: so that it is
 * known, coroutine.resume and coroutine.wrap note it. Coroutines that C modules resume are not known. */
#include "tureen_break.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tureen_limits.h"

/* Milliseconds Lua code may go on after somebody asked, or after it was last at the host: an orderly end needs them. */
#define GRACE 500

/* The signal: nothing happens to a process that gets it by mistake. */
#define SIGNAL SIGURG

/* One state of the process. All but the atomic ones belong to its thread, its signal handler included. */
static struct {
  atomic_int is_watched;
  pthread_t thread;
  lua_State *state;
  _Atomic(lua_State *) running; /* the state or a coroutine of it; NULL before and after; `thread` is set while it is not */
  atomic_int is_asked;
  _Atomic int64_t since_ms;
  int is_broken;
  char *message; /* with the traceback of where it was broken off */
} watched;

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* On the state's thread, anywhere in the middle of its work. Everything here may be done in a signal handler. */
static void handle(int number) {
  (void)number;
  lua_State *L = atomic_load(&watched.running);
  if (L == NULL || !pthread_equal(pthread_self(), watched.thread) || atomic_load(&watched.is_asked)) return;
  atomic_store(&watched.since_ms, now_ms());
  atomic_store(&watched.is_asked, 1);
  lua_sethook(L, tureen_hook, LUA_MASKCOUNT, 1);
}

/* From here on this coroutine, or the state itself, runs.                                               [-0, +0, -] */
static void note(lua_State *L) {
  atomic_store(&watched.running, L);
  if (atomic_load(&watched.is_asked)) lua_sethook(L, tureen_hook, LUA_MASKCOUNT, 1);
}

/* Resumes a coroutine with the `count` values at the top: how many values it left there, or -1 with an error there.
 *                                                                                                        [-n, +m, e] */
static int resume(lua_State *L, lua_State *coroutine, int count) {
  int results = 0;
  if (!lua_checkstack(coroutine, count)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, coroutine, count);
  note(coroutine);
  int status = lua_resume(coroutine, L, count, &results);
  note(L);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(coroutine, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, results + 1)) {
    lua_pop(coroutine, results);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(coroutine, L, results);
  return results;
}

/* coroutine.resume */
static int noted_resume(lua_State *L) {
  lua_State *coroutine = lua_tothread(L, 1);
  luaL_argexpected(L, coroutine != NULL, 1, "thread");
  int count = resume(L, coroutine, lua_gettop(L) - 1);
  lua_pushboolean(L, count >= 0);
  if (count < 0) count = 1;
  lua_insert(L, -(count + 1));
  return count + 1;
}

/* What coroutine.wrap gives. Upvalue 1: the coroutine. */
static int wrapped(lua_State *L) {
  lua_State *coroutine = lua_tothread(L, lua_upvalueindex(1));
  int count = resume(L, coroutine, lua_gettop(L));
  if (count >= 0) return count;
  int status = lua_status(coroutine);
  if (status != LUA_OK && status != LUA_YIELD) { /* it has failed, not been refused: what it left open is closed */
    tureen_meter_check(L);                       /* but not at a limit, where no hook interrupts that */
    lua_pushvalue(L, -1);
    lua_xmove(L, coroutine, 1);
    lua_resetthread(coroutine);
    lua_xmove(coroutine, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* coroutine.wrap. Upvalue 1: coroutine.create. */
static int noted_wrap(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  lua_pushcclosure(L, wrapped, 1);
  return 1;
}

static int install_guards(lua_State *L) {
  lua_getglobal(L, LUA_COLIBNAME);
  lua_getfield(L, -1, "create");
  lua_pushcclosure(L, noted_wrap, 1);
  lua_setfield(L, -2, "wrap");
  lua_pushcfunction(L, noted_resume);
  lua_setfield(L, -2, "resume");
  return 0;
}

int tureen_break_watch(struct lua_State *L) {
  if (atomic_exchange(&watched.is_watched, 1)) return 0;
  if (!lua_checkstack(L, 2)) return 0;
  lua_pushcfunction(L, install_guards);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
    lua_pop(L, 1);
    return 0;
  }
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
  pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
  if (sigaction(SIGNAL, &action, NULL) != 0) return 0;
  atomic_store(&watched.running, L);
  return 1;
}

void tureen_break_ask(void) {
  if (atomic_load(&watched.running) != NULL) pthread_kill(watched.thread, SIGNAL);
}

/* Whether this thread's state was asked to end. Another state of the process may have hooks of its own, for its limits. */
static int is_asked_here(void) {
  return atomic_load(&watched.is_asked) && pthread_equal(pthread_self(), watched.thread);
}

void tureen_break_came_back(void) {
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
