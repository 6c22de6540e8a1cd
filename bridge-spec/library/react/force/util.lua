---@meta react.force.util
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.react_util
local react_util
return react_util
