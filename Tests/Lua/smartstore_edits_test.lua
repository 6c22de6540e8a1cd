--- Tests edits that are applied to entries as they are stored, on a real store.
local tureen = require "tureen"
local harness = require "harness"
local support = require "smartstore_support"
local case, same = harness.case, harness.same
local mobilesync, smartstore = tureen.mobilesync, tureen.smartstore

local tests = {}

local function soup_of(name) return support.soup(name, "Id", "string", "N", "integer", "__local__", "string") end

local function add(soup, entries)
  return assert(tureen.await(smartstore.upsertSoupEntries, soup, entries))
end

local function patch(soup, patches, path)
  local edited, err = tureen.await(smartstore.patchSoupEntries, soup, patches, path)
  return edited, err
end

local function fails(code, soup, patches, path)
  local edited, err = patch(soup, patches, path)
  same({ edited, err and err.code }, { nil, code })
  return err.message
end

local function stored(soup, id)
  return assert(tureen.await(smartstore.retrieveSoupEntries, soup, { id }))[1]
end

--- Returns an entry without the members of the store.
local function record(entry)
  local result = {}
  for key, value in pairs(entry) do
    if not key:find "^_soup" then result[key] = value end
  end
  return result
end

local function flags(entry)
  local names = {}
  for _, name in ipairs { "local", "locally_created", "locally_updated", "locally_deleted" } do
    if entry["__" .. name .. "__"] then names[#names + 1] = name:match "[^_]+$" end
  end
  return table.concat(names, " ")
end

tests.test_patch_changes_what_it_names_and_nothing_else = case(function()
  local soup = soup_of "edits_names"
  local id = add(soup, { { Id = "1", Name = "Ann", Phone = "1", Tags = { "a" } } })[1]._soupEntryId
  local one = assert(patch(soup, { { entryId = id, set = { Phone = "2" }, unset = { "Tags", "absent" } } }))[1]
  same({ one.entryId, one.version, one.outcome }, { id, 2, "changed" })
  same(record(one.entry), { Id = "1", Name = "Ann", Phone = "2" })
  same(stored(soup, id), one.entry)
  one = assert(patch(soup, { { entryId = id, set = { Phone = "2" } } }))[1]
  same({ one.version, one.outcome }, { 2, "unchanged" }, "nothing is written")
  one = assert(patch(soup, { { entryId = id, set = { _soupEntryId = 99, _soupLastModifiedDate = 1 } } }))[1]
  same({ one.entryId, one.outcome }, { id, "unchanged" })
end)

tests.test_patch_flags_add_up_and_local_follows = case(function()
  local soup = soup_of "edits_flags"
  local id = add(soup, { { Id = "1" } })[1]._soupEntryId
  local function after(set) return flags(assert(patch(soup, { { entryId = id, flags = set } }))[1].entry) end
  same(after { __locally_updated__ = true }, "local updated")
  same(after { __locally_deleted__ = true }, "local updated deleted")
  same(after {}, "local updated deleted")
  same(after { __locally_deleted__ = false, __locally_updated__ = false }, "")
  same(stored(soup, id).__locally_created__, false)
  fails("invalidEntry", soup, { { entryId = id, flags = { __local__ = true } } })
  fails("invalidEntry", soup, { { entryId = id, flags = { __locally_updated__ = 1 } } })
end)

tests.test_patches_are_all_or_none_and_in_order = case(function()
  local soup = soup_of "edits_none"
  local entries = add(soup, { { Id = "1", N = 1 }, { Id = "2", N = 1 } })
  local first, second = entries[1]._soupEntryId, entries[2]._soupEntryId
  local message = fails("noSuchEntry", soup, { { entryId = first, set = { N = 5 } }, { entryId = 99, set = { N = 5 } } })
  same(message, "No entry with _soupEntryId 99 in soup edits_none")
  same(stored(soup, first).N, 1)
  local edited = assert(patch(soup, {
    { entryId = first, operations = { N = { __op = "Increment", amount = 2 } } }, { externalId = "2", set = { N = 9 } },
    { externalId = "1", operations = { N = { __op = "Increment", amount = 3 } } },
    { entryId = 99, ifExists = true, set = { N = 1 } },
  }))
  same({ edited[1].entry.N, edited[2].entry.N, edited[3].version, edited[4] == tureen.null }, { 6, 9, 2, true })
  same({ stored(soup, first).N, stored(soup, second).N }, { 6, 9 })
  same(patch(soup, {}), tureen.array())
end)

tests.test_patch_finds_by_external_id_or_creates = case(function()
  local soup = soup_of "edits_external"
  local made = assert(patch(soup, {
    { externalId = "7", set = { Name = "late" }, create = { Name = "new", __locally_created__ = true } },
    { externalId = "7", set = { Name = "late" }, create = { Name = "other" } },
  }))
  same({ made[1].outcome, made[1].version, made[2].entryId == made[1].entryId }, { "created", 1, true })
  same({ made[1].entry.Name, made[1].entry.Id, flags(made[1].entry) }, { "late", "7", "local created" })
  local edited = assert(patch(soup, { { externalId = "7", set = { Name = "late" }, create = { Name = "x" } } }))[1]
  same({ edited.outcome, edited.entry.Name }, { "unchanged", "late" })
  same(assert(patch(soup, { { externalId = 5, set = {}, create = { N = 5 } } }, "N"))[1].entry.N, 5)
  same(assert(patch(soup, { { externalId = 5.0, set = { Name = "five" } } }, "N"))[1].entry.Name, "five")
  add(soup, { { Id = "7" } })
  fails("ambiguousExternalId", soup, { { externalId = "7", set = {} } })
  fails("noSuchEntry", soup, { { externalId = "8", set = {} } })
  fails("pathNotIndexed", soup, { { externalId = "8", set = {} } }, "Name")
  fails("missingExternalId", soup, { { externalId = {}, set = {} } })
  fails("noSuchSoup", "no such soup", { { externalId = "8", set = {} } })
  for _, wrong in ipairs { {}, { entryId = 1, externalId = "7" }, { entryId = 1.5 } } do
    local _, err = patch(soup, { wrong })
    same(err.code == "invalidEntry" or err.code == "invalidArguments", true, err.message)
  end
end)

tests.test_patch_holds_only_under_its_conditions = case(function()
  local soup = soup_of "edits_conditions"
  local id = add(soup, { { Id = "1", N = 1 } })[1]._soupEntryId
  local seen = assert(patch(soup, { { entryId = id } }))[1]
  same({ seen.version, seen.outcome }, { 1, "unchanged" })
  assert(patch(soup, { { entryId = id, ifVersion = 1, set = { N = 2 } } }))
  fails("entryChanged", soup, { { entryId = id, ifVersion = 1, set = { N = 3 } } })
  same(stored(soup, id).N, 2)
  assert(patch(soup, { { entryId = id, ifClean = true, set = { N = 4 }, flags = { __locally_updated__ = true } } }))
  local kept = assert(patch(soup, { { entryId = id, ifClean = true, set = { N = 5 } } }))[1]
  same({ kept.outcome, kept.entry.N }, { "kept", 4 })
end)

-- The stored value, the path, the operation, and the value then, or the end of the message.
local OPERATIONS = {
  { { N = 1 }, "N", { __op = "Increment" }, { N = 2 } },
  { {}, "N", { __op = "Increment", amount = -3 }, { N = -3 } },
  { { N = tureen.null }, "N", { __op = "Increment", amount = 0.5 }, { N = 0.5 } },
  { { N = math.maxinteger }, "N", { __op = "Increment" }, { N = 2 ^ 63 } },
  { { X = "a" }, "X", { __op = "Increment" }, "the stored value is not a number" },
  { { X = 1 }, "X", { __op = "Increment", amount = "1" }, "'amount' must be a number" },
  { { X = 1 }, "X", { __op = "Twice" }, "got 'Twice'" },
  { { L = { 1 } }, "L", { __op = "Add", objects = { 1, 2 } }, { L = { 1, 1, 2 } } },
  { {}, "L", { __op = "Add", objects = { "a" } }, { L = { "a" } } },
  { { L = { 1, "a" } }, "L", { __op = "AddUnique", objects = { 1.0, "a", "b" } }, { L = { 1, "a", "b" } } },
  { { L = { "e\u{301}" } }, "L", { __op = "AddUnique", objects = { "\u{e9}" } }, { L = { "e\u{301}", "\u{e9}" } } },
  { { L = { 1, 2, 1 } }, "L", { __op = "Remove", objects = { 1 } }, { L = { 2 } } },
  { { L = 5 }, "L", { __op = "Add", objects = { 1 } }, "the stored value is not an array" },
  { { L = {} }, "L", { __op = "Add" }, "'objects' must be an array" },
  { { A = { B = 1, C = 2 } }, "A.B", { __op = "Set", value = 3 }, { A = { B = 3, C = 2 } } },
  { {}, "A.B.C", { __op = "Set", value = 3 }, { A = { B = { C = 3 } } } },
  { { A = { B = 1, C = 2 } }, "A.B", { __op = "Delete" }, { A = { C = 2 } } },
  { { A = 1 }, "B.C", { __op = "Delete" }, { A = 1 } },
  { { L = { { n = 1 }, { n = 2 } } }, "L.0.n", { __op = "Increment", amount = 9 }, { L = { { n = 10 }, { n = 2 } } } },
  { { L = { { n = 1 } } }, "L.1.n", { __op = "Set", value = 1 }, "it has 1, counted from 0" },
  { { L = { 1 } }, "L.-1", { __op = "Set", value = 1 }, "no element '-1'; it has 1, counted from 0" },
  { { L = { 1 } }, "L.x", { __op = "Set", value = 1 }, "no element 'x'; it has 1, counted from 0" },
  { {}, ("a."):rep(99999) .. "a", { __op = "Set", value = 1 }, " names" },
  { { A = "text" }, "A.B", { __op = "Set", value = 1 }, "'B' is not inside an object or an array" },
}

tests.test_operations_change_the_stored_value = case(function()
  local soup = soup_of "edits_operations"
  for i, row in ipairs(OPERATIONS) do
    local id = add(soup, { row[1] })[1]._soupEntryId
    local edited, err = patch(soup, { { entryId = id, operations = { [row[2]] = row[3] } } })
    if type(row[4]) == "table" then
      same(edited and record(edited[1].entry) or err.message, row[4], "row " .. i)
    else
      same({ err and err.code, err and err.message:sub(-#row[4]) }, { "invalidEntry", row[4] }, "row " .. i)
    end
  end
end)

tests.test_marks_change_the_entry_as_it_is_by_then = case(function()
  local soup = soup_of "edits_marks"
  local old = add(soup, { { Id = "1", Title = "CEO", Phone = "1" } })[1]
  local server = { Id = "1", Title = "CTO", Phone = "1" }
  assert(tureen.await(smartstore.mergeServerRecords, soup, { server }, "OVERWRITE"))
  local updated = assert(tureen.await(mobilesync.markUpdated, soup, old, { Phone = "2" }))
  same({ updated.Title, updated.Phone, flags(updated) }, { "CTO", "2", "local updated" })
  same({ old.Title, old.Phone }, { "CEO", "1" })
  local deleted = assert(tureen.await(mobilesync.markDeleted, soup, old))
  same({ deleted.Title, deleted.Phone, flags(deleted) }, { "CTO", "2", "local updated deleted" })
  local undone = assert(tureen.await(mobilesync.unmark, soup, old))
  same({ undone.Title, undone.Phone, flags(undone) }, { "CTO", "2", "" })
  assert(tureen.await(smartstore.removeFromSoup, soup, { old._soupEntryId }))
  local none, err = tureen.await(mobilesync.markUpdated, soup, old, { Phone = "3" })
  same({ none, err.code }, { nil, "noSuchEntry" })
end)

tests.test_entry_that_the_script_changed_is_marked_with_its_changes = case(function()
  local soup = soup_of "edits_copies"
  local entry = add(soup, { { Id = "1", Title = "CEO", Phone = "1", Fax = "1" } })[1]
  entry.Phone, entry.Fax = "2", nil
  local updated = assert(tureen.await(mobilesync.markUpdated, soup, entry))
  same({ updated.Title, updated.Phone, updated.Fax, flags(updated) }, { "CEO", "2", nil, "local updated" })
  -- The copy is older than this edit, but no sync has written: only its own change is new.
  entry.Title = "COO"
  local others = 0
  repeat
    others = others + 1
    local other = assert(tureen.await(mobilesync.markUpdated, soup, updated, { Phone = "3", others = others }))
  until other._soupLastModifiedDate > entry._soupLastModifiedDate
  entry.Phone = "1"
  updated = assert(tureen.await(mobilesync.markUpdated, soup, entry))
  same({ updated.Title, updated.Phone, updated.others }, { "COO", "3", others })
end)

tests.test_edits_keep_the_digits_of_others = case(function()
  local soup = soup_of "edits_digits"
  local text = '{"Id":"1","big":18446744073709551615,"long":0.1000000000000000055}'
  assert(tureen.await(function(success, failure)
    tureen.exec(success, failure, "com.salesforce.smartstore", "pgUpsertSoupEntries",
      { soupName = soup, entries = { tureen.json.decode(text) } })
  end))
  local before = stored(soup, 1)
  local entry = assert(tureen.await(mobilesync.markUpdated, soup, before, { Name = "x" }))
  same({ entry.big, entry.long }, { before.big, before.long })
end)

local function merge(soup, records, mode, options)
  return assert(tureen.await(smartstore.mergeServerRecords, soup, records, mode, options))
end

tests.test_server_records_replace_clean_entries_and_spare_edits = case(function()
  local soup = soup_of "edits_merge"
  local made = merge(soup, { { Id = "1", A = 1, B = 1 }, { Id = "2", A = 1, B = 1 }, { Id = "1", A = 2, B = 1 } }, "MERGE")
  same({ made[1].outcome, made[1].entry.A, made[3].entryId == made[1].entryId, flags(made[1].entry) },
    { "created", 2, true, "" })
  assert(tureen.await(mobilesync.markUpdated, soup, made[1].entry, { A = 5 }))
  local next_page = { { Id = "1", A = 2, B = 9, __local__ = true }, { Id = "2", A = 7 }, { Id = "3", A = 1 } }
  local left = merge(soup, next_page, "LEAVE_IF_CHANGED")
  same({ left[1].outcome, left[1].entry.A, left[1].entry.B }, { "kept", 5, 1 })
  same({ left[2].outcome, left[2].entry.A, left[2].entry.B, left[3].outcome }, { "changed", 7, nil, "created" })
  local merged = merge(soup, next_page, "MERGE")
  same({ merged[1].outcome, merged[1].entry.A, merged[1].entry.B, flags(merged[1].entry) }, { "changed", 5, 9, "local updated" })
  same({ merged[2].outcome, merged[3].outcome }, { "unchanged", "unchanged" })
  local both = merge(soup, { { Id = "1", A = 6, B = 9 } }, "MERGE")[1]
  same({ both.outcome, both.entry.A, flags(both.entry) }, { "conflict", 5, "local updated" })
  local settled = merge(soup, { { Id = "1", A = 5, B = 9 } }, "MERGE")[1]
  same({ settled.outcome, flags(settled.entry) }, { "changed", "" })
  assert(tureen.await(mobilesync.markDeleted, soup, settled.entry))
  same(merge(soup, { { Id = "1", A = 8 } }, "MERGE")[1].outcome, "kept")
  local over = merge(soup, { { Id = "1", A = 8 } }, "OVERWRITE")[1]
  same({ over.entry.A, over.entry.B, flags(over.entry) }, { 8, nil, "" })
end)

tests.test_server_records_may_be_partial_known_or_old = case(function()
  local soup = soup_of "edits_partial"
  add(soup, { { Id = "1", A = 1, B = 1, Ids = { "x" }, LastModifiedDate = "2026-01-02T00:00:00.000Z" } })
  local one = merge(soup, { { Id = "1", A = 2 } }, "LEAVE_IF_CHANGED", { partial = true })[1].entry
  same({ one.A, one.B }, { 2, 1 })
  local none = merge(soup, { { Id = "9", A = 2 } }, "LEAVE_IF_CHANGED", { onlyKnown = true })
  same(none[1] == tureen.null, true)
  local date = "2026-01-01T00:00:00.000Z"
  same(merge(soup, { { Id = "1", A = 0, LastModifiedDate = date } }, "LEAVE_IF_CHANGED")[1].entry.A, 2, "an older version")
  one = merge(soup, { { Id = "1", A = 3 } }, "LEAVE_IF_CHANGED", { kept = { "Ids" } })[1].entry
  same({ one.A, one.B, one.Ids }, { 3, nil, { "x" } })
  local _, err = tureen.await(smartstore.mergeServerRecords, soup, { { A = 1 } }, "MERGE")
  same(err.code, "missingExternalId")
  _, err = tureen.await(smartstore.mergeServerRecords, soup, {}, "SOMEHOW")
  same(err.code, "invalidArguments")
end)

tests.test_confirmed_values_leave_what_was_edited_since = case(function()
  local soup = soup_of "edits_confirmed"
  local entry = add(soup, { { Id = "1", A = 1, B = 1 } })[1]
  assert(tureen.await(mobilesync.markUpdated, soup, entry, { A = 2 }))
  local version = assert(patch(soup, { { externalId = "1" } }))[1].version
  local done = assert(patch(soup, { { externalId = "1", confirmed = { A = 2 }, sentVersion = version } }))[1]
  same({ flags(done.entry), done.entry.A }, { "", 2 })
  assert(tureen.await(mobilesync.markUpdated, soup, entry, { A = 3, B = 3 }))
  version = assert(patch(soup, { { externalId = "1" } }))[1].version
  done = assert(patch(soup, { { externalId = "1", confirmed = { A = 3 }, sentVersion = version } }))[1]
  same(flags(done.entry), "local updated", "B was not sent")
  assert(tureen.await(mobilesync.markUpdated, soup, entry, { A = 4 }))
  done = assert(patch(soup, { { externalId = "1", confirmed = { A = 3, B = 3 }, sentVersion = version } }))[1]
  same({ flags(done.entry), done.entry.A, done.entry.B }, { "local updated", 4, 3 })
  -- A record that was created here gets the server's id, and a row that a sync brought for it goes.
  local new = assert(tureen.await(mobilesync.newRecord, soup, "Thing", { A = 1 }))
  add(soup, { { Id = "S1", A = 1 } })
  done = assert(patch(soup, { { externalId = new.Id, confirmed = { Id = "S1", A = 1 }, sentVersion = 1 } }))[1]
  same({ done.entryId, done.entry.Id, flags(done.entry) }, { new._soupEntryId, "S1", "" })
  local found = assert(tureen.await(smartstore.querySoup, soup, smartstore.buildExactQuerySpec("Id", "S1", 10)))
  same(found.totalEntries, 1)
end)

harness.run(tests)
