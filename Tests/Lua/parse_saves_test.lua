--- Tests objects that change while they are saved, and saves that run at the same time.
local harness = require "harness"
local parse = require "tureen.parse"
local support = require "parse_support"
local tureen = require "tureen"

local case, fails, same = harness.case, support.fails, harness.same
local async, await = tureen.async, tureen.await
local tests = {}

local ONLINE, BOTH = { cacheMode = "server-only" }, { cacheMode = "server-first" }

--- Begins to save an object. The request is in flight when this returns.
local function saving(object, options)
  return async(function() return object:save(options) end)
end

local function there(object) return assert(parse.fetch(object.className, object.objectId, ONLINE)) end

-- Each changes one field of FIELDS: its name, the change, and the value afterwards.
local CHANGES = {
  set = { "n", function(o) o:set("n", 2) end, 2 },
  unset = { "keep", function(o) o:unset "keep" end, nil },
  increment = { "n", function(o) o:increment("n", 5) end, 6 },
  add = { "list", function(o) o:add("list", 2) end, { 1, 2, 2 } },
  addUnique = { "list", function(o) o:addUnique("list", { 2, 3 }) end, { 1, 2, 3 } },
  remove = { "list", function(o) o:remove("list", 1) end, { 2 } },
  part = { "part", function(o) o:set("part.a", 7) end, { a = 7, b = 2 } },
  part_unset = { "part", function(o) o:unset "part.a" end, { b = 2 } },
  part_increment = { "part", function(o) o:increment("part.a", 2) end, { a = 3, b = 2 } },
  element = { "list", function(o) o:set("list.1", 9) end, { 1, 9 } },
}

local FIELDS = { n = 1, keep = "x", list = { 1, 2 }, part = { a = 1, b = 2 } }

local function check_field(object, name, wanted, what)
  local got = object:get(name)
  if wanted == nil then return same(got, nil, what) end
  same({ got }, { wanted }, what)
end

for kind, change in pairs(CHANGES) do
  local name, apply, wanted = table.unpack(change, 1, 3)
  tests[("test_%s_while_an_update_runs_goes_with_the_next_save"):format(kind)] = case(function()
    local note = assert(support.class("Update_" .. kind)(FIELDS):save())
    local task = saving(note:set("other", 1))
    apply(note)
    check_field(note, name, wanted, "before the answer")
    same(await(task), note)
    same(note:isDirty(), true)
    check_field(note, name, wanted, "after the answer")
    assert(note:save())
    same(note:isDirty(), false)
    check_field(note, name, wanted, "after the next save")
    check_field(there(note), name, wanted, "on the server")
    same(there(note):get "other", 1)
  end)

  tests[("test_%s_while_a_create_runs_goes_with_the_next_save"):format(kind)] = case(function()
    local note = support.class("Create_" .. kind)(FIELDS)
    local task = saving(note)
    apply(note)
    assert(await(task))
    same(note:isDirty(), true)
    assert(note:save())
    check_field(note, name, wanted)
    check_field(there(note), name, wanted)
    same(parse.count(note.className), 1)
  end)

  tests[("test_%s_while_a_refused_save_runs_stays_with_the_rest"):format(kind)] = case(function()
    local note = assert(support.class("Refused_" .. kind)(FIELDS):save())
    assert(note:set("typed", 1):save())
    local task = saving(note:set("typed", "text"):increment("n", 10):set("part.b", 3))
    apply(note)
    fails("notSaved", await(task))
    assert(note:set("typed", 2):save())
    local now, expected = there(note), wanted
    if name == "n" then expected = kind == "set" and 2 or 16 end
    if name == "part" then expected = { a = wanted.a, b = 3 } end
    check_field(now, name, expected)
    check_field(note, name, expected)
    same(now:get "typed", 2)
    if name ~= "n" then same(now:get "n", 11) end
  end)

  tests[("test_%s_offline_while_a_save_runs_is_stored_by_the_next"):format(kind)] = case(function()
    local class = support.class("Offline_" .. kind, { soup = "offline_" .. kind, cacheMode = "cache-only" })
    local note = assert(class(FIELDS):save(BOTH))
    local task = saving(note:set("other", 1))
    apply(note)
    assert(await(task))
    same(note:isDirty(), true)
    assert(note:save())
    local entry = support.entries("offline_" .. kind)[1]
    if wanted == nil then same(entry[name], nil) else same({ entry[name] }, { wanted }) end
    same(entry.other, 1)
    same(entry.__locally_updated__, true)
  end)
end

tests.test_links_made_while_a_save_runs_go_with_the_next = case(function()
  local Author = support.class "FlightAuthor"
  local Book = support.class("FlightBook", { relations = { by = { className = "FlightAuthor" } } })
  local ann, bo = assert(Author { name = "Ann" }:save()), Author { name = "Bo" }
  local book = Book { title = "a" }
  book:relation("by"):add(ann)
  local task = saving(book)
  book:relation("by"):remove(ann):add(bo)
  assert(await(task))
  same(support.list(assert(book:relation("by"):query():find()), "name"), "Ann")
  assert(book:save())
  same(support.list(assert(book:relation("by"):query():find()), "name"), "Bo")
end)

tests.test_new_object_saved_at_once_is_created_once = case(function()
  for _, settings in ipairs { {}, { clientKeyField = "key" } } do
    local Note = support.class(settings.clientKeyField and "OnceKeyed" or "OnceNote", settings)
    local note = Note { n = 1 }
    local tasks = { saving(note) }
    note:increment "n"
    tasks[2] = saving(note)
    note:increment "n"
    tasks[3] = saving(note)
    assert(tureen.all(tasks))
    same(note:isDirty(), false)
    same(parse.count(Note.className), 1)
    same(there(note):get "n", 3)
  end
end)

tests.test_shared_new_child_is_created_once = case(function()
  local Child, Parent = support.class "SharedChild", support.class "SharedParent"
  local child, tasks, parents = Child { name = "c" }, {}, {}
  for i = 1, 3 do
    parents[i] = Parent { child = child, i = i }
    tasks[i] = saving(parents[i])
  end
  tasks[4] = async(function() return parse.saveAll { Parent { child = child, i = 4 }, child } end)
  assert(tureen.all(tasks))
  same(parse.count "SharedChild", 1)
  same(parse.count("SharedParent", parse.equalTo("child", child)), 4)
end)

tests.test_circle_saved_from_both_ends_is_created_once = case(function()
  local Node = support.class "RoundNode"
  local a, b = Node { name = "a" }, Node { name = "b" }
  a:set("next", b)
  b:set("next", a)
  assert(tureen.all { saving(a), saving(b) })
  same(parse.count "RoundNode", 2)
  same(there(a):get("next").objectId .. there(b):get("next").objectId, b.objectId .. a.objectId)
end)

tests.test_save_behind_one_that_fails_sends_its_changes_too = case(function()
  local Typed = support.class "BehindTyped"
  assert(Typed { n = 1 }:save())
  local note = Typed { n = "text", k = 1 }
  local first = saving(note)
  note:set("n", 2):increment("k", 4)
  local second = saving(note)
  fails("notSaved", await(first))
  same(await(second), note)
  same(there(note):get "n" .. "/" .. there(note):get "k", "2/5")
  same(parse.count "BehindTyped", 2)
end)

tests.test_operations_that_cannot_be_joined_are_sent_one_after_the_other = case(function()
  local Note = support.class "SeriesNote"
  local known = assert(Note { list = { 1, 2 }, typed = 1 }:save())
  -- The list is not known here.
  local note = Note {}
  note.objectId = known.objectId
  local task = saving(note:remove("list", 1):set("typed", "text"))
  note:add("list", 3)
  fails("notSaved", await(task))
  assert(note:set("typed", 2):save())
  same(there(note):get "list", { 2, 3 })
  same(note:get "list", { 2, 3 })
end)

tests.test_cancelled_save_gives_its_changes_back = case(function()
  local note = assert(support.class "CancelNote" { n = 1 }:save())
  local first = saving(note:increment("n", 1))
  local waiting = saving(note:increment("n", 10))
  note:increment("n", 100)
  waiting:cancel()
  same(select(2, await(waiting)).code, "cancelled")
  assert(await(first))
  same({ there(note):get "n", note:get "n", note:isDirty() }, { 2, 112, true })
  assert(note:save())
  same(there(note):get "n", 112)
end)

tests.test_fetch_keeps_changes_and_waits_for_a_save = case(function()
  local note = assert(support.class "FetchNote" { n = 1, gone = 1 }:save())
  local other = there(note)
  assert(other:increment("n", 40):unset("gone"):set("more", true):save())
  note:increment("n", 1):set("mine", "x")
  same(note:fetch(), note)
  same({ note:get "n", note:get "mine", note:get "more", note:get "gone" }, { 42, "x", true })
  same(note:isDirty(), true)
  local task = saving(note)
  note:increment("n", 100)
  assert(note:fetch())
  same(task:status(), "done")
  same({ note:get "n", there(note):get "n" }, { 142, 42 })
  assert(note:fetch { keys = "n" })
  same(note:get "mine", "x")
end)

tests.test_two_lua_objects_of_one_object_take_turns = case(function()
  local a = assert(support.class "TwinNote" { n = 0 }:save())
  local b, tasks = there(a), {}
  for i = 1, 10 do tasks[i] = saving((i % 2 == 0 and a or b):increment "n") end
  assert(tureen.all(tasks))
  same(there(a):get "n", 10)
end)

tests.test_indexes_of_lists_count_from_0_and_are_checked = case(function()
  local Note = support.class "IndexNote"
  local note = assert(Note { items = { { count = 1 }, { count = 5 } }, plain = { 1, 2 } }:save())
  assert(note:set("items.0.count", 20):increment("plain.1", 5):save())
  same({ note:get "items", note:get "plain" }, { { { count = 20 }, { count = 5 } }, { 1, 7 } })
  same({ there(note):get "items", there(note):get "plain" }, { { { count = 20 }, { count = 5 } }, { 1, 7 } })
  assert(note:set("items.1.count", 7):add("items", { count = 8 }):save())
  same(there(note):get "items", { { count = 20 }, { count = 7 }, { count = 8 } })
  same(tureen.json.encode(note:toTable().items), [=[[{"count":20},{"count":7},{"count":8}]]=])
  local new = Note { items = { { count = 1 } } }:set("items.0.count", 5):add("items", { count = 6 })
  assert(new:save())
  same(there(new):get "items", { { count = 5 }, { count = 6 } })
  for _, name in ipairs { "plain.2", "plain.-1", "plain.x", "items.7.count" } do
    local message = "set: '%s' is not an element of the list, whose indexes count from 0"
    harness.raises(message:format(name:match "^%a+%.[^.]+"), note.set, note, name, 1)
  end
  same(note:isDirty(), false)
end)

tests.test_link_removed_before_its_object_is_saved_can_be_added = case(function()
  local Author = support.class "AgainAuthor"
  local Book = support.class("AgainBook", { relations = { by = { className = "AgainAuthor" } } })
  local book, ann = assert(Book { title = "a" }:save()), Author { name = "Ann" }
  book:relation("by"):remove(ann)
  assert(ann:save())
  book:relation("by"):add(ann)
  assert(book:save())
  same(#assert(book:relation("by"):query():find()), 1)
  -- A removal of an object that the server does not have needs no request and creates nothing.
  local bo = Author { name = "Bo" }
  book:relation("by"):remove(bo)
  assert(book:save())
  same({ bo:isNew(), parse.count "AgainAuthor" }, { true, 1 })
end)

tests.test_link_removed_and_added_offline_is_sent = case(function()
  support.link_soup "again_links"
  local Author = support.class("AgainOffAuthor", { soup = "again_authors", cacheMode = "cache-only" })
  local Book = support.class("AgainOffBook", {
    soup = "again_books", cacheMode = "cache-only",
    relations = { by = { className = "AgainOffAuthor", linkSoup = "again_links" } },
  })
  local book, known = assert(Book { title = "a" }:save(BOTH)), assert(Author { name = "Ann" }:save(BOTH))
  local new = assert(Author { name = "Bo" }:save())
  for _, author in ipairs { known, new } do
    book:relation("by"):remove(author)
    assert(book:save())
    book:relation("by"):add(author)
    assert(book:save())
  end
  local function up(class, fields, relations)
    assert(await(tureen.mobilesync.syncUp, {
      type = "parse", className = class.className, createFieldlist = fields, updateFieldlist = fields, relations = relations,
    }, class.soup, { mergeMode = "OVERWRITE" }))
  end
  up(Author, { "name" })
  up(Book, { "title" }, { { field = "by", className = "AgainOffAuthor", soup = "again_authors", linkSoup = "again_links" } })
  same(support.list(assert(book:relation("by"):query():order("name"):find(ONLINE)), "name"), "Ann Bo")
end)

tests.test_sums_that_are_too_large_for_an_integer_are_floats = case(function()
  local note = assert(support.class "LargeNote" { n = math.maxinteger, m = math.mininteger }:save())
  note:increment("n", 1):increment("m", -1)
  same({ note:get "n", note:get "m" }, { 2.0 ^ 63, -2.0 ^ 63 })
  note:increment("k", math.maxinteger):increment("k", math.maxinteger)
  same(note:get "k", 2.0 ^ 64)
  harness.raises("increment: 'f' would become too large for a number", function()
    note:set("f", 1e308):increment("f", 1e308)
  end)
  same(note:get "f", 1e308)
end)

tests.test_offline_operations_change_the_stored_row = case(function()
  local Note = support.class("RowNote", { soup = "row_notes", cacheMode = "cache-only" })
  local note = assert(Note { n = 1, list = { 1 } }:save(BOTH))
  local twin = assert(parse.fetch("RowNote", note.objectId))
  assert(note:increment("n", 2):add("list", 2):save())
  assert(twin:increment("n", 40):add("list", 3):save())
  same({ support.entries "row_notes"[1].n, support.entries "row_notes"[1].list }, { 43, { 1, 2, 3 } })
end)

local function up(class, fields)
  return assert(await(tureen.mobilesync.syncUp, {
    type = "parse", className = class.className, createFieldlist = fields, updateFieldlist = fields,
  }, class.soup, { mergeMode = "OVERWRITE" }))
end

tests.test_offline_operations_are_sent_as_operations = case(function()
  local Note = support.class("OpsNote", { soup = "ops_notes", cacheMode = "cache-only" })
  local note = assert(Note { n = 2, list = { "a" }, tags = { "a", "b" }, words = { "a" }, part = { n = 1, x = 1 }, title = "t" }
    :save(BOTH))
  local other = there(note)
  other:increment("n", 40):add("list", "theirs"):add("tags", "theirs"):add("words", "theirs"):increment("part.n", 10)
  assert(other:set("part.x", 2):save(ONLINE))
  assert(note:increment("n", 1):add("list", "mine"):remove("tags", "a"):addUnique("words", "mine"):save())
  assert(note:increment("n", 2):add("list", "more"):increment("part.n", 100):set("title", "u"):save())
  same(support.entries "ops_notes"[1].n, 5)
  same(up(Note, { "n", "list", "tags", "words", "part", "title" }).succeeded, 1)
  local now = there(note)
  same({ now:get "n", now:get "title", now:get "part" }, { 45, "u", { n = 111, x = 2 } })
  same(table.concat(now:get "list", " "), "a theirs mine more")
  same(table.concat(now:get "tags", " "), "b theirs")
  same(table.concat(now:get "words", " "), "a theirs mine")
  local entry = support.entries "ops_notes"[1]
  same({ entry.n, entry.__local__, entry.__operations__ }, { 45, false })
  -- The next change counts from what the server has.
  assert(note:fetch())
  assert(note:increment("n", 5):save())
  up(Note, { "n" })
  same(there(note):get "n", 50)
end)

tests.test_field_that_is_also_set_offline_is_sent_as_a_value = case(function()
  local Note = support.class("MixNote", { soup = "mix_notes", cacheMode = "cache-only" })
  local function entry_of(note)
    for _, entry in ipairs(support.entries "mix_notes") do
      if entry.objectId == note.objectId then return entry end
    end
  end
  -- What happens to n = 2 offline, and the value on the server afterwards, where another client has added 40.
  local cases = {
    set_first = { function(note) assert(note:set("n", 10):save()) assert(note:increment("n", 3):save()) end, 13 },
    set_last = { function(note) assert(note:increment("n", 3):save()) assert(note:set("n", 10):save()) end, 10 },
    set_by_hand = { function(note)
      assert(note:increment("n", 3):save())
      local entry = entry_of(note)
      entry.n = 10
      assert(await(tureen.smartstore.upsertSoupEntries, "mix_notes", { entry }))
    end, 10 },
    edited_by_hand = { function(note)
      assert(await(tureen.mobilesync.markUpdated, "mix_notes", entry_of(note), { n = 10 }))
      assert(note:increment("n", 3):save())
    end, 13 },
    unset = { function(note) assert(note:increment("n", 3):save()) assert(note:unset("n"):save()) end, nil },
  }
  for name, one in pairs(cases) do
    local note = assert(Note { name = name, n = 2 }:save(BOTH))
    assert(there(note):increment("n", 40):save(ONLINE))
    one[1](note)
    up(Note, { "n" })
    same(there(note):get "n", one[2], name)
    same(entry_of(note).__operations__, nil, name)
  end
end)

tests.test_hooks_and_refusals_leave_nothing_frozen = case(function()
  local Note = support.class("HookedNote", { validate = { n = function(n) if n == 0 then return true end end } })
  local note = Note { n = 0 }
  fails("invalid", note:save())
  assert(note:set("n", 1):save())
  fails("invalid", note:set("n", 0):save())
  same(note:isDirty(), true)
  note:set("other", 1)
  assert(note:set("n", 2):save())
  same({ there(note):get "n", there(note):get "other", note:isDirty() }, { 2, 1, false })
end)

harness.run(tests)
