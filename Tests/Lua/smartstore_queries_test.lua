--- Tests query specs and cursors in scripts, on a real store.
local tureen = require "tureen"
local harness = require "harness"
local support = require "smartstore_support"
local same, raises, expect, never = harness.same, harness.raises, harness.expect, harness.never
local case, ok, fails, found = harness.case, support.ok, support.fails, support.found
local smartstore = tureen.smartstore

local tests = {}
local array = tureen.array

local function names(soup, spec) return support.field(found(soup, spec), "Name") end

tests.test_exact_query_gives_entries_and_rows = case(function()
  local soup = support.stuff("exact")
  local cursor = ok("querySoup", soup, smartstore.buildExactQuerySpec("Name", "Robot"))
  same(cursor.totalEntries, 1)
  same(cursor.totalPages, 1)
  same(cursor.currentPageOrderedEntries[1].Id, "00300C")
  ok("closeCursor", cursor)
  local rows = smartstore.buildExactQuerySpec("Name", "Robot", nil, nil, nil, { "Name", "Id" })
  same(found(soup, rows), array { array { "Robot", "00300C" } })
  same(found(soup, smartstore.buildExactQuerySpec("Name", "robot")), array())
  ok("removeSoup", soup)
end)

tests.test_all_query_descending = case(function()
  local soup = support.stuff("all")
  same(names(soup, smartstore.buildAllQuerySpec("Name", "descending", 3)),
    array { "Todd Stellanova", "Robot", "Pro Bono Bonobo" })
  same(found(soup, smartstore.buildAllQuerySpec("Name", "descending", 2, { "Id" })),
    array { array { "00300A" }, array { "00300C" } })
  ok("removeSoup", soup)
end)

tests.test_range_query_with_its_own_order = case(function()
  local soup = support.stuff("range")
  local order = { "ascending", 10, "Name" }
  same(names(soup, smartstore.buildRangeQuerySpec("Id", nil, "00300B", table.unpack(order))),
    array { "Pro Bono Bonobo", "Todd Stellanova" })
  same(found(soup, smartstore.buildRangeQuerySpec("Id", nil, "00300B", "ascending", 10, "Name", { "Name", "Id" })),
    array { array { "Pro Bono Bonobo", "00300B" }, array { "Todd Stellanova", "00300A" } })
  same(names(soup, smartstore.buildRangeQuerySpec("Name", nil, "Robot")), array { "Pro Bono Bonobo", "Robot" })
  same(names(soup, smartstore.buildRangeQuerySpec("Name", "Robot", nil)), array { "Robot", "Todd Stellanova" })
  ok("removeSoup", soup)
end)

tests.test_like_query_at_start_end_and_within = case(function()
  local soup = support.stuff("like")
  local function like(key, paths)
    return found(soup, smartstore.buildLikeQuerySpec("Name", key, "ascending", 10, nil, paths))
  end
  same(support.field(like("Todd%"), "Id"), array { "00300A" })
  same(like("Todd%", { "Name", "Id" }), array { array { "Todd Stellanova", "00300A" } })
  same(support.field(like("%Stellanova"), "Id"), array { "00300A" })
  same(support.field(like("%ono%"), "Id"), array { "00300B" })
  same(like("%nobody%"), array())
  ok("removeSoup", soup)
end)

tests.test_queries_through_an_array = case(function()
  local soup = support.soup("animals", "name", "string", "attributes.color", "string")
  local function animal(name, ...)
    local attributes = array()
    for _, color in ipairs { ... } do attributes[#attributes + 1] = { color = color } end
    return { name = name, attributes = attributes }
  end
  ok("upsertSoupEntries", soup,
    { animal("cat", "black", "tabby"), animal("dog", "grey", "black"), animal("elephant", "grey") })
  local function like(key)
    local spec = smartstore.buildLikeQuerySpec("attributes.color", key, "ascending", 10, "name")
    return support.field(found(soup, spec), "name")
  end
  same(like("%grey%"), array { "dog", "elephant" })
  same(like("%gr%"), array { "dog", "elephant" })
  same(like("%tabby%"), array { "cat" })
  local exact = smartstore.buildExactQuerySpec("attributes.color", '["grey"]', 10)
  same(support.field(found(soup, exact), "name"), array { "elephant" })
  local rows = support.rows [[select {animals:_soup} from {animals} where {animals:attributes.color} like '%black%'
    order by {animals:name}]]
  same(array { rows[1][1].name, rows[2][1].name, #rows }, array { "cat", "dog", 2 })
  ok("removeSoup", soup)
end)

tests.test_exact_query_on_a_compound_path = case(function()
  local soup = support.soup("compound", "attributes.url", "string")
  ok("upsertSoupEntries", soup, support.generated(5))
  local spec = smartstore.buildExactQuerySpec("attributes.url", "/foo/Contact/0003")
  same(names(soup, spec), array { "Todd Stellanova0003" })
  ok("removeSoup", soup)
end)

tests.test_range_query_on_integers = case(function()
  local soup = support.soup("integers", "Name", "string", "n", "integer")
  ok("upsertSoupEntries", soup, { { n = 10 }, { n = 9 }, { n = 100 }, { n = 1000 }, { n = 55 } })
  local function range(first, last)
    return support.field(found(soup, smartstore.buildRangeQuerySpec("n", first, last, "ascending", 10)), "n")
  end
  same(range(10, 100), array { 10, 55, 100 })
  same(range("10", "100"), array { 10, 55, 100 })
  same(range(nil, 10), array { 9, 10 })
  ok("removeSoup", soup)
end)

tests.test_numeric_keys_over_json1 = case(function()
  local soup = support.soup("json1", "k", "json1")
  ok("upsertSoupEntriesWithExternalId", soup, { { k = 1 }, { k = 2 }, { k = "2" }, { k = 30 } }, "k")
  same(#ok("upsertSoupEntriesWithExternalId", soup, { { k = 2, again = true } }, "k"), 1)
  same(support.rows("select count(*) from {json1}"), array { array { 4 } })
  same(support.field(found(soup, smartstore.buildExactQuerySpec("k", 2)), "again"), array { true })
  same(support.field(found(soup, smartstore.buildRangeQuerySpec("k", 2, 30)), "k"), array { 2, 30 })
  ok("removeSoup", soup)
end)

tests.test_cursor_moves_through_its_pages = case(function()
  local soup = support.soup("cursor", "Name", "string")
  ok("upsertSoupEntries", soup, support.generated(42))
  local cursor = ok("querySoup", soup, smartstore.buildAllQuerySpec("Name", "ascending", 20))
  local function at(index, count, first, last)
    local entries = cursor.currentPageOrderedEntries
    same(array { cursor.currentPageIndex, cursor.totalEntries, cursor.totalPages, cursor.pageSize, #entries },
      array { index, 42, 3, 20, count })
    same(array { entries[1]._soupEntryId, entries[#entries]._soupEntryId }, array { first, last })
  end
  at(0, 20, 1, 20)
  cursor = ok("moveCursorToNextPage", cursor)
  at(1, 20, 21, 40)
  cursor = ok("moveCursorToNextPage", cursor)
  at(2, 2, 41, 42)
  cursor = ok("moveCursorToPreviousPage", cursor)
  at(1, 20, 21, 40)
  cursor = ok("moveCursorToNextPage", cursor)
  at(2, 2, 41, 42)
  cursor = ok("moveCursorToPageIndex", cursor, 0)
  at(0, 20, 1, 20)
  same(ok("closeCursor", cursor), "OK")
  same(ok("closeCursor", cursor), "OK", "a second time")
  local err = fails("smartstore/noSuchCursor", "moveCursorToPageIndex", cursor, 1)
  same(err.message:find("Invalid cursor id", 1, true), 1)
  ok("removeSoup", soup)
end)

local function refused_at_the_end(move, spec, message)
  local soup = support.stuff("ends")
  local cursor = ok("querySoup", soup, spec)
  same(fails("bridge/noSuchPage", move, cursor).message, message)
  same(ok("closeCursor", cursor), "OK")
  ok("removeSoup", soup)
end

tests.test_move_before_the_first_page_is_an_error = case(function()
  refused_at_the_end("moveCursorToPreviousPage", smartstore.buildAllQuerySpec("Name", nil, 2),
    "moveCursorToPreviousPage called while on first page")
end)

tests.test_move_behind_the_last_page_is_an_error = case(function()
  refused_at_the_end("moveCursorToNextPage", smartstore.buildAllQuerySpec("Name", nil, 3),
    "moveCursorToNextPage called while on last page")
end)

tests.test_cursor_of_nothing_and_of_a_soup_that_shrinks = case(function()
  local soup = support.soup("shrinks", "Name", "string")
  local empty = ok("querySoup", soup, smartstore.buildAllQuerySpec("Name"))
  same(array { empty.totalEntries, empty.totalPages, empty.currentPageIndex }, array { 0, 0, 0 })
  same(empty.currentPageOrderedEntries, array())
  same(ok("moveCursorToPageIndex", empty, 5).currentPageIndex, 0)
  ok("upsertSoupEntries", soup, support.generated(30))
  local cursor = ok("querySoup", soup, smartstore.buildAllQuerySpec("Name", "ascending", 10))
  ok("removeFromSoup", soup, smartstore.buildAllQuerySpec("Name", "ascending", 15))
  cursor = ok("moveCursorToNextPage", cursor)
  same(array { cursor.totalEntries, cursor.totalPages, #cursor.currentPageOrderedEntries }, array { 30, 3, 5 })
  same(#ok("moveCursorToNextPage", cursor).currentPageOrderedEntries, 0)
  ok("clearSoup", soup)
  same(#ok("moveCursorToPageIndex", cursor, 0).currentPageOrderedEntries, 0)
  ok("closeCursor", cursor)
  ok("closeCursor", empty)
  fails("smartstore/noSuchCursor", "moveCursorToPageIndex", { cursorId = 987654, currentPageIndex = 0 }, 0)
  ok("removeSoup", soup)
end)

tests.test_exact_without_a_key_finds_nothing = case(function()
  local soup = support.stuff("keyless")
  for _, key in ipairs { false, tureen.null } do
    local cursor = ok("querySoup", soup, { queryType = "exact", indexPath = "Name", matchKey = key or nil })
    same(array { cursor.totalEntries, cursor.totalPages, #cursor.currentPageOrderedEntries }, array { 0, 0, 0 })
  end
  same(#support.found(soup, smartstore.buildExactQuerySpec("Name", nil)), 0)
  ok("removeFromSoup", soup, smartstore.buildExactQuerySpec("Name", nil))
  assert(#support.found(soup, smartstore.buildAllQuerySpec("Name")) > 0, "nothing was removed")
  ok("removeSoup", soup)
end)

tests.test_specs_without_a_type_or_with_wrong_ones = case(function()
  local soup = support.stuff("wrong")
  fails("bridge/invalidArguments", "querySoup", soup, { queryType = tureen.null, indexPath = "Name" })
  fails("smartstore/invalidQuerySpec", "querySoup", soup, { queryType = "all", indexPath = "Name" })
  fails("smartstore/invalidQuerySpec", "querySoup", soup, { queryType = "exact", matchKey = "x" })
  fails("smartstore/invalidQuerySpec", "querySoup", soup, { queryType = "like", indexPath = "Name" })
  fails("smartstore/invalidQuerySpec", "querySoup", soup, { queryType = "range", order = "up" })
  fails("smartstore/invalidQuerySpec", "querySoup", soup, { queryType = "range", pageSize = -1 })
  fails("smartstore/invalidQuerySpec", "querySoup", soup, { queryType = "range", pageSize = 0 })
  fails("smartstore/invalidQuerySpec", "querySoup", soup, { queryType = "range", selectPaths = array() })
  ok("removeSoup", soup)
end)

function tests.test_smart_queries_belong_to_their_function()
  raises("Smart queries can only be run using runSmartQuery", smartstore.querySoup, "s",
    smartstore.buildSmartQuerySpec("select 1"))
  raises("runSmartQuery can only run smart queries", smartstore.runSmartQuery, smartstore.buildAllQuerySpec("Name"))
end

function tests.test_answers_come_in_the_order_of_the_calls()
  local order = {}
  local function note(name) return expect(function() order[#order + 1] = name end), never(name .. "'s error") end
  smartstore.registerSoup("ordered", { { path = "a", type = "string" } }, note "register")
  smartstore.upsertSoupEntries("ordered", { { a = "1" } }, note "upsert")
  smartstore.querySoup("ordered", smartstore.buildAllQuerySpec("a"), expect(function(cursor)
    same(cursor.totalEntries, 1)
    order[#order + 1] = "query"
    smartstore.closeCursor(cursor)
  end))
  smartstore.removeSoup("ordered", expect(function()
    order[#order + 1] = "remove"
    same(array(order), array { "register", "upsert", "query", "remove" })
  end))
end

harness.run(tests)
