---@meta com.salesforce.plugin.smartstore
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.smartstore
local smartstore
return smartstore
