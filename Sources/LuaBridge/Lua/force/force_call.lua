--- Implements the calling conventions of `tureen.force`: functions take callbacks and work with `await`. Called without
--- callbacks inside a task, they wait and return `value` or `nil, err`.
local core = ...
local arguments = core.import "arguments"
local async = core.import "async"
local calls = core.import "calls"
local guard = core.import "guard"

local M = {}

--- Creates an error of the domain `force`.
---@return tureen.Error
function M.new_error(code, message, extra)
  local err = calls.new_error(code, message, { domain = "force" })
  for key, value in pairs(extra or {}) do err[key] = value end
  return err
end

--- Raises an error about wrong use of a function.
function M.misuse(message, ...)
  core.raise("invalidArguments", message:format(...))
end

--- Returns whether a value is neither nil nor null.
function M.given(value)
  return value ~= nil and value ~= core.null
end

--- Returns a shallow copy of a table; an empty table for nil and null.
function M.copy(value)
  local result = {}
  if M.given(value) then
    for key, element in pairs(value) do result[key] = element end
  end
  return result
end

--- Adds the elements of `more` to `list`.
function M.append(list, more)
  for _, element in ipairs(more) do list[#list + 1] = element end
end

--- Calls the callback with a task's outcome, during a poll. Without an error callback a failure is reported.
---@param task tureen.Task
function M.tell_callbacks(task, success, failure)
  local place = not failure and core.where() or nil
  async.when_ended(task, function(value, err)
    if value == nil and err ~= nil then
      if failure then return calls.defer(failure, err) end
      if task:status() == "failed" then return guard.report(err, err.traceback or "") end
      return calls.unhandled(err, place)
    end
    if value == nil then value = core.null end
    if success then calls.defer(success, value) end
  end)
end

--- Runs a body as a task and calls the callback with its outcome, during a poll.
local function run(success, failure, body)
  local task = async.create(body)
  M.tell_callbacks(task, success, failure)
  async.start(task)
end

--- Creates a public function from a body that may wait.
---
--- `spec` contains `name`, `params` and `is_method` in the form of `arguments.define`; `check(self, ...)`, which may raise before
--- the task starts; and `body(self, ...)`, which runs in a task and returns a value, or nil and an error. Without `is_method`
--- neither function gets `self`.
function M.define(spec)
  local count = #spec.params
  return arguments.define {
    name = spec.name, params = spec.params, is_method = spec.is_method,
    send = function(success, failure, self, values)
      local function invoke(fn)
        if spec.is_method then return fn(self, table.unpack(values, 1, count)) end
        return fn(table.unpack(values, 1, count))
      end
      if spec.check then invoke(spec.check) end
      if success or failure then return run(success, failure, function() return invoke(spec.body) end) end
      if coroutine.isyieldable() then return invoke(spec.body) end
      M.misuse("%s: pass callbacks, or call it inside tureen.async(function() ... end)", spec.name)
    end,
  }
end

--- Creates a class. Calling it creates an object, which `class.new(self, ...)` initializes.
---@param name string  the name of its objects in `tostring` and in errors
function M.class(name)
  local class = { __name = "tureen.force." .. name }
  class.__index = class
  return setmetatable(class, {
    __call = function(_, ...)
      local object = setmetatable({}, class)
      class.new(object, ...)
      return object
    end,
  })
end

return M
