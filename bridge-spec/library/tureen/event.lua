---@meta tureen.event
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.event
local event
return event
