--- Tests records that are created, changed and deleted offline, in a cache or with marks, and sent by the sync engine.
local tureen = require "tureen"
local harness = require "harness"
local force = require "tureen.force"
local support = require "force_support"
local case, same = harness.case, harness.same
local mobilesync = tureen.mobilesync

local tests = {}

--- Syncs up a cache's soup and returns the numbers of sent and refused records.
local function sync_up(cache, options)
  local sync = assert(tureen.await(mobilesync.syncUp, cache.soupName, options))
  return { sync.succeeded, sync.failed }
end

local OFFLINE = { cacheMode = force.CACHE_MODE.CACHE_ONLY }

tests.test_records_made_offline_go_up_with_a_sync = case(function()
  local cache = support.cache "fof_model"
  local Account = force.SObject:extend { sobjectType = "Account", fieldlist = { "Name", "Phone" }, cache = cache }
  local made = Account { Name = "Offline", Phone = "1" }
  assert(made:save(nil, OFFLINE))
  same({ made:get("attributes").type, cache:isLocalId(made.id) }, { "Account", true })
  same(sync_up(cache, { fieldlist = { "Id", "Name", "Phone", "attributes" } }), { 1, 0 })
  local found = assert(force.query("SELECT Id, Phone FROM Account WHERE Name = 'Offline'"))
  same({ found.totalSize, found.records[1].Phone }, { 1, "1" })

  local id = found.records[1].Id
  local there = Account { Id = id }
  assert(there:save({ Phone = "2" }, OFFLINE))
  same(sync_up(cache, { fieldlist = "Name, Phone" }), { 1, 0 })
  same(support.on_server(id, "Phone").Phone, "2")

  assert(Account({ Id = id }):destroy(OFFLINE))
  same(sync_up(cache, { fieldlist = { "Name" } }), { 1, 0 })
  same(support.on_server(id) == tureen.null, true)
end)

tests.test_record_deleted_offline_that_the_cache_never_had_goes_up = case(function()
  local cache, id = support.cache "fof_stub", support.account { Name = "Stub" }
  assert(force.syncSObject("delete", "Account", id, nil, nil, cache, "cache-only"))
  same(cache:retrieve(id).attributes.type, "Account")
  same(sync_up(cache, { fieldlist = { "Name" } }), { 1, 0 })
  same(support.on_server(id) == tureen.null, true)
end)

tests.test_type_of_a_record_stays_what_the_server_said = case(function()
  local cache, id = support.cache "fof_type", support.account { Name = "Typed" }
  local read = assert(force.syncSObject("read", "Account", id, nil, { "Name" }, cache, "server-first"))
  local updated = assert(force.syncSObject("update", "Account", id, { Name = "Again" }, { "Name" }, cache, "cache-only"))
  same({ read.attributes.type, updated.attributes.type }, { "Account", "Account" })
  local attributes = { Name = "x" }
  assert(force.syncSObject("update", "Account", id, attributes, nil, cache, "cache-only"))
  same(attributes, { Name = "x" }, "the caller's table")
end)

tests.test_marked_entries_go_up_with_a_sync = case(function()
  local cache = support.cache "fof_marks"
  local soup = cache.soupName
  assert(tureen.await(mobilesync.newRecord, soup, "Account", { Name = "Marked", Phone = "1" }))
  same(sync_up(cache, { fieldlist = { "Name", "Phone" } }), { 1, 0 })
  local id = assert(force.query("SELECT Id FROM Account WHERE Name = 'Marked'")).records[1].Id
  local entry = cache:retrieve(id)
  same({ entry.__local__, entry.attributes.type }, { false, "Account" })

  assert(tureen.await(mobilesync.markUpdated, soup, entry, { Phone = "2" }))
  same(sync_up(cache, { fieldlist = { "Name", "Phone" } }), { 1, 0 })
  same(support.on_server(id, "Phone").Phone, "2")

  entry = assert(tureen.await(mobilesync.markUpdated, soup, cache:retrieve(id), { Phone = "3" }))
  assert(tureen.await(mobilesync.unmark, soup, entry))
  same(sync_up(cache, { fieldlist = { "Name", "Phone" } }), { 0, 0 })
  same(support.on_server(id, "Phone").Phone, "2")

  assert(tureen.await(mobilesync.markDeleted, soup, cache:retrieve(id)))
  same(sync_up(cache, { fieldlist = { "Name" } }), { 1, 0 })
  same(support.on_server(id) == tureen.null, true)
end)

tests.test_states_name_a_sync_as_calls_do = case(function()
  local cache = support.cache "fof_names"
  assert(tureen.await(mobilesync.deleteSync, "fofUp"))
  local made = assert(tureen.await(mobilesync.createSyncUp, cache.soupName,
    { fieldlist = "Name,Phone" }, "fofUp"))
  same({ made.syncId, made.syncName }, { made._soupEntryId, "fofUp" })
  same(made.options.fieldlist, tureen.array { "Name", "Phone" })
  local event
  tureen.once("sync", function(detail) event = detail end)
  local sync = assert(tureen.await(mobilesync.reSync, made.syncName))
  same({ sync.syncId, event.syncId, event.syncName }, { made.syncId, made.syncId, "fofUp" })
  assert(tureen.await(mobilesync.deleteSync, made.syncId))
end)

tests.test_status_of_an_unknown_sync_is_an_empty_object_on_the_wire = case(function()
  local state = assert(tureen.await(function(success, failure)
    tureen.exec(success, failure, "com.salesforce.mobilesync", "getSyncStatus", { syncName = "nobody's" })
  end))
  same({ tureen.json.encode(state), tureen.await(mobilesync.getSyncStatus, "nobody's") == tureen.null }, { "{}", true })
end)

tests.test_bad_field_lists_are_named = case(function()
  local cache = support.cache "fof_lists"
  local function fails(code, options, target)
    local _, err = tureen.await(mobilesync.syncUp, target or {}, cache.soupName, options)
    same(err.code, code, err.message)
    return err.message
  end
  same(fails("invalidOptions", { fieldlist = "Name,,Phone" }):find("commas", 1, true) ~= nil, true)
  same(fails("invalidArguments", { fieldlist = 5 }):find("options.fieldlist", 1, true) ~= nil, true)
end)

harness.run(tests)
