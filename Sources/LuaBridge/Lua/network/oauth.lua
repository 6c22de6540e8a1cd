--- The signed-in user and the credentials.
local core = ...
local arguments = core.import "arguments"

---@class tureen.oauth
local M = {}

local SERVICE = "com.salesforce.oauth"

local function simple(name)
  M[name] = arguments.define { name = name, params = {}, send = arguments.action(SERVICE, name, {}) }
end

-- getAuthCredentials(success, error): {accessToken, userId, orgId, loginUrl, instanceUrl, identityUrl, clientId, userAgent,
-- communityId, communityUrl}; refreshToken only if the host allows it. Fails if no user is signed in
simple "getAuthCredentials"
-- authenticate(success, error): signs in and returns the same; a signed-in user gets a new token
simple "authenticate"
-- logoutCurrentUser(success, error): "OK", even if no user is signed in; requests fail until authenticate. Keeps the stores
simple "logoutCurrentUser"
-- getAppHomeUrl(success, error): "", because there is no page
simple "getAppHomeUrl"

M.logout = M.logoutCurrentUser

return M
