--- Status events of start pages: `bootstrapStatusEvent`, whose detail is `{code, description, isError}`.
local core = ...
local calls = core.import "calls"
local event = core.import "event"

---@class tureen.event
local M = {
  EVENT = {
    AUTHENTICATING = { code = 0, description = "Authenticating...", isError = false },
    STARTING = { code = 1, description = "Loading application", isError = false },
    OFFLINE = { code = 2, description = "Your device is offline. Can't continue.", isError = true },
  },
}

--- Emits `bootstrapStatusEvent`. The listeners run at the next poll.
---@param status {code: integer, description: string, isError: boolean}  one of `EVENT`, or another status
function M.sendStatusEvent(status)
  if type(status) ~= "table" then
    core.raise("invalidArguments",
      ("sendStatusEvent: argument 1 'status' must be a table, got %s"):format(type(status)))
  end
  local detail = { code = status.code, description = status.description, isError = status.isError }
  calls.defer(event.emit, "bootstrapStatusEvent", detail)
end

-- `addEventListener` and the other functions for listeners are those of `tureen.document`.
return setmetatable(M, { __index = event })
