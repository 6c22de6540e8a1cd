local harness = require "harness"
local parse = require "tureen.parse"
local support = require "parse_support"
local tureen = require "tureen"

local case, list, same = harness.case, support.list, harness.same
local tests = {}

-- Runs the same queries on the server and the soup, which contain the same objects.
local ONLY = { server = { cacheMode = "server-only" }, soup = { cacheMode = "cache-only" } }

local shelf -- the classes, filled once

local function library()
  if shelf then return table.unpack(shelf) end
  support.link_soup "q_links"
  local Kind = support.class("QKind", { soup = "q_kinds" })
  local Author = support.class("QAuthor", { soup = "q_authors" })
  local Book = support.class("QBook", {
    soup = "q_books", relations = { authors = { className = "QAuthor", linkSoup = "q_links" } },
  })
  local kinds = { Kind { name = "sea" }, Kind { name = "land" } }
  local authors = { Author { name = "Ann" }, Author { name = "Bob" } }
  for i, title in ipairs { "Alpha.", "beta", "Gamma", "delta (4)" } do
    local book = Book {
      title = title, n = i, odd = i % 2 == 1, tags = { "t" .. i, "all" }, at = parse.date(i * 86400),
      kind = kinds[(i + 1) % 2 + 1],
    }
    if i < 4 then book:relation("authors"):add(authors[i % 2 + 1]) end
    if i == 4 then book:unset "odd" end
    assert(book:save { cacheMode = "server-first" })
  end
  for _, class in ipairs { Kind, Author, Book } do assert(class:query():findAll { cacheMode = "server-first" }) end
  shelf = { Book, Kind, Author }
  return table.unpack(shelf)
end

--- Runs a query on both, ordered by `n`.
local function both(what, query, wanted)
  for name, options in pairs(ONLY) do
    local found, err = query():order("n"):find(options)
    if not found then error(("%s, %s: %s"):format(what, name, err.message)) end
    same(list(found, "n"), wanted, what .. ", " .. name)
    same(query():count(options), #found, what .. ", counted, " .. name)
  end
end

tests.test_conditions_mean_the_same_at_the_server_and_in_a_soup = case(function()
  local Book, Kind = library()
  local conditions = {
    { "equalTo", { "title", "beta" }, "2" }, { "notEqualTo", { "title", "beta" }, "1 3 4" }, { "equalTo", { "tags", "t3" }, "3" },
    { "lessThan", { "n", 2 }, "1" }, { "lessThanOrEqualTo", { "n", 2 }, "1 2" }, { "greaterThan", { "n", 3 }, "4" },
    { "greaterThanOrEqualTo", { "at", parse.date(2 * 86400) }, "2 3 4" }, { "containedIn", { "n", { 1, 4, 9 } }, "1 4" },
    { "notContainedIn", { "n", { 1, 4 } }, "2 3" }, { "containsAll", { "tags", { "all", "t2" } }, "2" },
    { "containedBy", { "tags", { "all", "t1", "t2" } }, "1 2" }, { "exists", { "odd" }, "1 2 3" },
    { "doesNotExist", { "odd" }, "4" },
    { "equalTo", { "odd", true }, "1 3" }, { "matches", { "title", "^[a-g]", "i" }, "1 2 3 4" },
    { "matches", { "title", "^[A-G]" }, "1 3" }, { "contains", { "title", "(4)" }, "4" },
    { "startsWith", { "title", "Al" }, "1" },
    { "endsWith", { "title", "a." }, "1" }, { "contains", { "title", ".*" }, "" }, { "contains", { "title", "\\E" }, "" },
  }
  for _, one in ipairs(conditions) do
    local name, arguments, wanted = table.unpack(one)
    both(name, function() return Book:query(parse[name](table.unpack(arguments))) end, wanted)
  end
  local low, high = parse.lessThan("n", 2), parse.greaterThan("n", 3)
  both("anyOf", function() return Book:query(parse.anyOf(low, high)) end, "1 4")
  both("noneOf", function() return Book:query(parse.noneOf(low, high)) end, "2 3")
  both("allOf", function() return Book:query(parse.allOf(parse.greaterThan("n", 1), parse.lessThan("n", 4))) end, "2 3")
  both("several", function() return Book:query(parse.greaterThan("n", 1)):where(parse.lessThan("n", 3)) end, "2")
  local sea = assert(Kind:query(parse.equalTo("name", "sea")):first())
  both("pointer", function() return Book:query(parse.equalTo("kind", sea)) end, "1 3")
  both("matchesQuery", function()
    return Book:query(parse.matchesQuery("kind", Kind:query(parse.equalTo("name", "land"))))
  end, "2 4")
  both("doesNotMatchQuery", function()
    return Book:query(parse.doesNotMatchQuery("kind", Kind:query(parse.equalTo("name", "land"))))
  end, "1 3")
end)

tests.test_relations_lead_both_ways_at_the_server_and_in_soups = case(function()
  local Book, _, Author = library()
  local book = assert(Book:query(parse.equalTo("n", 2)):first())
  local ann = assert(Author:query(parse.equalTo("name", "Ann")):first())
  for name, options in pairs(ONLY) do
    same(list(assert(book:relation("authors"):query():find(options)), "name"), "Ann", name)
    same(list(assert(Author:queryRelations("authors", book):find(options)), "name"), "Ann", name)
  end
  both("owners", function() return Book:query(parse.equalTo("authors", ann)) end, "2")
  both("not its owners", function() return Book:query(parse.notEqualTo("authors", ann)) end, "1 3 4")
end)

tests.test_order_limit_skip_select_and_include = case(function()
  local Book = library()
  for name, options in pairs(ONLY) do
    same(list(assert(Book:query():order("odd", "-n"):find(options)), "n"), "4 2 3 1", name)
    same(list(assert(Book:query():order("-n"):limit(2):skip(1):find(options)), "n"), "3 2", name)
    same(assert(Book:query():order("-n"):first(options)):get "n", 4, name)
    same(Book:query(parse.equalTo("n", 9)):first(options), tureen.null, name)
    same(#assert(Book:query():findAll(options)), 4, name)
    local one = assert(Book:query(parse.equalTo("n", 1)):include("kind"):select("title", "kind"):first(options))
    same(one:get "title", "Alpha.", name)
    same(one:get "n", nil, name)
    same(one:get("kind"):get "name", "sea", name)
  end
  same(#assert(parse.find("QBook", parse.lessThan("n", 3), { order = "-n", limit = 1 })), 1)
  same(#assert(parse.findInSoup("QBook", parse.lessThan("n", 3))), 2)
end)

tests.test_findAll_brings_more_than_a_page = case(function()
  local Many = support.class "QMany"
  local objects = {}
  for i = 1, 130 do objects[i] = Many { n = i } end
  assert(parse.saveAll(objects))
  same(#assert(Many:query():find()), 100)
  same(#assert(Many:query():findAll()), 130)
  same(Many:query():count(), 130)
end)

tests.test_what_only_the_server_can_tell_is_said = case(function()
  local Book = library()
  local query = Book:query(parse.near("place", parse.geoPoint(1, 2)))
  local err = support.fails("invalidRequest", query:find { cacheMode = "cache-only" })
  same(err.message, "where: 'place': $nearSphere cannot be evaluated on a soup; query the server")
  err = support.fails("invalidRequest", Book:query(parse.matches("title", "(")):find { cacheMode = "cache-only" })
  same(err.message:find("where: 'title': the regular expression '(' cannot be used: missing closing parenthesis", 1, true), 1)
end)

tests.test_regular_expressions_of_strangers_end = case(function()
  local Book = support.class("QLong", { soup = "q_long" })
  assert((Book { title = ("a"):rep(60) .. "!" }):save { cacheMode = "server-first" })
  for name, options in pairs(ONLY) do
    local function refused(pattern)
      local found, err = Book:query(parse.matches("title", pattern)):find(options)
      assert(found == nil and err.message, pattern:sub(1, 20))
    end
    refused "(a+)+$"
    refused(("a"):rep(40000))
    refused(("("):rep(4000) .. (")"):rep(4000))
    for _, part in ipairs { "a&&", "a~~" } do
      same(#assert(Book:query(parse.matches("title", "^[" .. part:rep(1000) .. "a]{60}!")):find(options)), 1, part)
    end
    same(#assert(Book:query(parse.matches("title", "^(?=a{60}!$)")):find(options)), 1, name)
  end
end)

tests.test_misuse_is_raised_at_once = case(function()
  local Book = support.class "QMisuse"
  harness.raises("where: argument 1 must be a condition, such as equalTo(...), got string", Book.query, Book, "title")
  harness.raises("find: cacheMode cache-only needs 'soup' in the settings of class QMisuse", Book:query().find, Book:query(),
    { cacheMode = "cache-only" })
  harness.raises("limit: argument 1 must be an integer, 0 or more", Book:query().limit, Book:query(), -1)
  harness.raises("equalTo: argument 2 'value' is missing; use exists or doesNotExist", parse.equalTo, "a")
  harness.raises("matches: argument 3 'options' must consist of letters from imxs, got y", parse.matches, "a", "b", "y")
  harness.raises("anyOf: pass at least one condition", parse.anyOf)
end)

harness.run(tests)
