--- Local ids, for records that do not exist on the server yet.
local core = ...

local M = {}

local PREFIX = "local_"
-- A random start, so that two processes that start in the same millisecond use different numbers.
local counter = math.random(0, 999) * 1000

--- Returns a new local id.
---@return string
function M.make()
  counter = counter + 1
  return ("%s%d%d"):format(PREFIX, os.time() * 1000 + core.now() % 1000, counter)
end

--- Returns true for ids that the engine treats as local, such as those of `make`.
---@return boolean
function M.is_local(id)
  return type(id) == "string" and id:sub(1, #PREFIX) == PREFIX
end

return M
