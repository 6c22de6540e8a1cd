--- Tests entries that are marked for the next sync up, on a real store.
local tureen = require "tureen"
local harness = require "harness"
local support = require "smartstore_support"
local case, same, raises = harness.case, harness.same, harness.raises
local mobilesync, smartstore = tureen.mobilesync, tureen.smartstore

local tests = {}

local function call(name, ...)
  local value, err = tureen.await(mobilesync[name], ...)
  if value == nil then error(err, 2) end
  return value
end

--- Returns the four flags of an entry as a text, such as "local created".
local function flags(entry)
  local names = {}
  for _, name in ipairs { "local", "locally_created", "locally_updated", "locally_deleted" } do
    local flag = entry["__" .. name .. "__"]
    same(type(flag), "boolean", name)
    if flag then names[#names + 1] = name:match "[^_]+$" end
  end
  return table.concat(names, " ")
end

local function stored(soup, id)
  return assert(tureen.await(smartstore.retrieveSoupEntries, soup, { id }))[1]
end

tests.test_new_record_has_type_flags_and_a_local_id = case(function()
  local soup = support.stuff "marks"
  local fields = { Name = "Ann" }
  local entry = call("newRecord", soup, "Contact", fields)
  same({ entry.attributes.type, entry.Name, flags(entry) }, { "Contact", "Ann", "local created" })
  same(entry.Id:find "^local_%d+$" ~= nil, true, entry.Id)
  same(fields, { Name = "Ann" }, "the caller's table")
  same(stored(soup, entry._soupEntryId), entry)
  local other = call("newRecord", soup, "Contact", { Name = "Bob" })
  same(other.Id ~= entry.Id, true)
end)

tests.test_new_record_keeps_an_id_and_knows_other_id_fields = case(function()
  local soup = support.stuff "marks_ids"
  same(call("newRecord", soup, "Contact", { Id = "mine" }).Id, "mine")
  same(call("newRecord", soup, "Contact", { Id = tureen.null }).Id:find "^local_" ~= nil, true)
  local entry = call("newRecord", soup, "Task", { name = "x" }, "objectId")
  same({ entry.objectId:find "^local_" ~= nil, entry.Id == nil }, { true, true })
end)

tests.test_marks_add_up_and_are_taken_back = case(function()
  local soup = support.stuff "marks_flags"
  local clean = assert(tureen.await(smartstore.upsertSoupEntries, soup, { { Id = "003", Name = "Ann" } }))[1]
  local updated = call("markUpdated", soup, clean, { Name = "Eve" })
  same({ updated.Name, flags(updated), updated._soupEntryId }, { "Eve", "local updated", clean._soupEntryId })
  same(clean.Name, "Ann", "the caller's entry")
  local deleted = call("markDeleted", soup, updated)
  same(flags(deleted), "local updated deleted")
  local left = call("unmark", soup, deleted)
  same({ flags(left), left.Name }, { "", "Eve" })
  same(stored(soup, clean._soupEntryId), left)
end)

tests.test_unmark_leaves_a_new_record_to_be_created = case(function()
  local soup = support.stuff "marks_new"
  local entry = call("newRecord", soup, "Contact", { Name = "Ann" })
  same(flags(call("markUpdated", soup, entry)), "local created updated")
  same(flags(call("unmark", soup, call("markDeleted", soup, entry))), "local created")
end)

tests.test_marks_take_a_store_config_and_lazy_records = case(function()
  local store = { storeName = "marks_store" }
  assert(tureen.await(smartstore.registerSoup, store, "there", { { path = "Name", type = "string" } }))
  local made = call("newRecord", store, "there", "Contact", { Name = "Ann", Tags = { "a", "b" } })
  local spec = smartstore.buildAllQuerySpec "Name"
  spec.lazy = true
  local page = assert(tureen.await(smartstore.querySoup, store, "there", spec))
  local entry = call("markUpdated", store, "there", page.currentPageOrderedEntries[1], { Name = "Eve" })
  same({ entry._soupEntryId, entry.Name, entry.Tags[2] }, { made._soupEntryId, "Eve", "b" })
  same(assert(tureen.await(smartstore.removeStore, store)), true)
end)

tests.test_marks_fail_and_misuse_by_name = case(function()
  local value, err = tureen.await(mobilesync.newRecord, "no such soup", "Contact", {})
  same({ value == nil, err.code }, { true, "noSuchSoup" })
  raises("markUpdated: argument 'entry' has no _soupEntryId; give an entry as it was read from the soup",
    mobilesync.markUpdated, "soup", { Id = "1" })
  raises("markDeleted: argument 2 'entry' must be an entry of the soup, got number", mobilesync.markDeleted, "soup", 7)
  raises("newRecord: argument 2 'sobjectType' must be a string, got table", mobilesync.newRecord, "soup", { Name = "x" })
end)

harness.run(tests)
