--- The accounts of the home, and which of them is current.
local core = ...
local arguments = core.import "arguments"
local calls = core.import "calls"

---@class tureen.sfaccountmanager
local M = {}

local SERVICE = "com.salesforce.sfaccountmanager"

for _, name in ipairs { "getUsers", "getCurrentUser" } do
  M[name] = arguments.define { name = name, params = {}, send = arguments.action(SERVICE, name, {}) }
end
-- getUsers(success, error): a list of {authToken, loginServer, idUrl, instanceServer, orgId, userId, username, clientId}, the
-- current one first; the tokens of the others are tureen.null
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

-- logout(user?, success, error): "OK"; nil means the current one, a user without a session leaves everything as it is
about_user "logout"
-- switchToUser(user, success, error): "OK" once the user is the current one and all calls made before have been answered
about_user "switchToUser"

-- getOrgs(success, error): a list of {name, username, state, isSandbox, ...}, one for each user of each org that the home knows
-- getIdentity(success, error): {userId, orgId, username, displayName, email}, as the org says
-- getUsage(success, error): {used, max, perApp, seenAt}, what the org's answers said last of its API calls; tureen.null when
-- none did
for _, name in ipairs { "getOrgs", "getIdentity", "getUsage" } do
  M[name] = arguments.define { name = name, params = {}, send = arguments.action("tureen.accounts", name, {}) }
end

-- startLogin(options?, success, error): {id, url, redirectUri, expiresAt}, a person's sign-in: show the person the url
M.startLogin = arguments.define {
  name = "startLogin", params = { { "options", "table", optional = true } },
  send = function(success, failure, _, values, caller)
    return calls.exec(success, failure, "tureen.accounts", "startLogin", values[1] or {}, nil, caller)
  end,
}
-- finishLogin(id, url?, success, error): {org, username, ...}, who has signed in; without a url it waits for the browser
M.finishLogin = arguments.define {
  name = "finishLogin", params = { { "id", "string" }, { "url", "string", optional = true } },
  send = arguments.action("tureen.accounts", "finishLogin", { "id", "url" }),
}
-- cancelLogin(id, success, error): "OK" once the sign-in has ended and its port is free
M.cancelLogin = arguments.define {
  name = "cancelLogin", params = { { "id", "string" } },
  send = arguments.action("tureen.accounts", "cancelLogin", { "id" }),
}

return M
