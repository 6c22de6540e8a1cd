--- Who is signed in to the org, and with what.
local core = ...
local arguments = core.import "arguments"

---@class tureen.oauth
local M = {}

local SERVICE = "com.salesforce.oauth"

local function simple(name)
  M[name] = arguments.define { name = name, params = {}, send = arguments.action(SERVICE, name, {}) }
end

-- getAuthCredentials(success, error): {accessToken, userId, orgId, loginUrl, instanceUrl, identityUrl, clientId, userAgent,
-- communityId, communityUrl}; refreshToken only where the host allows it. An error when no user is signed in
simple "getAuthCredentials"
-- authenticate(success, error): the same, after signing in; who is signed in gets a new token
simple "authenticate"
-- logoutCurrentUser(success, error): "OK", also when no user is signed in; requests fail until authenticate. Stores stay
simple "logoutCurrentUser"
-- getAppHomeUrl(success, error): "", there is no page
simple "getAppHomeUrl"

M.logout = M.logoutCurrentUser

return M
