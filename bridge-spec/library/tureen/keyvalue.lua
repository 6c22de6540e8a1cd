---@meta tureen.keyvalue
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.keyvalue
local keyvalue
return keyvalue
