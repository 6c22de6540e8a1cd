--- Waits for several tasks, for some time, or for an event.
local core = ...
local async = core.import "async"
local arguments = core.import "arguments"
local calls = core.import "calls"
local event = core.import "event"
local timers = core.import "timers"

local M = {}

function M.check_ms(caller, position, name, ms)
  if math.type(ms) and ms >= 0 then return end
  core.raise("invalidArguments", ("%s: argument %d '%s' must be a number of milliseconds, 0 or more, got %s")
    :format(caller, position, name, ms ~= ms and "NaN" or type(ms) == "number" and tostring(ms) or arguments.type_name(ms)))
end

--- Returns true if an element has the form `{fn, ...}`.
local function is_call(element)
  return type(element) == "table" and type(element[1]) == "function"
end

--- Starts the elements: tasks, functions to run as tasks, or `{fn, ...}` to await. Calls `tell(i, ...)` when the i-th has ended.
--- Checks all elements before it starts the first one. Returns the tasks.
local function watch(caller, list, tell)
  local tasks = {}
  for i, element in ipairs(list) do
    if not (async.is_task(element) or type(element) == "function" or is_call(element)) then
      arguments.wrong(caller, 1, ("list[%d]"):format(i), "a task, a function or {fn, ...}", element)
    end
  end
  for i, element in ipairs(list) do
    local task = async.is_task(element) and element
      or async.create(type(element) == "function" and element or async.await)
    tasks[i] = task
    -- Register before starting, so that an error which is raised at once is reported.
    async.when_ended(task, function(...) tell(i, ...) end)
    if is_call(element) then
      async.start(task, table.unpack(element, 1, math.max(#element, element.n or 0)))
    elseif task ~= element then
      async.start(task)
    end
  end
  return tasks
end

--- Waits until `begin(settle)` settles, and abandons the tasks that have not ended by then.
local function wait_for_some(caller, begin)
  local tasks
  local results = table.pack(async.wait(caller, function(settle)
    tasks = begin(settle)
    return nil, tasks
  end))
  for _, task in ipairs(tasks or {}) do async.abandon(task) end
  return table.unpack(results, 1, results.n)
end

local function check_list(caller, list)
  if type(list) == "table" and arguments.is_list(list) then return end
  arguments.wrong(caller, 1, "list", "an array of tasks, functions or {fn, ...}", list)
end

--- Waits for all elements and returns their first results in a list, in the given order. At the first failure it returns nil and
--- the error; the others continue, and their errors are not reported.
---@param list (tureen.Task|function|table)[]  tasks, functions to run, or `{fn, ...}` with the arguments of `await`
---@return any[]? values
---@return tureen.Error? err
function M.all(list)
  return wait_for_some("all", function(settle)
    check_list("all", list)
    local values, left = core.array(), #list
    if left == 0 then return settle(values) end
    return watch("all", list, function(i, value, err)
      if value == nil and err ~= nil then return settle(nil, err) end
      if value == nil then value = core.null end
      values[i] = value
      left = left - 1
      if left == 0 then settle(values) end
    end)
  end)
end

--- Waits for the first element that ends, successfully or not. The others continue, and their errors are not reported.
---@param list (tureen.Task|function|table)[]  elements as for `all`; not empty
---@return any value
---@return tureen.Error? err
---@return integer position  the index of the element
function M.race(list)
  return wait_for_some("race", function(settle)
    check_list("race", list)
    if #list == 0 then arguments.wrong("race", 1, "list", "an array with at least one element", list) end
    return watch("race", list, function(i, value, err) settle(value, err, i) end)
  end)
end

--- Awaits `fn(...)` for at most `ms` milliseconds. After that it is cancelled, and the error has the code `timeout`.
---@param ms number
---@param fn function|tureen.Task
---@return any value
---@return tureen.Error? err
function M.timeout(ms, fn, ...)
  M.check_ms("timeout", 1, "ms", ms)
  if type(fn) ~= "function" and not async.is_task(fn) then
    arguments.wrong("timeout", 2, "fn", "a function or a task", fn)
  end
  local given = table.pack(...)
  return async.wait("timeout", function(settle)
    local task = async.is_task(fn) and fn or async.create(async.await)
    local timer = timers.after(ms, function()
      task:cancel()
      settle(nil, calls.new_error("timeout", ("no answer within %g ms"):format(ms), { retryable = true }))
    end)
    async.when_ended(task, function(...)
      timer:cancel()
      settle(...)
    end)
    if task ~= fn then async.start(task, fn, table.unpack(given, 1, given.n)) end
    return task, { task }
  end)
end

--- Waits for `ms` milliseconds; other tasks and callbacks run meanwhile.
---@param ms number
---@return true? done  nil, with an error, if the task is cancelled meanwhile
---@return tureen.Error? err
function M.sleep(ms)
  M.check_ms("sleep", 1, "ms", ms)
  local timer
  local done, err = async.wait("sleep", function(settle)
    timer = timers.after(ms, function() settle(true) end)
  end)
  if not done and timer then timer:cancel() end
  return done, err
end

--- Calls `fn` once, from a poll, after `ms` milliseconds. `tureen.run` waits for it.
---@param ms number
---@param fn fun()
---@return tureen.Timer  with `cancel()`
function M.after(ms, fn)
  M.check_ms("after", 1, "ms", ms)
  if type(fn) ~= "function" then arguments.wrong("after", 2, "fn", "a function", fn) end
  return timers.after(ms, fn)
end

--- Waits for the first event for which `filter` returns true, for at most `ms` milliseconds if given.
---@param name string
---@param filter (fun(detail: any): boolean)?
---@param ms number?
---@return any detail
---@return tureen.Error? err  code `timeout`
function M.wait_event(name, filter, ms)
  if type(name) ~= "string" then arguments.wrong("waitEvent", 1, "name", "a string", name) end
  if filter == core.null then filter = nil end
  if ms == core.null then ms = nil end
  if filter ~= nil and type(filter) ~= "function" then arguments.wrong("waitEvent", 2, "filter", "a function", filter) end
  if ms ~= nil then M.check_ms("waitEvent", 3, "ms", ms) end
  local timer, listener
  local results = table.pack(async.wait("waitEvent", function(settle)
    listener = function(detail)
      if filter == nil or filter(detail) then settle(detail) end
    end
    event.on(name, listener)
    timer = ms and timers.after(ms, function()
      settle(nil, calls.new_error("timeout", ("no event '%s' within %g ms"):format(name, ms), { retryable = true }))
    end)
  end))
  if listener then event.off(name, listener) end
  if timer then timer:cancel() end
  return table.unpack(results, 1, results.n)
end

for _, name in ipairs { "all", "race", "timeout", "sleep", "wait_event" } do async.waits_itself(M[name]) end

return M
