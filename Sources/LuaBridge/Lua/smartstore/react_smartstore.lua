--- The store as React Native applications call it: `tureen.smartstore`, with a store config in front of every call.
local core = ...
local stores = core.import "react_stores"

---@class tureen.react_smartstore: tureen.smartstore
return stores.with_config(core.import "smartstore")
