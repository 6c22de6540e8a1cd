--- The accounts the host has: one, when a user is signed in.
local core = ...
local arguments = core.import "arguments"
local calls = core.import "calls"

---@class tureen.sfaccountmanager
local M = {}

local SERVICE = "com.salesforce.sfaccountmanager"

for _, name in ipairs { "getUsers", "getCurrentUser" } do
  M[name] = arguments.define { name = name, params = {}, send = arguments.action(SERVICE, name, {}) }
end
-- getUsers(success, error): a list of {authToken, loginServer, idUrl, instanceServer, orgId, userId, username, clientId}
-- getCurrentUser(success, error): one of them, tureen.null when no user is signed in

local function about_user(name)
  M[name] = arguments.define {
    name = name, params = { { "user", "table", optional = true } },
    send = function(success, failure, _, values, caller)
      local user = values[1] or {}
      return calls.exec(success, failure, SERVICE, name, { userId = user.userId, orgId = user.orgId }, nil, caller)
    end,
  }
end

-- logout(user?, success, error): "OK"; nil means who is signed in, a user that is not leaves everything as it is
about_user "logout"
-- switchToUser(user?, success, error): "OK" for the user who is signed in; another one is an error
about_user "switchToUser"

return M
