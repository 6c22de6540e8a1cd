--- Tests full-text search by a script, on a real store.
local tureen = require "tureen"
local harness = require "harness"
local support = require "smartstore_support"
local same, raises = harness.same, harness.raises
local case, ok, fails, found = harness.case, support.ok, support.fails, support.found
local smartstore = tureen.smartstore

local tests = {}
local array = tureen.array

local function animals(body)
  return case(function()
    support.soup("animals", "name", "string", "description", "full_text", "colors", "full_text")
    ok("upsertSoupEntries", "animals", {
      { name = "elephant", description = "large mammals", colors = "grey" },
      { name = "cat", description = "small mammals", colors = "black tabby white" },
      { name = "dog", description = "medium mammals", colors = "grey black" },
      { name = "lizard", description = "small reptilian", colors = "black green white" },
    })
    body()
    ok("removeSoup", "animals")
  end)
end

--- Expects the names that a match query finds, as entries and as rows.
local function finds(path, key, ...)
  local wanted = array { ... }
  local spec = smartstore.buildMatchQuerySpec(path, key, "ascending", 10, "name")
  same(support.field(found("animals", spec), "name"), wanted, key)
  spec.selectPaths = { "name" }
  same(support.field(found("animals", spec), 1), wanted, key .. " (rows)")
end

tests.test_match_in_all_columns = animals(function()
  finds(nil, "grey", "dog", "elephant")
  finds(nil, "small black", "cat", "lizard")
  finds(nil, "gr*", "dog", "elephant", "lizard")
  finds(nil, "black NOT tabby", "dog", "lizard")
  finds(nil, "gr* NOT small", "dog", "elephant")
  finds(nil, "purple")
end)

tests.test_match_in_one_column = animals(function()
  finds("colors", "grey", "dog", "elephant")
  finds("colors", "white black", "cat", "lizard")
  finds("colors", "gr*", "dog", "elephant", "lizard")
  finds("colors", "black NOT tabby", "dog", "lizard")
  finds("description", "m* NOT small", "dog", "elephant")
  finds("description", "grey")
end)

tests.test_match_is_ordered_by_its_own_path_unless_told = animals(function()
  local spec = smartstore.buildMatchQuerySpec("colors", "grey")
  same(support.field(found("animals", spec), "name"), array { "elephant", "dog" })
end)

tests.test_match_through_an_array = case(function()
  support.soup("array", "name", "string", "attributes.color", "full_text")
  ok("upsertSoupEntries", "array", {
    { name = "cat", attributes = { { color = "black" }, { color = "tabby" } } },
    { name = "dog", attributes = { { color = "grey" }, { color = "black" } } },
    { name = "elephant", attributes = { { color = "grey" } } },
  })
  local function names(key)
    local spec = smartstore.buildMatchQuerySpec("attributes.color", key, "ascending", 10, "name")
    return support.field(found("array", spec), "name")
  end
  same(names "grey", array { "dog", "elephant" })
  same(names "grey black", array { "dog" })
  same(names "gr*", array { "dog", "elephant" })
  same(names "black NOT tabby", array { "dog" })
  same(names "gr* NOT black", array { "elephant" })
  ok("removeSoup", "array")
end)

tests.test_match_with_awkward_keys_answers_or_says_why = animals(function()
  ok("upsertSoupEntries", "animals", { { name = "o'neil", description = "two-words of it", colors = "and" } })
  finds("description", "two-words", "o'neil")
  finds("description", '"small mammals"', "cat")
  finds(nil, '"mammals small"')
  fails("smartstore/pathNotIndexed", "querySoup", "animals", smartstore.buildMatchQuerySpec("name", "cat"))
  fails("smartstore/pathNotIndexed", "querySoup", "animals", smartstore.buildMatchQuerySpec("nowhere", "cat"))
  for _, key in ipairs { "it's", "-small", "NOT", "(", "*", '"', "a:b", "AND OR", "colors:" } do
    local cursor, err = tureen.await(smartstore.querySoup, "animals", smartstore.buildMatchQuerySpec("colors", key))
    if cursor then ok("closeCursor", cursor) else same(err.domain, "smartstore", key) end
  end
end)

tests.test_quote_match_takes_words_as_words = animals(function()
  ok("upsertSoupEntries", "animals", { { name = "o'neil", description = 'the "NOT" of two-words', colors = "and or" } })
  local quote = smartstore.quoteMatch
  same(quote "two words", '"two" "words"')
  same(quote ' say "hi"\t*\0x\u{3000}y ', '"say" """hi""" "*" "x" "y"')
  same(quote "", "")
  finds("description", quote "two-words NOT", "o'neil")
  finds("colors", quote "and or", "o'neil")
  finds("description", quote "no*")
  raises("quoteMatch: argument 1 'words' must be a string, got nil", smartstore.quoteMatch)
  raises("quoteMatch: argument 1 'words' must be a string, got null", smartstore.quoteMatch, tureen.null)
end)

tests.test_remove_by_match_leaves_no_words_behind = animals(function()
  ok("removeFromSoup", "animals", smartstore.buildMatchQuerySpec(nil, "black", "ascending", 2, "name"))
  finds(nil, "black", "lizard")
  finds(nil, "small", "lizard")
  same(support.rows("select count(*) from {animals}_fts"), array { array { 2 } })
  ok("clearSoup", "animals")
  finds(nil, "black")
end)

tests.test_update_moves_the_words = animals(function()
  ok("upsertSoupEntries", "animals", { { _soupEntryId = 2, name = "cat", description = "huge", colors = "pink" } })
  finds(nil, "tabby")
  finds(nil, "pink huge", "cat")
end)

harness.run(tests)
