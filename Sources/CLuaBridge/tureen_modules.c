/* The embedded Lua modules, with one folder per service, and their names for `require`. */
#include "tureen_bridge_internal.h"

#include <string.h>

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char tureen_lua[] = {
#embed "../LuaBridge/Lua/core/tureen.lua"
};
static const char guard_lua[] = {
#embed "../LuaBridge/Lua/core/guard.lua"
};
static const char nearest_lua[] = {
#embed "../LuaBridge/Lua/core/nearest.lua"
};
static const char event_lua[] = {
#embed "../LuaBridge/Lua/core/event.lua"
};
static const char unawaited_lua[] = {
#embed "../LuaBridge/Lua/core/unawaited.lua"
};
static const char calls_lua[] = {
#embed "../LuaBridge/Lua/core/calls.lua"
};
static const char arguments_lua[] = {
#embed "../LuaBridge/Lua/core/arguments.lua"
};
static const char async_lua[] = {
#embed "../LuaBridge/Lua/core/async.lua"
};
static const char timers_lua[] = {
#embed "../LuaBridge/Lua/core/timers.lua"
};
static const char turns_lua[] = {
#embed "../LuaBridge/Lua/core/turns.lua"
};
static const char combine_lua[] = {
#embed "../LuaBridge/Lua/core/combine.lua"
};
static const char plugin_lua[] = {
#embed "../LuaBridge/Lua/core/plugin.lua"
};
static const char promiser_lua[] = {
#embed "../LuaBridge/Lua/core/promiser.lua"
};
static const char sdkinfo_lua[] = {
#embed "../LuaBridge/Lua/core/sdkinfo.lua"
};
static const char util_bootstrap_lua[] = {
#embed "../LuaBridge/Lua/core/util_bootstrap.lua"
};
static const char util_event_lua[] = {
#embed "../LuaBridge/Lua/core/util_event.lua"
};
static const char util_exec_lua[] = {
#embed "../LuaBridge/Lua/core/util_exec.lua"
};
static const char util_logger_lua[] = {
#embed "../LuaBridge/Lua/core/util_logger.lua"
};
static const char react_util_lua[] = {
#embed "../LuaBridge/Lua/core/react_util.lua"
};

static const char smartstore_lua[] = {
#embed "../LuaBridge/Lua/smartstore/smartstore.lua"
};
static const char queryspec_lua[] = {
#embed "../LuaBridge/Lua/smartstore/queryspec.lua"
};
static const char smartstore_client_lua[] = {
#embed "../LuaBridge/Lua/smartstore/smartstore_client.lua"
};
static const char keyvalue_lua[] = {
#embed "../LuaBridge/Lua/smartstore/keyvalue.lua"
};
static const char react_stores_lua[] = {
#embed "../LuaBridge/Lua/smartstore/react_stores.lua"
};
static const char react_smartstore_lua[] = {
#embed "../LuaBridge/Lua/smartstore/react_smartstore.lua"
};

static const char mobilesync_lua[] = {
#embed "../LuaBridge/Lua/mobilesync/mobilesync.lua"
};
static const char progress_lua[] = {
#embed "../LuaBridge/Lua/mobilesync/progress.lua"
};
static const char host_lua[] = {
#embed "../LuaBridge/Lua/core/host.lua"
};
static const char asset_lua[] = {
#embed "../LuaBridge/Lua/mobilesync/asset.lua"
};
static const char custom_lua[] = {
#embed "../LuaBridge/Lua/mobilesync/custom.lua"
};
static const char marks_lua[] = {
#embed "../LuaBridge/Lua/mobilesync/marks.lua"
};
static const char local_ids_lua[] = {
#embed "../LuaBridge/Lua/mobilesync/local_ids.lua"
};
static const char react_mobilesync_lua[] = {
#embed "../LuaBridge/Lua/mobilesync/react_mobilesync.lua"
};

static const char network_lua[] = {
#embed "../LuaBridge/Lua/network/network.lua"
};
static const char oauth_lua[] = {
#embed "../LuaBridge/Lua/network/oauth.lua"
};
static const char sfaccountmanager_lua[] = {
#embed "../LuaBridge/Lua/network/sfaccountmanager.lua"
};
static const char sandbox_lua[] = {
#embed "../LuaBridge/Lua/network/sandbox.lua"
};

static const char parse_lua[] = {
#embed "../LuaBridge/Lua/parse/parse.lua"
};
static const char parse_call_lua[] = {
#embed "../LuaBridge/Lua/parse/parse_call.lua"
};
static const char parse_values_lua[] = {
#embed "../LuaBridge/Lua/parse/parse_values.lua"
};
static const char parse_operations_lua[] = {
#embed "../LuaBridge/Lua/parse/parse_operations.lua"
};
static const char parse_save_lua[] = {
#embed "../LuaBridge/Lua/parse/parse_save.lua"
};
static const char parse_changes_lua[] = {
#embed "../LuaBridge/Lua/parse/parse_changes.lua"
};
static const char parse_conditions_lua[] = {
#embed "../LuaBridge/Lua/parse/parse_conditions.lua"
};
static const char parse_soups_lua[] = {
#embed "../LuaBridge/Lua/parse/parse_soups.lua"
};
static const char parse_query_lua[] = {
#embed "../LuaBridge/Lua/parse/parse_query.lua"
};
static const char parse_object_lua[] = {
#embed "../LuaBridge/Lua/parse/parse_object.lua"
};
static const char force_lua[] = {
#embed "../LuaBridge/Lua/force/force.lua"
};
static const char force_call_lua[] = {
#embed "../LuaBridge/Lua/force/force_call.lua"
};
static const char force_answers_lua[] = {
#embed "../LuaBridge/Lua/force/force_answers.lua"
};
static const char force_url_lua[] = {
#embed "../LuaBridge/Lua/force/force_url.lua"
};
static const char force_client_lua[] = {
#embed "../LuaBridge/Lua/force/force_client.lua"
};
static const char force_files_lua[] = {
#embed "../LuaBridge/Lua/force/force_files.lua"
};
static const char force_notifications_lua[] = {
#embed "../LuaBridge/Lua/force/force_notifications.lua"
};
static const char force_modes_lua[] = {
#embed "../LuaBridge/Lua/force/force_modes.lua"
};
static const char force_cached_lua[] = {
#embed "../LuaBridge/Lua/force/force_cached.lua"
};
static const char force_storecache_lua[] = {
#embed "../LuaBridge/Lua/force/force_storecache.lua"
};
static const char force_sobjecttype_lua[] = {
#embed "../LuaBridge/Lua/force/force_sobjecttype.lua"
};
static const char force_sync_lua[] = {
#embed "../LuaBridge/Lua/force/force_sync.lua"
};
static const char force_conflict_lua[] = {
#embed "../LuaBridge/Lua/force/force_conflict.lua"
};
static const char force_fetch_lua[] = {
#embed "../LuaBridge/Lua/force/force_fetch.lua"
};
static const char force_model_lua[] = {
#embed "../LuaBridge/Lua/force/force_model.lua"
};
static const char force_collection_lua[] = {
#embed "../LuaBridge/Lua/force/force_collection.lua"
};
static const char optimistic_lua[] = {
#embed "../LuaBridge/Lua/force/optimistic.lua"
};
static const char react_force_lua[] = {
#embed "../LuaBridge/Lua/force/react_force.lua"
};
static const char react_net_lua[] = {
#embed "../LuaBridge/Lua/force/react_net.lua"
};

#define MODULE(name) {#name, name##_lua, sizeof name##_lua, "=[tureen " #name ".lua]"}
static const struct {
  const char *name, *text;
  size_t length;
  const char *chunk;
} sources[] = {
    /* core/ */
    MODULE(tureen), MODULE(guard), MODULE(nearest), MODULE(event), MODULE(unawaited), MODULE(calls), MODULE(arguments),
    MODULE(async), MODULE(timers), MODULE(combine), MODULE(turns), MODULE(plugin), MODULE(promiser), MODULE(sdkinfo),
    MODULE(util_bootstrap), MODULE(util_event), MODULE(util_exec), MODULE(util_logger), MODULE(react_util), MODULE(host),
    /* smartstore/ */
    MODULE(smartstore), MODULE(queryspec), MODULE(smartstore_client), MODULE(keyvalue), MODULE(react_stores),
    MODULE(react_smartstore),
    /* mobilesync/ */
    MODULE(mobilesync), MODULE(custom), MODULE(marks), MODULE(local_ids), MODULE(progress), MODULE(asset),
    MODULE(react_mobilesync),
    /* network/ */
    MODULE(network), MODULE(oauth), MODULE(sfaccountmanager), MODULE(sandbox),
    /* parse/ */
    MODULE(parse), MODULE(parse_call), MODULE(parse_values), MODULE(parse_operations), MODULE(parse_changes),
    MODULE(parse_save), MODULE(parse_conditions), MODULE(parse_soups), MODULE(parse_query), MODULE(parse_object),
    /* force/ */
    MODULE(force), MODULE(force_call), MODULE(force_answers), MODULE(force_url), MODULE(force_client),
    MODULE(force_files), MODULE(force_notifications), MODULE(force_modes), MODULE(force_cached), MODULE(force_storecache),
    MODULE(force_sobjecttype), MODULE(force_sync), MODULE(force_conflict), MODULE(force_fetch), MODULE(force_model),
    MODULE(force_collection), MODULE(optimistic), MODULE(react_force), MODULE(react_net),
};

/* The public names for `require`, and their modules. */
static const struct {
  const char *public_name, *name;
} names[] = {
    {"tureen", "tureen"},
    {"tureen.smartstore", "smartstore"},
    {"tureen.mobilesync", "mobilesync"},
    {"tureen.sdkinfo", "sdkinfo"},
    {"tureen.keyvalue", "keyvalue"},
    {"tureen.asset", "asset"},
    {"tureen.host", "host"},
    {"tureen.sandbox", "sandbox"},
    {"tureen.network", "network"},
    {"tureen.document", "event"},
    {"com.salesforce.plugin.smartstore", "smartstore"},
    {"com.salesforce.plugin.mobilesync", "mobilesync"},
    {"com.salesforce.plugin.sdkinfo", "sdkinfo"},
    {"com.salesforce.plugin.network", "network"},
    {"tureen.force", "force"},
    {"tureen.parse", "parse"},
    {"tureen.force.client", "force_notifications"},
    {"tureen.optimistic", "optimistic"},
    {"tureen.oauth", "oauth"},
    {"tureen.sfaccountmanager", "sfaccountmanager"},
    {"tureen.accounts", "sfaccountmanager"},
    {"com.salesforce.plugin.oauth", "oauth"},
    {"com.salesforce.plugin.sfaccountmanager", "sfaccountmanager"},
    {"tureen.smartstore.client", "smartstore_client"},
    {"tureen.promiser", "promiser"},
    {"tureen.logger", "util_logger"},
    {"tureen.event", "util_event"},
    {"tureen.exec", "util_exec"},
    {"tureen.bootstrap", "util_bootstrap"},
    {"com.salesforce.plugin.smartstore.client", "smartstore_client"},
    {"com.salesforce.util.event", "util_event"},
    {"com.salesforce.util.logger", "util_logger"},
    {"com.salesforce.util.exec", "util_exec"},
    {"com.salesforce.util.bootstrap", "util_bootstrap"},
    {"com.salesforce.util.promiser", "promiser"},
    {"react.force", "react_force"},
    {"react.force.net", "react_net"},
    {"react.force.mobilesync", "react_mobilesync"},
    {"react.force.smartstore", "react_smartstore"},
    {"react.force.util", "react_util"},
};

/* Pushes the compiled chunk of a module.                                                                [-0, +1, e] */
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

/* The loader in package.preload. Upvalues: bridge, core, internal name.                                 [-n, +1, e] */
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
