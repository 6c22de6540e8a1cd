/* Complete states, for our own programs: open, run a script, close. Every step is protected. */
#include <lua5.4/lualib.h>
#include <stdlib.h>
#include <string.h>

#include "tureen_break.h"
#include "tureen_bridge_internal.h"
#include "tureen_coroutines.h"
#include "tureen_guards.h"
#include "tureen_hook.h"
#include "tureen_restrict.h"

/* Copies the text at `index` for Swift. Without memory only the message is lost.                        [-0, +0, -] */
static void copy_text(lua_State *L, int index, tureen_bytes *out) {
  size_t length = 0;
  const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &length) : "unknown error";
  if (text != NULL && length == 0) length = strlen(text);
  out->data = malloc(length + 1);
  out->length = out->data == NULL ? 0 : length;
  if (out->data != NULL) memcpy(out->data, text, length);
}

/* Removes the current folder from a field of `package`: a person who stands in a folder does not trust the code of everyone who
   can write there. A folder that LUA_PATH names stays.                                                            [-0, +0, m] */
static void leave_current_folder(lua_State *L, const char *field) {
  static const char *const templates[] = {"./?.lua", "./?/init.lua", "./?.so"};
  luaL_Buffer kept;
  lua_getglobal(L, LUA_LOADLIBNAME);
  lua_getfield(L, -1, field);
  const char *rest = lua_tostring(L, -1);
  luaL_buffinit(L, &kept);
  for (int is_first = 1; rest != NULL && *rest != 0;) {
    size_t length = strcspn(rest, LUA_PATH_SEP);
    int is_here = 0;
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++)
      is_here |= strlen(templates[i]) == length && strncmp(rest, templates[i], length) == 0;
    if (!is_here) {
      if (!is_first) luaL_addstring(&kept, LUA_PATH_SEP);
      luaL_addlstring(&kept, rest, length);
      is_first = 0;
    }
    rest += length + (rest[length] != 0);
  }
  luaL_pushresult(&kept);
  lua_setfield(L, -3, field);
  lua_pop(L, 2);
}

static int open_protected(lua_State *L) {
  const tureen_host *host = lua_touserdata(L, 1);
  int *is_owned = lua_touserdata(L, 2);
  if (tureen_meter_restricts(L)) tureen_restrict_libraries(L);
  else {
    luaL_openlibs(L);
    leave_current_folder(L, "path");
    leave_current_folder(L, "cpath");
  }
  if (tureen_meter_of(L) != NULL) tureen_restrict_loops(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  *is_owned = 1;
  tureen_bridge_open(L, host);
  lua_setfield(L, -2, "tureen");
  tureen_bridge_of(L)->owner = TUREEN_OWNER_PROMPT;
  tureen_null_describe(L);
  if (tureen_meter_of(L) != NULL) tureen_restrict_escapes(L);
  return 0;
}

static int has_limits(const tureen_limits *limits) {
  if (limits == NULL) return 0;
  return limits->memory_bytes != 0 || limits->instructions != 0 || limits->time_ms != 0 || limits->is_restricted;
}

/* Replaces a text by another. */
static void replace_text(tureen_bytes *out, const char *text) {
  free(out->data);
  out->data = strdup(text);
  out->length = out->data == NULL ? 0 : strlen(text);
}

/* Copies the description of the reached limit. Returns 0 if there is none. */
static int copy_limit(lua_State *L, tureen_bytes *out) {
  char text[320];
  if (!tureen_meter_message(tureen_meter_of(L), text, sizeof text)) return 0;
  replace_text(out, text);
  return 1;
}

struct lua_State *tureen_state_open(const tureen_host *host, const tureen_limits *limits, tureen_bytes *error) {
  int is_owned = 0;
  lua_State *L = has_limits(limits) ? tureen_meter_open(limits, tureen_hook) : luaL_newstate();
  if (L != NULL) {
    lua_pushcfunction(L, open_protected);
    lua_pushlightuserdata(L, (void *)host);
    lua_pushlightuserdata(L, &is_owned);
    if (lua_pcall(L, 2, 0, 0) == LUA_OK) return L;
    copy_text(L, -1, error);
    copy_limit(L, error);
    tureen_meter_close(L);
  }
  if (!is_owned) host->release(host->context);
  return NULL;
}

typedef struct script {
  const char *path; /* of a file; NULL for a text with a name */
  const char *text; /* NULL: the file is read */
  size_t length;
  const char *name; /* NULL: the path */
  int count;
  const char *const *arguments;
  int status; /* the result of tureen_state_run_file, unless an error is raised */
} script;

/* Converts an error to its message with a traceback; a tureen.Error to its text with its own traceback, which shows where it was
 * first raised.                                                                                         [-1, +1, e] */
static int describe(lua_State *L) {
  tureen_bridge_note_failure(L, tureen_bridge_of(L), 1);
  const char *message = luaL_tolstring(L, 1, NULL);
  if (lua_istable(L, 1)) {
    lua_pushliteral(L, "traceback");
    if (lua_rawget(L, 1) == LUA_TSTRING) {
      lua_pushfstring(L, "%s\n%s", message, lua_tostring(L, -1));
      return 1;
    }
  }
  luaL_traceback(L, L, message, 1);
  return 1;
}

/* Creates the `arg` table.                                                                              [-0, +0, e] */
static void set_arg(lua_State *L, const script *s) {
  lua_createtable(L, s->count, 1);
  lua_pushstring(L, s->path != NULL ? s->path : s->name);
  lua_rawseti(L, -2, 0);
  for (int i = 0; i < s->count; i++) {
    lua_pushstring(L, s->arguments[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setglobal(L, "arg");
}

/* Polls until nothing is pending; a false result becomes the script's error.                            [-0, +0, e] */
static void run_pending(lua_State *L) {
  if (!tureen_bridge_existing(L)) return;
  lua_getfield(L, -1, "run");
  lua_call(L, 0, 2);
  if (!lua_toboolean(L, -2) && !tureen_bridge_failed(L)) {
    tureen_bridge_note_failure(L, tureen_bridge_of(L), -1);
    luaL_tolstring(L, -1, NULL);
    lua_error(L);
  }
  lua_pop(L, 3);
}

static int run_protected(lua_State *L) {
  script *s = lua_touserdata(L, 1);
  lua_settop(L, 0);
  set_arg(L, s);
  const char *mode = tureen_meter_restricts(L) ? "t" : NULL;
  const char *name = s->name != NULL ? s->name : lua_pushfstring(L, "@%s", s->path);
  int status = s->text == NULL ? tureen_load_file(L, s->path, mode) : tureen_load_text(L, s->text, s->length, name, mode);
  if (status != LUA_OK) {
    s->status = 2;
    return 1; /* the message */
  }
  luaL_checkstack(L, s->count + 4, "too many arguments");
  for (int i = 0; i < s->count; i++) lua_pushstring(L, s->arguments[i]);
  lua_call(L, s->count, 0);
  run_pending(L);
  return 0;
}

static int run(lua_State *L, script *s, tureen_bytes *error) {
  error->data = NULL;
  error->length = 0;
  int top = lua_gettop(L);
  tureen_bridge *bridge = tureen_bridge_of(L);
  if (bridge == NULL || !lua_checkstack(L, 4)) return 1;
  uint64_t refusals = tureen_meter_refusals(L);
  tureen_meter_begin(tureen_meter_of(L));
  bridge->owner = TUREEN_OWNER_RUN;
  bridge->exit_status = -1;
  bridge->failure[0] = 0;
  int had_failed = bridge->has_failed;
  bridge->has_failed = 0; /* forget the error of an earlier run */
  lua_pushcfunction(L, describe);
  lua_pushcfunction(L, run_protected);
  lua_pushlightuserdata(L, s);
  int status = lua_pcall(L, 1, 1, top + 1);
  tureen_meter_pause(tureen_meter_of(L));
  bridge->owner = TUREEN_OWNER_PROMPT;
  if (status != LUA_OK) s->status = 1;
  if (bridge->exit_status < 0 && s->status != 0) tureen_meter_note_error(L, refusals);
  if (bridge->exit_status >= 0) s->status = 4;
  else if (s->status != 0) copy_text(L, -1, error);
  else if (bridge->has_failed) s->status = 1;
  bridge->has_failed |= had_failed;
  if (tureen_break_message(L) != NULL) {
    s->status = 1;
    replace_text(error, tureen_break_message(L));
  }
  if (copy_limit(L, error)) s->status = 3;
  lua_settop(L, top);
  return s->status;
}

int tureen_state_run_file(struct lua_State *L, const char *path, int count, const char *const *arguments,
                          tureen_bytes *error) {
  script s = {.path = path, .count = count, .arguments = arguments};
  return run(L, &s, error);
}

int tureen_state_run_text(struct lua_State *L, const char *text, size_t length, const char *name,
                          tureen_bytes *error) {
  script s = {.text = text, .length = length, .name = name};
  return run(L, &s, error);
}

int tureen_state_run_script(struct lua_State *L, const char *path, const char *text, size_t length, int count,
                            const char *const *arguments, tureen_bytes *error) {
  script s = {.path = path, .text = text, .length = length, .count = count, .arguments = arguments};
  tureen_load_skip_start(&s.text, &s.length);
  return run(L, &s, error);
}

int tureen_state_limit(struct lua_State *L) {
  const tureen_meter *meter = tureen_meter_of(L);
  return meter == NULL ? TUREEN_LIMIT_NONE : meter->reached;
}

int tureen_state_exit_status(struct lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_of(L);
  return bridge == NULL ? -1 : bridge->exit_status;
}

const char *tureen_state_failure(struct lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_of(L);
  return bridge == NULL ? "" : bridge->failure;
}

/* Tracks the coroutines of the state while they run.                                             [-0, +0, e] */
static int know_coroutines(lua_State *L) {
  lua_getglobal(L, LUA_COLIBNAME);
  tureen_coroutines_open(L);
  return 0;
}

int tureen_break_watch(struct lua_State *L) {
  if (!tureen_break_claim() || !lua_checkstack(L, 2)) return 0;
  if (tureen_meter_of(L) == NULL) { /* states with limits have it since they were opened */
    lua_pushcfunction(L, know_coroutines);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
      lua_pop(L, 1);
      return 0;
    }
  }
  return tureen_break_begin(L, tureen_hook);
}

void tureen_state_close(struct lua_State *L) {
  tureen_break_forget(L);
  tureen_meter_close(L);
}
