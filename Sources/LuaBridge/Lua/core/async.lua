--- Tasks and awaiting: `local value, err = await(fn, ...)` inside `async(function() ... end)`.
local core = ...
local guard = core.import "guard"
local calls = core.import "calls"
local arguments = core.import "arguments"

local M = {}

local FAILED, INTERRUPTED = 1, 130 -- the exit statuses of `tureen run`

--- A function that runs in its own coroutine.
---@class tureen.Task
local Task = {}
Task.__index = Task
Task.__name = "tureen.Task"

local task_of = setmetatable({}, { __mode = "k" })  -- coroutine -> its task
local wait_of = setmetatable({}, { __mode = "k" })  -- coroutine -> its current wait: {caller, settle, first, last, ...}
local unfinished, count = {}, 0                     -- task -> its number, for tasks whose end is awaited or reported
local waits_itself = setmetatable({}, { __mode = "k" }) -- function -> true: it waits without callbacks

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

--- Returns the error table, with a traceback, that a raising task passes to the tasks that await it.
local function as_error(err, traceback)
  if not core.is_error(err) then
    local said = type(err) == "table" and getmetatable(err) == nil and err.message
    err = calls.new_error("raised", type(said) == "string" and said or guard.text(err), { value = err })
  end
  if err.traceback == nil then err.traceback = traceback end
  return err
end

--- Ends a task with the results of its function, or with nil and the error.
---@return boolean is_heard  true if a task or a function was waiting for the end
local function finish(task, state, ...)
  unfinished[task] = nil
  task.state = state
  local owner, waiting = task.owner, task.waiting
  if owner then
    owner.ended(task, ...)
    return true
  end
  task.outcome, task.waiting = table.pack(...), nil
  if waiting == nil then return false end
  for _, tell in ipairs(waiting) do tell(...) end
  return true
end

--- Passes a task's error to the tasks that await it, or to `tureen.onerror` if there are none.
local function fail(thread, task, err)
  local traceback = core.traceback(thread)
  local closed, second = coroutine.close(thread)
  if task then task.raised = err end
  local is_heard = task and finish(task, "failed", nil, as_error(err, traceback))
  if not is_heard then guard.report(err, traceback) end
  if not closed and second ~= err then guard.report(second, traceback) end
end

local function stepped(thread, task, ok, ...)
  if not ok then return fail(thread, task, (...)) end
  if task and coroutine.status(thread) == "dead" then finish(task, "done", ...) end
end

--- Restores the task that ran before a coroutine was resumed.
local function left(before, ...)
  calls.task = before
  return ...
end

--- Resumes a coroutine until it waits again or ends.
local function step(thread, ...)
  local before, task = calls.task, task_of[thread]
  calls.task = task
  return stepped(thread, task, left(before, coroutine.resume(thread, ...)))
end

--- Creates a task without starting it. `start(task, ...)` runs `fn(...)` up to its first `await`.
---
--- If the task has an owner, its end is reported only by `owner.ended(task, ...)`, with the results, or nil and the error.
---@param fn function
---@param owner table?  {ended = function}
---@return tureen.Task
function M.create(fn, owner)
  local task = setmetatable({ thread = coroutine.create(fn), state = "running", owner = owner }, Task)
  task_of[task.thread] = task
  count = count + 1
  unfinished[task] = count
  return task
end

--- Stops reporting the end of a task and of the tasks that it awaits.
---@param task tureen.Task
function M.abandon(task)
  if not unfinished[task] then return end
  unfinished[task] = nil
  local wait = wait_of[task.thread]
  for _, other in ipairs(wait and wait.tasks or {}) do M.abandon(other) end
end

function M.start(task, ...) step(task.thread, ...) end

--- Runs `fn(...)` as a task: at once up to its first `await`, the rest from `poll`.
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
---@return tureen.Task task, boolean ok, any err  the results of `calls.run`
local function run_task(caller, main, ...)
  if type(main) ~= "function" then
    core.raise("invalidArguments",
      ("%s: argument 1 'main' must be a function, got %s"):format(caller, arguments.type_name(main)))
  end
  local task, given = M.create(main), table.pack(...)
  M.when_ended(task, function() end) -- the caller gets its error
  return task, calls.run(function() M.start(task, table.unpack(given, 1, given.n)) end, caller)
end

--- Polls until nothing is pending, like `calls.run`. If `main` is given, it is run as a task first; an error in it is returned
--- and not passed to `tureen.onerror`.
---@param main function?
---@return boolean ok
---@return any result  the result of `main`, or the error; an error that `main` raised is returned unchanged
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

--- Closes the state and ends the program with an exit status other than 0.
local function leave(status, err)
  -- Clear the failure, so that the next program in the same state starts without it.
  guard.take_failure()
  if core.leave(status) and os and os.exit then os.exit(status, true) end
  error(err, 0) -- in a prompt, or in a program that removes `os.exit`
end

--- Runs a whole program: `main` as a task, like `run`, and then everything that is pending. An error is reported on stderr with
--- its traceback, or passed to `tureen.onerror`, and the program ends with exit status 1.
---
--- `main` may return an exit status from 0 to 255; false means 1, and so does nil with an error, which is reported. With status
--- 0 the function returns. In a program that embeds Lua use `run`, which returns the error and does not end the program.
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
    local failure = as_error(outcome[2], "returned by the function passed to main")
    guard.report(failure, failure.traceback)
    return leave(FAILED, failure)
  end
  local status = ok and exit_status(outcome[1]) or FAILED
  if status ~= 0 then leave(status, err or ("exit status %d"):format(status)) end
end

--- Ends the task's current `await` with `nil` and an error of code `cancelled`; every later `await` ends like that at once.
---
--- The awaited call is cancelled as by `tureen.cancel`. Does nothing if the task has ended.
function Task:cancel()
  if self.state ~= "running" or self.cancelled then return end
  self.cancelled = true
  local wait = wait_of[self.thread]
  if wait == nil then return end
  for id = wait.first, wait.last do calls.cancel(id) end
  if wait.task then wait.task:cancel() end
  -- Settle at the next poll, after the running code.
  calls.defer(wait.settle, nil, cancelled_error())
end

--- Calls `tell(...)` with the task's results, or with nil and its error, once the task has ended.
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

--- Returns the error for a sync that was stopped.
function M.stopped(state)
  local name = type(state.name) == "string" and (" '" .. state.name .. "'") or ""
  local limited = math.type(state.resumeAt) == "integer" and state.resumeAt > 0
  local why = limited and state.warnings and state.warnings[1]
  return calls.new_error("stopped", "the sync" .. name .. " was stopped" .. (why and ": " .. why or ""),
    { domain = "sync", sync = state })
end

--- Returns the callbacks of an awaited call. `settle(value, err)` is called once.
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

--- Calls `fn` with callbacks in their proper positions.
local function call(fn, settle, ...)
  local starter = arguments.starters[fn]
  local success, failure = callbacks(settle, starter and starter.is_sync)
  if starter then return starter.start(success, failure, ...) end
  local given = table.pack(...)
  given[given.n + 1], given[given.n + 2] = success, failure
  fn(table.unpack(given, 1, given.n + 2))
end

--- Raises if a coroutine that is not a task would wait inside a task: its pause would reach the code that resumed it as a value.
local function check_thread(caller, thread)
  if not coroutine.isyieldable() then
    core.raise("invalidArguments",
      caller .. ": it can wait only inside a task; call it inside tureen.async(function() ... end)")
  end
  if calls.task and task_of[thread] == nil then
    core.raise("invalidArguments", caller .. ": it cannot wait in a coroutine that a task resumes, because the pause would end "
      .. "that resume without a value; wait before it, or make the coroutine a task with tureen.async")
  end
end

--- Calls `begin(settle)`, suspends the running coroutine until `settle(...)` is called, and returns its arguments.
---
--- `begin` runs at once and may settle at once. It returns the task to cancel together with this one, if any, and a list of the
--- awaited tasks. `fn` is the function that was given callbacks.
function M.wait(caller, begin, fn)
  local thread = coroutine.running()
  check_thread(caller, thread)
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
  wait_of[thread] = wait -- functions called by `begin` may have waited in this coroutine
  wait.last = calls.last_id()
  is_waiting, wait.is_begun = true, true
  while not outcome do coroutine.yield() end
  wait_of[thread] = nil
  local value, err = outcome[1], outcome[2]
  if value == nil and type(err) == "table" and err.traceback == nil then err.traceback = core.traceback() end
  return table.unpack(outcome, 1, outcome.n)
end

--- Calls `fn(..., success, error)` and waits for the result. For a sync it waits until the sync has ended.
---
--- Functions of Tureen's modules know the position of their callbacks, whichever optional arguments are omitted; other functions
--- get them after the given arguments. A task that `async` returned can be awaited, too: the results are those of its function,
--- or nil and the error it raised. A function that waits itself, such as `sleep`, is simply called. If a function neither waits
--- nor calls its callbacks, `run` reports it at its end.
---@param fn function|tureen.Task
---@return any value  the argument of success; nil if the call failed
---@return tureen.Error? err  with the `traceback` of the `await`
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

--- Registers a function that waits in the calling coroutine, so that `await(fn, ...)` is the same as `fn(...)`.
function M.waits_itself(fn)
  waits_itself[fn] = true
end

--- Returns true if a task waits for an event, directly or through other tasks. Like a listener, it does not keep `run` waiting.
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
  local err = calls.new_error("stillWaiting", what .. "; nothing is pending that could resume it")
  err.traceback = core.traceback(task.thread)
  return err
end

--- Reports each task that still waits although nothing is pending.
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
