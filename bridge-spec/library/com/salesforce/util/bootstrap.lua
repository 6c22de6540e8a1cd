---@meta com.salesforce.util.bootstrap
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.bootstrap
local bootstrap
return bootstrap
