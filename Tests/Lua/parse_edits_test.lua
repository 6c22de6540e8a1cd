--- Tests that no edit of a row gets lost beside finds, fetches and saves in the mode server-first.
local harness = require "harness"
local support = require "parse_support"
local tureen = require "tureen"

local case, entries, same = harness.case, support.entries, harness.same
local mobilesync = tureen.mobilesync
local tests = {}

local function class_of(name, count)
  local class = support.class(name, { soup = name .. "_rows", cacheMode = "server-first" })
  for i = 1, count do assert(class { number = i, title = "old" }:save { cacheMode = "server-only" }) end
  return class
end

local function mark(soup, entry, changes)
  return assert(tureen.await(mobilesync.markUpdated, soup, entry, changes))
end

tests.test_edits_beside_finds_and_fetches_all_stay = case(function()
  local class = class_of("EditedRow", 60)
  assert(class:query():limit(100):find())
  local rows, edits = entries "EditedRow_rows", {}
  same(#rows, 60)
  for i, row in ipairs(rows) do
    edits[i] = tureen.async(function()
      for _ = 1, i % 11 do tureen.sleep(0) end
      mark("EditedRow_rows", row, { title = "new " .. i })
    end)
  end
  for i = 1, 6 do
    assert(class:query():limit(100):find())
    assert(class:query():limit(100):select("title"):find())
    assert(tureen.parse.fetch("EditedRow", rows[i].objectId, { cacheMode = "server-first" }))
  end
  for _, edit in ipairs(edits) do tureen.await(edit) end
  assert(class:query():limit(100):find())
  for i, row in ipairs(entries "EditedRow_rows") do
    same({ row.title, row.number, row.__local__, row.__locally_updated__ }, { "new " .. i, rows[i].number, true, true })
  end
end)

tests.test_row_that_was_uploaded_since_the_answer_stays = case(function()
  local class = class_of("SentRow", 1)
  assert(class:query():find())
  local row = entries "SentRow_rows"[1]
  local answer = { { objectId = row.objectId, title = "old", number = 1, updatedAt = "2001-01-01T00:00:00.000Z" } }
  local merged = assert(tureen.await(tureen.smartstore.mergeServerRecords, "SentRow_rows", answer, "LEAVE_IF_CHANGED",
    { externalIdPath = "objectId", modificationDateFieldName = "updatedAt" }))
  same({ merged[1].outcome, merged[1].entry.updatedAt }, { "unchanged", row.updatedAt })
end)

tests.test_two_offline_saves_of_one_row_keep_both_fields = case(function()
  local class = class_of("TwiceRow", 1)
  local found = assert(class:query():find())[1]
  local saves = {}
  for i = 1, 20 do
    saves[i] = tureen.async(function()
      local object = assert(class:query():first { cacheMode = "cache-only" })
      object:set("field" .. i, i)
      assert(object:save { cacheMode = "cache-only" })
    end)
  end
  for _, save in ipairs(saves) do tureen.await(save) end
  local row = entries "TwiceRow_rows"[1]
  same(row.objectId, found.objectId)
  for i = 1, 20 do same(row["field" .. i], i) end
  same(row.__locally_updated__, true)
end)

harness.run(tests)
