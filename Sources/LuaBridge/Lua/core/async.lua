--- Coroutine style: `local value, err = await(fn, ...)` inside `async(function() ... end)`.
local core = ...
local guard = core.import "guard"
local calls = core.import "calls"
local arguments = core.import "arguments"

local M = {}

local FAILED, INTERRUPTED = 1, 130 -- exit statuses, as `tureen run` has them

--- A function that runs as a coroutine of its own.
---@class tureen.Task
local Task = {}
Task.__index = Task
Task.__name = "tureen.Task"

local task_of = setmetatable({}, { __mode = "k" })  -- coroutine -> its task
local wait_of = setmetatable({}, { __mode = "k" })  -- coroutine -> what it waits for now: {caller, settle, first, last, ...}
local unfinished, count = {}, 0                     -- task -> its number: those whose end is waited for or reported
local waits_itself = setmetatable({}, { __mode = "k" }) -- function -> true: it needs no callbacks to be awaited

--- "running" until the function has returned ("done") or raised ("failed").
---@return "running"|"done"|"failed"
function Task:status()
  return self.state
end

--- True once `cancel` was called while the task ran.
---@return boolean
function Task:is_cancelled()
  return self.cancelled == true
end

local function cancelled_error()
  return calls.new_error("cancelled", "the task was cancelled")
end

--- Makes the error table that a raising task gives to the tasks that wait for it, with the traceback.
local function as_error(err, traceback)
  if not core.is_error(err) then
    err = calls.new_error("raised", tostring(err), { value = err })
  end
  if err.traceback == nil then err.traceback = traceback end
  return err
end

--- Ends a task: `outcome` is what its function returned, or nil and the error.
local function finish(task, state, outcome)
  task.state, task.outcome = state, outcome
  unfinished[task] = nil
  local waiting = task.waiting
  task.waiting = nil
  for _, tell in ipairs(waiting or {}) do tell(table.unpack(outcome, 1, outcome.n)) end
  return waiting ~= nil
end

--- Passes a task's error to the tasks that wait for it; without one, to `tureen.onerror`.
local function fail(thread, task, err)
  local traceback = core.traceback(thread)
  local closed, second = coroutine.close(thread)
  if task then task.raised = err end
  local is_heard = task and finish(task, "failed", table.pack(nil, as_error(err, traceback)))
  if not is_heard then guard.report(err, traceback) end
  if not closed and second ~= err then guard.report(second, traceback) end
end

--- Resumes a coroutine until it waits again or ends.
local function step(thread, ...)
  local task = task_of[thread]
  local results = table.pack(coroutine.resume(thread, ...))
  if not results[1] then return fail(thread, task, results[2]) end
  if task and coroutine.status(thread) == "dead" then finish(task, "done", table.pack(table.unpack(results, 2, results.n))) end
end

--- Makes a task that has not begun. `start(task, ...)` begins it: `fn(...)` runs up to its first `await`.
---@param fn function
---@return tureen.Task
function M.create(fn)
  local task = setmetatable({ thread = coroutine.create(fn), state = "running" }, Task)
  task_of[task.thread] = task
  count = count + 1
  unfinished[task] = count
  return task
end

--- Stops reporting how a task ends, and the tasks it waits for.
---@param task tureen.Task
function M.abandon(task)
  if not unfinished[task] then return end
  unfinished[task] = nil
  local wait = wait_of[task.thread]
  for _, other in ipairs(wait and wait.tasks or {}) do M.abandon(other) end
end

function M.start(task, ...) step(task.thread, ...) end

--- Runs `fn(...)` as a coroutine of its own: at once up to its first `await`, the rest from `poll`.
---@param fn function
---@return tureen.Task
function M.async(fn, ...)
  if type(fn) ~= "function" then
    core.raise("invalidArguments", ("async: argument 1 'fn' must be a function, got %s"):format(type(fn)))
  end
  local task = M.create(fn)
  M.start(task, ...)
  return task
end

--- Runs `main` as a task, then polls until nothing is pending.
---@return tureen.Task task, boolean ok, any err  what `calls.run` returned
local function run_task(caller, main, ...)
  if type(main) ~= "function" then
    core.raise("invalidArguments",
      ("%s: argument 1 'main' must be a function, got %s"):format(caller, arguments.type_name(main)))
  end
  local task, given = M.create(main), table.pack(...)
  M.when_ended(task, function() end) -- the caller gets its error
  return task, calls.run(function() M.start(task, table.unpack(given, 1, given.n)) end, caller)
end

--- Polls until nothing is pending, as `calls.run` does. A function is run as a task first; an error in it is returned, and
--- `tureen.onerror` does not get it.
---@param main function?
---@return boolean ok
---@return any result  what `main` returned, or the error; as `main` raised it, when that was it
---@return string? traceback  of an error that `main` raised
function M.run(main, ...)
  if main == nil then return calls.run() end
  local task, ok, err = run_task("run", main, ...)
  if task.state == "failed" then return false, task.raised, task.outcome[2].traceback end
  if ok and task.state == "done" then return true, table.unpack(task.outcome, 1, task.outcome.n) end
  return ok, err
end

--- Converts the first result of a program's function to an exit status; raises if it is out of range.
local function exit_status(result)
  if result == false then return FAILED end
  if math.type(result) ~= "integer" then return 0 end
  if result < 0 or result > 255 then
    core.raise("invalidArguments", ("main: an exit status must be from 0 to 255, got %d"):format(result))
  end
  return result
end

--- Ends the program with an exit status other than 0; the state is closed first.
local function leave(status, err)
  -- It ends this program; the next one of the same state begins without it.
  guard.take_failure()
  if core.leave(status) and os and os.exit then os.exit(status, true) end
  error(err, 0) -- a prompt, or a program that takes `os.exit` away
end

--- Runs a whole program: `main` as a task, as `run` does, and then everything that is pending. An error is reported on stderr
--- with the traceback of where it happened, or passed to `tureen.onerror`, and the program ends with exit status 1.
---
--- `main` may return an exit status from 0 to 255; false is 1, and so is nil with an error, which is reported. With status 0
--- this returns. In a program that embeds Lua, use `run`: it returns the error and ends nothing.
---@param main fun(...): any
function M.main(main, ...)
  local task, ok, err = run_task("main", main, ...)
  if core.interrupted() then return leave(INTERRUPTED, err) end
  local outcome = task.outcome or {}
  if task.state == "failed" then
    guard.report(task.raised, outcome[2].traceback)
    return leave(FAILED, task.raised)
  end
  if outcome[1] == nil and outcome[2] ~= nil then
    local failure = as_error(outcome[2], "returned by the function that main was given")
    guard.report(failure, failure.traceback)
    return leave(FAILED, failure)
  end
  local status = ok and exit_status(outcome[1]) or FAILED
  if status ~= 0 then leave(status, err or ("exit status %d"):format(status)) end
end

--- Ends what the task waits for with `nil` and an error of code `cancelled`, and every `await` it makes from then on at once.
---
--- The call it waits for is given up as `tureen.cancel` does. Nothing happens when the task has ended.
function Task:cancel()
  if self.state ~= "running" or self.cancelled then return end
  self.cancelled = true
  local wait = wait_of[self.thread]
  if wait == nil then return end
  for id = wait.first, wait.last do calls.cancel(id) end
  if wait.task then wait.task:cancel() end
  -- Not inside the caller: what runs now runs to its end first.
  calls.defer(wait.settle, nil, cancelled_error())
end

--- Calls `tell(...)` with the task's results, or with nil and its error: at once if it has ended, else when it ends.
---@param task tureen.Task
---@param tell function
function M.when_ended(task, tell)
  if task.state ~= "running" then return tell(table.unpack(task.outcome, 1, task.outcome.n)) end
  task.waiting = task.waiting or {}
  table.insert(task.waiting, tell)
end

function M.is_task(value)
  return getmetatable(value) == Task
end

--- Makes the error of a sync that was stopped.
function M.stopped(state)
  local name = type(state.name) == "string" and (" '" .. state.name .. "'") or ""
  local limited = math.type(state.resumeAt) == "integer" and state.resumeAt > 0
  local why = limited and state.warnings and state.warnings[1]
  return calls.new_error("stopped", "the sync" .. name .. " was stopped" .. (why and ": " .. why or ""),
    { domain = "sync", sync = state })
end

--- Makes the callbacks of an awaited call. `settle(value, err)` is called once.
local function callbacks(settle, is_sync)
  local function success(value)
    if is_sync and type(value) == "table" then
      local has_ended_well = value.status == "DONE" or value.status == "STOPPED" and value.hasMore
      if not has_ended_well then
        if value.status == "STOPPED" then settle(nil, M.stopped(value)) end
        return
      end
    end
    if value == nil then value = core.null end
    settle(value)
  end
  local function failure(err)
    if err == nil then err = calls.new_error("internal", "the call failed without a reason") end
    settle(nil, err)
  end
  return success, failure
end

--- Calls `fn` with callbacks of its own where they belong.
local function call(fn, settle, ...)
  local starter = arguments.starters[fn]
  local success, failure = callbacks(settle, starter and starter.is_sync)
  if starter then return starter.start(success, failure, ...) end
  local given = table.pack(...)
  given[given.n + 1], given[given.n + 2] = success, failure
  fn(table.unpack(given, 1, given.n + 2))
end

--- Waits in the running coroutine until `begin(settle)` has led to `settle(...)`; returns what that was given.
---
--- `begin` runs at once, and may settle at once. What it returns is the task that is to be cancelled with this one, if there is
--- one, and a list of the tasks that are waited for. `fn` is the function that was given callbacks.
function M.wait(caller, begin, fn)
  if not coroutine.isyieldable() then
    core.raise("invalidArguments",
      caller .. ": it can wait only inside a task; call it inside tureen.async(function() ... end)")
  end
  local thread = coroutine.running()
  local task = task_of[thread]
  if task and task.cancelled then return nil, cancelled_error() end
  local outcome, is_waiting
  local function settle(...)
    if outcome then return end
    outcome = table.pack(...)
    if is_waiting and coroutine.status(thread) == "suspended" then step(thread) end
  end
  local wait = { caller = caller, fn = fn, settle = settle, first = calls.last_id() + 1 }
  wait_of[thread] = wait
  wait.task, wait.tasks = begin(settle)
  wait_of[thread] = wait -- what `begin` called may have waited here itself
  wait.last = calls.last_id()
  is_waiting, wait.is_begun = true, true
  while not outcome do coroutine.yield() end
  wait_of[thread] = nil
  local value, err = outcome[1], outcome[2]
  if value == nil and type(err) == "table" and err.traceback == nil then err.traceback = core.traceback() end
  return table.unpack(outcome, 1, outcome.n)
end

--- Calls `fn(..., success, error)` and waits for the answer. A sync is waited for until it has ended.
---
--- Functions of Tureen's own modules know where their callbacks belong, whichever optional arguments are left out; any
--- other function gets them behind the arguments given. A task that `async` returned can be waited for as well: then the
--- results are what its function returned, or nil and the error it raised. A function that waits itself, as `sleep` does, is
--- just called; one that neither does nor calls its callbacks is what `run` reports at its end.
---@param fn function|tureen.Task
---@return any value  what success was given; nil when the call failed
---@return tureen.Error? err  with the `traceback` of where it was waited for
function M.await(fn, ...)
  if M.is_task(fn) then
    local task = fn
    return M.wait("await", function(settle)
      M.when_ended(task, settle)
      return nil, { task }
    end)
  end
  if waits_itself[fn] then return fn(...) end
  if type(fn) ~= "function" then
    core.raise("invalidArguments",
      ("await: argument 1 'fn' must be a function or a task, got %s"):format(arguments.type_name(fn)))
  end
  local given = table.pack(...)
  return M.wait("await", function(settle) call(fn, settle, table.unpack(given, 1, given.n)) end, fn)
end
waits_itself[M.await] = true

--- Notes that a function waits in the coroutine that calls it: `await(fn, ...)` is `fn(...)` then.
function M.waits_itself(fn)
  waits_itself[fn] = true
end

--- Returns whether a task waits for an event, itself or through other tasks. Like a listener, it does not keep `run` waiting.
local function is_listening(task, seen)
  local wait = wait_of[task.thread]
  if wait == nil or seen[task] then return false end
  if wait.caller == "waitEvent" then return true end
  seen[task] = true
  for _, other in ipairs(wait.tasks or {}) do
    if other.state == "running" and is_listening(other, seen) then return true end
  end
  return false
end

local function still_waiting(task)
  local wait = wait_of[task.thread]
  local what = wait.tasks and ("a task still waits in %s for tasks that wait themselves"):format(wait.caller)
    or wait.fn and ("a task still waits for %s, which has not called its callbacks"):format(core.place(wait.fn))
    or ("a task still waits in %s"):format(wait.caller)
  local err = calls.new_error("stillWaiting", what .. "; nothing is pending that could go on with it")
  err.traceback = core.traceback(task.thread)
  return err
end

--- Reports the tasks that still wait although nothing is pending, each once.
calls.on_idle = function()
  local list = {}
  for task in pairs(unfinished) do
    local wait = wait_of[task.thread]
    if wait and wait.is_begun and not is_listening(task, {}) then list[#list + 1] = task end
  end
  table.sort(list, function(a, b) return unfinished[a] < unfinished[b] end)
  for _, task in ipairs(list) do
    unfinished[task] = nil
    local err = still_waiting(task)
    guard.report(err, err.traceback)
  end
end

return M
