---@meta tureen.parse
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.parse
local parse
return parse
