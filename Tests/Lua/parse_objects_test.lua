local harness = require "harness"
local parse = require "tureen.parse"
local support = require "parse_support"

local case, fails, same = harness.case, support.fails, harness.same
local tests = {}

tests.test_save_creates_then_sends_changes_alone = case(function()
  local Note = support.class "ObjectNote"
  local note = Note { title = "a", year = 1 }
  same(note:isNew(), true)
  same(note:save(), note)
  same(note:isNew(), false)
  same(note:isDirty(), false)
  same(type(note:get "createdAt"), "string")
  -- Another client changes another field.
  local other = parse.fetch("ObjectNote", note.objectId)
  assert(other:set("year", 2):save())
  assert(note:set("title", "b"):save())
  local now = assert(note:fetch())
  same(now:get "title" .. now:get "year", "b2")
end)

tests.test_save_without_changes_asks_nothing = case(function()
  local note = assert(support.class "ObjectIdle" { title = "a" }:save())
  local before = assert(note:fetch()):get "updatedAt"
  assert(note:save())
  same(assert(note:fetch()):get "updatedAt", before)
end)

tests.test_deep_save_sends_what_is_pointed_to_first = case(function()
  local Book, ISBN = support.class "DeepBook", support.class "DeepISBN"
  local isbn = ISBN { value = "978" }
  local book = Book { title = "a", isbn = isbn, others = { isbn, "text" } }
  assert(book:save())
  local found = assert(Book:query():include("isbn"):first())
  same(found:get("isbn"):get "value", "978")
  same(found:get("others")[1].objectId, isbn.objectId)
  same(found:get("others")[2], "text")
  same(parse.count "DeepISBN", 1)
end)

tests.test_circle_of_new_objects_is_saved_whole = case(function()
  local Node = support.class "CircleNode"
  local a, b = Node { name = "a" }, Node { name = "b" }
  a:set("next", b)
  b:set("next", a)
  assert(a:save())
  same(assert(a:fetch()):get("next").objectId, b.objectId)
  same(assert(b:fetch()):get("next").objectId, a.objectId)
  same(parse.count "CircleNode", 2)
end)

tests.test_atomic_operations_happen_at_the_server = case(function()
  local Count = support.class "AtomicCount"
  local here = assert(Count { n = 1, tags = { "a" } }:save())
  local there = parse.fetch("AtomicCount", here.objectId)
  assert(there:increment("n", 10):add("tags", "b"):save())
  assert(here:increment("n"):increment("n"):addUnique("tags", { "b", "c" }):save())
  local now = assert(here:fetch())
  same(now:get "n", 13)
  same(table.concat(now:get "tags", " "), "a b c")
  assert(here:remove("tags", { "a", "c" }):unset("n"):save())
  same(here:get "n", nil)
  now = assert(parse.fetch("AtomicCount", here.objectId))
  same(now:get "n", nil)
  same(table.concat(now:get "tags", " "), "b")
end)

tests.test_operations_on_a_new_object_are_its_values = case(function()
  local count = support.class "AtomicNew" { tags = { "a" } }:increment("n", 2):increment("n"):add("tags", "b"):unset "x"
  same(count:get "n", 3)
  assert(count:save())
  local now = assert(parse.fetch("AtomicNew", count.objectId))
  same(now:get "n" .. table.concat(now:get "tags"), "3ab")
end)

tests.test_relation_links_and_unlinks_new_and_known_objects = case(function()
  local Author = support.class "LinkAuthor"
  local Book = support.class("LinkBook", { relations = { authors = { className = "LinkAuthor" } } })
  local first, second = assert(Author { name = "first" }:save()), Author { name = "second" }
  local book = Book { title = "a" }
  book:relation("authors"):add(first, second)
  assert(book:save())
  same(second:isNew(), false)
  same(support.list(assert(book:relation("authors"):query():order("name"):find()), "name"), "first second")
  same(support.list(assert(Author:queryRelations("authors", book):order("name"):find()), "name"), "first second")
  same(support.list(assert(Book:query(parse.equalTo("authors", second)):find()), "title"), "a")
  book:relation("authors"):remove(first):add(second)
  assert(book:save())
  same(support.list(assert(book:relation("authors"):query():find()), "name"), "second")
end)

tests.test_hooks_refuse_with_an_error_per_field_and_nothing_is_sent = case(function()
  local Book = support.class("HookBook", {
    validate = {
      title = function(title) if not title or not title:find "%S" then return "give one" end end,
      year = function(year, book) if year and year < 1450 then return book:get "title" .. " cannot be that old" end end,
    },
  })
  local book = Book { title = "a", year = 3 }
  local err = fails("invalid", book:save())
  same(err.fields, { year = "a cannot be that old" })
  same(err.message, "HookBook is not valid: year: a cannot be that old")
  same(parse.count "HookBook", 0)
  same(Book { title = " ", year = 3 }:validate().title, "give one")
  assert(book:set("year", 1999):save())
  -- Objects that it refers to are checked as well.
  local Shelf = support.class "HookShelf"
  fails("invalid", Shelf { first = Book { title = "" } }:save())
  same(parse.count "HookShelf", 0)
end)

tests.test_refusal_names_the_object_and_keeps_its_changes = case(function()
  local Typed = support.class "TypedThing"
  assert(Typed { n = 1 }:save())
  local good, bad = Typed { n = 2 }, Typed { n = "text" }
  local err = fails("notSaved", parse.saveAll { good, bad })
  same(err.parseCode, 111)
  same(#err.failures, 1)
  same(err.failures[1].object, bad)
  same(good:isNew(), false)
  same(bad:isDirty(), true)
  assert(bad:set("n", 3):save())
  same(parse.count "TypedThing", 3)
end)

tests.test_a_failed_part_leaves_what_needs_it_waiting = case(function()
  local Part, Whole = support.class "FailedPart", support.class "FailedWhole"
  assert(Part { n = 1 }:save())
  local part = Part { n = "text" }
  local whole = Whole { part = part }
  local err = fails("notSaved", whole:save())
  same(err.parseCode, 111)
  same(err.failures[2].error.message:match "^waiting for FailedPart/", "waiting for FailedPart/")
  part:set("n", 2)
  assert(whole:save())
  same(parse.count "FailedPart", 2)
end)

tests.test_dotted_names_change_parts_and_the_rest_stays = case(function()
  local Note = support.class "DottedNote"
  local note = assert(Note { stats = { reads = 1, kept = { deep = true } } }:save())
  note:increment("stats.reads", 4):set("stats.kept.more", "x")
  same(note:get "stats.reads", 5)
  assert(note:save())
  same(note:get "stats", { reads = 5, kept = { deep = true, more = "x" } })
  same(assert(parse.fetch("DottedNote", note.objectId)):get "stats", { reads = 5, kept = { deep = true, more = "x" } })
  assert(note:unset("stats.kept"):save())
  same(assert(note:fetch()):get "stats", { reads = 5 })
  -- For a new object the whole column is sent.
  local other = Note {}:set("stats.reads", 2):increment "stats.reads"
  assert(other:save())
  same(assert(parse.fetch("DottedNote", other.objectId)):get "stats", { reads = 3 })
  same(parse.count("DottedNote", parse.equalTo("stats.reads", 5)), 1)
end)

tests.test_operations_on_one_field_all_count = case(function()
  local Note = support.class "JoinedNote"
  local note = assert(Note { n = 10, tags = { "a", "b" } }:save())
  assert(note:unset("n"):increment("n", 2):remove("tags", "a"):add("tags", "c"):save())
  local now = assert(parse.fetch("JoinedNote", note.objectId))
  same(now:get "n" .. table.concat(now:get "tags"), "2bc")
  -- A column that is not known locally cannot be sent as a whole.
  local blind = Note {}
  blind.objectId = note.objectId
  blind:remove("tags", "b")
  harness.raises("add: 'tags' was already changed by Remove, one request cannot express both changes, "
    .. "and the current value is not known: fetch the object first, or save it between the two changes",
    blind.add, blind, "tags", "d")
  harness.raises("increment: argument 2 'amount' must be a finite number, got -nan", note.increment, note, "n", 0 / 0)
end)

tests.test_files_go_before_the_objects_that_hold_them = case(function()
  local Note = support.class "FileNote"
  local cover, page = parse.file("a.txt", "hello \0 bytes"), parse.file("b.bin", "x", "image/png")
  local note = assert(Note { cover = cover, pages = { page } }:save())
  same(note:get "cover".name:match "_a%.txt$", "_a.txt")
  same(note:get "cover".base64, nil)
  same(type(note:get("pages")[1].url), "string")
  -- A refused object keeps the files that are already uploaded.
  assert(Note { n = 1 }:save())
  local bad = Note { n = "text", cover = parse.file("c.txt", "x") }
  same(fails("notSaved", bad:save()).parseCode, 111)
  same(type(bad:get "cover".url), "string")
  assert(bad:set("n", 2):save())
  same(fails("notSaved", Note { cover = parse.file("a.html", "x") }:save()).parseCode, 130)
  harness.raises("file: argument 2 'content' must be a string that is not empty, got string", parse.file, "a.txt", "")
  same(fails("notSaved", Note { cover = parse.file("-a.txt", "x") }:save()).message:match "^file name", "file name")
end)

tests.test_destroy_of_what_is_gone_is_no_error = case(function()
  local note = assert(support.class "GoneNote" { title = "a" }:save())
  same(note:destroy(), "OK")
  same(note:destroy(), "OK")
  same(fails("httpStatus", note:fetch()).parseCode, 101)
end)

tests.test_destroy_without_the_right_is_an_error = case(function()
  local Note = support.class("RightsNote", { soup = "rights_notes", cacheMode = "server-first" })
  local note = assert(Note { title = "a", ACL = { ["*"] = { read = true } } }:save())
  local err = fails("httpStatus", note:destroy())
  same({ err.parseCode, err.message },
    { 101, "the object is not deleted: it is readable, but may not be deleted (Object not found.)" })
  same(#support.entries "rights_notes", 1)
  fails("httpStatus", parse.delete("RightsNote", note.objectId, { cacheMode = "server-only" }))
end)

function tests.test_callbacks_get_the_value_or_the_error()
  local Note = parse.class "CallbackNote"
  Note { title = "a" }:save(harness.expect(function(note)
    same(note:get "title", "a")
    parse.count("CallbackNote", harness.expect(function(count) same(count, 1) end), harness.never "error")
  end), harness.never "error")
  parse.fetch("CallbackNote", "nothing", harness.never "success", harness.expect(function(err) same(err.parseCode, 101) end))
end

tests.test_misuse_names_the_argument = case(function()
  local Note = support.class "MisuseNote"
  harness.raises("class: argument 1 'name' must be a string, got number", parse.class, 7)
  harness.raises("class: 'settings' of MisuseNote has the unknown key 'soop'; did you mean 'soup'?",
    parse.class, "MisuseNote", { soop = "x" })
  harness.raises("class: 'settings' of MisuseNote has the unknown key 'colour'; known: cacheMode, clientKeyField, connection, "
    .. "relations, soup, storeConfig, validate", parse.class, "MisuseNote", { colour = "x" })
  harness.raises("set: 'objectId' is set by the server", Note().set, Note(), "objectId", "x")
  for _, name in ipairs { "", ".", "a.", ".a", "a..b" } do
    harness.raises(("set: '%s' names neither a column nor a part of one, such as stats.reads"):format(name), Note().set, Note(),
      name, 1)
  end
  local nan = "set: argument 2 'value' must not be or contain NaN, which JSON cannot represent"
  harness.raises(nan, Note().set, Note(), "n", { 0 / 0 })
  harness.raises("class: argument 1 'name' must not be empty", parse.class, "")
  harness.raises("geoPoint: argument 2 'longitude' must be a finite number, got inf", parse.geoPoint, 1, math.huge)
  harness.raises("save: cacheMode cache-only needs 'soup' in the settings of class MisuseNote", Note().save, Note(),
    { cacheMode = "cache-only" })
  harness.raises("Can't save with cacheMode cache-first", Note().save, Note(), { cacheMode = "cache-first" })
  harness.raises("fetch: the object is new; save it first", Note().fetch, Note())
  harness.raises("signUp: argument 1 'fields.password' must be a string, got nil", parse.signUp, { username = "x" })
  same(fails("invalidRequest", parse.find "a b").message:match "^class name 'a b' is not valid", "class name 'a b' is not valid")
  same(fails("notSaved", Note { ["a b"] = 1 }:save()).message:match "^field name 'a b' of class MisuseNote",
    "field name 'a b' of class MisuseNote")
  parse.class("MisuseElsewhere", { connection = "nowhere" })
  fails("invalidConfiguration", parse.find "MisuseElsewhere")
end)

harness.run(tests)
