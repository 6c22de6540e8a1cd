---@meta tureen.force.client
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.force
local force
return force
