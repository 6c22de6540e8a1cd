--- Modules whose functions need a store config: those of the React Native variant.
local core = ...
local arguments = core.import "arguments"

local M = {}

--- A module like `module`, in which the functions that take a store config must be given one. Functions are made when they are
--- first asked for.
---@param module table
---@param change (fun(spec: table): table)?  makes another spec of a function's
function M.with_config(module, change)
  local made = {}
  return setmetatable({}, {
    __index = function(_, name)
      if made[name] then return made[name] end
      local fn = module[name]
      local spec = type(fn) == "function" and arguments.specs[fn] or nil
      if spec == nil or not spec.has_store then return fn end
      local copy = { needs_config = true }
      for key, value in pairs(spec) do copy[key] = value end
      made[name] = arguments.define(change and change(copy) or copy)
      return made[name]
    end,
  })
end

return M
