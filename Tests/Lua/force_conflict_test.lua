local tureen = require "tureen"
local harness = require "harness"
local force = require "tureen.force"
local support = require "force_support"

local case, cache_of, same, pick = harness.case, support.cache, harness.same, support.pick
local MODE, MERGE = force.CACHE_MODE, force.MERGE_MODE
local FIELDS = { "Id", "Name", "Phone", "Industry" }
local tests = {}

local function sync(method, id, attributes, fields, cache, mode, originals, merge)
  return force.syncSObjectDetectConflict(method, "Account", id, attributes, fields, cache, mode, originals, merge)
end

local function values(record)
  local result = {}
  for _, name in ipairs { "Name", "Phone", "Industry" } do
    local value = record[name]
    if value ~= nil and value ~= tureen.null then result[name] = value end
  end
  return result
end

tests.test_originals_follow_what_the_server_has = case(function()
  local cache, originals = cache_of "fk_cache", cache_of "fk_originals"
  local function is_kept(id) return originals:retrieve(id) ~= tureen.null end
  local kept = {}
  for _, mode in ipairs { MODE.SERVER_ONLY, MODE.SERVER_FIRST, MODE.CACHE_ONLY } do
    local made = assert(sync("create", nil, { Name = "A" }, { "Name" }, cache, mode, originals))
    kept[mode] = is_kept(made.Id)
  end
  same(kept, { [MODE.SERVER_ONLY] = true, [MODE.SERVER_FIRST] = true, [MODE.CACHE_ONLY] = false })
  local id = support.account { Name = "B" }
  assert(cache:save { Id = id, Name = "Cached" })
  assert(sync("read", id, nil, { "Name" }, cache, MODE.CACHE_ONLY, originals))
  assert(sync("read", id, nil, { "Name" }, cache, MODE.CACHE_FIRST, originals))
  same(is_kept(id), false)
  assert(sync("read", id, nil, { "Name" }, nil, MODE.SERVER_ONLY, originals))
  same(originals:retrieve(id).Name, "B")
end)

--- Runs one case: reads a record, changes it as another client, then locally. Returns the answer and the versions of the server,
--- the cache and the originals.
local function contest(method, merge, theirs, yours)
  local cache, originals = cache_of "fk_cache", cache_of "fk_originals"
  local id = support.account { Name = "0", Phone = "0", Industry = "Banking" }
  local read = assert(sync("read", id, nil, FIELDS, cache, MODE.SERVER_FIRST, originals))
  theirs.Id = id
  assert(force.update("Account", theirs))
  local mine = pick(read, "Id", "Name", "Phone", "Industry")
  for key, value in pairs(yours) do mine[key] = value end
  local value, err = sync(method, id, mine, FIELDS, cache, MODE.SERVER_FIRST, originals, merge)
  return value, err, { support.on_server(id, FIELDS), cache:retrieve(id), originals:retrieve(id) }
end

--- Expects that the change succeeds and that all three versions equal `wanted`.
local function goes_through(method, merge, theirs, yours, wanted)
  local value, err, rows = contest(method, merge, theirs, yours)
  if value == nil then error(merge .. ": " .. tostring(err), 2) end
  for _, row in ipairs(rows) do
    if method == "delete" then same(row, tureen.null, merge) else same(values(row), wanted, merge) end
  end
end

--- Expects that the change is refused with these lists and that nothing is written.
local function is_refused(method, merge, theirs, yours, wanted)
  local value, err, rows = contest(method, merge, theirs, yours)
  same({ value == nil, err.domain, err.code }, { true, "force", "conflict" }, merge)
  same({ err.localChanges, err.remoteChanges, err.conflictingChanges },
    { tureen.array(wanted[1]), tureen.array(wanted[2]), tureen.array(wanted[3]) }, merge)
  same({ err.base.Name, err.theirs.Name, err.yours.Name }, { "0", theirs.Name or "0", yours.Name or "0" })
  same({ rows[2].Name, rows[3].Name, rows[2].Phone }, { "0", "0", "0" })
  same(force.Error(err).type, "ConflictError")
end

local IF_CHANGED, IF_CONFLICT, YOURS = MERGE.MERGE_FAIL_IF_CHANGED, MERGE.MERGE_FAIL_IF_CONFLICT, MERGE.MERGE_ACCEPT_YOURS

local function only_theirs_changed(method)
  return case(function()
    local function theirs() return { Name = "1" } end
    is_refused(method, IF_CHANGED, theirs(), {}, { {}, { "Name" }, {} })
    local merged = { Name = "1", Phone = "0", Industry = "Banking" }
    goes_through(method, IF_CONFLICT, theirs(), {}, merged)
    goes_through(method, YOURS, theirs(), {}, merged)
    goes_through(method, MERGE.OVERWRITE, theirs(), {}, { Name = "0", Phone = "0", Industry = "Banking" })
  end)
end

local function both_changed_other_fields(method)
  return case(function()
    local function theirs() return { Industry = "Energy" } end
    local yours = { Phone = "2" }
    is_refused(method, IF_CHANGED, theirs(), yours, { { "Phone" }, { "Industry" }, {} })
    local merged = { Name = "0", Phone = "2", Industry = "Energy" }
    goes_through(method, IF_CONFLICT, theirs(), yours, merged)
    goes_through(method, YOURS, theirs(), yours, merged)
    goes_through(method, MERGE.OVERWRITE, theirs(), yours, { Name = "0", Phone = "2", Industry = "Banking" })
  end)
end

local function both_changed_the_same_field(method)
  return case(function()
    local function theirs() return { Name = "1", Industry = "Energy" } end
    local yours = { Name = "2", Phone = "2" }
    local lists = { { "Name", "Phone" }, { "Name", "Industry" }, { "Name" } }
    is_refused(method, IF_CHANGED, theirs(), yours, lists)
    is_refused(method, IF_CONFLICT, theirs(), yours, lists)
    goes_through(method, YOURS, theirs(), yours, { Name = "2", Phone = "2", Industry = "Energy" })
    goes_through(method, MERGE.OVERWRITE, theirs(), yours, { Name = "2", Phone = "2", Industry = "Banking" })
  end)
end

tests.test_update_only_theirs_changed = only_theirs_changed "update"
tests.test_delete_only_theirs_changed = only_theirs_changed "delete"
tests.test_update_both_changed_other_fields = both_changed_other_fields "update"
tests.test_delete_both_changed_other_fields = both_changed_other_fields "delete"
tests.test_update_both_changed_the_same_field = both_changed_the_same_field "update"
tests.test_delete_both_changed_the_same_field = both_changed_the_same_field "delete"

tests.test_same_change_on_both_sides_is_no_conflict = case(function()
  goes_through("update", IF_CONFLICT, { Name = "1" }, { Name = "1" }, { Name = "1", Phone = "0", Industry = "Banking" })
end)

tests.test_values_the_model_takes_for_one_are_no_change = case(function()
  local originals = cache_of "fk_originals"
  local base = { Id = "1", A = "", B = tureen.null, C = 1, D = { x = 1 }, E = 0 }
  local theirs = { Id = "1", A = tureen.null, B = false, C = "1", D = { x = 1 }, E = "" }
  assert(originals:save(base))
  local sent
  local function server(method, _, attributes)
    if method == "read" then return theirs end
    sent = attributes
    return attributes
  end
  assert(force.syncRemoteObjectDetectConflict("update", "1", { Id = "1", F = 1 }, { "A", "B", "C", "D", "E" }, nil, nil,
    originals, IF_CHANGED, server))
  same(sent, { Id = "1", F = 1 })
  theirs.D = { x = 2 }
  local err = support.fails("conflict", force.syncRemoteObjectDetectConflict("update", "1", { Id = "1" }, { "A", "D" },
    nil, nil, originals, IF_CHANGED, server))
  same(err.remoteChanges, tureen.array { "D" })
end)

tests.test_record_deleted_by_others_fails_with_the_servers_error = case(function()
  local cache, originals = cache_of "fk_cache", cache_of "fk_originals"
  local id = support.account { Name = "0" }
  assert(sync("read", id, nil, { "Name" }, cache, MODE.SERVER_FIRST, originals))
  assert(force.del("Account", id))
  local err = support.fails("httpStatus", sync("update", id, { Name = "1" }, { "Name" }, cache, nil, originals, IF_CONFLICT))
  same({ err.status, cache:retrieve(id).Name }, { 404, "0" })
end)

tests.test_unknown_merge_mode_raises = case(function()
  harness.raises("syncSObjectDetectConflict: 'mergeMode' must be one of merge-accept-yours, merge-fail-if-changed, "
    .. "merge-fail-if-conflict, overwrite, got 'mine'", sync, "update", "1", {}, nil, nil, nil, nil, "mine")
end)

harness.run(tests)
