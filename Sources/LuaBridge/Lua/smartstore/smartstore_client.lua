--- The store's functions as they read inside a task: each waits and returns the value, or nil and an error.
---
--- The same names and arguments as `tureen.smartstore`, without the callbacks. The builders of queries are here, too.
local core = ...
local promiser = core.import "promiser"
local arguments = core.import "arguments"
local smartstore = core.import "smartstore"

local M = {}

for name, value in pairs(smartstore) do
  if name ~= "observe" and arguments.starters[value] then
    M[name] = promiser(smartstore, name, "smartstore")
  elseif name:find("^build") or name == "quoteMatch" then
    M[name] = value
  end
end

return M
