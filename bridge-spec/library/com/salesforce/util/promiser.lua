---@meta com.salesforce.util.promiser
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

--- Returns a function that awaits `object[method](..., success, error)` and returns the value, or nil and the error.
---@param object table
---@param method string
---@param name string?  the object's name in messages
---@return fun(...: any): any, tureen.Error
local function promiser(object, method, name) end

return promiser
