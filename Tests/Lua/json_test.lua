local tureen = require "tureen"
local harness = require "harness"
local same, raises = harness.same, harness.raises
local encode, decode = tureen.json.encode, tureen.json.decode

local tests = {}

function tests.test_encode_scalars()
  local cases = {
    { nil, "null" }, { tureen.null, "null" }, { true, "true" }, { false, "false" }, { 0, "0" }, { -7, "-7" },
    { math.maxinteger, "9223372036854775807" }, { math.mininteger, "-9223372036854775808" },
    { 10.0, "10.0" }, { 20 / 2, "10.0" }, { 0.1, "0.1" }, { -1.5e300, "-1.5e+300" }, { 1e15, "1e+15" },
    { 0.1 + 0.2, "0.30000000000000004" }, { 2 ^ 53, "9007199254740992.0" },
    { "", '""' }, { "a\"b\\c/d", [["a\"b\\c/d"]] }, { "\n\r\t\0\31", [["\n\r\t\u0000\u001f"]] },
    { "Zoë 日本 😀", '"Zoë 日本 😀"' },
  }
  for i = 1, #cases do same(encode(cases[i][1]), cases[i][2]) end
end

function tests.test_encode_tables()
  same(encode({}), "{}")
  same(encode(tureen.array()), "[]")
  same(encode(tureen.array {}), "[]")
  same(encode({ 1, "a", { x = tureen.null } }), '[1,"a",{"x":null}]')
  same(encode({ a = { b = { 1.0 } } }), '{"a":{"b":[1.0]}}')
  same(encode({ tureen.null, tureen.null }), "[null,null]")
  local shared = { 1 }
  same(encode({ shared, shared }), "[[1],[1]]")
end

--- Expects that `fn()` raises an error of Lua's own that holds this text.
local function fails(text, fn)
  local ok, err = pcall(fn)
  same(ok, false)
  same(tostring(err):find(text, 1, true) ~= nil and text or tostring(err), text)
end

function tests.test_describeNull_names_null_in_this_state()
  tureen.describeNull()
  local null = tureen.null
  same(tostring(null), "null")
  same(("%s"):format(null), "null")
  fails("attempt to concatenate string and null; JSON null is tureen.null", function() return "a" .. null end)
  fails("attempt to concatenate null and number", function() return null .. 1 end)
  fails("attempt to concatenate null; ", function() return null .. null end)
  fails("attempt to index null (field 'Name' of null)", function() return null.Name end)
  fails("attempt to index null; ", function() return null[1] end)
  fails("attempt to index null (field 'Name' of null)", function() null.Name = 1 end)
  fails("attempt to get the length of null", function() return #null end)
  fails("attempt to add null and number", function() return null + 1 end)
  fails("attempt to compare number and null", function() return 1 < null end)
  fails("attempt to negate null", function() return -null end)
  same(null == tureen.null, true)
  same(encode({ null }), "[null]")
  same(getmetatable(null), false)
end

function tests.test_valueOr_replaces_nil_and_null_only()
  same(tureen.valueOr(tureen.null, 1), 1)
  same(tureen.valueOr(nil, "d"), "d")
  same(tureen.valueOr(false, true), false)
  same(tureen.valueOr(0, 1), 0)
  same(tureen.valueOr("", 1), "")
  same(tureen.valueOr(tureen.null), nil)
  same(select("#", tureen.valueOr(tureen.null)), 1)
end

function tests.test_encode_calls_no_metamethods()
  local t = setmetatable({ a = 1 }, { __index = error, __pairs = error, __len = error, __tostring = error })
  same(encode(t), '{"a":1}')
end

function tests.test_encode_errors_name_the_path()
  local cycle = { list = { {} } }
  cycle.list[1].up = cycle
  local function entries(v) return { entries = { {}, {}, { Name = v } } } end
  local mixed = "mixes string keys with others, so it is neither an object nor an array"
  raises("encode: value.entries[3].Name is a function, which JSON cannot hold", encode, entries(print))
  raises("encode: value.entries[3].Name is a userdata, which JSON cannot hold", encode, entries(io.stdout))
  raises("encode: value.entries[3].Name is a thread, which JSON cannot hold", encode, entries(coroutine.create(print)))
  raises("encode: value.entries[3].Name is NaN, which JSON cannot hold", encode, entries(0 / 0))
  raises("encode: value.entries[3].Name is not valid UTF-8", encode, entries("\xff"))
  raises("encode: value.list[1].up contains itself", encode, cycle)
  raises("encode: value " .. mixed, encode, { 1, a = 2 })
  raises('encode: value["a b"] ' .. mixed, encode, { ["a b"] = { x = 1, [2] = 1 } })
  raises("encode: value is an array with holes; use tureen.null for empty elements", encode, { 1, nil, 3, [5] = 1 })
  raises("encode: value has a position below 1", encode, { [0] = 1 })
  raises("encode: value has a key that is neither a string nor a position", encode, { [1.5] = 1 })
  raises("encode: value has a key that is neither a string nor a position", encode, { [true] = 1 })
  raises("encode: value " .. mixed, encode, tureen.array { x = 1 })
  raises("encode: value is a function, which JSON cannot hold", encode, print)
  same(select("#", pcall(encode)), 2, "no argument")
end

function tests.test_encode_depth_is_limited()
  local deep = {}
  local at = deep
  for _ = 2, 1000 do
    at[1] = {}
    at = at[1]
  end
  same(#encode(deep) > 1999, true)
  at[1] = { {} }
  local ok, err = pcall(encode, deep)
  same(ok, false)
  same(err.message:find("is nested too deeply", 1, true) ~= nil, true)
end

function tests.test_decode_values()
  local cases = {
    { "null", tureen.null }, { " true ", true }, { "false", false }, { "0", 0 }, { "-0", -0.0 }, { "12", 12 },
    { "1.0", 1.0 }, { "1e2", 100.0 }, { "-1.25E-2", -0.0125 }, { "0.1", 0.1 },
    { "9223372036854775807", math.maxinteger }, { "-9223372036854775808", math.mininteger },
    { "9223372036854775808", 2.0 ^ 63 }, { "100000000000000000000", 1e20 },
    { '"a\\"\\\\\\/\\b\\f\\n\\r\\t"', 'a"\\/\b\f\n\r\t' }, { [["\u0041\u00e9\u20AC\ud83d\ude00"]], "Aé€😀" },
    { '"\\u0000"', "\0" }, { '"Zoë"', "Zoë" },
    -- A lone surrogate is read as U+FFFD, and a number beyond the range of floats as an infinity.
    { '"\\ud800"', "\u{fffd}" }, { '"a\\udc00b"', "a\u{fffd}b" }, { '"\\ud800\\u0041"', "\u{fffd}A" },
    { '"\\ud800\\ud83d\\ude00"', "\u{fffd}😀" }, { "1e999", math.huge }, { "-1e400", -math.huge },
    { "1" .. ("0"):rep(400), math.huge }, { "0." .. ("0"):rep(300) .. "1", 1e-301 },
  }
  for _, case in ipairs(cases) do same(decode(case[1]), case[2], case[1]) end
  -- A record with such a number can be sent back, and is as large then.
  same(encode(decode '[1e400,{"a":-1e400}]'), '[1e999,{"a":-1e999}]')
end

function tests.test_decode_keeps_arrays_and_nulls()
  local value = decode('{"a":[],"o":{},"n":null,"row":[null,null],"deep":[[1,[2]],{"k":[{}]}]}')
  same(encode(value.a), "[]")
  same(encode(value.o), "{}")
  same(value.n, tureen.null)
  same(#value.row, 2)
  same(encode(value.deep), '[[1,[2]],{"k":[{}]}]')
  same(decode('{"a":1,"a":2}').a, 2)
end

function tests.test_decode_errors_give_the_offset()
  local cases = {
    { "", 0 }, { "  ", 2 }, { "{", 1 }, { "[1,]", 3 }, { "[1 2]", 3 }, { '{"a" 1}', 5 }, { '{"a":1,}', 7 },
    { "{a:1}", 1 }, { "tru", 0 }, { "01", 1 }, { "-", 1 }, { "1.", 2 }, { "1e", 2 }, { ".5", 0 }, { "+1", 0 },
    { '"abc', 4 }, { '"a\\"', 4 }, { '"\\x"', 1 }, { '"\\u12"', 1 }, { '"\\ud800\\u12"', 7 },
    { '"a\nb"', 2 }, { "1 2", 2 }, { '"\xff"', 1 }, { '"\xc0\x80"', 1 },
    { '"\xed\xa0\x80"', 1 }, { '"\xf4\x90\x80\x80"', 1 }, { '"\xe2\x82', 1 }, { "NaN", 0 },
    { "nulL", 0 }, { "[", 1 }, { "'a'", 0 }, { '"\\', 3 },
  }
  for _, case in ipairs(cases) do
    local value, err = decode(case[1])
    same(value, nil, case[1])
    same(err.code, "invalidJSON", case[1])
    if case[1] ~= '"\\' then same(err.offset, case[2], case[1]) end
  end
end

function tests.test_decode_depth_is_limited()
  same(decode(("["):rep(1000) .. ("]"):rep(1000)) ~= nil, true)
  local value, err = decode(("["):rep(1001) .. ("]"):rep(1001))
  same(value, nil)
  same(err.message, "not JSON: nested too deeply at offset 1000")
  same((decode(("["):rep(1000000))), nil)
end

function tests.test_round_trip_of_many_values()
  for i = 1, 200 do
    local value = { i = i, f = i / 3, s = ("ä"):rep(i) .. string.char(i % 32), a = tureen.array(), n = tureen.null,
      list = { i, i * 1.5, { tostring(i) } } }
    same(decode(encode(value)), value)
  end
end

function tests.test_wrong_arguments_raise()
  raises("decode: argument 1 'text' must be a string, got nil", decode)
  raises("decode: argument 1 'text' must be a string, got number", decode, 12)
  raises("array: argument 1 't' must be a table, got string", tureen.array, "x")
  raises("array: argument 1 't' has a metatable of its own", tureen.array, setmetatable({}, {}))
end

harness.run(tests)
