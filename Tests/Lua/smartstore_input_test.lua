--- Tests invalid input on a real store: each kind has its error code, and none of it is stored.
local tureen = require "tureen"
local harness = require "harness"
local support = require "smartstore_support"
local same, raises = harness.same, harness.raises
local case, ok, fails = harness.case, support.ok, support.fails
local smartstore = tureen.smartstore

local tests = {}
local array = tureen.array
local SPECS = { { path = "a", type = "string" } }

--- Expects that `body` does not change the number of entries of a soup.
local function keeps_entries(body)
  return case(function()
    support.soup("input", "a", "string", "n", "integer", "f", "floating", "j", "json1")
    ok("upsertSoupEntries", "input", { { a = "kept" } })
    body()
    same(support.rows("select {input:a} from {input}"), array { array { "kept" } })
    ok("removeSoup", "input")
  end)
end

tests.test_text_that_is_not_utf8_raises_and_names_its_place = keeps_entries(function()
  local bad = "x\xff"
  local function refuses(place, fn, ...) raises(place .. " is not valid UTF-8", fn, ...) end
  refuses("upsertSoupEntries: args.entries[1].a", smartstore.upsertSoupEntries, "input", { { a = bad } })
  refuses("upsertSoupEntries: args.entries[2].b.c", smartstore.upsertSoupEntries, "input", { {}, { b = { c = "\xed\xa0\x80" } } })
  refuses("registerSoup: args.soupName", smartstore.registerSoup, bad, SPECS)
  refuses("registerSoup: args.indexes[1].path", smartstore.registerSoup, "other", { { path = bad, type = "string" } })
  refuses("querySoup: args.querySpec.matchKey", smartstore.querySoup, "input", smartstore.buildExactQuerySpec("a", bad))
  refuses("runSmartQuery: args.querySpec.smartSql", smartstore.runSmartQuery,
    smartstore.buildSmartQuerySpec("select '" .. bad .. "'"))
  refuses("soupExists: args.storeName", smartstore.soupExists, { isGlobalStore = false, storeName = bad }, "input")
  refuses("reIndexSoup: args.paths[1]", smartstore.reIndexSoup, "input", { bad })
end)

tests.test_zero_bytes_are_refused_in_names_and_sql = keeps_entries(function()
  fails("smartstore/invalidSoupName", "registerSoup", "in\0put", SPECS)
  fails("smartstore/invalidIndexSpec", "registerSoup", "other", { { path = "a\0b", type = "string" } })
  fails("smartstore/invalidSmartSql", "runSmartQuery", smartstore.buildSmartQuerySpec("select 1\0 from nowhere"))
  fails("smartstore/noSuchSoup", "clearSoup", "input\0")
  same(ok("soupExists", "input\0"), false)
end)

tests.test_zero_bytes_in_values_come_back = case(function()
  support.soup("zero", "a", "string")
  ok("upsertSoupEntries", "zero", { { a = "x\0y", ["k\0"] = "v" } })
  local entry = ok("retrieveSoupEntries", "zero", { 1 })[1]
  same(entry.a, "x\0y")
  same(entry["k\0"], "v")
  same(#support.found("zero", smartstore.buildExactQuerySpec("a", "x\0y")), 1)
  same(#support.found("zero", smartstore.buildExactQuerySpec("a", "x")), 0)
  ok("removeSoup", "zero")
end)

tests.test_store_of_any_name_is_a_store_of_its_own = case(function()
  local names = {
    "..", "../../x", "a/b", "a\0b", "a", "A", "é", "e\u{301}", " ", "%2e", "'", ("n"):rep(10000), ("n"):rep(9999) }
  for i, name in ipairs(names) do
    ok("registerSoup", { isGlobalStore = false, storeName = name }, "s" .. i, SPECS)
  end
  for i, name in ipairs(names) do
    for other = 1, #names do
      same(ok("soupExists", { isGlobalStore = false, storeName = name }, "s" .. other), other == i, "store " .. i)
    end
    ok("removeStore", { isGlobalStore = false, storeName = name })
  end
  fails("smartstore/invalidStoreName", "soupExists", { isGlobalStore = false, storeName = "" }, "s")
end)

tests.test_numbers_json_cannot_hold_raise = keeps_entries(function()
  raises("upsertSoupEntries: args.entries[1].n is NaN, which JSON cannot hold", smartstore.upsertSoupEntries, "input",
    { { n = 0 / 0 } })
  raises("querySoup: args.querySpec.matchKey is NaN, which JSON cannot hold", smartstore.querySoup, "input",
    smartstore.buildExactQuerySpec("n", 0 / 0))
  raises("retrieveSoupEntries: argument 2 'entryIds[1]' must be an integer, got number", smartstore.retrieveSoupEntries,
    "input", { 1.5 })
end)

tests.test_numbers_of_any_size_come_back = case(function()
  support.soup("numbers", "n", "integer", "f", "floating", "j", "json1", "s", "string")
  local numbers = {
    2 ^ 53, 9007199254740993, -9007199254740993, math.maxinteger, math.mininteger, 2.0 ^ 63, 2.0 ^ 64, -2.0 ^ 63, 1e308,
    5e-324, 0.1, -0.0, 1.5, 0 }
  for _, number in ipairs(numbers) do
    local entry = { n = number, f = number, j = number, s = number }
    local id = ok("upsertSoupEntries", "numbers", { entry })[1]._soupEntryId
    same(ok("retrieveSoupEntries", "numbers", { id })[1].n, number)
    local row = support.rows("select {numbers:n}, {numbers:f} from {numbers} where {numbers:_soupEntryId} = " .. id)[1]
    same(math.type(row[1]), "integer", tostring(number))
    same(row[2], number + 0.0)
    local query = smartstore.buildExactQuerySpec("f", number)
    assert(#support.found("numbers", query) >= 1, "not found as a float: " .. number)
    if math.type(number) == "integer" then
      same(row[1], number)
      for _, path in ipairs { "n", "j", "s" } do
        local found = support.found("numbers", smartstore.buildExactQuerySpec(path, number, 100))
        same(found[#found].n, number, path)
      end
    end
  end
  same(support.rows("select {numbers:n} from {numbers} where {numbers:n} = 9007199254740992"),
    array { array { 9007199254740992 } })
  ok("removeSoup", "numbers")
end)

tests.test_ids_are_integers_of_any_size = keeps_entries(function()
  same(ok("retrieveSoupEntries", "input", { math.maxinteger, math.mininteger, 0, -1 }), array())
  same(ok("removeFromSoup", "input", { math.maxinteger, math.mininteger, 0, -1 }), "OK")
  for _, id in ipairs { math.maxinteger, math.mininteger, -1, 0 } do
    fails("smartstore/noSuchEntry", "upsertSoupEntries", "input", { { a = "x", _soupEntryId = id } })
  end
  for _, id in ipairs { "1", 1.5, true, array { 1 }, 2.0 ^ 70 } do
    fails("smartstore/invalidEntry", "upsertSoupEntries", "input", { { a = "x", _soupEntryId = id } })
  end
end)

tests.test_entry_of_ten_thousand_levels_raises = keeps_entries(function()
  local function nested(step)
    local top = {}
    local at = top
    for _ = 1, 10000 do
      at[step] = {}
      at = at[step]
    end
    return top
  end
  for _, step in ipairs { "x", 1 } do
    local fine, err = pcall(smartstore.upsertSoupEntries, "input", { { a = nested(step) } })
    same(fine, false)
    same(err.domain .. "/" .. err.code, "bridge/invalidArguments")
    assert(err.message:find("is nested too deeply", 1, true), err.message)
  end
  local circle = {}
  circle.self = circle
  same(pcall(smartstore.upsertSoupEntries, "input", { circle }), false)
end)

tests.test_entry_of_fifty_megabytes_comes_back = case(function()
  support.soup("large", "a", "string")
  local text = ("0123456789"):rep(5000000)
  same(#ok("upsertSoupEntries", "large", { { a = "big", text = text }, { a = "small" } })[1].text, 50000000)
  assert(ok("retrieveSoupEntries", "large", { 1 })[1].text == text, "another text")
  same(#support.found("large", smartstore.buildExactQuerySpec("a", "small")), 1)
  ok("removeSoup", "large")
end)

tests.test_index_paths_with_quotes_and_brackets = case(function()
  for _, path in ipairs { "a'b", "'", "a\nb", "a\tb", "", "x\127\0", 'a"b', "a\\b", "a{b", "a}b" } do
    for _, index_type in ipairs { "string", "json1" } do
      local err = fails("smartstore/invalidIndexSpec", "registerSoup", "paths", { { path = path, type = index_type } })
      assert(err.message:find("paths", 1, true), err.message)
    end
  end
  for _, path in ipairs { "a]b", "a:b", "a b", "a`b", "a;b", "a)b", "?", "%", "é", "--", "/*", "select" } do
    support.soup("paths", path, "string")
    ok("upsertSoupEntriesWithExternalId", "paths", { { [path] = "v", n = 1 } }, path)
    ok("upsertSoupEntriesWithExternalId", "paths", { { [path] = "v", n = 2 } }, path)
    same(support.field(support.found("paths", smartstore.buildExactQuerySpec(path, "v")), "n"), array { 2 }, path)
    ok("removeSoup", "paths")
  end
end)

tests.test_json1_paths_with_subscripts_and_quoted_keys = case(function()
  for _, path in ipairs { ".", "a..b", "[0", "a[", "a[x]", '"a' } do
    fails("smartstore/invalidIndexSpec", "registerSoup", "json1", { { path = path, type = "json1" } })
  end
  support.soup("json1", "a[1].b", "json1", '"a.b"', "json1")
  ok("upsertSoupEntries", "json1", { { a = { { b = "no" }, { b = "yes" } }, ["a.b"] = "dotted" } })
  same(#support.found("json1", smartstore.buildExactQuerySpec("a[1].b", "yes")), 1)
  same(#support.found("json1", smartstore.buildExactQuerySpec('"a.b"', "dotted")), 1)
  ok("removeSoup", "json1")
end)

tests.test_keys_and_values_that_look_like_sql = case(function()
  local evil = "x'); DROP TABLE TABLE_1; --"
  support.soup("it's \"quoted\"; DROP TABLE soup_attrs; --", "a", "string")
  support.soup("sql", "a", "string")
  ok("upsertSoupEntriesWithExternalId", "sql", { { a = evil } }, "a")
  same(#support.found("sql", smartstore.buildExactQuerySpec("a", evil)), 1)
  same(#support.found("sql", smartstore.buildExactQuerySpec("a", "' OR 1=1 --")), 0)
  same(#support.found("sql", smartstore.buildLikeQuerySpec("a", "%DROP%")), 1)
  local spec = smartstore.buildAllQuerySpec("a")
  spec.orderPath = "a'} ; DROP TABLE TABLE_1"
  same(#support.found("sql", spec), 1, "a path that no entry has")
  same(support.rows("select count(*) from {sql}"), array { array { 1 } })
  ok("removeSoup", "sql")
  ok("removeSoup", "it's \"quoted\"; DROP TABLE soup_attrs; --")
end)

harness.run(tests)
