--- Runs functions of scripts so that an error in one does not affect others, and reports the errors.
local core = ...

local M = {
  --- Replaces the default handling of uncaught errors; set through `tureen.onerror`.
  ---@type fun(err: any, traceback: string)?
  onerror = nil,
  --- Set by the event module. Notifies the listeners of `uncaughtError`.
  ---@type fun(err: any, traceback: string)?
  announce = nil,
  --- The first error with default handling since the last `take_failure`.
  failure = nil,
}

local announcing = false

--- Returns the text of a script's value. Never raises, unlike `tostring`, which runs the value's `__tostring`.
---@return string
function M.text(value)
  local ok, text = pcall(tostring, value)
  return ok and text or ("a %s that cannot be converted to text"):format(type(value))
end

--- The default handling: prints the error and a traceback on stderr, and marks the run as failed.
local function default_onerror(err, traceback)
  if M.failure == nil then M.failure = { err = err } end
  core.report("tureen: " .. M.text(err) .. "\n" .. traceback, err)
end

--- Passes an uncaught error to the listeners of `uncaughtError` and to `tureen.onerror`. Never raises.
function M.report(err, traceback)
  if M.announce and not announcing then
    announcing = true
    pcall(M.announce, err, traceback)
    announcing = false
  end
  local handler = M.onerror
  if handler == nil then return default_onerror(err, traceback) end
  local ok, second = pcall(handler, err, traceback)
  if not ok then
    default_onerror(second, "in tureen.onerror, while it handled this error:")
    default_onerror(err, traceback)
  end
end

local function describe(err)
  return { err = err, traceback = core.traceback() }
end

--- Calls `fn` if it is not nil, and reports an error in it. Returns nothing.
function M.invoke(fn, ...)
  if fn == nil then return end
  local ok, caught = xpcall(fn, describe, ...)
  if ok then return end
  if type(caught) == "table" and caught.traceback then
    M.report(caught.err, caught.traceback)
  else
    M.report(caught, "(no traceback)") -- the handler itself ran out of memory or stack
  end
end

--- Returns and clears the error that made the run fail, as `{err = ...}`.
function M.take_failure()
  local failure = M.failure
  M.failure = nil
  return failure
end

return M
