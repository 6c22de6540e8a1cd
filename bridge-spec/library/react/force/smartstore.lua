---@meta react.force.smartstore
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.react_smartstore
local react_smartstore
return react_smartstore
