--- A small test harness. It counts each test's callbacks, and checks that nothing is pending when the test ends.
local tureen = require "tureen"

local M = {}

local expectations = {}

local function where(level)
  local info = debug.getinfo(level + 1, "Sl")
  return info.short_src .. ":" .. info.currentline
end

--- Returns a callback that must be called exactly `times` times (by default once) before the test ends.
function M.expect(fn, times)
  local entry = { count = 0, times = times or 1, where = where(2) }
  expectations[#expectations + 1] = entry
  return function(...)
    entry.count = entry.count + 1
    if fn then return fn(...) end
  end
end

--- Returns a callback that must not be called.
function M.never(what)
  return M.expect(function(value) error((what or "a callback") .. " was called with " .. tostring(value), 0) end, 0)
end

local function show(value)
  if value == tureen.null then return "null" end
  if type(value) == "table" and not (getmetatable(value) or {}).__tostring then return tureen.json.encode(value) end
  return tostring(value) .. " (" .. (math.type(value) or type(value)) .. ")"
end

--- Returns a test whose body runs in a task and must reach its end.
function M.case(body)
  return function()
    local finish = M.expect()
    tureen.async(function()
      body()
      finish()
    end)
  end
end

--- Expects that two values are equal in content and kind.
function M.same(got, wanted, what)
  local same = got == wanted and math.type(got) == math.type(wanted)
  if type(got) == "table" and type(wanted) == "table" then same = M.equal(got, wanted) end
  if not same then
    error(("%s: got %s, wanted %s"):format(what or "values differ", show(got), show(wanted)), 2)
  end
end

--- Returns whether two values are equal; tables need the same keys, values and array mark.
function M.equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b and math.type(a) == math.type(b) end
  for key, value in pairs(a) do if not M.equal(value, b[key]) then return false end end
  for key in pairs(b) do if a[key] == nil then return false end end
  return next(a) ~= nil or tureen.json.encode(a) == tureen.json.encode(b)
end

--- Expects that `fn(...)` raises a misuse error with this message.
function M.raises(message, fn, ...)
  local ok, err = pcall(fn, ...)
  if ok then error("nothing was raised, wanted: " .. message, 2) end
  if type(err) ~= "table" or err.message ~= message then
    error("raised: " .. tostring(err) .. "\nwanted: " .. message, 2)
  end
  M.same(err.domain .. "/" .. err.code, "bridge/invalidArguments")
  return err
end

local function verify()
  for _, entry in ipairs(expectations) do
    if entry.count ~= entry.times then
      error(("%s: called %d times, wanted %d"):format(entry.where, entry.count, entry.times), 0)
    end
  end
  if tureen.pending() ~= 0 then error(tureen.pending() .. " calls left without an answer", 0) end
end

local function run_one(test)
  expectations = {}
  local uncaught
  tureen.onerror = function(err, traceback) uncaught = uncaught or (tostring(err) .. "\n" .. traceback) end
  test()
  local ok, err = tureen.run()
  tureen.onerror = nil
  if uncaught then error(uncaught, 0) end
  if not ok then error(err, 0) end
  verify()
end

--- Runs all `test_` functions in the order of their names, prints the failures and totals, and raises if a test failed.
function M.run(tests)
  local names, passed, failed, first = {}, 0, 0, nil
  for name in pairs(tests) do
    if name:find("^test_") then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local ok, err = xpcall(run_one, debug.traceback, tests[name])
    if ok then
      passed = passed + 1
    else
      failed = failed + 1
      first = first or (name .. ": " .. tostring(err))
      pcall(tureen.run)
      io.stderr:write(name, ": ", tostring(err), "\n")
    end
  end
  print(("%d passed, %d failed"):format(passed, failed))
  if first then error(("%d of %d tests failed, the first one %s"):format(failed, passed + failed, first), 0) end
  assert(passed > 0, "this suite has no test")
end

return M
