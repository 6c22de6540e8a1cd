/* The Lua modules, embedded as text, and the names `require` finds them by. */
#include "tureen_bridge_internal.h"

#include <string.h>

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char tureen_lua[] = {
#embed "../LuaBridge/Lua/tureen.lua"
};
static const char guard_lua[] = {
#embed "../LuaBridge/Lua/guard.lua"
};
static const char event_lua[] = {
#embed "../LuaBridge/Lua/event.lua"
};
static const char calls_lua[] = {
#embed "../LuaBridge/Lua/calls.lua"
};
static const char async_lua[] = {
#embed "../LuaBridge/Lua/async.lua"
};
static const char arguments_lua[] = {
#embed "../LuaBridge/Lua/arguments.lua"
};
static const char queryspec_lua[] = {
#embed "../LuaBridge/Lua/queryspec.lua"
};
static const char smartstore_lua[] = {
#embed "../LuaBridge/Lua/smartstore.lua"
};
static const char mobilesync_lua[] = {
#embed "../LuaBridge/Lua/mobilesync.lua"
};
static const char sdkinfo_lua[] = {
#embed "../LuaBridge/Lua/sdkinfo.lua"
};
static const char keyvalue_lua[] = {
#embed "../LuaBridge/Lua/keyvalue.lua"
};
static const char sandbox_lua[] = {
#embed "../LuaBridge/Lua/sandbox.lua"
};

#define MODULE(name) {#name, name##_lua, sizeof name##_lua, "=[tureen " #name ".lua]"}
static const struct {
  const char *name, *text;
  size_t length;
  const char *chunk;
} sources[] = {
    MODULE(tureen),     MODULE(guard),     MODULE(event),      MODULE(calls),      MODULE(async),
    MODULE(arguments),  MODULE(queryspec), MODULE(smartstore), MODULE(mobilesync), MODULE(sdkinfo),
    MODULE(keyvalue),   MODULE(sandbox),
};

/* What scripts may ask `require` for, and the module they get. */
static const struct {
  const char *public_name, *name;
} names[] = {
    {"tureen", "tureen"},
    {"tureen.smartstore", "smartstore"},
    {"tureen.mobilesync", "mobilesync"},
    {"tureen.sdkinfo", "sdkinfo"},
    {"tureen.keyvalue", "keyvalue"},
    {"tureen.sandbox", "sandbox"},
    {"tureen.document", "event"},
    {"com.salesforce.plugin.smartstore", "smartstore"},
    {"com.salesforce.plugin.mobilesync", "mobilesync"},
    {"com.salesforce.plugin.sdkinfo", "sdkinfo"},
    {"com.salesforce.util.event", "event"},
};

/* Pushes the chunk of a module, compiled.                                                               [-0, +1, e] */
static void load_source(lua_State *L, const char *name) {
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    if (strcmp(sources[i].name, name) != 0) continue;
    if (luaL_loadbufferx(L, sources[i].text, sources[i].length, sources[i].chunk, "t") != LUA_OK) lua_error(L);
    return;
  }
  luaL_error(L, "no embedded module '%s'", name);
}

void tureen_module_import(lua_State *L, int bridge, int core, const char *name) {
  luaL_checkstack(L, 8, NULL);
  lua_getiuservalue(L, bridge, 1);
  int loaded = lua_gettop(L);
  if (lua_getfield(L, loaded, name) == LUA_TNIL) {
    lua_pop(L, 1);
    load_source(L, name);
    lua_pushvalue(L, core);
    lua_call(L, 1, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, loaded, name);
  }
  lua_remove(L, loaded);
}

/* What package.preload holds. Upvalues: bridge, core, internal name.                                    [-n, +1, e] */
static int preload(lua_State *L) {
  tureen_module_import(L, lua_upvalueindex(1), lua_upvalueindex(2), lua_tostring(L, lua_upvalueindex(3)));
  return 1;
}

void tureen_modules_announce(lua_State *L, int bridge, int core) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    lua_pushvalue(L, bridge);
    lua_pushvalue(L, core);
    lua_pushstring(L, names[i].name);
    lua_pushcclosure(L, preload, 3);
    lua_setfield(L, -2, names[i].public_name);
  }
  lua_pop(L, 1);
}
