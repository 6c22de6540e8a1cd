--- The React Native variant of `tureen.smartstore`: every call starts with a store config.
local core = ...
local stores = core.import "react_stores"

---@class tureen.react_smartstore: tureen.smartstore
return stores.with_config(core.import "smartstore")
