---@meta tureen.exec
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.exec
local exec
return exec
