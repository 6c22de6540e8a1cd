--- Information about this library, and the registration of features.
local core = ...
local arguments = core.import "arguments"

---@class tureen.sdkinfo
local M = {}

local SERVICE = "com.salesforce.sdkinfo"

-- getInfo(success, error): {sdkVersion, appName, appVersion, forcePluginsAvailable, bootConfig}
M.getInfo = arguments.define {
  name = "getInfo", params = {}, send = arguments.action(SERVICE, "getInfo", {}),
}

-- registerAppFeature(feature, success, error): "OK"; requests have the short code in their User-Agent
-- unregisterAppFeature(feature, success, error): "OK"
for _, name in ipairs { "registerAppFeature", "unregisterAppFeature" } do
  M[name] = arguments.define {
    name = name, params = { { "feature", "string" } }, send = arguments.action(SERVICE, name, { "feature" }),
  }
end

return M
