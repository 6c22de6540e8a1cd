--- The functions of `tureen.smartstore` for use inside tasks: each waits and returns the value, or nil and an error.
---
--- Names and arguments are those of `tureen.smartstore`, without the callbacks. Also contains the query builders.
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
