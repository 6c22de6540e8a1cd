local tureen = require "tureen"
local harness = require "harness"
local force = require "tureen.force"
local support = require "force_support"

local case, cache_of, same = harness.case, support.cache, harness.same
local smartstore = tureen.smartstore
local tests = {}

tests.test_cache_init_registers_its_soup = case(function()
  local cache = force.StoreCache("fc_init", { { path = "Name", type = "string" }, { path = "Id", type = "string" } })
  assert(tureen.await(smartstore.removeSoup, "fc_init"))
  same(cache:init(), "fc_init")
  same(tureen.await(smartstore.getSoupIndexSpecs, "fc_init"), tureen.array {
    { path = "Id", type = "string" }, { path = "__local__", type = "string" }, { path = "Name", type = "string" },
  })
end)

tests.test_cache_retrieve_wants_the_record_and_its_fields = case(function()
  local cache = cache_of "fc_retrieve"
  assert(cache:save { Id = "007", Name = "JamesBond", Mission = { name = "Goldfinger", target = tureen.null } })
  same(cache:retrieve("007").Name, "JamesBond")
  same(cache:retrieve("007", { "Name" }).Mission.name, "Goldfinger")
  same(cache:retrieve("007", { "Mission.name", "Mission.target" }).Name, "JamesBond")
  for _, fieldlist in ipairs { { "Name", "Address" }, { "Mission.place" }, { "Name.first" } } do
    same(cache:retrieve("007", fieldlist), tureen.null, fieldlist[1])
  end
  same(cache:retrieve("008"), tureen.null)
end)

tests.test_cache_save_merges_overwrites_or_leaves = case(function()
  local cache = cache_of "fc_save"
  same(cache:save({ Id = "1", Name = "Bond", City = "London" })._soupEntryId ~= nil, true)
  same(support.pick(cache:save { Id = "1", City = "Paris" }, "Name", "City", "__local__"),
    { Name = "Bond", City = "Paris", __local__ = false })
  same(support.pick(cache:save({ Id = "1", City = "Rome" }, "OVERWRITE"), "Name", "City"), { City = "Rome" })
  assert(cache:save { Id = "1", City = "Oslo", __locally_updated__ = true })
  same(cache:save({ Id = "1", City = "Bonn" }, "LEAVE_IF_CHANGED").City, "Oslo")
  same(cache:retrieve("1").City, "Oslo")
  same(cache:save({ Id = "2", City = "Bonn" }, "LEAVE_IF_CHANGED").City, "Bonn")
end)

tests.test_cache_save_of_a_copy_from_before_an_upload_keeps_the_servers_id = case(function()
  local cache = cache_of "fc_late"
  local made = assert(cache:save { Id = "local_1", Name = "a", __locally_created__ = true })
  local uploaded = {}
  for key, value in pairs(made) do uploaded[key] = value end
  uploaded.Id, uploaded.__local__, uploaded.__locally_created__ = "001", false, false
  assert(tureen.await(smartstore.upsertSoupEntries, "fc_late", { uploaded }))
  made.Name = "b"
  made._soupLastModifiedDate = made._soupLastModifiedDate - 1 -- the two writes may fall into one millisecond
  for _, mode in ipairs { "MERGE_ACCEPT_THEIRS", "OVERWRITE" } do
    local saved = assert(cache:save(made, mode))
    same(support.pick(saved, "_soupEntryId", "Id", "Name", "__local__", "__locally_created__", "__locally_updated__"), {
      _soupEntryId = made._soupEntryId, Id = "001", Name = "b", __local__ = true, __locally_created__ = false,
      __locally_updated__ = true,
    })
  end
  same(cache:retrieve("local_1"), tureen.null)
end)

tests.test_cache_save_all_keeps_the_order_and_merges_each = case(function()
  local cache = cache_of "fc_save_all"
  local saved = assert(cache:saveAll { { Id = "3", N = "c", M = 1 }, { Id = "1", N = "a" }, { Id = "2", N = "b", M = 2 } })
  same({ saved[1].N, saved[2].N, saved[3].N }, { "c", "a", "b" })
  saved = assert(cache:saveAll { { Id = "1", M = 7 }, { Id = "3", N = "C" } })
  same({ saved[1].N, saved[1].M, saved[2].N, saved[2].M }, { "a", 7, "C", 1 })
  saved = assert(cache:saveAll({ { Id = "3", X = 1 } }, "OVERWRITE"))
  same(support.pick(saved[1], "N", "X"), { X = 1 })
  same(cache:saveAll {}, tureen.array())
end)

tests.test_cache_misuse_raises_before_anything_is_stored = case(function()
  local cache = cache_of "fc_misuse"
  harness.raises("Can't merge without Id", cache.saveAll, cache, { { Id = "1" }, { Name = "x" } })
  harness.raises("save: 'mergeMode' must be OVERWRITE, MERGE_ACCEPT_THEIRS or LEAVE_IF_CHANGED, got 'overwrite'",
    cache.save, cache, { Id = "1" }, "overwrite")
  harness.raises("save: argument 1 'record' must be a table, got string", cache.save, cache, "x")
  harness.raises("retrieve: call it as a method, object:retrieve(...)", cache.retrieve, "1")
  harness.raises("StoreCache: argument 1 'soupName' must be a string", force.StoreCache)
  same(#cache:find(smartstore.buildAllQuerySpec("Id")).records, 0)
end)

tests.test_cache_keys_with_quotes_and_braces_are_found = case(function()
  local cache = cache_of "fc_keys"
  local keys = { "O'Brien", "{fc_keys:Id}", 'say "x"', "Zoë", "a') OR ('1'='1" }
  for i, key in ipairs(keys) do assert(cache:save { Id = key, N = i }) end
  for i, key in ipairs(keys) do same(cache:save({ Id = key, M = 1 }).N, i, key) end
  same(#cache:find(smartstore.buildAllQuerySpec("Id")).records, #keys)
end)

tests.test_cache_remove_takes_one_and_knows_the_absent = case(function()
  local cache = cache_of "fc_remove"
  assert(cache:saveAll { { Id = "1" }, { Id = "2" } })
  same(cache:remove("9"), tureen.null)
  same(#cache:find(smartstore.buildAllQuerySpec("Id")).records, 2)
  same(cache:remove("1"), tureen.null)
  same(cache:retrieve("1"), tureen.null)
  same(cache:retrieve("2").Id, "2")
end)

local function names(found)
  local result = tureen.array()
  for i, record in ipairs(found.records) do result[i] = record.Name end
  return result
end

tests.test_cache_find_exact_like_pages_and_smart = case(function()
  local cache = cache_of("fc_find", { { path = "Name", type = "string" } })
  assert(cache:saveAll {
    { Id = "1", Name = "James Bond" }, { Id = "2", Name = "James Earl" }, { Id = "3", Name = "ABC" },
    { Id = "4", Name = "bcd" },
  })
  same(names(cache:find(smartstore.buildExactQuerySpec("Id", "1"))), tureen.array { "James Bond" })
  same(#cache:find(smartstore.buildLikeQuerySpec("Name", "James%", "ascending")).records, 2)
  local found = assert(cache:find(smartstore.buildAllQuerySpec("Name", "ascending", 3)))
  same(names(found), tureen.array { "ABC", "James Bond", "James Earl" })
  same(found:hasMore(), true)
  same(#found:getMore(), 1)
  same(#found.records, 4)
  same(found:hasMore(), false)
  same(found:getMore(), tureen.array())
  local smart = smartstore.buildSmartQuerySpec(
    "SELECT {fc_find:_soup} FROM {fc_find} WHERE {fc_find:Name} NOT LIKE 'James%' ORDER BY LOWER({fc_find:Name})", 1)
  found = assert(cache:find(smart))
  same(names(found), tureen.array { "ABC" })
  same(found:getMore()[1].Name, "bcd")
  found = assert(cache:find(smart))
  same(found:closeCursor(), tureen.null)
  same(found:hasMore(), false)
end)

tests.test_cache_local_fields_and_local_ids = case(function()
  local cache, record = cache_of "fc_local", { Id = "1" }
  same(cache:addLocalFields(record), {
    Id = "1", __local__ = false, __locally_created__ = false, __locally_updated__ = false, __locally_deleted__ = false,
  })
  same(record, { Id = "1" }, "the caller's record")
  local deleted = cache:addLocalFields { __locally_deleted__ = true, __locally_updated__ = 0 }
  same({ deleted.__local__, deleted.__locally_updated__ }, { true, false })
  local id = cache:makeLocalId()
  same({ cache:isLocalId(id), cache:isLocalId("001"), cache:isLocalId(nil), id == cache:makeLocalId() },
    { true, false, false, false })
end)

tests.test_cache_of_user_global_and_named_stores_are_apart = case(function()
  local caches = {
    force.StoreCache("fc_stores"), force.StoreCache("fc_stores", nil, nil, true),
    force.StoreCache("fc_stores", nil, nil, true, "fc_named"),
  }
  for i, cache in ipairs(caches) do
    assert(cache:init())
    assert(cache:save({ Id = "1", N = i }, "OVERWRITE"))
  end
  for i, cache in ipairs(caches) do same(cache:retrieve("1").N, i) end
  assert(tureen.await(smartstore.removeStore, caches[3].config))
end)

function tests.test_cache_with_callbacks_answers_from_poll()
  local cache = force.StoreCache "fc_callbacks"
  local is_outside = false
  cache:init(harness.expect(function(name)
    same({ name, is_outside }, { "fc_callbacks", true })
    cache:retrieve("1", harness.expect(function(record) same(record, tureen.null) end), harness.never())
    force.StoreCache("fc_nowhere"):retrieve("1", harness.never(), harness.expect(function(err)
      same(err.domain .. "/" .. err.code, "smartstore/noSuchSoup")
    end))
  end), harness.never())
  is_outside = true
  harness.raises("retrieve: pass callbacks, or call it inside tureen.async(function() ... end)",
    cache.retrieve, cache, "1")
end

tests.test_await_and_all_take_the_methods = case(function()
  local cache = cache_of "fc_await"
  assert(tureen.await(cache.save, cache, { Id = "1", N = 5 }))
  local values = assert(tureen.all { { cache.retrieve, cache, "1" }, { cache.retrieve, cache, "2" } })
  same({ values[1].N, values[2] == tureen.null }, { 5, true })
end)

tests.test_sobject_type_is_fetched_once_and_cached = case(function()
  local cache = cache_of "fc_types"
  local kind = force.SObjectType("Account", cache)
  local both = assert(tureen.all { { kind.describe, kind }, { kind.describe, kind }, { kind.getMetadata, kind } })
  same({ both[1].keyPrefix, both[1].name, both[1] == both[2] }, { "001", "Account", true })
  same(type(both[3].recentItems), "table")
  same(type(kind:describeLayout().detailLayoutSections), "table")
  assert(force.SObjectType("Contact", cache):describe())
  local row = cache:retrieve "Account"
  same({ type(row.describeResult), type(row.metadataResult), type(row.layoutInfo_012000000000000AAA) },
    { "table", "table", "table" })
  same(cache:retrieve("Contact").metadataResult, nil)
  local offline = force.SObjectType("Account", cache, "cache-only")
  same(offline:describe().keyPrefix, "001")
  same(type(offline:getMetadata().recentItems), "table")
  same(kind:reset(), tureen.null)
  same(cache:retrieve "Account", tureen.null)
  same(force.SObjectType("Account", cache, "cache-only"):describe(), tureen.null)
end)

tests.test_sobject_type_that_failed_is_asked_again = case(function()
  local answers = { false, { name = "Account" } }
  force.init { requestHandler = function()
    local answer = table.remove(answers, 1)
    if answer then return answer end
    return nil, { code = "noResponse" }
  end }
  local kind = force.SObjectType "Account"
  support.fails("noResponse", kind:describe())
  same(kind:describe().name, "Account")
  force.init()
end)

harness.run(tests)
