---@meta react.force.net
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.react_net
local react_net
return react_net
