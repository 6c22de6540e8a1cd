--- Tests tasks and `await`. The host is that of callbacks_test.lua.
local tureen = require "tureen"
local harness = require "harness"
local same, raises, expect = harness.same, harness.raises, harness.expect
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync
local async, await = tureen.async, tureen.await

local tests = {}

local function steps(...) return { steps = { ... } } end

function tests.test_await_returns_the_value()
  local order = {}
  async(expect(function(argument)
    same(argument, "given")
    order[#order + 1] = "started"
    local echo, err = await(smartstore.soupExists, "s")
    same(err, nil)
    same(echo.arguments, { soupName = "s" })
    order[#order + 1] = "answered"
  end), "given")
  order[#order + 1] = "returned"
  tureen.run()
  same(order, { "started", "returned", "answered" })
end

function tests.test_await_returns_nil_and_the_error()
  async(expect(function()
    local value, err = await(smartstore.soupExists, "fail")
    same(value, nil)
    same(err.code, "noSuchSoup")
  end))
end

function tests.test_await_finds_its_place_with_optional_arguments_left_out()
  async(expect(function()
    same(await(mobilesync.syncDown, steps("DONE"), "s").status, "DONE")
    same(await(mobilesync.syncDown, true, steps("DONE"), "s", {}, "n").name, "n")
    same(await(mobilesync.syncUp, "s", { fieldlist = {} }).status, "DONE")
    same(await(mobilesync.syncUp, true, steps("DONE"), "s", {}, nil).status, "DONE")
    same(await(smartstore.getDatabaseSize).action, "pgGetDatabaseSize")
    same(await(smartstore.getDatabaseSize, true).store.isGlobal, true)
    same(await(mobilesync.getSyncStatus, "none"), tureen.null)
  end))
end

function tests.test_await_of_a_sync_waits_for_its_end()
  async(expect(function()
    local sync = await(mobilesync.syncDown, steps("RUNNING", "RUNNING:50", "DONE:100"), "s", {})
    same(sync.status .. sync.progress, "DONE100")
    local stopped, err = await(mobilesync.syncDown, steps("RUNNING", "STOPPED:40"), "s", {}, "nightly")
    same(stopped, nil)
    same(err.code, "stopped")
    same(err.message, "the sync 'nightly' was stopped")
    same(err.sync.progress, 40)
    local failed, reason = await(mobilesync.syncDown, steps("RUNNING", "FAILED:40"), "s", {})
    same(failed, nil)
    same(reason.code, "serverError")
    same(reason.sync.status, "FAILED")
  end))
end

function tests.test_await_of_any_function_with_callbacks_last()
  local function immediate(a, b, success) success(a + b) end
  local function failing(_, failure) failure() end
  async(expect(function()
    same(await(immediate, 1, 2), 3)
    local value, err = await(failing)
    same(value, nil)
    same(err.code, "internal")
    same(await(function(success) success() end), tureen.null)
    same(await(function(success) success(false) end), false)
    same(await(function(success, failure) success(1); success(2); failure("x") end), 1)
  end))
end

function tests.test_await_outside_a_coroutine_is_misuse()
  local message = "await: it can wait only inside a task; call it inside tureen.async(function() ... end)"
  raises(message, await, smartstore.soupExists, "s")
  smartstore.soupExists("s", expect(function() raises(message, await, smartstore.soupExists, "s") end))
  async(expect(function()
    table.sort({ 2, 1 }, function(a, b)
      raises(message, await, smartstore.soupExists, "s")
      return a < b
    end)
  end))
  raises("await: argument 1 'fn' must be a function or a task, got nil", await)
  raises("async: argument 1 'fn' must be a function, got table", async, {})
end

function tests.test_await_misuse_raises_into_the_coroutine()
  async(expect(function()
    raises("soupExists: argument 1 'soupName' must be a string, got number", await, smartstore.soupExists, 1)
  end))
end

function tests.test_await_inside_pcall_and_metamethods()
  async(expect(function()
    local ok, echo = pcall(await, smartstore.soupExists, "s")
    same(ok, true)
    same(echo.action, "pgSoupExists")
    local lazy = setmetatable({}, { __index = function(_, key) return await(smartstore.soupExists, key) end })
    same(lazy.contacts.arguments.soupName, "contacts")
  end))
end

function tests.test_error_in_a_task_is_reported_with_its_traceback()
  local reports = {}
  tureen.onerror = function(err, traceback) reports[#reports + 1] = { err, traceback } end
  local closed = 0
  local function deep_inside()
    await(smartstore.soupExists, "s")
    local guard <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
    same(guard ~= nil, true)
    error("broken", 0)
  end
  local task = async(function() deep_inside() end)
  same(task:status(), "running")
  tureen.run()
  same(task:status(), "failed")
  same(closed, 1)
  same(#reports, 1)
  same(reports[1][1], "broken")
  same(reports[1][2]:find("deep_inside", 1, true) ~= nil, true, reports[1][2])
  local at_once = async(function() error("at once", 0) end)
  same(at_once:status(), "failed")
  same(#reports, 2)
end

function tests.test_tasks_run_side_by_side()
  local finished = {}
  for i = 1, 20 do
    async(function()
      for _ = 1, i do await(smartstore.soupExists, "s") end
      finished[#finished + 1] = i
    end)
  end
  tureen.run()
  for i = 1, 20 do same(finished[i], i) end
end

function tests.test_coroutines_of_the_scripts_own_making()
  local co = coroutine.create(expect(function()
    same(await(smartstore.soupExists, "s").action, "pgSoupExists")
  end))
  same(coroutine.resume(co), true)
  same(coroutine.resume(co), true, "somebody else's resume")
  tureen.run()
  same(coroutine.status(co), "dead")
end

--- Returns a function that gives the items of a generator, which `begin` pauses before each one.
local function generator(begin)
  return coroutine.wrap(function()
    for i = 1, 3 do
      begin()
      coroutine.yield("item" .. i)
    end
  end)
end

function tests.test_wait_in_a_coroutine_that_a_task_resumes_is_misuse()
  local rest = ": it cannot wait in a coroutine that a task resumes, because the pause would end that resume without a value; "
    .. "wait before it, or make the coroutine a task with tureen.async"
  local waits = {
    await = function() await(smartstore.soupExists, "s") end,
    sleep = function() tureen.sleep(1) end,
    all = function() tureen.all { function() end } end,
    waitEvent = function() tureen.waitEvent "sync" end,
    timeout = function() tureen.timeout(1, smartstore.soupExists, "s") end,
  }
  for name, begin in pairs(waits) do
    async(expect(function()
      raises(name .. rest, generator(begin))
      tureen.sleep(0)
      raises(name .. rest, generator(begin))
      local deeper = coroutine.wrap(function() generator(begin)() end)
      raises(name .. rest, deeper)
    end))
  end
end

function tests.test_coroutines_and_tasks_inside_a_task()
  async(expect(function()
    local items = {}
    for item in generator(function() end) do items[#items + 1] = item end
    same(items, { "item1", "item2", "item3" })
    -- A task that a coroutine starts waits as any other.
    local inner = coroutine.wrap(function() return async(function() return await(smartstore.soupExists, "s").action end) end)()
    same(await(inner), "pgSoupExists")
  end))
end

function tests.test_coroutine_of_a_callback_waits_while_a_task_polls()
  async(expect(function()
    local done
    tureen.after(0, function()
      coroutine.wrap(function() done = await(smartstore.soupExists, "s").action end)()
    end)
    while not done do tureen.poll(1000) end
    same(done, "pgSoupExists")
    -- The polling task is still a task.
    raises("sleep: it cannot wait in a coroutine that a task resumes, because the pause would end that resume without a value; "
      .. "wait before it, or make the coroutine a task with tureen.async", coroutine.wrap(tureen.sleep), 1)
  end))
end

function tests.test_error_whose_text_raises_fails_its_task_alone()
  local err = setmetatable({}, { __tostring = function() error "inner" end })
  local reports = {}
  tureen.onerror = function(reported) reports[#reports + 1] = reported end
  local task = async(function() error(err) end)
  same(task:status(), "failed")
  same(rawequal(reports[1], err), true)
  async(expect(function()
    local value, failure = await(async(function()
      await(smartstore.soupExists, "s")
      error(err)
    end))
    same(value, nil)
    same({ failure.code, failure.message }, { "raised", "a table that cannot be converted to text" })
    same(rawequal(failure.value, err), true)
  end))
end

function tests.test_closed_coroutine_drops_its_result()
  local co = coroutine.create(function()
    await(smartstore.soupExists, "s")
    error("must not go on")
  end)
  coroutine.resume(co)
  coroutine.close(co)
end

function tests.test_poll_inside_a_task()
  async(expect(function()
    local done = false
    smartstore.soupExists("s", function() done = true end)
    while not done do tureen.poll(1000) end
  end))
end

function tests.test_task_status()
  local task = async(function() await(smartstore.soupExists, "s") end)
  same(task:status(), "running")
  tureen.run()
  same(task:status(), "done")
end

harness.run(tests)
