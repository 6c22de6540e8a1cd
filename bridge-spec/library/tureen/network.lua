---@meta tureen.network
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.network
local network
return network
