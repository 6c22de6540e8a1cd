--- Runs script functions so that none can disturb another, and says what became of the errors.
local core = ...

local M = {
  --- Replaces the default treatment of an uncaught error; set as `tureen.onerror`.
  ---@type fun(err: any, traceback: string)?
  onerror = nil,
  --- Set by the event module: tells listeners of `uncaughtError`.
  ---@type fun(err: any, traceback: string)?
  announce = nil,
  --- The first error left to the default treatment since `take_failure` last asked.
  failure = nil,
}

local announcing = false

--- Default treatment: a line and a traceback on stderr, and the run counts as failed.
local function default_onerror(err, traceback)
  if M.failure == nil then M.failure = { err = err } end
  local ok, text = pcall(tostring, err)
  core.report("tureen: " .. (ok and text or "an error whose text cannot be made") .. "\n" .. traceback, err)
end

--- Hands an uncaught error to the listeners of `uncaughtError` and to `tureen.onerror`. Never raises.
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
    default_onerror(second, "in tureen.onerror, while it was given:")
    default_onerror(err, traceback)
  end
end

local function describe(err)
  return { err = err, traceback = core.traceback() }
end

--- Calls `fn` when there is one; an error in it goes to `report`. Returns nothing.
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

--- The error that made the run fail, as `{err = ...}`, once.
function M.take_failure()
  local failure = M.failure
  M.failure = nil
  return failure
end

return M
