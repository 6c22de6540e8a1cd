---@meta tureen.accounts
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@type tureen.sfaccountmanager
local sfaccountmanager
return sfaccountmanager
