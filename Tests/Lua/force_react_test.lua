--- Tests the modules of the React Native SDK.
local tureen = require "tureen"
local harness = require "harness"
local support = require "force_support"
local react = require "react.force"
local case, same, raises = harness.case, harness.same, harness.raises
local net, mobilesync, smartstore, util = react.net, react.mobilesync, react.smartstore, react.forceUtil

local tests = {}

function tests.test_names_lead_to_the_modules()
  same({ require "react.force.net" == net, react.forceClient == net, react.oauth == tureen.oauth }, { true, true, true })
  same({ require "react.force.util" == util, require "react.force.mobilesync" == mobilesync }, { true, true })
  same(mobilesync.MERGE_MODE.OVERWRITE, "OVERWRITE")
  same(smartstore.soupExists == smartstore.soupExists, true)
end

function tests.test_store_config_is_needed()
  raises("soupExists: argument 1 'storeConfig' must be a boolean or {isGlobalStore = boolean, storeName = string?}, got string",
    smartstore.soupExists, "soup")
  raises("syncDown: argument 1 'storeConfig' must be a boolean or {isGlobalStore = boolean, storeName = string?}, got table",
    mobilesync.syncDown, { type = "soql" }, "soup", {})
  raises("getDatabaseSize: argument 1 must not be nil; pass a store config", smartstore.getDatabaseSize)
end

tests.test_store_functions_answer = case(function()
  local cache = support.cache "fr_store"
  local upsert = util.promiser(smartstore.upsertSoupEntries)
  same(upsert(false, cache.soupName, { { Id = "1" } })[1].Id, "1")
  same(util.promiser(smartstore.soupExists)(cache.config, cache.soupName), true)
  same(util.promiser(smartstore.soupExists)(true, cache.soupName), false)
  same(type(util.promiser(smartstore.getAllStores)()), "table")
end)

tests.test_sync_calls_back_once_at_its_end = case(function()
  local cache = support.cache "fr_sync"
  local target = { type = "soql", query = "SELECT Id, Name FROM Account" }
  local sync, err = tureen.await(function(done, failed)
    local finish = harness.expect(done)
    mobilesync.syncDown(false, target, cache.soupName, { mergeMode = "OVERWRITE" }, finish, failed)
  end)
  same({ err == nil, sync.status, sync.totalSize > 0 }, { true, "DONE", true })
  local again = util.promiser(mobilesync.reSync)
  same(again(false, sync.syncId).status, "DONE")
  local _, failure = again(false, "nobody's sync")
  same(failure.code, "noSuchSync")
  same(util.promiser(mobilesync.getSyncStatus)(false, "nobody's sync") == tureen.null, true)
end)

tests.test_promises_without_rejection_give_the_error = case(function()
  local specs = util.promiserNoRejection(smartstore.getSoupIndexSpecs)
  same(specs(false, "fr nowhere").code, "noSuchSoup")
  same(util.promiserNoRejection(smartstore.soupExists)(false, "fr nowhere"), false)
  same(util.timeoutPromiser(1), true)
  raises("promiserNoRejection: argument 1 'fn' must be a function, got nil", util.promiserNoRejection)
  raises("timeoutPromiser: argument 1 'ms' must be a number of milliseconds, 0 or more, got -1", util.timeoutPromiser, -1)
end)

tests.test_net_updates_by_id_and_keeps_the_version = case(function()
  local id = assert(net.create("Account", { Name = "React" })).id
  same(net.update("Account", id, { Name = "Again" }), "OK")
  same(net.retrieve("Account", id, "Name").Name, "Again")
  same(net.del("Account", id), "OK")
  local version = net.getApiVersion()
  net.setApiVersion "v60.0"
  same({ net.getApiVersion(), net.path_of("x") }, { "v60.0", "/services/data/v60.0/x" })
  net.setApiVersion(version)
  raises("setApiVersion: 'apiVersion' must look like v66.0, got 66", net.setApiVersion, "66")
end)

harness.run(tests)
