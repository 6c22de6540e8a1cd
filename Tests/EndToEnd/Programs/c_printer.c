/* A Lua module in C that registers a plug-in with the C API: scripts of the state that loads it call com.acme.printer. */
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <tureen.h>

static tureen *t;
static int64_t held; /* a call that waits for its cancellation */

static void answer(int64_t call, int kind, const char *json) { tureen_answer(t, call, kind, json, strlen(json)); }

/* Prints a page on a thread of its own. */
static void *print(void *call) {
  answer(*(int64_t *)call, TUREEN_ANSWER_PROGRESS, "{\"page\":1}");
  answer(*(int64_t *)call, TUREEN_ANSWER_RESULT, "{\"pages\":1}");
  return NULL;
}

/* Passes on what another plug-in said. `user` is the call that waits for it. */
static void relayed(tureen *handle, int64_t id, int kind, const char *json, size_t length, void *user) {
  (void)id;
  tureen_answer(handle, *(int64_t *)user, kind, json, length);
}

static void on_call(tureen *handle, int64_t call, const char *action, const char *arguments, size_t length, void *user) {
  static int64_t printing, relaying;
  (void)user;
  (void)length;
  if (strcmp(action, "print") == 0) {
    pthread_t thread;
    printing = call;
    if (pthread_create(&thread, NULL, print, &printing) == 0) pthread_detach(thread);
  } else if (strcmp(action, "relay") == 0) {
    relaying = call;
    tureen_exec(handle, "com.acme.chain", "greet", arguments, relayed, &relaying, NULL);
  } else if (strcmp(action, "hold") == 0) {
    held = call;
  } else {
    tureen_emit(handle, "com.acme.printer.jammed", "{\"tray\":2}", 10);
    answer(call, TUREEN_ANSWER_ERROR, "{\"code\":\"jammed\",\"message\":\"tray 2 is jammed\"}");
  }
}

static void on_cancel(tureen *handle, int64_t call, void *user) {
  (void)handle;
  (void)user;
  if (call == held) answer(call, TUREEN_ANSWER_RESULT, "\"let go\"");
}

/* misuse() -> what functions answer that the state's own polls stand for */
static int misuse(lua_State *L) {
  lua_pushinteger(L, tureen_poll(t, 0));
  lua_pushinteger(L, tureen_fd(t));
  lua_pushinteger(L, tureen_close(t));
  return 3;
}

/* When the state closes, its bridge was closed before this userdata, or is closed later: both are fine. */
static int collected(lua_State *L) {
  (void)L;
  int status = tureen_emit(t, "com.acme.printer.off", NULL, 0);
  if (status != TUREEN_OK && status != TUREEN_CLOSED) fprintf(stderr, "emit at the end: %d\n", status);
  tureen_free(t);
  return 0;
}

int luaopen_c_printer(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  int is_loaded = lua_getfield(L, -1, "tureen") != LUA_TNIL; /* by `tureen run` */
  tureen *early = tureen_of(L);
  if ((early != NULL) != is_loaded) return luaL_error(L, "there is a handle exactly if Tureen is loaded");
  tureen_free(early);
  luaL_requiref(L, "tureen", luaopen_tureen, 0);
  t = tureen_of(L);
  if (t == NULL || tureen_of(L) != t) return luaL_error(L, "the state has no handle of its own");
  tureen_free(t); /* of the second tureen_of */
  char *error = NULL;
  if (tureen_register(t, "com.acme.printer", NULL, on_call, on_cancel, NULL, &error) != TUREEN_OK) {
    lua_pushstring(L, error == NULL ? "not registered" : error);
    tureen_text_free(error);
    return lua_error(L);
  }
  lua_newuserdatauv(L, 1, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, collected);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, "c_printer");
  lua_pushcfunction(L, misuse);
  return 1;
}
