--- Tests changes of index specs by a script, on a real store.
local tureen = require "tureen"
local harness = require "harness"
local support = require "smartstore_support"
local same = harness.same
local case, ok, fails = harness.case, support.ok, support.fails
local smartstore = tureen.smartstore

local tests = {}
local array = tureen.array

local NEW_SPECS = { { path = "Name", type = "string" }, { path = "attributes.type", type = "string" } }

local function count(soup, path, key)
  local cursor = ok("querySoup", soup, smartstore.buildExactQuerySpec(path, key))
  ok("closeCursor", cursor)
  return cursor.totalEntries
end

tests.test_alter_without_reindexing_finds_new_paths_later = case(function()
  local soup = support.stuff("altered")
  same(ok("alterSoup", soup, NEW_SPECS, false), soup)
  same(ok("getSoupIndexSpecs", soup), array(NEW_SPECS))
  same(count(soup, "attributes.type", "Contact"), 0)
  same(count(soup, "Name", "Robot"), 1)
  same(ok("reIndexSoup", soup, { "attributes.type" }), soup)
  same(count(soup, "attributes.type", "Contact"), 3)
  same(count(soup, "Name", "Robot"), 1)
  ok("removeSoup", soup)
end)

tests.test_alter_with_reindexing_finds_new_paths_at_once = case(function()
  local soup = support.stuff("altered")
  local before = ok("retrieveSoupEntries", soup, { 1, 2, 3 })
  same(ok("alterSoup", soup, NEW_SPECS, true), soup)
  same(count(soup, "attributes.type", "Contact"), 3)
  same(count(soup, "Name", "Robot"), 1)
  same(count(soup, "Id", "00300A"), 1, "a path without an index is still there")
  same(ok("retrieveSoupEntries", soup, { 1, 2, 3 }), before, "entries, ids and stamps")
  ok("removeSoup", soup)
end)

tests.test_alter_refuses_unknown_soups_and_bad_specs = case(function()
  fails("smartstore/noSuchSoup", "alterSoup", "nowhere", NEW_SPECS, true)
  fails("smartstore/noSuchSoup", "reIndexSoup", "nowhere", { "Name" })
  local soup = support.stuff("kept")
  for _, specs in ipairs {
    array(), { NEW_SPECS[1], NEW_SPECS[1] }, { { path = "a'b", type = "string" } },
    { { path = "a", type = "text" } } } do
    fails("smartstore/invalidIndexSpec", "alterSoup", soup, specs, true)
  end
  same(support.field(ok("getSoupIndexSpecs", soup), "path"), array { "Name", "Id" })
  same(count(soup, "Id", "00300A"), 1)
  ok("removeSoup", soup)
end)

tests.test_ids_are_not_used_again_after_an_alter = case(function()
  local soup = support.stuff("sequence")
  ok("removeFromSoup", soup, { 2, 3 })
  ok("alterSoup", soup, NEW_SPECS, true)
  same(ok("upsertSoupEntries", soup, { { Name = "new" } })[1]._soupEntryId, 4)
  ok("clearSoup", soup)
  ok("alterSoup", soup, NEW_SPECS, false)
  same(ok("upsertSoupEntries", soup, { { Name = "new" } })[1]._soupEntryId, 5)
  ok("removeSoup", soup)
end)

--- Returns a test that runs `body` on a soup, and again after each of three changes of its specs: another path, another type,
--- an additional spec.
local function changing(body)
  return case(function()
    local soup = support.soup("changing", "key", "string")
    ok("upsertSoupEntries", soup, { { key = "ka1", value = "va1" }, { key = "ka1-", value = "va1-" },
      { key = "ka1 ", value = "va1 " } })
    body(soup, "key")
    for _, specs in ipairs {
      { { path = "value", type = "string" } }, { { path = "value", type = "json1" } },
      { { path = "value", type = "json1" }, { path = "key", type = "string" } } } do
      ok("alterSoup", soup, specs, true)
      body(soup, specs[1].path)
    end
    ok("removeSoup", soup)
  end)
end

tests.test_exact_queries_while_specs_change = changing(function(soup, path)
  for _, tail in ipairs { "a1", "a1-", "a1 " } do same(count(soup, path, path:sub(1, 1) .. tail), 1) end
  same(count(soup, path, path:sub(1, 1) .. "a1  "), 0)
end)

tests.test_upserts_while_specs_change = changing(function(soup, path)
  local first = path:sub(1, 1)
  local entry = { key = "ka1", value = "va1", times = 1 }
  same(ok("upsertSoupEntriesWithExternalId", soup, { entry }, path)[1]._soupEntryId, 1)
  local all = support.found(soup, smartstore.buildAllQuerySpec(path))
  same(support.field(all, path), array { first .. "a1", first .. "a1 ", first .. "a1-" })
end)

local removed = 0
tests.test_removals_while_specs_change = changing(function(soup, path)
  removed = removed + 1
  if removed <= 3 then ok("removeFromSoup", soup, { removed }) end
  same(#support.found(soup, smartstore.buildAllQuerySpec(path)), math.max(0, 3 - removed))
end)

harness.run(tests)
