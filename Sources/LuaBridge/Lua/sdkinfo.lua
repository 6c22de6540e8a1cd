--- What this core is and can do.
local core = ...
local arguments = core.import "arguments"

---@class tureen.sdkinfo
local M = {}

local SERVICE = "com.salesforce.sdkinfo"

-- getInfo(success, error): {sdkVersion, appName, appVersion, forcePluginsAvailable, bootConfig}
M.getInfo = arguments.define {
  name = "getInfo", params = {}, send = arguments.action(SERVICE, "getInfo", {}),
}

return M
