---@meta tureen.host
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.host
local host
return host
