---@meta tureen.document
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.document
local document
return document
