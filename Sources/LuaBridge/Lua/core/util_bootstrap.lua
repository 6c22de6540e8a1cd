--- Checks before a script starts.
local core = ...
local call = core.import "force_call"
local async = core.import "async"
local network = core.import "network"

---@class tureen.bootstrap
local M = {}

-- deviceIsOnline(success, error): true if the org responds now, even with an error
M.deviceIsOnline = call.define {
  name = "deviceIsOnline", params = {},
  body = function()
    local answer, err = async.await(network.sendRequest, { path = "/services/data/", doesNotRequireAuthentication = true })
    return answer ~= nil or err.status ~= nil
  end,
}

return M
