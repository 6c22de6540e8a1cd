---@meta com.salesforce.plugin.oauth
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.oauth
local oauth
return oauth
