/* Opens the bridge of a state, and closes it with the state. */
#include "tureen_bridge_internal.h"

#include <errno.h>
#include <string.h>

static const char bridge_type[] = "tureen.bridge";
static const char registry_key = 0; /* its address is the key */

/* How other copies of this code find the bridge. */
typedef struct link {
  uint32_t layout; /* of the structures that copies exchange: their sizes, and a number to raise if a meaning changes */
  uint32_t sizes[3];
  const tureen_host *(*host)(lua_State *L);
  tureen_guest *(*guest)(lua_State *L);
  int (*existing)(lua_State *L);
} link;

static const link own_link = {1,
                              {sizeof(tureen_host), sizeof(tureen_guest), sizeof(tureen_message)},
                              tureen_bridge_host,
                              tureen_bridge_guest,
                              tureen_bridge_existing};

/* The key of the link: the same in all copies, and not an address. */
static const void *link_key(void) { return (const void *)(uintptr_t)0x7475722e6c696e6bu; }

/* Returns the link of another copy that has opened the state's bridge; NULL if there is none.           [-0, +0, -] */
static const link *foreign_link(lua_State *L) {
  if (!lua_checkstack(L, 1)) return NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, link_key());
  const link *found = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return found == &own_link ? NULL : found;
}

static int fits(const link *other) {
  return other != NULL && other->layout == own_link.layout && memcmp(other->sizes, own_link.sizes, sizeof own_link.sizes) == 0;
}

int tureen_bridge_is_strange(struct lua_State *L) {
  const link *other = foreign_link(L);
  return other != NULL && !fits(other);
}

static int bridge_gc(lua_State *L) {
  tureen_bridge *bridge = luaL_checkudata(L, 1, bridge_type);
  tureen_bytes_free(&bridge->current.payload);
  tureen_bytes_free(&bridge->refusal);
  if (bridge->is_open) {
    bridge->is_open = 0;
    tureen_clock_close(bridge);
    tureen_guest guest = bridge->guest;
    bridge->guest.context = NULL;
    if (guest.context != NULL) guest.closing(guest.context);
    bridge->host.release(bridge->host.context);
    if (guest.context != NULL) guest.closed(guest.context);
  }
  return 0;
}

/* Pushes and returns the state's bridge; returns NULL and pushes nothing if there is none.           [-0, +0..1, -] */
static tureen_bridge *push_bridge(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &registry_key) == LUA_TUSERDATA) return lua_touserdata(L, -1);
  lua_pop(L, 1);
  return NULL;
}

/* Pushes a bridge that owns the host.                                                                   [-0, +1, e] */
static void new_bridge(lua_State *L, const tureen_host *host, int *is_owned) {
  static const luaL_Reg methods[] = {{"__gc", bridge_gc}, {"__close", bridge_gc}, {NULL, NULL}};
  if (luaL_newmetatable(L, bridge_type)) luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
  tureen_bridge *bridge = lua_newuserdatauv(L, sizeof *bridge, 1);
  memset(bridge, 0, sizeof *bridge);
  bridge->alarm = bridge->either = -1;
  luaL_setmetatable(L, bridge_type);
  bridge->host = *host;
  bridge->is_open = 1;
  bridge->exit_status = -1;
  *is_owned = 1;
  if (!tureen_clock_open(bridge)) luaL_error(L, "no descriptor for the timers: %s", strerror(errno));
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &registry_key);
  lua_pushlightuserdata(L, (void *)&own_link);
  lua_rawsetp(L, LUA_REGISTRYINDEX, link_key());
}

typedef struct open_request {
  const tureen_host *host;
  int is_owned;
} open_request;

/* open(request) -> tureen                                                                               [-1, +1, e] */
static int open_protected(lua_State *L) {
  open_request *request = lua_touserdata(L, 1);
  tureen_json_open(L);
  tureen_records_open(L);
  new_bridge(L, request->host, &request->is_owned);
  int bridge = lua_gettop(L);
  tureen_core_push(L);
  int core = lua_gettop(L);
  tureen_modules_announce(L, bridge, core);
  tureen_module_import(L, bridge, core, "tureen");
  return 1;
}

int tureen_bridge_existing(struct lua_State *L) {
  luaL_checkstack(L, 4, NULL);
  const link *other = foreign_link(L);
  if (fits(other)) return other->existing(L);
  if (push_bridge(L) == NULL) return 0;
  lua_getiuservalue(L, -1, 1);
  int found = lua_getfield(L, -1, "tureen") == LUA_TTABLE;
  lua_insert(L, -3);
  lua_pop(L, 2);
  if (!found) lua_pop(L, 1);
  return found;
}

int tureen_bridge_open(struct lua_State *L, const tureen_host *host) {
  open_request request = {host, 0};
  lua_pushcfunction(L, open_protected); /* a C function without upvalues and a light userdata need no memory */
  lua_pushlightuserdata(L, &request);
  if (tureen_bridge_existing(L)) {
    host->release(host->context);
    lua_insert(L, -3);
    lua_pop(L, 2);
    return 1;
  }
  if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
    if (!request.is_owned) host->release(host->context);
    return lua_error(L);
  }
  return 1;
}

tureen_bridge *tureen_bridge_of(lua_State *L) {
  if (!lua_checkstack(L, 1)) return NULL;
  tureen_bridge *bridge = push_bridge(L);
  if (bridge != NULL) lua_pop(L, 1); /* the registry keeps it */
  return bridge;
}

const tureen_host *tureen_bridge_host(struct lua_State *L) {
  const link *other = foreign_link(L);
  if (other != NULL) return fits(other) ? other->host(L) : NULL;
  tureen_bridge *bridge = tureen_bridge_of(L);
  return bridge != NULL && bridge->is_open ? &bridge->host : NULL;
}

tureen_guest *tureen_bridge_guest(struct lua_State *L) {
  const link *other = foreign_link(L);
  if (other != NULL) return fits(other) ? other->guest(L) : NULL;
  tureen_bridge *bridge = tureen_bridge_of(L);
  return bridge != NULL && bridge->is_open ? &bridge->guest : NULL;
}

int tureen_bridge_failed(struct lua_State *L) {
  if (!lua_checkstack(L, 1)) return 1;
  tureen_bridge *bridge = tureen_bridge_of(L);
  return bridge != NULL && bridge->has_failed;
}
