--- Derives modules of the React Native variant, whose functions require a store config.
local core = ...
local arguments = core.import "arguments"

local M = {}

--- Returns a module like `module` in which a store config is required instead of optional. Functions are created on first access.
---@param module table
---@param change (fun(spec: table): table)?  changes the spec of a function
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
