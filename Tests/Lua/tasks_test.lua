--- Tests awaiting, combining and cancelling tasks. The host is that of callbacks_test.lua.
local tureen = require "tureen"
local harness = require "harness"
local same, raises, expect, never = harness.same, harness.raises, harness.expect, harness.never
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync
local async, await = tureen.async, tureen.await

local tests = {}

local function exists(soup)
  return function() return await(smartstore.soupExists, soup) end
end

--- Returns a task that waits until `open` is called.
local function gate()
  local open
  local task = async(function(...)
    return await(function(success) open = success end), ...
  end)
  return task, function(value) open(value) end
end

function tests.test_await_of_a_task_returns_what_it_returned()
  async(expect(function()
    local a, b, c = await(async(function() await(smartstore.soupExists, "s") return 1, nil, 3 end))
    same(a, 1)
    same(b, nil)
    same(c, 3)
    same(await(async(function() return "at once" end)), "at once")
    same(await(async(function() end)), nil)
  end))
end

function tests.test_await_of_a_task_that_raised_gives_the_error()
  async(expect(function()
    local value, err = await(async(function() await(smartstore.soupExists, "s") error("broken", 0) end))
    same(value, nil)
    same(err.code, "raised")
    same(err.message, "broken")
    same(err.value, "broken")
    local _, misuse = await(async(function()
      await(smartstore.soupExists, "s")
      smartstore.soupExists(1)
    end))
    same(misuse.code, "invalidArguments")
  end))
end

function tests.test_several_wait_for_one_task()
  local task, open = gate()
  local heard = {}
  for i = 1, 3 do async(function() heard[i] = await(task) end) end
  open("x")
  tureen.run()
  same(heard, { "x", "x", "x" })
end

function tests.test_error_carries_the_traceback_of_who_waited()
  local function the_waiting_function()
    local value, err = await(smartstore.soupExists, "fail")
    return value, err
  end
  async(expect(function()
    local value, err = the_waiting_function()
    same(value, nil)
    same(err.traceback:find("the_waiting_function", 1, true) ~= nil, true, err.traceback)
  end))
end

function tests.test_all_gives_the_values_in_order()
  async(expect(function()
    local late, open = gate()
    local values = tureen.all {
      late, exists "a", { smartstore.soupExists, "b" },
      function() open("late") end, function() return false end,
    }
    same(values[1], "late")
    same(values[2].arguments.soupName, "a")
    same(values[3].arguments.soupName, "b")
    same(values[4], tureen.null)
    same(values[5], false)
    same(#values, 5)
    same(tureen.json.encode(tureen.all {}), "[]")
  end))
end

function tests.test_all_returns_the_first_failure_and_the_others_go_on()
  local went_on = expect()
  async(expect(function()
    local values, err = tureen.all {
      exists "fail",
      function() await(smartstore.soupExists, "s"); await(smartstore.soupExists, "s"); went_on() end,
    }
    same(values, nil)
    same(err.code, "noSuchSoup")
    local _, raised = tureen.all { exists "s", function() error("broken", 0) end }
    same(raised.message, "broken")
  end))
end

function tests.test_race_returns_the_first_and_its_position()
  async(expect(function()
    local never_open, open = gate()
    local value, err, position = tureen.race { never_open, exists "s" }
    same(value.arguments.soupName, "s")
    same(err, nil)
    same(position, 2)
    local none, reason, at = tureen.race { never_open, exists "fail" }
    same(none, nil)
    same(reason.code, "noSuchSoup")
    same(at, 2)
    open()
  end))
end

function tests.test_cancel_ends_what_the_task_waits_for()
  local task
  local outcome = {}
  task = async(expect(function()
    local sync, err = await(mobilesync.syncDown, {}, "s", {}, "cancellable")
    outcome[1], outcome[2] = sync, err.code
    local again, reason = await(smartstore.soupExists, "s")
    outcome[3], outcome[4] = again, reason.code
  end))
  same(task:is_cancelled(), false)
  task:cancel()
  task:cancel()
  same(task:is_cancelled(), true)
  same(outcome, {}, "not inside cancel")
  tureen.run() -- which ends: the sync was stopped
  same(outcome[2], "cancelled")
  same(outcome[4], "cancelled")
  same(task:status(), "done")
  task:cancel()
end

function tests.test_cancel_reaches_a_task_that_is_waited_for()
  local inner
  local outer = async(expect(function()
    local _, err = tureen.timeout(1e9, function(success)
      inner = success
    end)
    same(err.code, "cancelled")
  end))
  outer:cancel()
  tureen.run()
  same(type(inner), "function")
end

function tests.test_cancel_of_a_call_stops_the_sync()
  local states = {}
  local id = mobilesync.syncDown({}, "s", {}, "cancellable", function(sync)
    states[#states + 1] = sync.status
    if sync.status == "RUNNING" then tureen.cancel(states.id) end
  end, never("error"))
  states.id = id
  same(tostring(id):find "^call %d+, not awaited$" ~= nil, true, tostring(id))
  tureen.run()
  same(table.concat(states, " "), "RUNNING STOPPED")
  tureen.cancel(id) -- answered already
  tureen.cancel(nil) -- what a call that was refused returned
  raises("cancel: argument 1 'id' must be an integer, got string", tureen.cancel, "1")
end

function tests.test_cancel_before_the_call_began()
  -- A store's calls run in order, so the sync cannot start while the previous call is held.
  local id = mobilesync.syncDown({}, "s", {}, "cancellable", nil, nil)
  tureen.cancel(id)
  tureen.run()
end

function tests.test_timeout_cancels_and_says_so()
  async(expect(function()
    local sync, err = tureen.timeout(1, mobilesync.syncDown, {}, "s", {}, "cancellable")
    same(sync, nil)
    same(err.code, "timeout")
    same(err.retryable, true)
    same(err.message, "no answer within 1 ms")
    same(tureen.timeout(1e9, smartstore.soupExists, "s").action, "pgSoupExists")
    local task = async(function() tureen.sleep(1e9) end)
    local _, reason = tureen.timeout(1, task)
    same(reason.code, "timeout")
    same(task:is_cancelled(), true)
  end))
end

function tests.test_await_of_a_function_that_waits_itself()
  async(expect(function()
    same(await(tureen.sleep, 1), true)
    same(await(tureen.all, { exists "a" })[1].arguments.soupName, "a")
    same(await(await, smartstore.soupExists, "s").action, "pgSoupExists")
    same(tureen.all { { tureen.sleep, 1 } }[1], true)
    same(tureen.timeout(1e9, tureen.sleep, 1), true)
    local _, err = await(tureen.waitEvent, "nothing", nil, 1)
    same(err.code, "timeout")
  end))
end

--- Returns a list of the errors that `tureen.onerror` gets until the end of the test.
local function reported()
  local list = {}
  tureen.onerror = function(err, traceback)
    list[#list + 1] = { code = err.domain .. "/" .. err.code, message = err.message, traceback = traceback }
  end
  return list
end

local function nothing() end

function tests.test_run_reports_a_task_that_waits_for_nothing()
  local reports = reported()
  local function the_waiting_function() await(nothing) end
  local task = async(function() the_waiting_function() end)
  tureen.run()
  same(#reports, 1)
  same(reports[1].code, "bridge/stillWaiting")
  same(reports[1].message:find("^a task still waits for the function at .*tasks_test.lua:%d+, which has not called its") ~= nil,
    true, reports[1].message)
  same(reports[1].traceback:find("the_waiting_function", 1, true) ~= nil, true, reports[1].traceback)
  same(task:status(), "running")
  tureen.run()
  same(#reports, 1, "a second run")
end

function tests.test_run_with_a_function_gives_what_it_returns_or_raises()
  local reports = reported()
  local function main(a, b)
    tureen.sleep(1)
    return a + b, nil, "last"
  end
  same(table.pack(tureen.run(main, 1, 2)), { true, 3, nil, "last", n = 4 })
  same(table.pack(tureen.run(function() end)), { true, n = 1 })
  local own = { code = 5 }
  for _, raised in ipairs { "no place", own, false } do
    local ok, err = tureen.run(function()
      tureen.sleep(1)
      error(raised, 0)
    end)
    same({ ok, err }, { false, raised })
  end
  local ok, err = tureen.run(function() return tureen.sleep("x") end)
  same({ ok, err.code, err.traceback ~= nil }, { false, "invalidArguments", true })
  local awaited
  ok, err = tureen.run(function()
    awaited = select(2, tureen.await(tureen.async(function() tureen.sleep(1) error("inner", 0) end)))
    error(awaited, 0)
  end)
  same({ ok, rawequal(err, awaited), err.code, err.value }, { false, true, "raised", "inner" })
  same(#reports, 0, "nothing is left for tureen.onerror")
  raises("run: argument 1 'main' must be a function, got array", tureen.run, tureen.array())
  local is_begun = false
  tureen.after(0, function()
    raises("run: must not be called from a callback that poll is running", tureen.run, function() is_begun = true end)
  end)
  tureen.run()
  same(is_begun, false)
end

function tests.test_run_with_a_function_waits_for_all_there_is()
  local late = false
  tureen.after(20, function() late = true end)
  local ok, err, traceback = tureen.run(function() error("early", 0) end)
  same({ ok, err, late }, { false, "early", true })
  same(traceback:find("tasks_test.lua", 1, true) ~= nil, true, traceback)
end

function tests.test_run_reports_those_who_wait_for_such_a_task()
  local reports = reported()
  local stuck = async(function() await(nothing) end)
  async(function() await(stuck) end)
  async(function() tureen.all { stuck, exists "s" } end)
  tureen.run()
  same(#reports, 3)
  local rest = "; nothing is pending that could resume it"
  same(reports[2].message, "a task still waits in await for tasks that wait themselves" .. rest)
  same(reports[3].message, "a task still waits in all for tasks that wait themselves" .. rest)
end

function tests.test_run_goes_on_with_what_a_report_begins()
  local answered = expect()
  tureen.onerror = function() smartstore.soupExists("s", answered) end
  async(function() await(nothing) end)
  tureen.run()
end

function tests.test_run_reports_neither_listeners_nor_what_nobody_asks_for()
  local reports = reported()
  local listener = async(function() tureen.waitEvent("nothing") end)
  async(function() await(listener) end)
  async(expect(function() tureen.race { function() await(nothing) end, exists "s" } end))
  async(expect(function() tureen.all { exists "fail", function() await(nothing) end } end))
  async(expect(function() same(select(2, tureen.timeout(1, nothing)).code, "timeout") end))
  tureen.run()
  same(#reports, 0, reports[1] and reports[1].message)
end

function tests.test_cancel_ends_a_wait_whose_function_has_waited_itself()
  local task = async(expect(function()
    local _, err = await(function() await(smartstore.soupExists, "s") end)
    same(err.code, "cancelled")
  end))
  -- Answered after the call above, when the function has returned.
  smartstore.soupExists("s", expect(function() task:cancel() end))
end

function tests.test_misuse()
  async(expect(function()
    raises("all: argument 1 'list' must be an array of tasks, functions or {fn, ...}, got string", tureen.all, "x")
    raises("all: argument 1 'list[2]' must be a task, a function or {fn, ...}, got number",
      tureen.all, { function() end, 1 })
    raises("race: argument 1 'list' must be an array with at least one element, got table", tureen.race, {})
    raises("timeout: argument 1 'ms' must be a number of milliseconds, 0 or more, got string", tureen.timeout, "1", print)
    raises("timeout: argument 2 'fn' must be a function or a task, got nil", tureen.timeout, 1)
    raises("await: argument 1 'fn' must be a function or a task, got table", await, {})
  end))
  local nowhere = ": it can wait only inside a task; call it inside tureen.async(function() ... end)"
  raises("all" .. nowhere, tureen.all, {})
  raises("race" .. nowhere, tureen.race, { print })
  raises("sleep" .. nowhere, tureen.sleep, 1)
  raises("waitEvent" .. nowhere, tureen.waitEvent, "sync")
end

function tests.test_promiser()
  local promiser = require "com.salesforce.util.promiser"
  local soup_exists = promiser(smartstore, "soupExists", "smartstore")
  async(expect(function()
    same(soup_exists("s").action, "pgSoupExists")
    local _, err = soup_exists("fail")
    same(err.code, "noSuchSoup")
    same(promiser(mobilesync, "syncDown")({}, "s", {}).status, "DONE", "an optional argument left out")
    same(promiser({ twice = function(success) success(1); success(2) end }, "twice")(), 1)
    raises("soupExists: argument 1 'soupName' must be a string, got number", soup_exists, 1)
  end))
  raises("promiser: smartstore has no function 'nothing'", promiser, smartstore, "nothing", "smartstore")
  raises("promiser: argument 1 'object' must be a table, got nil", promiser, nil, "x")
end

harness.run(tests)
