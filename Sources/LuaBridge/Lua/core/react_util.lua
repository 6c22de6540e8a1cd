--- Converts functions with callbacks to functions that wait, like the promises of React Native applications. They work inside
--- tasks.
local core = ...
local async = core.import "async"
local combine = core.import "combine"
local arguments = core.import "arguments"

---@class tureen.react_util
local M = {}

local function check(caller, fn)
  if type(fn) ~= "function" then arguments.wrong(caller, 1, "fn", "a function", fn) end
end

--- Returns a function that awaits `fn(..., success, error)` and returns the value, or nil and the error.
---@param fn function
---@return fun(...): any, tureen.Error?
function M.promiser(fn)
  check("promiser", fn)
  return function(...) return async.await(fn, ...) end
end

--- Returns a function that awaits `fn(..., success, error)` and returns the value or the error. For calls that only need to
--- finish before the next one.
---@param fn function
---@return fun(...): any
function M.promiserNoRejection(fn)
  check("promiserNoRejection", fn)
  return function(...)
    local value, err = async.await(fn, ...)
    if value == nil then return err end
    return value
  end
end

--- Waits for some milliseconds.
---@param ms number
---@return true? done, tureen.Error? err  the results of `tureen.sleep`
function M.timeoutPromiser(ms)
  combine.check_ms("timeoutPromiser", 1, "ms", ms)
  return combine.sleep(ms)
end

return M
