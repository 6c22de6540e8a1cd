---@meta com.salesforce.plugin.smartstore.client
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.smartstore.Client
local smartstore
return smartstore
