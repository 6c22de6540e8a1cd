local tureen = require "tureen"
local harness = require "harness"
local same, raises, expect, never = harness.same, harness.raises, harness.expect, harness.never

local tests = {}

--- Returns the cursor of a query with `lazy = true` for the store's answer `text`.
local function cursor_of(text)
  local cursor
  tureen.exec(expect(function(value) cursor = value end), never("error"), "com.salesforce.smartstore", "pgQuerySoup",
    { soupName = "literal", querySpec = { queryType = "range", smartSql = text, lazy = true } })
  tureen.run()
  return cursor
end

local function records_of(entries)
  return cursor_of('{"cursorId":1,"currentPageOrderedEntries":' .. entries .. "}").currentPageOrderedEntries
end

local function record_of(text) return records_of("[" .. text .. "]")[1] end

function tests.test_fields_are_what_a_table_has()
  local text = [=[{"s":"Zoë","e":"a\"b\u00e9\n","i":7,"big":9007199254740993,"f":1.5,"t":true,"x":false,"n":null,]=]
    .. [=["":"empty","k\u0041":1, "sp" : [1, {"a":2}, []] , "o":{"p":{"q":"deep"}}}]=]
  local record, whole = record_of(text), tureen.json.decode(text)
  for key, value in pairs(whole) do
    local got = record[key]
    if type(got) == "userdata" and got ~= tureen.null then got = got:table() end
    same(got, value, key)
  end
  same(record.o.p.q, "deep")
  same(record.missing, nil)
  same(record[1], nil)
  same(record:table(), whole)
  same(record:text(), text)
  same(tostring(record), text)
  same(#record, 12)
end

function tests.test_cursor_around_records_is_a_table()
  local cursor = cursor_of('{"cursorId":4,"totalPages":2,"currentPageOrderedEntries":[],"more":[{"a":1}]}')
  same(cursor,
    { cursorId = 4, totalPages = 2, currentPageOrderedEntries = tureen.array(), more = { { a = 1 } }, lazy = true })
end

function tests.test_rows_of_a_smart_query_hold_records()
  local rows = records_of('[["x",5,{"Name":"Ann"}],[null,1.5,{}]]')
  same(rows[1][1], "x")
  same(rows[1][2], 5)
  same(rows[1][3].Name, "Ann")
  same(rows[2][1], tureen.null)
  same(rows[2][3]:table(), {})
end

function tests.test_duplicate_keys_the_last_one_holds()
  local record = record_of('{"a":1,"b":2,"\\u0061":3}')
  same(record.a, 3)
  same(record:table().a, 3)
  local seen = {}
  for key, value in pairs(record) do
    same(seen[key], nil)
    seen[key] = value
  end
  same(seen, { a = 3, b = 2 })
end

function tests.test_pairs_goes_in_the_order_of_the_text()
  local keys = {}
  for key in pairs(record_of('{"z":1,"a":{"b":2},"m":[3]}')) do keys[#keys + 1] = key end
  same(keys, { "z", "a", "m" })
  same(next(keys) ~= nil, true)
  for _ in pairs(record_of("{}")) do error("there is nothing in it") end
end

function tests.test_fields_stand_before_methods()
  local record = record_of('{"text":"mine"}')
  same(record.text, "mine")
  same(record:table(), { text = "mine" })
  same(tureen.json.decode(tureen.json.encode(record)), { text = "mine" })
end

function tests.test_assignment_raises_and_names_the_way()
  local record = record_of('{"a":1}')
  local message = "a lazy record cannot be changed; record:table() returns a table that can"
  raises(message, function() record.a = 2 end)
  raises(message, function() record.b = 2 end)
  same(record.a, 1)
end

function tests.test_equality()
  local records = records_of('[{"a":{"b":1}},{"a":{"b":1}}]')
  same(records[1].a == records[1].a, true)
  same(records[1] == records[2], false)
  same(records[1] == tureen.null, false)
end

function tests.test_encode_takes_the_text_as_it_is()
  local record = record_of('{"a": 1.50, "o":{"x":[ ]}}')
  same(tureen.json.encode(record), '{"a": 1.50, "o":{"x":[ ]}}')
  same(tureen.json.encode({ record, record.o }), '[{"a": 1.50, "o":{"x":[ ]}},{"x":[ ]}]')
end

function tests.test_upsert_takes_records()
  local record = record_of('{"Name":"Ann"}')
  tureen.smartstore.upsertSoupEntries("soup", { record, { Name = "Bob" } }, expect(function(answer)
    same(answer.arguments.entries, { { Name = "Ann" }, { Name = "Bob" } })
  end), never("error"))
  tureen.run()
end

function tests.test_records_outlive_their_cursor()
  local kept = {}
  for i = 1, 50 do
    local records = records_of(('[{"i":%d,"o":{"i":%d}},{"i":0}]'):format(i, -i))
    kept[i] = i % 2 == 0 and records[1] or records[1].o
    if i % 10 == 0 then collectgarbage() end
  end
  collectgarbage()
  for i = 1, 50 do same(kept[i].i, i % 2 == 0 and i or -i) end
end

function tests.test_answer_that_is_no_json_is_an_error()
  for _, text in ipairs { '{"currentPageOrderedEntries":[{"a"', '{"currentPageOrderedEntries":[{"a":1]}', '{"a":1', "",
    '{"currentPageOrderedEntries":[{"a":}]}' } do
    tureen.exec(never("success"), expect(function(err) same(err.code, "internal") end), "com.salesforce.smartstore",
      "pgQuerySoup", { soupName = "literal", querySpec = { queryType = "range", smartSql = text, lazy = true } })
    tureen.run()
  end
end

function tests.test_broken_field_raises_when_it_is_read()
  local record = record_of('{"a":1x,"b":{"c" 1},"d":[1 2],"e":"fine"}')
  for _, key in ipairs { "a", "b", "d" } do
    local ok, err = pcall(function() return record[key] end)
    same(ok, false)
    same(err.code, "invalidJSON")
  end
  same(record.e, "fine")
end

--- Returns the records of a page that contains the lengths of its entries, like the store's answers: they are not yet parsed.
local function records_of_texts(texts)
  local lengths = {}
  for i, text in ipairs(texts) do lengths[i] = #text end
  return cursor_of(('{"currentPageOrderedEntries":[%s],"cursorId":1,"totalPages":1,"entryLengths":[%s]}'):format(
    table.concat(texts, ","), table.concat(lengths, ",")))
end

function tests.test_entries_of_known_length_are_records()
  local cursor = records_of_texts { '{"a":1,"o":{"b":[2]}}', '{}', '"no object"', '{"a":"\\u00e9"}' }
  local entries = cursor.currentPageOrderedEntries
  same(cursor.entryLengths, nil)
  same({ cursor.cursorId, cursor.totalPages, cursor.lazy }, { 1, 1, true })
  same(#entries, 4)
  same({ entries[1].a, entries[1].o.b, #entries[1] }, { 1, { 2 }, 2 })
  same({ entries[2].a, #entries[2] }, { nil, 0 })
  same(entries[3], "no object")
  same(entries[4].a, "é")
  local keys = {}
  for key, value in pairs(entries[1]) do keys[key] = type(value) end
  same(keys, { a = "number", o = "userdata" })
end

function tests.test_broken_entry_of_known_length_raises_when_it_is_read_and_harms_no_other()
  local broken = { '{"a":1},{"b":2}', '{"a":1', '{"a" 1}', "{}}", '{"a":1}]' }
  for _, text in ipairs(broken) do
    local reads = {
      function(record) return record.a end, function(record) return #record end,
      function(record) return record:table() end, tureen.json.encode,
      function(record) return pairs(record)(record) end,
    }
    for i, read in ipairs(reads) do
      local entries = records_of_texts({ '{"a":1}', text, '{"a":3}' }).currentPageOrderedEntries
      local ok, err = pcall(read, entries[2])
      same({ ok, type(err) == "table" and err.code }, { false, "invalidJSON" }, text .. " " .. i)
      same(pcall(read, entries[2]), false, text)
      same({ entries[1].a, entries[3].a, entries[2]:text() }, { 1, 3, text })
    end
  end
end

--- Returns the texts of records with different numbers, an object, and a key that contains escapes.
local function texts_of(count)
  local texts = {}
  for i = 1, count do
    texts[i] = ('{"i":%d,"o":{"i":%d,"p":{"i":"%d"}},"\\u0061b":"x%d","%s":true}'):format(i, -i, i, i, ("k"):rep(i))
  end
  return texts
end

local function read_all_of(record, i)
  same({ record.i, record.o.i, record.o.p.i, record.ab, record[("k"):rep(i)], record.none },
    { i, -i, tostring(i), "x" .. i, true, nil })
end

function tests.test_records_are_read_in_any_order_and_in_turns()
  local texts = texts_of(12)
  local looked_into = records_of("[" .. table.concat(texts, ",") .. "]")
  for _, entries in ipairs { records_of_texts(texts).currentPageOrderedEntries, looked_into } do
    for step = 1, 11 do
      for i = 0, 23 do read_all_of(entries[i * step % 12 + 1], i * step % 12 + 1) end
    end
    local seen = 0
    for key, value in pairs(entries[1]) do
      for i = 2, 12 do read_all_of(entries[i], i) end
      seen = seen + 1
      if key == "o" then same(value.p.i, "1") end
    end
    same(seen, 4)
  end
end

function tests.test_finalizers_that_read_other_records_disturb_no_reading()
  local entries = records_of_texts(texts_of(9)).currentPageOrderedEntries
  local finalized, harm = 0, nil
  local function leave_garbage(i)
    setmetatable({}, { __gc = function()
      finalized = finalized + 1
      local ok, err = pcall(function()
        for j = 1, 9 do read_all_of(entries[(i + j) % 9 + 1], (i + j) % 9 + 1) end
      end)
      if not ok then harm = err end
    end })
  end
  local pause, step = collectgarbage("setpause", 0), collectgarbage("setstepmul", 1000)
  for i = 1, 500 do
    leave_garbage(i)
    read_all_of(entries[i % 9 + 1], i % 9 + 1)
    for key in pairs(entries[i % 9 + 1]) do same(type(key), "string") end
  end
  collectgarbage("setpause", pause)
  collectgarbage("setstepmul", step)
  same({ finalized > 100, harm }, { true, nil })
end

function tests.test_lengths_that_do_not_fit_are_an_error()
  for _, text in ipairs {
    '{"currentPageOrderedEntries":[{"a":1},{"a":2}],"entryLengths":[7]}',
    '{"currentPageOrderedEntries":[{"a":1},{"a":2}],"entryLengths":[7,7,7]}',
    '{"currentPageOrderedEntries":[{"a":1}],"entryLengths":[99999999999]}',
    '{"currentPageOrderedEntries":[{"a":1}],"entryLengths":[6]}',
    '{"currentPageOrderedEntries":["a"],"entryLengths":[2]}',
    '{"currentPageOrderedEntries":5,"entryLengths":[7]}',
    '{"currentPageOrderedEntries":[,"entryLengths":[7]}', '{"currentPageOrderedEntries":[{"a":1}]"entryLengths":[7]}',
    ',"entryLengths":[7]}', '7]}', ']}', '}',
  } do
    tureen.exec(never("success"), expect(function(err) same(err.code, "internal") end), "com.salesforce.smartstore",
      "pgQuerySoup", { soupName = "literal", querySpec = { queryType = "range", smartSql = text, lazy = true } })
    tureen.run()
  end
end

function tests.test_without_lazy_entries_are_tables()
  tureen.exec(expect(function(cursor)
    same(cursor, { currentPageOrderedEntries = { { a = 1 } } })
  end), never("error"), "com.salesforce.smartstore", "pgQuerySoup",
    { soupName = "literal", querySpec = { queryType = "range", smartSql = '{"currentPageOrderedEntries":[{"a":1}]}' } })
  tureen.run()
end

function tests.test_records_in_a_closing_state_do_no_harm()
  -- Collected when the suite's state closes, possibly after the page.
  local record = record_of('{"a":1}')
  setmetatable({}, { __gc = function() pcall(function() return record.a, tostring(record) end) end })
end

harness.run(tests)
