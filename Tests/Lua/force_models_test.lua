local tureen = require "tureen"
local harness = require "harness"
local force = require "tureen.force"
local support = require "force_support"

local case, cache_of, same = harness.case, support.cache, harness.same
local smartstore = tureen.smartstore
local tests = {}

local function account_class(settings)
  settings.sobjectType, settings.fieldlist = "Account", { "Name", "Phone" }
  return force.SObject:extend(settings)
end

tests.test_model_create_fetch_save_destroy = case(function()
  local cache, originals = cache_of "fm_cache", cache_of "fm_originals"
  local Account = account_class { cache = cache, cacheForOriginals = originals }
  local model = Account { Name = "A" }
  same({ model:isNew(), model:get "Name" }, { true, "A" })
  same(model:save { Phone = "1" } == model, true)
  same({ model:isNew(), model.id == model:get "Id", support.on_server(model.id).Phone }, { false, true, "1" })
  assert(force.update("Account", { Id = model.id, Phone = "2" }))
  same(model:fetch() == model, true)
  same({ model:get "Phone", cache:retrieve(model.id).Phone, originals:retrieve(model.id).Phone }, { "2", "2", "2" })
  assert(model:set("Name", "B"):save())
  same({ support.on_server(model.id).Name, cache:retrieve(model.id).Name, originals:retrieve(model.id).Name },
    { "B", "B", "B" })
  same(model:destroy(), tureen.null)
  for _, left in ipairs { support.on_server(model.id), cache:retrieve(model.id), originals:retrieve(model.id) } do
    same(left, tureen.null)
  end
  same(Account({ Name = "new" }):destroy(), false)
end)

tests.test_model_settings_by_method_and_by_call = case(function()
  local cache = cache_of "fm_cache"
  local Account = account_class {
    cache = cache, cacheMode = function(_, method) return method == "read" and "cache-first" or "cache-only" end,
  }
  local model = Account { Name = "A" }
  assert(model:save())
  same({ cache:isLocalId(model.id), model:isNew(), model:get "__locally_created__" }, { true, false, true })
  assert(model:save(nil, { cacheMode = "server-first" }))
  same({ cache:isLocalId(model.id), support.on_server(model.id).Name }, { false, "A" })
  harness.raises("Can't delete with cacheMode cache-first", model.destroy, model, { cacheMode = "cache-first" })
  harness.raises("fetch: the record has no Id", model.fetch, Account {})
  support.fails("notFound", model.fetch(Account { Id = "gone" }, { cacheMode = "cache-only" }))
end)

tests.test_model_save_in_conflict_gives_the_conflict_then_merges = case(function()
  local cache, originals = cache_of "fm_cache", cache_of "fm_originals"
  local Account = account_class { cache = cache, cacheForOriginals = originals, mergeMode = "merge-fail-if-changed" }
  local model = Account { Name = "A", Phone = "0" }
  assert(model:save())
  assert(force.update("Account", { Id = model.id, Phone = "1" }))
  local err = support.fails("conflict", model:save { Name = "B" })
  same({ err.remoteChanges, model:get "Name" }, { tureen.array { "Phone" }, "A" })
  assert(model:save({ Name = "B" }, { mergeMode = "merge-accept-yours" }))
  same({ model:get "Name", model:get "Phone" }, { "B", "1" })
end)

tests.test_apex_model_uses_its_path = case(function()
  local seen
  force.init { requestHandler = function(request)
    seen = request.method .. " " .. request.path
    return { Id = "a1" }
  end }
  local Simple = force.ApexRestObject:extend { apexRestPath = "/simple", fieldlist = { "name" } }
  local model = Simple { name = "x" }
  assert(model:save())
  force.init()
  same({ seen, model.id }, { "POST /services/apexrest/simple", "a1" })
end)

--- Creates three accounts of the same name on the server.
local function three(name)
  for i = 1, 3 do support.account { Name = name, Phone = tostring(i) } end
  return ("SELECT Id, Name, Phone FROM Account WHERE Name = '%s' ORDER BY Phone"):format(name)
end

tests.test_fetch_soql_with_and_without_cache = case(function()
  local cache, originals = cache_of "fm_cache", cache_of "fm_originals"
  local query = three "Fetch"
  local found = assert(force.fetchSObjectsFromServer { type = "soql", query = query })
  same({ found.totalSize, #found.records, found:hasMore(), found.records[1]._soupEntryId == nil }, { 3, 3, false, true })
  same(found:getMore(), tureen.array())
  found = assert(force.fetchSObjects({ type = "soql", query = query }, cache, originals))
  same({ found.totalSize, found.records[2].Phone, found.records[2].__local__ }, { 3, "2", false })
  same(originals:retrieve(found.records[2].Id).Phone, "2")
  local cached = assert(force.fetchSObjects({ type = "cache", cacheQuery = smartstore.buildAllQuerySpec("Id") }, cache))
  same(#cached.records, 3)
  support.fails("missingKey", force.fetchSObjects({ type = "soql", query = "SELECT Name FROM Account LIMIT 1" }, cache))
end)

tests.test_fetch_keeps_local_changes_but_originals_are_the_servers = case(function()
  local cache, originals = cache_of "fm_cache", cache_of "fm_originals"
  local query = three "Leave"
  local id = assert(force.query(query)).records[1].Id
  assert(cache:save { Id = id, Phone = "mine", __locally_updated__ = true })
  local found = assert(force.fetchSObjects({ type = "soql", query = query }, cache, originals, "LEAVE_IF_CHANGED"))
  same({ found.records[1].Phone, found.records[1].__local__ }, { "mine", true })
  same({ originals:retrieve(id).Phone, originals:retrieve(id).__local__ }, { "1", false })
end)

tests.test_fetch_sosl_and_recent = case(function()
  local cache = cache_of "fm_cache"
  three "Soslname"
  local found = assert(force.fetchSObjects({
    type = "sosl", query = "FIND {Soslname} IN ALL FIELDS RETURNING Account(Id, Name)" }, cache))
  same({ found.totalSize, found:hasMore(), found.records[1].Name }, { 3, false, "Soslname" })
  local recent = assert(force.fetchSObjects { type = "mru", sobjectType = "Account" })
  same(#recent.records > 0, true)
  recent = assert(force.fetchSObjects {
    type = "mru", sobjectType = "Account", fieldlist = { "Id", "Phone" }, orderBy = "Phone", orderDirection = "DESC" })
  same(recent.records[1].Phone ~= nil, true)
end)

tests.test_fetch_pages_are_saved_as_they_come = case(function()
  local cache = cache_of "fm_cache"
  local pages = {
    { totalSize = 3, records = tureen.array { { Id = "1" }, { Id = "2" } }, nextRecordsUrl = "/next" },
    { totalSize = 3, records = tureen.array { { Id = "3" } } },
  }
  force.init { requestHandler = function() return table.remove(pages, 1) end }
  local found = assert(force.fetchSObjects({ type = "soql", query = "q" }, cache))
  same({ #found.records, found:hasMore(), cache:retrieve "3" == tureen.null }, { 2, true, true })
  same(#found:getMore(), 1)
  force.init()
  same({ #found.records, found:hasMore(), cache:retrieve("3").Id }, { 3, false, "3" })
end)

tests.test_fetch_pages_in_a_circle_is_an_error_that_names_the_page = case(function()
  force.init { requestHandler = function()
    return { totalSize = 3, records = tureen.array { { Id = "1" } }, nextRecordsUrl = "/next" }
  end }
  local found = assert(force.fetchSObjects { type = "soql", query = "q" })
  same(#found:getMore(), 1)
  local more, err = found:getMore()
  force.init()
  same({ more, err.code, err.message:find("'/next'", 1, true) ~= nil, #found.records }, { nil, "badAnswer", true, 2 })
end)

tests.test_fetch_misuse_raises = case(function()
  harness.raises("fetchSObjects: 'config.type' must be soql, sosl or mru, got 'x'", force.fetchSObjects, { type = "x" })
  harness.raises("fetchSObjects: 'config.query' must be a string", force.fetchSObjects, { type = "soql" })
  harness.raises("fetchSObjects: type cache needs a cache and 'config.cacheQuery', a query spec", force.fetchSObjects,
    { type = "cache" })
end)

tests.test_collection_of_soql_and_cache_pages = case(function()
  local cache = cache_of "fm_cache"
  local collection = force.SObjectCollection { cache = cache, config = { type = "soql", query = three "Collect" } }
  same(collection:fetch() == collection, true)
  local first = collection.models[1]
  same({ #collection.models, first:get "Phone", first.sobjectType, collection:hasMore() }, { 3, "1", "Account", false })
  same(collection:get(first.id) == first, true)
  collection.config = { type = "cache", cacheQuery = smartstore.buildAllQuerySpec("Id", "ascending", 2) }
  assert(collection:fetch())
  same({ #collection.models, collection:hasMore() }, { 2, true })
  same(#collection:getMore(), 1)
  same({ #collection.models, collection.models[3].sobjectType, collection:hasMore() }, { 3, "Account", false })
  same(collection:closeCursor(), tureen.null)
end)

tests.test_collection_loses_a_destroyed_record_at_once_or_after_the_answer = case(function()
  local collection = force.SObjectCollection { config = { type = "soql", query = three "Destroy" } }
  assert(collection:fetch())
  local first, second = collection.models[1], collection.models[2]
  local task = tureen.async(function() assert(first:destroy()) end)
  same({ #collection.models, task:status() }, { 2, "running" })
  tureen.await(task)
  task = tureen.async(function() assert(second:destroy { wait = true }) end)
  same(#collection.models, 2)
  tureen.await(task)
  same(#collection.models, 1)
end)

tests.test_collection_answer_that_was_overtaken_fails = case(function()
  local Slow = force.RemoteObjectCollection:extend { config = { type = "own" } }
  local answer
  function Slow.fetchRemoteObjectsFromServer(_, config)
    if config.id == "late" then tureen.await(function(success) answer = success end) end
    return { records = { { Id = config.id } }, hasMore = function() return false end }
  end
  local collection = Slow {}
  local late = tureen.async(function() return collection:fetch { config = { id = "late" } } end)
  assert(collection:fetch { config = { id = "early" } })
  answer()
  support.fails("superseded", tureen.await(late))
  same(collection.models[1].id, "early")
end)

tests.test_collection_without_config_is_empty = case(function()
  local collection = force.SObjectCollection {}
  same({ #assert(collection:fetch()).models, collection:hasMore(), #collection:getMore() }, { 0, false, 0 })
end)

harness.run(tests)
