--- Provides the modules of the React Native SDK under the names that its applications import.
local core = ...
local net = core.import "react_net"

---@class tureen.react_force
return {
  net = net, forceClient = net, mobilesync = core.import "react_mobilesync", smartstore = core.import "react_smartstore",
  oauth = core.import "oauth", forceUtil = core.import "react_util",
}
