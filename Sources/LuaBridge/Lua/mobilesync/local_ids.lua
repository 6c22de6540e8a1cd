--- Ids of records that the server does not know yet.
local core = ...

local M = {}

local PREFIX = "local_"
-- Two processes that begin in the same millisecond do not count from the same number.
local counter = math.random(0, 999) * 1000

--- An id that was not given before.
---@return string
function M.make()
  counter = counter + 1
  return ("%s%d%d"):format(PREFIX, os.time() * 1000 + core.now() % 1000, counter)
end

--- Whether `make` made it, or the engine would take it for such an id.
---@return boolean
function M.is_local(id)
  return type(id) == "string" and id:sub(1, #PREFIX) == PREFIX
end

return M
