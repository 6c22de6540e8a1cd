--- Tests how scripts save, fetch and remove entries, on a real store.
local tureen = require "tureen"
local harness = require "harness"
local support = require "smartstore_support"
local same = harness.same
local case, ok, fails = harness.case, support.ok, support.fails
local smartstore = tureen.smartstore

local tests = {}
local array = tureen.array

tests.test_upsert_stamps_and_updates = case(function()
  local soup = support.soup("entries", "Name", "string", "Id", "string")
  local first = ok("upsertSoupEntries", soup, support.generated(7))
  same(#first, 7)
  local entries = ok("upsertSoupEntries", soup, support.generated(12, 7))
  same(support.field(entries, "_soupEntryId"), array { 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 })
  for _, entry in ipairs(entries) do
    same(math.type(entry._soupLastModifiedDate), "integer")
    entry.updatedField = "Mr Toad " .. entry.Name
  end
  local updated = ok("upsertSoupEntries", soup, entries)
  same(#updated, 12)
  for i, entry in ipairs(updated) do
    same(entry._soupEntryId, entries[i]._soupEntryId)
    same(entry.updatedField, "Mr Toad " .. entries[i].Name)
  end
  same(#support.names(soup), 19)
  ok("removeSoup", soup)
end)

tests.test_upsert_is_a_replacement = case(function()
  local soup = support.soup("replace", "a", "string")
  local entry = ok("upsertSoupEntries", soup, { { a = "1", b = "gone" } })[1]
  ok("upsertSoupEntries", soup, { { a = "2", _soupEntryId = entry._soupEntryId } })
  local now = ok("retrieveSoupEntries", soup, { entry._soupEntryId })[1]
  same(now.a, "2")
  same(now.b, nil)
  ok("removeSoup", soup)
end)

tests.test_upsert_by_external_id_creates_and_updates = case(function()
  local soup = support.soup("external", "Name", "string", "Id", "string")
  same(#ok("upsertSoupEntriesWithExternalId", soup, support.generated(11), "Name"), 11)
  local overlapping = support.generated(16)
  for _, entry in ipairs(overlapping) do entry.updated = true end
  same(#ok("upsertSoupEntriesWithExternalId", soup, overlapping, "Name"), 16)
  local cursor = ok("querySoup", soup, smartstore.buildAllQuerySpec("Name", "ascending", 25))
  same(cursor.totalEntries, 16)
  same(cursor.totalPages, 1)
  for i, entry in ipairs(cursor.currentPageOrderedEntries) do
    same(entry._soupEntryId, i)
    same(entry.updated, true)
  end
  ok("closeCursor", cursor)
  ok("removeSoup", soup)
end)

tests.test_upsert_by_external_id_refuses_missing_ambiguous_and_unindexed = case(function()
  local soup = support.soup("refuse", "Id", "string")
  local before = { { Id = "a" }, { Id = "a" } }
  ok("upsertSoupEntries", soup, before)
  for _, bad in ipairs { { Name = "x" }, { Id = tureen.null } } do
    local entries = { { Id = "n" }, bad }
    local err = fails("smartstore/missingExternalId", "upsertSoupEntriesWithExternalId", soup, entries, "Id")
    same(err.message, "For upsert with external ID path 'Id', value cannot be empty for any entries.")
  end
  local twice = { { Id = "n" }, { Id = "a" } }
  local err = fails("smartstore/ambiguousExternalId", "upsertSoupEntriesWithExternalId", soup, twice, "Id")
  assert(err.message:find("are more than one soup elements", 1, true), err.message)
  err = fails("smartstore/pathNotIndexed", "upsertSoupEntriesWithExternalId", soup, { { Name = "x" } }, "Name")
  same(err.message, "refuse does not have an index on Name")
  same(support.rows("select count(*) from {refuse}"), array { array { 2 } })
  ok("removeSoup", soup)
end)

tests.test_upsert_with_a_bad_third_entry_changes_nothing = case(function()
  local soup = support.soup("batch", "a", "string")
  ok("upsertSoupEntries", soup, { { a = "kept" } })
  local err = fails("smartstore/noSuchEntry", "upsertSoupEntries", soup,
    { { a = "new" }, { a = "changed", _soupEntryId = 1 }, { a = "bad", _soupEntryId = 77 } })
  same(err.message, "No entry with _soupEntryId 77 in soup batch")
  same(support.rows("select {batch:a} from {batch}"), array { array { "kept" } })
  ok("removeSoup", soup)
end)

tests.test_upsert_of_a_removed_id_stores_nothing = case(function()
  local soup = support.soup("removed", "a", "string")
  local entry = ok("upsertSoupEntries", soup, { { a = "x" } })[1]
  same(ok("removeFromSoup", soup, { entry._soupEntryId }), "OK")
  fails("smartstore/noSuchEntry", "upsertSoupEntries", soup, { entry })
  same(support.rows("select count(*) from {removed}"), array { array { 0 } })
  ok("removeSoup", soup)
end)

tests.test_retrieve_by_ids = case(function()
  local soup = support.stuff("retrieve")
  same(support.field(ok("retrieveSoupEntries", soup, { 3, 1 }), "Name"), array { "Robot", "Todd Stellanova" })
  same(#ok("retrieveSoupEntries", soup, { 1, 99 }), 1)
  same(ok("retrieveSoupEntries", soup, {}), array())
  ok("removeSoup", soup)
end)

tests.test_remove_by_ids_leaves_nothing = case(function()
  local soup = support.stuff("remove")
  same(ok("removeFromSoup", soup, { 1, 2, 3, 99 }), "OK")
  same(support.names(soup), array())
  ok("removeSoup", soup)
end)

tests.test_remove_by_query_takes_what_it_finds = case(function()
  local soup = support.stuff("query")
  same(ok("removeFromSoup", soup, smartstore.buildExactQuerySpec("Name", "Robot")), "OK")
  same(support.names(soup), array { "Pro Bono Bonobo", "Todd Stellanova" })
  same(ok("removeFromSoup", soup, smartstore.buildLikeQuerySpec("Name", "Todd%")), "OK")
  same(support.names(soup), array { "Pro Bono Bonobo" })
  same(ok("removeFromSoup", soup, smartstore.buildAllQuerySpec("Name")), "OK")
  same(support.names(soup), array())
  ok("removeSoup", soup)
end)

tests.test_remove_by_query_takes_one_page = case(function()
  local soup = support.stuff("page")
  same(ok("removeFromSoup", soup, smartstore.buildAllQuerySpec("Name", "ascending", 1)), "OK")
  same(support.names(soup), array { "Robot", "Todd Stellanova" })
  ok("removeSoup", soup)
end)

tests.test_clear_keeps_the_soup = case(function()
  local soup = support.stuff("clear")
  same(ok("clearSoup", soup), "OK")
  same(support.names(soup), array())
  same(ok("soupExists", soup), true)
  same(ok("upsertSoupEntries", soup, { { Name = "new" } })[1]._soupEntryId, 4, "ids are not used again")
  ok("removeSoup", soup)
end)

tests.test_entry_of_an_other_script_table_stays_untouched = case(function()
  local soup = support.soup("copy", "a", "string")
  local mine = { a = "x" }
  ok("upsertSoupEntries", soup, { mine })
  same(mine._soupEntryId, nil)
  ok("removeSoup", soup)
end)

harness.run(tests)
