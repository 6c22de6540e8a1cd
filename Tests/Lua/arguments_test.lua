--- Tests how the modules convert and check arguments. The suite's host answers store actions with their arguments.
local tureen = require "tureen"
local harness = require "harness"
local same, raises, expect, never = harness.same, harness.raises, harness.expect, harness.never
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local tests = {}

local specs = { { path = "Name", type = "string" } }
local cursor = { cursorId = 7, currentPageIndex = 1, pageSize = 10, totalPages = 3 }

--- Expects that the host gets exactly these arguments.
local function sends(action, arguments, store)
  return expect(function(echo)
    same(echo.action, action)
    same(echo.arguments, arguments)
    same(echo.store, store or { name = "defaultStore", isGlobal = false })
  end), never(action .. "'s error")
end

local function fields_plus(fields, more)
  local all = {}
  for key, value in pairs(fields) do all[key] = value end
  for key, value in pairs(more) do all[key] = value end
  return all
end

function tests.test_config_forms()
  local arguments = { soupName = "contacts" }
  smartstore.soupExists("contacts", sends("pgSoupExists", arguments))
  smartstore.soupExists(false, "contacts", sends("pgSoupExists", arguments))
  smartstore.soupExists(true, "contacts",
    sends("pgSoupExists", arguments, { name = "defaultStore", isGlobal = true }))
  smartstore.soupExists({ isGlobalStore = true, storeName = "s" }, "contacts",
    sends("pgSoupExists", arguments, { name = "s", isGlobal = true }))
  smartstore.soupExists({ isGlobalStore = false }, "contacts", sends("pgSoupExists", arguments))
  smartstore.soupExists({ storeName = "s" }, "contacts", sends("pgSoupExists", arguments, { name = "s", isGlobal = false }))
  smartstore.soupExists({ isGlobalStore = tureen.null, storeName = tureen.null }, "contacts",
    sends("pgSoupExists", arguments))
end

function tests.test_config_misuse_raises()
  raises("soupExists: argument 1 must not be null; omit the store config or pass one",
    smartstore.soupExists, tureen.null, "contacts")
  raises("soupExists: argument 1 must not be nil; omit the store config or pass one",
    smartstore.soupExists, nil, "contacts")
  raises("soupExists: argument 1 'storeConfig.storeName' must be a string, got number",
    smartstore.soupExists, { storeName = 5 }, "contacts")
  raises("soupExists: argument 1 'storeConfig.isGlobalStore' must be a boolean, got string",
    smartstore.soupExists, { isGlobalStore = "yes" }, "contacts")
  raises("soupExists: argument 1 'storeConfig' has the unknown key 'storename'; did you mean 'storeName'?",
    smartstore.soupExists, { isGlobalStore = true, storename = "s" }, "contacts")
  raises("soupExists: argument 1 'storeConfig' has the unknown key 'colour'; known: isGlobalStore, storeName",
    smartstore.soupExists, { isGlobalStore = true, colour = "s" }, "contacts")
  raises("syncUp: argument 1 must not be null; omit the store config or pass one",
    mobilesync.syncUp, tureen.null, "contacts", {})
end

--- The action, not Lua, knows the names: it refuses a misspelt one.
function tests.test_misspelt_names_are_refused()
  local function refuses(name, ...)
    local arguments = table.pack(...)
    arguments[arguments.n + 1] = never(name .. "'s success")
    arguments[arguments.n + 2] = expect(function(err)
      assert(err.message:find("'nmae' is not known here", 1, true), err.message)
    end)
    mobilesync[name](table.unpack(arguments, 1, arguments.n + 2))
  end
  for _, name in ipairs {
    "getConflicts", "getDirtyEntries", "getRuns", "resolveConflict", "ensureSync", "fetchLayout", "restart",
  } do
    refuses(name, { nmae = "contacts" })
  end
  refuses("discardChanges", "contacts", { 1 }, { nmae = "Name" })
  for _, name in ipairs { "reSync", "cleanResyncGhosts", "verifySync", "planSync" } do refuses(name, 7, { nmae = 1 }) end
  refuses("applyPlan", { format = "tureen-plan/1" }, { nmae = 1 })
  raises("getRuns: a table with names is expected, got [1]", mobilesync.getRuns, { "contactsDown" })
end

function tests.test_wrong_types_name_function_argument_expected_and_given()
  raises("registerSoup: argument 2 'indexSpecs' must be an array of tables, got string",
    smartstore.registerSoup, "contacts", "Name")
  raises("registerSoup: argument 3 'indexSpecs' must be an array of tables, got table",
    smartstore.registerSoup, true, "contacts", { path = "Name" })
  raises("registerSoup: argument 2 'indexSpecs[1]' must be a table, got string",
    smartstore.registerSoup, "contacts", { "Name" })
  raises("registerSoup: argument 2 'indexSpecs' must be an array of tables, got nil",
    smartstore.registerSoup, "contacts")
  raises("registerSoup: argument 1 'soupName' must be a string, got number", smartstore.registerSoup, 12, specs)
  raises("registerSoup: argument 3 'success' must be a function, got table",
    smartstore.registerSoup, "contacts", specs, {})
  raises("registerSoup: argument 4 'error' must be a function, got string",
    smartstore.registerSoup, "contacts", specs, nil, "x")
  raises("registerSoup: argument 2 'indexSpecs' must be an array of tables, got function",
    smartstore.registerSoup, "contacts", print)
  raises("soupExists: argument 1 'soupName' must be a string, got nil", smartstore.soupExists)
  raises("retrieveSoupEntries: argument 2 'entryIds[2]' must be an integer, got number",
    smartstore.retrieveSoupEntries, "contacts", { 1, 2.5 })
  raises("moveCursorToPageIndex: argument 1 'cursor' must be a cursor, got table",
    smartstore.moveCursorToPageIndex, {}, 1)
  raises("moveCursorToPageIndex: argument 2 'index' must be an integer, got number",
    smartstore.moveCursorToPageIndex, cursor, 1.5)
  raises("querySoup: argument 2 'querySpec' must be a table, got null",
    smartstore.querySoup, "contacts", tureen.null)
  raises("reSync: argument 1 'syncIdOrName' must be a sync id or a sync name, got number", mobilesync.reSync, 1.5)
  raises("syncDown: argument 1 'target' must be a table, got string", mobilesync.syncDown, "contacts", {}, print)
end

function tests.test_misuse_says_where_in_the_script()
  local function careless() smartstore.soupExists() end
  local err = raises("soupExists: argument 1 'soupName' must be a string, got nil", careless)
  same(tostring(err):find("arguments_test.lua:%d+: soupExists: argument 1") ~= nil, true, tostring(err))
end

function tests.test_every_store_function_sends_its_action()
  local soup = { soupName = "s" }
  smartstore.registerSoup("s", specs, sends("pgRegisterSoup", { soupName = "s", indexes = specs }))
  smartstore.getSoupIndexSpecs("s", sends("pgGetSoupIndexSpecs", soup))
  smartstore.removeSoup("s", sends("pgRemoveSoup", soup))
  smartstore.clearSoup("s", sends("pgClearSoup", soup))
  smartstore.alterSoup("s", specs, true, sends("pgAlterSoup", { soupName = "s", indexes = specs, reIndexData = true }))
  smartstore.reIndexSoup("s", { "Name" }, sends("pgReIndexSoup", { soupName = "s", paths = { "Name" } }))
  smartstore.upsertSoupEntries("s", { { a = 1 } },
    sends("pgUpsertSoupEntries", { soupName = "s", entries = { { a = 1 } }, externalIdPath = "_soupEntryId" }))
  smartstore.upsertSoupEntriesWithExternalId("s", { { a = 1 } }, "Id",
    sends("pgUpsertSoupEntries", { soupName = "s", entries = { { a = 1 } }, externalIdPath = "Id" }))
  smartstore.retrieveSoupEntries("s", { 1, 2.0 },
    sends("pgRetrieveSoupEntries", { soupName = "s", entryIds = { 1, 2 } }))
  smartstore.moveCursorToPageIndex(cursor, 2.0, sends("pgMoveCursorToPageIndex", { cursorId = 7, index = 2 }))
  smartstore.moveCursorToNextPage(cursor, sends("pgMoveCursorToPageIndex", { cursorId = 7, index = 2 }))
  smartstore.moveCursorToPreviousPage(cursor, sends("pgMoveCursorToPageIndex", { cursorId = 7, index = 0 }))
  smartstore.closeCursor(cursor, sends("pgCloseCursor", { cursorId = 7 }))
  smartstore.getDatabaseSize(sends("pgGetDatabaseSize", {}))
  smartstore.removeStore(true, sends("pgRemoveStore", {}, { name = "defaultStore", isGlobal = true }))
  smartstore.getAllStores(sends("pgGetAllStores", {}))
  smartstore.getAllGlobalStores(sends("pgGetAllGlobalStores", {}))
  smartstore.removeAllStores(sends("pgRemoveAllStores", {}))
  smartstore.removeAllGlobalStores(sends("pgRemoveAllGlobalStores", {}))
end

function tests.test_empty_tables_are_lists_where_lists_belong()
  smartstore.upsertSoupEntries("s", {},
    sends("pgUpsertSoupEntries", { soupName = "s", entries = tureen.array(), externalIdPath = "_soupEntryId" }))
  smartstore.removeFromSoup("s", {}, sends("pgRemoveFromSoup", { soupName = "s", entryIds = tureen.array() }))
  local spec = { queryType = "exact", indexPath = "a", matchKey = "b", selectPaths = {} }
  smartstore.querySoup("s", spec,
    sends("pgQuerySoup", { soupName = "s", querySpec = fields_plus(spec, { selectPaths = tureen.array() }) }))
end

function tests.test_remove_tells_ids_from_a_query()
  smartstore.removeFromSoup("s", { 3, 4 }, sends("pgRemoveFromSoup", { soupName = "s", entryIds = { 3, 4 } }))
  smartstore.removeFromSoup("s", tureen.array(),
    sends("pgRemoveFromSoup", { soupName = "s", entryIds = tureen.array() }))
  local spec = smartstore.buildExactQuerySpec("a", "b")
  smartstore.removeFromSoup("s", spec, sends("pgRemoveFromSoup", { soupName = "s", querySpec = spec }))
  raises("removeFromSoup: argument 2 'entryIdsOrQuerySpec' must be an array of entry ids or a query spec, got table",
    smartstore.removeFromSoup, "s", { a = 1 })
  raises("removeFromSoup: argument 2 'entryIds[1]' must be an integer, got string",
    smartstore.removeFromSoup, "s", { "3" })
end

function tests.test_query_types_belong_to_their_function()
  local smart = smartstore.buildSmartQuerySpec("select 1", 5)
  raises("Smart queries can only be run using runSmartQuery", smartstore.querySoup, "s", smart)
  raises("runSmartQuery can only run smart queries", smartstore.runSmartQuery, smartstore.buildAllQuerySpec("a"))
  smartstore.getQueryPlan(smart,
    sends("getQueryPlan", { querySpec = { queryType = "smart", smartSql = "select 1", pageSize = 5 } }))
  smartstore.runSmartQuery(smart,
    sends("pgRunSmartQuery", { querySpec = { queryType = "smart", smartSql = "select 1", pageSize = 5 } }))
end

function tests.test_query_without_order_path_orders_by_its_own()
  local spec = { queryType = "exact", indexPath = "a", matchKey = 1, order = "descending", pageSize = 10.0 }
  smartstore.querySoup("s", spec, sends("pgQuerySoup", {
    soupName = "s", querySpec = fields_plus(spec, { orderPath = "a", pageSize = 10 }),
  }))
  same(spec.orderPath, nil, "the caller's table")
end

function tests.test_query_page_size_must_be_integral()
  smartstore.querySoup("s", { queryType = "exact", indexPath = "a", pageSize = 10.5 }, never("success"),
    expect(function(err)
      same(err.code, "invalidArguments")
      same(err.message, "argument 'querySpec.pageSize' must be an integer, got number")
      same(err.source, "com.salesforce.smartstore:pgQuerySoup")
    end))
  smartstore.querySoup("s", { indexPath = "a" }, never("success"), expect(function(err)
    same(err.message, "argument 'querySpec.queryType' is missing, expected a string")
  end))
end

function tests.test_builders()
  same(smartstore.buildAllQuerySpec("a"),
    { queryType = "range", indexPath = "a", orderPath = "a", order = "ascending", pageSize = 10 })
  same(smartstore.buildAllQuerySpec("a", "descending", 5, { "x" }), { queryType = "range", indexPath = "a",
    orderPath = "a", order = "descending", pageSize = 5, selectPaths = { "x" } })
  same(smartstore.buildExactQuerySpec("a", 0, 7, "descending", "b", { "x" }), { queryType = "exact", indexPath = "a",
    matchKey = 0, pageSize = 7, order = "descending", orderPath = "b", selectPaths = { "x" } })
  same(smartstore.buildRangeQuerySpec("a", tureen.null, 9, nil, 0, ""), { queryType = "range", indexPath = "a",
    endKey = 9, order = "ascending", pageSize = 10, orderPath = "a" })
  same(smartstore.buildLikeQuerySpec("a", "x%", "descending", 3), { queryType = "like", indexPath = "a",
    likeKey = "x%", order = "descending", pageSize = 3, orderPath = "a" })
  same(smartstore.buildMatchQuerySpec(nil, "word"),
    { queryType = "match", matchKey = "word", order = "ascending", pageSize = 10 })
  same(smartstore.buildSmartQuerySpec("select 1"), { queryType = "smart", smartSql = "select 1", pageSize = 10 })
end

function tests.test_cursor_ends_call_the_error_callback_later()
  local inside = true
  local function check(message)
    return expect(function(err)
      same(err.message, message)
      same(inside, false)
    end)
  end
  local last = fields_plus(cursor, { currentPageIndex = 2 })
  local first_page = fields_plus(cursor, { currentPageIndex = 0 })
  local empty = fields_plus(cursor, { currentPageIndex = 0, totalPages = 0 })
  smartstore.moveCursorToNextPage(last, never(), check("moveCursorToNextPage called while on last page"))
  smartstore.moveCursorToNextPage(empty, never(), check("moveCursorToNextPage called while on last page"))
  smartstore.moveCursorToPreviousPage(first_page, never(),
    check("moveCursorToPreviousPage called while on first page"))
  inside = false
end

--- Expects a sync call with these arguments; the suite's host returns them in the state as `sent`.
local function starts(action, arguments)
  local seen = false
  return expect(function(state)
    if seen then return end
    seen = true
    same(state.sent.action, action)
    same(state.sent.arguments, arguments)
  end, 2), never(action .. "'s error")
end

function tests.test_sync_down_name_is_optional()
  local target, options = { type = "soql", query = "q" }, { mergeMode = "OVERWRITE" }
  local arguments = { target = target, soupName = "s", options = options }
  local named = fields_plus(arguments, { syncName = "down" })
  mobilesync.syncDown(target, "s", options, starts("syncDown", arguments))
  mobilesync.syncDown(true, target, "s", options, "down", starts("syncDown", named))
  mobilesync.syncDown(target, "s", options, nil, starts("syncDown", arguments))
  mobilesync.syncDown(target, "s", options, tureen.null, starts("syncDown", arguments))
end

function tests.test_sync_up_target_is_optional()
  local options = { fieldlist = { "Name" }, mergeMode = "OVERWRITE" }
  local arguments = { target = {}, soupName = "s", options = options }
  mobilesync.syncUp("s", options, starts("syncUp", arguments))
  mobilesync.syncUp(false, "s", options, "up", starts("syncUp", fields_plus(arguments, { syncName = "up" })))
  mobilesync.syncUp({}, "s", options, starts("syncUp", arguments))
  mobilesync.syncUp(false, tureen.null, "s", options, starts("syncUp", arguments))
  mobilesync.syncUp({ createFieldlist = {} }, "s", { fieldlist = {} }, starts("syncUp", {
    target = { createFieldlist = tureen.array() }, soupName = "s", options = { fieldlist = tureen.array() },
  }))
end

function tests.test_sync_id_or_name()
  mobilesync.reSync("7", starts("reSync", { syncName = "7", syncId = tureen.null }))
  mobilesync.reSync(7, starts("reSync", { syncId = 7, syncName = tureen.null }))
  mobilesync.refresh("7", starts("refresh", { syncName = "7", syncId = tureen.null }))
  mobilesync.more(7, starts("more", { syncId = 7, syncName = tureen.null }))
  mobilesync.cleanResyncGhosts("7", { force = true }, expect(function(count) same(count, 3) end))
  mobilesync.reSync(7, { maxRequests = 5 }, starts("reSync", { syncId = 7, syncName = tureen.null, maxRequests = 5 }))
  mobilesync.verifySync("7", { level = "ids", repair = true, max = 3 }, expect(function(given)
    same(given, { syncName = "7", syncId = tureen.null, level = "ids", repair = true, max = 3 })
  end))
  mobilesync.verifySync(7, expect(function(given) same(given.syncId, 7) end))
  mobilesync.getSyncStatus(7, expect(function(state) same(state._soupEntryId, 7) end))
  mobilesync.getSyncStatus("none", expect(function(state) same(state, tureen.null) end))
  mobilesync.deleteSync("none", expect(function(answer) same(answer, "OK") end))
  mobilesync.cleanResyncGhosts(7, expect(function(count) same(count, 3) end))
  same(mobilesync.MERGE_MODE.LEAVE_IF_CHANGED, "LEAVE_IF_CHANGED")
end

function tests.test_plugin_names_are_the_same_modules()
  same(require "com.salesforce.plugin.smartstore", smartstore)
  same(require "com.salesforce.plugin.mobilesync", mobilesync)
  same(require "tureen.mobilesync", mobilesync)
  same(require("com.salesforce.util.event").addEventListener, tureen.document.addEventListener)
  tureen.sdkinfo.getInfo(expect(function(info)
    same(info.sdkVersion, "14.0.0")
    same(info.forcePluginsAvailable[1], "com.salesforce.mobilesync")
  end))
end

harness.run(tests)
