local harness = require "harness"
local parse = require "tureen.parse"
local support = require "parse_support"
local tureen = require "tureen"

local case, entries, same = harness.case, support.entries, harness.same
local mobilesync = tureen.mobilesync
local tests = {}

local OFFLINE = { cacheMode = "cache-only" }

local function classes(prefix)
  support.link_soup(prefix .. "_links")
  local ISBN = support.class(prefix .. "ISBN", { soup = prefix .. "_isbns", cacheMode = "cache-only" })
  local Author = support.class(prefix .. "Author", { soup = prefix .. "_authors", cacheMode = "cache-only" })
  local Book = support.class(prefix .. "Book", {
    soup = prefix .. "_books", cacheMode = "cache-only",
    relations = { authors = { className = prefix .. "Author", linkSoup = prefix .. "_links" } },
  })
  return Book, ISBN, Author
end

local function up(class, fields, more)
  local target = { type = "parse", className = class.className, createFieldlist = fields, updateFieldlist = fields }
  for key, value in pairs(more or {}) do target[key] = value end
  return assert(tureen.await(mobilesync.syncUp, target, class.soup, { mergeMode = "OVERWRITE" }))
end

tests.test_objects_made_offline_are_found_and_synced_later = case(function()
  local Book, ISBN, Author = classes "Off"
  local ann = assert(Author { name = "Ann" }:save { cacheMode = "server-first" })
  local book = Book { title = "a", isbn = ISBN { value = "978" } }
  book:relation("authors"):add(ann)
  same(book:save(), book)
  same(book:isNew(), true)
  same(parse.count("OffBook", nil, { cacheMode = "server-only" }), 0)
  local found = assert(Book:query(parse.equalTo("title", "a")):include("isbn"):first())
  same(found:get("isbn"):get "value", "978")
  same(support.list(assert(found:relation("authors"):query():find()), "name"), "Ann")
  up(ISBN, { "value" })
  up(Book, { "title", "isbn" }, {
    pointers = { isbn = { className = "OffISBN", soup = "Off_isbns" } },
    relations = { { field = "authors", className = "OffAuthor", soup = "Off_authors", linkSoup = "Off_links" } },
  })
  local there = assert(Book:query():include("isbn"):first { cacheMode = "server-only" })
  same(there:get("isbn"):get "value", "978")
  same(support.list(assert(there:relation("authors"):query():find { cacheMode = "server-only" }), "name"), "Ann")
  for _, soup in ipairs { "Off_books", "Off_isbns", "Off_links" } do same(entries(soup)[1].__local__, false, soup) end
  same(assert(Book:query():first()).objectId, there.objectId)
end)

tests.test_edits_links_and_deletions_are_marked_for_the_next_sync = case(function()
  local Book, _, Author = classes "Mark"
  local ann = assert(Author { name = "Ann" }:save { cacheMode = "server-first" })
  local book = Book { title = "a", n = 1 }
  book:relation("authors"):add(ann)
  assert(book:save { cacheMode = "server-first" })
  same(entries("Mark_links")[1].__local__, false)
  assert(book:increment("n", 4):save())
  local entry = entries("Mark_books")[1]
  same(entry.n, 5)
  same(entry.__locally_updated__, true)
  same(entry.__locally_created__, false)
  book:relation("authors"):remove(ann)
  assert(book:save())
  same(entries("Mark_links")[1].__locally_deleted__, true)
  same(#assert(book:relation("authors"):query():find()), 0)
  same(book:destroy(), "OK")
  same(entries("Mark_books")[1].__locally_deleted__, true)
  same(Book:query():count(), 0)
  same(support.fails("notFound", book:fetch()).domain, "parse")
  -- An object that was never sent is removed.
  local draft = assert(Book { title = "b" }:save())
  draft:destroy()
  same(#entries "Mark_books", 1)
end)

tests.test_server_first_keeps_rows_and_leaves_local_changes = case(function()
  local Book = classes "Keep"
  local book = assert(Book { title = "a" }:save { cacheMode = "server-first" })
  assert(book:set("title", "mine"):save(OFFLINE))
  local online = { cacheMode = "server-only" }
  assert(parse.fetch("KeepBook", book.objectId, online):set("title", "theirs"):save(online))
  same(support.list(assert(Book:query():find { cacheMode = "server-first" }), "title"), "theirs")
  same(entries("Keep_books")[1].title, "mine")
  same(assert(book:fetch { cacheMode = "cache-first" }):get "title", "mine")
end)

tests.test_cache_first_asks_the_server_for_what_is_not_here = case(function()
  local Book = classes "First"
  local book = assert(Book { title = "a" }:save { cacheMode = "server-only" })
  same(#assert(Book:query():find()), 0)
  same(#assert(Book:query():find { cacheMode = "cache-first" }), 1)
  same(entries("First_books")[1].objectId, book.objectId)
  same(#assert(Book:query():find()), 1)
end)

tests.test_cache_first_finds_all_and_counts_at_the_server_when_nothing_is_here = case(function()
  local Book = classes "All"
  local list = {}
  for n = 1, 130 do list[n] = Book { title = "t" .. n } end
  assert(parse.saveAll(list, { cacheMode = "server-only" }))
  same(Book:query():count { cacheMode = "cache-first" }, 130)
  same(#assert(Book:query():findAll { cacheMode = "cache-first" }), 130)
  same(#assert(Book:query():findAll()), 130)
  same(Book:query():count(), 130)
end)

tests.test_columns_that_were_not_asked_for_stay = case(function()
  local Book, _, Author = classes "Part"
  local book = assert(Book { title = "a", n = 1 }:save { cacheMode = "server-first" })
  local online = { cacheMode = "server-only" }
  assert(parse.fetch("PartBook", book.objectId, online):set("title", "b"):save(online))
  assert(parse.fetch("PartBook", book.objectId, { cacheMode = "server-first", keys = "title" }))
  same(entries("Part_books")[1].title .. entries("Part_books")[1].n, "b1")
  assert(Book:query():select("title"):find { cacheMode = "server-first" })
  same(entries("Part_books")[1].n, 1)
  -- Markers of relations are not stored, either.
  local ann = assert(Author { name = "Ann" }:save(online))
  local other = Book { title = "c" }
  other:relation("authors"):add(ann)
  assert(other:save(online))
  assert(Book:query():find { cacheMode = "server-first" })
  same(#entries "Part_books", 2)
  for _, entry in ipairs(entries "Part_books") do same(entry.authors, nil) end
  -- An unset field is removed.
  assert(other:set("n", 5):save { cacheMode = "server-first" })
  assert(other:unset("n"):save { cacheMode = "server-first" })
  for _, entry in ipairs(entries "Part_books") do same(entry.n, entry.title == "b" and 1 or nil) end
end)

tests.test_relations_may_be_lists_of_ids = case(function()
  local Author = support.class("IdsAuthor", { soup = "ids_authors", cacheMode = "cache-only" })
  local Book = support.class("IdsBook", {
    soup = "ids_books", cacheMode = "cache-only",
    relations = { authors = { className = "IdsAuthor", idsField = "authorIds" } },
  })
  local ann = assert(Author { name = "Ann" }:save { cacheMode = "server-first" })
  local bo = assert(Author { name = "Bo" }:save { cacheMode = "server-first" })
  local book = Book { title = "a" }
  book:relation("authors"):add(ann, bo)
  assert(book:save())
  same(support.list(assert(book:relation("authors"):query():order("name"):find()), "name"), "Ann Bo")
  same(#assert(Book:query(parse.equalTo("authors", bo)):find()), 1)
  up(Book, { "title" }, {
    relations = { { field = "authors", className = "IdsAuthor", store = "ids", idsField = "authorIds" } },
  })
  local there = assert(Book:query():first { cacheMode = "server-only" })
  same(support.list(assert(there:relation("authors"):query():order("name"):find { cacheMode = "server-only" }), "name"), "Ann Bo")
  there:relation("authors"):remove(ann)
  assert(there:save { cacheMode = "server-first" })
  same(entries("ids_books")[1].authorIds, { bo.objectId })
end)

tests.test_files_wait_in_the_soup_for_the_next_sync = case(function()
  local Book = support.class("FileBook", { soup = "file_books", cacheMode = "cache-only" })
  assert(Book { title = "a", cover = parse.file("a.txt", "hello") }:save())
  same(entries("file_books")[1].cover.base64, "aGVsbG8=")
  up(Book, { "title", "cover" })
  same(type(entries("file_books")[1].cover.url), "string")
  same(assert(Book:query():first { cacheMode = "server-only" }):get("cover").name, entries("file_books")[1].cover.name)
end)

tests.test_hooks_hold_offline_as_well = case(function()
  local Book = classes "HookOff"
  parse.class("HookOffBook", { validate = function(book) if not book:get "title" then return { title = "give one" } end end })
  same(support.fails("invalid", Book { n = 1 }:save()).fields.title, "give one")
  same(#entries "HookOff_books", 0)
end)

tests.test_a_class_without_a_soup_cannot_be_kept_offline = case(function()
  local Book, ISBN = classes "NoSoup"
  -- None of the objects that it refers to is stored.
  local isbn, other = ISBN { value = "978" }, parse.class "NoSoupOther" { n = 1 }
  support.fails("invalidRequest", Book { isbn = isbn, other = other }:save(OFFLINE))
  same(#entries "NoSoup_isbns", 0)
  local err = support.fails("invalidRequest", Book { other = parse.class "NoSoupOther" { n = 1 } }:save(OFFLINE))
  same(err.message, "class NoSoupOther has no soup: name it in 'soup' of the class to save its objects offline")
end)

harness.run(tests)
