---@meta com.salesforce.util.promiser
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

--- A function that awaits `object[method](..., success, error)`: it returns the value, or nil and the error.
---@param object table
---@param method string
---@param name string?  what messages call the object
---@return fun(...: any): any, tureen.Error
local function promiser(object, method, name) end

return promiser
