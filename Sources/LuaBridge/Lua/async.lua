--- Coroutine style: `local value, err = await(fn, ...)` inside `async(function() ... end)`.
local core = ...
local guard = core.import "guard"
local calls = core.import "calls"
local arguments = core.import "arguments"

local M = {}

---@class tureen.Task
local Task = {}
Task.__index = Task
Task.__name = "tureen.Task"

local failed = setmetatable({}, { __mode = "k" }) -- coroutine -> true when it ended with an error

--- "running" until the function has returned ("done") or raised ("failed").
---@return "running"|"done"|"failed"
function Task:status()
  if failed[self.thread] then return "failed" end
  return coroutine.status(self.thread) == "dead" and "done" or "running"
end

--- Runs a coroutine on until it waits again or ends; its error goes to `tureen.onerror` with its traceback.
local function step(thread, ...)
  local ok, err = coroutine.resume(thread, ...)
  if ok then return end
  failed[thread] = true
  local traceback = core.traceback(thread)
  guard.report(err, traceback)
  local closed, second = coroutine.close(thread)
  if not closed and second ~= err then guard.report(second, traceback) end
end

--- Runs `fn(...)` as a coroutine of its own: at once up to its first `await`, the rest from `poll`.
---@param fn function
---@return tureen.Task
function M.async(fn, ...)
  if type(fn) ~= "function" then
    core.raise("invalidArguments", ("async: argument 1 'fn' must be a function, got %s"):format(type(fn)))
  end
  local task = setmetatable({ thread = coroutine.create(fn) }, Task)
  step(task.thread, ...)
  return task
end

local function stopped(state)
  local name = type(state.name) == "string" and (" '" .. state.name .. "'") or ""
  return calls.new_error("stopped", "the sync" .. name .. " was stopped", { domain = "sync", sync = state })
end

--- The callbacks an awaited call gets. `settle(value, err)` is called once.
local function callbacks(settle, is_sync)
  local function success(value)
    if is_sync and type(value) == "table" then
      if value.status == "STOPPED" then return settle(nil, stopped(value)) end
      if value.status ~= "DONE" then return end
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

--- Calls `fn(..., success, error)` and waits for the answer. A sync is waited for until it has ended.
---
--- Functions of Tureen's own modules know where their callbacks belong, whichever optional arguments are left out; any
--- other function gets them behind the arguments given.
---@param fn function
---@return any value  what success was given; nil when the call failed
---@return tureen.Error? err
function M.await(fn, ...)
  if type(fn) ~= "function" then
    core.raise("invalidArguments", ("await: argument 1 'fn' must be a function, got %s"):format(type(fn)))
  end
  if not coroutine.isyieldable() then
    core.raise("invalidArguments",
      "await: there is nothing here that could wait; call it inside tureen.async(function() ... end)")
  end
  local thread = coroutine.running()
  local settled, waiting, result, reason = false, false, nil, nil
  local function settle(value, err)
    if settled then return end
    settled, result, reason = true, value, err
    if waiting and coroutine.status(thread) == "suspended" then step(thread) end
  end
  local starter = arguments.starters[fn]
  local success, failure = callbacks(settle, starter and starter.is_sync)
  if starter then
    starter.start(success, failure, ...)
  else
    local given = table.pack(...)
    given[given.n + 1], given[given.n + 2] = success, failure
    fn(table.unpack(given, 1, given.n + 2))
  end
  waiting = true
  while not settled do coroutine.yield() end
  return result, reason
end

return M
