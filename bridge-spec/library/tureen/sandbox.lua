---@meta tureen.sandbox
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.sandbox
local sandbox
return sandbox
