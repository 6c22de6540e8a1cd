--- The accounts of the home and the current one.
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
-- current user first; the tokens of the others are tureen.null
-- getCurrentUser(success, error): the current user; tureen.null if no user is signed in

local function about_user(name)
  M[name] = arguments.define {
    name = name, params = { { "user", "table", optional = true } },
    send = function(success, failure, _, values, caller)
      local user = values[1] or {}
      return calls.send(success, failure, SERVICE, name, { userId = user.userId, orgId = user.orgId }, caller)
    end,
  }
end

-- logout(user?, success, error): "OK"; nil means the current user. Does nothing for a user without a session
about_user "logout"
-- switchToUser(user, success, error): "OK" once the user is the current one and all earlier calls have been answered
about_user "switchToUser"

-- getOrgs(success, error): a list of {name, username, state, isSandbox, ...}, one for each user of each org in the home
-- getIdentity(success, error): {userId, orgId, username, displayName, email}, as the org reports them
-- getUsage(success, error): {used, max, perApp, seenAt}, the API usage in the org's last response; tureen.null if there was none
for _, name in ipairs { "getOrgs", "getIdentity", "getUsage" } do
  M[name] = arguments.define { name = name, params = {}, send = arguments.action("tureen.accounts", name, {}) }
end

-- startLogin(options?, success, error): {id, url, redirectUri, expiresAt} of a browser sign-in; show the url to the person
M.startLogin = arguments.define {
  name = "startLogin", params = { { "options", "table", optional = true } },
  send = function(success, failure, _, values, caller)
    return calls.send(success, failure, "tureen.accounts", "startLogin", values[1] or {}, caller)
  end,
}
-- finishLogin(id, url?, success, error): {org, username, ...} of the signed-in user; without a url it waits for the browser
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
