---@meta tureen.optimistic
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.optimistic
local optimistic
return optimistic
