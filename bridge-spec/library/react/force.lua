---@meta react.force
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.react_force
local react_force
return react_force
