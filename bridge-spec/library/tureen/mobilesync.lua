---@meta tureen.mobilesync
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.mobilesync
local mobilesync
return mobilesync
