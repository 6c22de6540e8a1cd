---@meta tureen.asset
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.asset
local asset
return asset
