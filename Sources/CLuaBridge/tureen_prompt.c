/* States for a prompt: a kept function that answers texts, and a flag that interrupts the running code. */
#include <stdlib.h>
#include <string.h>

#include "tureen_bridge_internal.h"
#include "tureen_limits.h"

static const char kept_key = 0, flag_key = 0; /* their addresses are the keys */

/* Instructions between two checks of the flag: some microseconds. */
enum { INSTRUCTIONS_PER_LOOK = 1000 };

typedef struct request {
  const char *text, *name; /* name: of a chunk, or the verb */
  size_t length;
} request;

/* Copies the text at the top of the stack for Swift; without memory it is lost.                         [-0, +0, -] */
static void take_text(lua_State *L, tureen_bytes *out) {
  size_t length = 0;
  const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
  out->data = malloc(length + 1);
  out->length = out->data == NULL ? 0 : length;
  if (out->length > 0) memcpy(out->data, text, length);
}

/* Converts an error to its message.                                                                     [-1, +1, e] */
static int describe(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  return 1;
}

/* Runs `function` with the request in a protected call; *out gets its result or the error message.      [-0, +0, -] */
static int run(lua_State *L, lua_CFunction function, request *given, tureen_bytes *out) {
  out->data = NULL;
  out->length = 0;
  int top = lua_gettop(L);
  if (!lua_checkstack(L, 4)) return 1;
  lua_pushcfunction(L, describe);
  lua_pushcfunction(L, function);
  lua_pushlightuserdata(L, given);
  tureen_meter_begin(tureen_meter_of(L));
  int status = lua_pcall(L, 1, 1, top + 1);
  tureen_meter_pause(tureen_meter_of(L));
  take_text(L, out);
  lua_settop(L, top);
  return status == LUA_OK ? 0 : 1;
}

static int keep_protected(lua_State *L) {
  request *given = lua_touserdata(L, 1);
  if (luaL_loadbufferx(L, given->text, given->length, given->name, "t") != LUA_OK) return lua_error(L);
  lua_call(L, 0, 1);
  luaL_checktype(L, -1, LUA_TFUNCTION);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kept_key);
  return 0;
}

static int ask_protected(lua_State *L) {
  request *given = lua_touserdata(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &kept_key);
  lua_pushstring(L, given->name);
  lua_pushlstring(L, given->text, given->length);
  lua_call(L, 2, 1);
  return 1;
}

int tureen_state_keep(struct lua_State *L, const char *text, size_t length, const char *name, tureen_bytes *error) {
  request given = {.text = text, .length = length, .name = name};
  return run(L, keep_protected, &given, error);
}

int tureen_state_ask(struct lua_State *L, const char *verb, const char *text, size_t length, tureen_bytes *answer) {
  request given = {.text = text, .length = length, .name = verb};
  return run(L, ask_protected, &given, answer);
}

static void look(lua_State *L, lua_Debug *where) {
  (void)where;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &flag_key);
  const int *flag = lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (flag != NULL && __atomic_load_n(flag, __ATOMIC_RELAXED)) luaL_error(L, "interrupted");
}

void tureen_state_watch(struct lua_State *L, const int *flag) {
  if (!lua_checkstack(L, 1)) return;
  lua_pushlightuserdata(L, (void *)flag);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &flag_key);
  lua_sethook(L, look, LUA_MASKCOUNT, INSTRUCTIONS_PER_LOOK);
}

void tureen_flag_set(int *flag, int value) { __atomic_store_n(flag, value, __ATOMIC_RELAXED); }
