---@meta tureen.sdkinfo
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.sdkinfo
local sdkinfo
return sdkinfo
