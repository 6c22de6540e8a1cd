---@meta react.force.mobilesync
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.react_mobilesync
local react_mobilesync
return react_mobilesync
