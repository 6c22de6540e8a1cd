--- Tests that no edit gets lost beside syncs, saves and deletions that run at the same time. The sandbox plays the org.
local tureen = require "tureen"
local harness = require "harness"
local force = require "tureen.force"
local optimistic = require "tureen.optimistic"
local support = require "force_support"
local case, same = harness.case, harness.same
local mobilesync, smartstore = tureen.mobilesync, tureen.smartstore

local tests = {}

local FIELDS = { "Name", "Phone", "Site" }

--- Returns a row's flags as text, such as "local updated".
local function flags(row)
  local names = {}
  for _, name in ipairs { "local", "locally_created", "locally_updated", "locally_deleted" } do
    if row["__" .. name .. "__"] then names[#names + 1] = name:match "[^_]+$" end
  end
  return table.concat(names, " ")
end

local function sync_down(cache, id, name)
  local query = ("SELECT Id, Name, Phone, Site, LastModifiedDate FROM Account WHERE Id = '%s'"):format(id)
  local target, options = { type = "soql", query = query }, { mergeMode = "MERGE" }
  return assert(tureen.await(mobilesync.syncDown, target, cache.soupName, options, name))
end

local function sync_up(cache)
  local sync = assert(tureen.await(mobilesync.syncUp, cache.soupName, { fieldlist = FIELDS, mergeMode = "MERGE" }))
  return { sync.succeeded, sync.failed }
end

local function mark(cache, entry, changes)
  return assert(tureen.await(mobilesync.markUpdated, cache.soupName, entry, changes))
end

tests.test_edit_of_an_entry_read_before_a_sync_reverts_nothing = case(function()
  local cache, id = support.cache "fed_marks", support.account { Name = "Marks", Phone = "1", Site = "north" }
  sync_down(cache, id, "fedMarks")
  local old = cache:retrieve(id)
  assert(force.update("Account", { Id = id, Site = "south" }))
  assert(tureen.await(mobilesync.reSync, "fedMarks"))
  local marked = mark(cache, old, { Phone = "2" })
  same(support.pick(marked, "Phone", "Site"), { Phone = "2", Site = "south" })
  same(sync_up(cache)[1], 1)
  same(support.pick(support.on_server(id, FIELDS), "Phone", "Site"), { Phone = "2", Site = "south" })
end)

tests.test_entry_changed_before_a_sync_is_a_conflict_and_not_a_revert = case(function()
  local cache, id = support.cache "fed_copies", support.account { Name = "Copies", Phone = "1", Site = "north" }
  sync_down(cache, id, "fedCopies")
  local old = cache:retrieve(id)
  assert(force.update("Account", { Id = id, Site = "south" }))
  assert(tureen.await(mobilesync.reSync, "fedCopies"))
  old.Phone = "2"
  mark(cache, old)
  sync_up(cache)
  same(support.on_server(id, FIELDS).Site, "south")
  same(#assert(tureen.await(mobilesync.getConflicts, { soupName = cache.soupName })), 1)
end)

for _, mode in ipairs { "MERGE_ACCEPT_THEIRS", "LEAVE_IF_CHANGED" } do
  tests["test_save_all_" .. mode:lower() .. "_leaves_edits_made_beside_it"] = case(function()
    local cache = support.cache("fed_" .. mode:lower())
    local first, again = {}, {}
    for i = 1, 200 do first[i], again[i] = { Id = "A" .. i, Name = "n" .. i, Phone = "1" }, { Id = "A" .. i, Name = "m" .. i } end
    local entries = assert(cache:saveAll(first))
    local edits = {}
    for i, entry in ipairs(entries) do
      edits[i] = tureen.async(function()
        for _ = 1, i % 7 do tureen.sleep(0) end
        mark(cache, entry, { Phone = "2" })
      end)
    end
    for _ = 1, 20 do assert(cache:saveAll(again, mode)) end
    for _, edit in ipairs(edits) do tureen.await(edit) end
    for i = 1, 200 do
      local row = cache:retrieve("A" .. i)
      same({ row.Phone, flags(row) }, { "2", "local updated" }, row.Id)
    end
  end)
end

tests.test_saves_of_other_fields_beside_one_another_all_stay = case(function()
  local cache = support.cache "fed_fields"
  assert(cache:save { Id = "A", Name = "n" })
  local saves = {}
  for i = 1, 50 do saves[i] = tureen.async(function() assert(cache:save { Id = "A", ["F" .. i] = i }) end) end
  for _, save in ipairs(saves) do tureen.await(save) end
  local row = cache:retrieve "A"
  for i = 1, 50 do same(row["F" .. i], i) end
end)

tests.test_edit_during_a_server_first_update_is_sent_later = case(function()
  local cache, id = support.cache "fed_update", support.account { Name = "Flight", Phone = "1", Site = "north" }
  sync_down(cache, id, "fedUpdate")
  local Account = force.SObject:extend { sobjectType = "Account", fieldlist = { "Name", "Phone" }, cache = cache }
  local account = Account { Id = id, Name = "Flight", Phone = "1" }
  local is_edited = false
  function account:syncRemoteObjectWithServer(method, ...)
    mark(cache, cache:retrieve(id), { Site = "south" })
    is_edited = true
    return force.SObject.syncRemoteObjectWithServer(self, method, ...)
  end
  assert(account:save { Phone = "2" })
  local row = cache:retrieve(id)
  same({ is_edited, row.Phone, row.Site, flags(row) }, { true, "2", "south", "local updated" })
  same(sync_up(cache)[1], 1)
  same(support.pick(support.on_server(id, FIELDS), "Phone", "Site"), { Phone = "2", Site = "south" })
end)

tests.test_update_of_some_fields_leaves_other_edits_to_be_sent = case(function()
  local cache, id = support.cache "fed_some", support.account { Name = "Some", Phone = "1", Site = "north" }
  sync_down(cache, id, "fedSome")
  mark(cache, cache:retrieve(id), { Site = "south" })
  local row = assert(force.syncSObject("update", "Account", id, { Phone = "2" }, { "Phone" }, cache, "server-first"))
  same({ row.Phone, row.Site, flags(row) }, { "2", "south", "local updated" })
  row = assert(force.syncSObject("update", "Account", id, { Site = "south" }, { "Site" }, cache, "server-first"))
  same({ row.Site, flags(row) }, { "south", "" })
end)

tests.test_edit_of_a_new_record_during_its_create_is_sent_later = case(function()
  local cache = support.cache "fed_create"
  local new = assert(tureen.await(mobilesync.newRecord, cache.soupName, "Account", { Name = "New", Phone = "1" }))
  local row = assert(force.syncRemoteObject("update", new.Id, { Name = "New", Phone = "1" }, { "Name", "Phone" }, cache,
    "server-first", nil, function(method, ...)
      mark(cache, new, { Phone = "2" })
      return force.syncSObjectWithServer(method, "Account", ...)
    end))
  same({ row._soupEntryId, row.Phone, flags(row), cache:isLocalId(row.Id) }, { new._soupEntryId, "2", "local updated", false })
  same(sync_up(cache)[1], 1)
  same(support.on_server(row.Id, FIELDS).Phone, "2")
end)

tests.test_field_set_while_a_save_is_in_flight_keeps_its_value = case(function()
  local id = support.account { Name = "Set", Phone = "1" }
  local Account = force.SObject:extend { sobjectType = "Account", fieldlist = { "Name", "Phone" } }
  local account = Account { Id = id, Name = "Set", Phone = "1" }
  local save = tureen.async(function() return account:save { Phone = "2" } end)
  account:set("Phone", "3")
  account:unset "Name"
  assert(tureen.await(save))
  same({ account:get "Phone", account:get "Name" }, { "3", nil })
  assert(account:save { Name = "Set" })
  same(support.on_server(id, FIELDS).Phone, "3")
end)

tests.test_new_object_saved_twice_at_once_is_created_once = case(function()
  local Account = force.SObject:extend { sobjectType = "Account", fieldlist = { "Name", "Phone" } }
  local account = Account { Name = "Once only" }
  local saves = {}
  for i = 1, 5 do saves[i] = tureen.async(function() return account:save { Phone = tostring(i) } end) end
  for _, save in ipairs(saves) do assert(tureen.await(save)) end
  local found = assert(force.query "SELECT Phone FROM Account WHERE Name = 'Once only'")
  same({ found.totalSize, found.records[1].Phone }, { 1, "5" })
end)

tests.test_offline_save_of_an_object_writes_what_was_set = case(function()
  local cache, id = support.cache "fed_offline", support.account { Name = "Offline", Phone = "1", Site = "north" }
  sync_down(cache, id, "fedOffline")
  local Account = force.SObject:extend { sobjectType = "Account", fieldlist = FIELDS, cache = cache }
  local account = Account { Id = id }
  assert(account:fetch { cacheMode = "cache-only" })
  local all = force.SObjectCollection { model = Account, cache = cache,
    config = { type = "cache", cacheQuery = smartstore.buildExactQuerySpec("Id", id, 10) } }
  assert(all:fetch())
  assert(force.update("Account", { Id = id, Site = "south" }))
  assert(tureen.await(mobilesync.reSync, "fedOffline"))
  assert(account:save({ Phone = "2" }, { cacheMode = "cache-only" }))
  assert(all.models[1]:save({ Name = "Listed" }, { cacheMode = "cache-only" }))
  same(support.pick(cache:retrieve(id), "Name", "Phone", "Site"), { Name = "Listed", Phone = "2", Site = "south" })
  same(sync_up(cache)[1], 1)
  same(support.on_server(id, FIELDS).Site, "south")
end)

tests.test_refused_deletion_leaves_newer_edits = case(function()
  local cache = support.cache "fed_refused"
  local entries = assert(cache:saveAll { { Id = "A", Name = "old", Phone = "1" }, { Id = "B", Name = "b" } })
  force.init { requestHandler = function()
    mark(cache, cache:retrieve "A", { Phone = "2" })
    return nil, { status = 400, errors = { { message = "has cases", errorCode = "DELETE_FAILED" } } }
  end }
  local list = optimistic.list { sobjectType = "Account", records = entries, cache = cache, on_failure = function() end }
  list:delete(1)
  while list.pending > 0 do tureen.sleep(1) end
  force.init()
  local row = cache:retrieve "A"
  same({ row.Name, row.Phone, flags(row) }, { "old", "2", "local updated" })
end)

tests.test_refused_deletion_of_an_older_copy_reverts_nothing = case(function()
  local cache = support.cache "fed_stale"
  local entries = assert(cache:saveAll { { Id = "A", Name = "old", Phone = "1" } })
  mark(cache, entries[1], { Phone = "2" })
  force.init { requestHandler = function() return nil, { status = 400, errors = { { message = "no", errorCode = "NO" } } } end }
  local list = optimistic.list { sobjectType = "Account", records = entries, cache = cache, on_failure = function() end }
  list:delete(1)
  while list.pending > 0 do tureen.sleep(1) end
  force.init()
  local row = cache:retrieve "A"
  same({ row.Phone, flags(row) }, { "2", "local updated" })
end)

harness.run(tests)
