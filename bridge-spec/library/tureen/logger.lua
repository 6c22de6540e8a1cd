---@meta tureen.logger
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.logger
local logger
return logger
