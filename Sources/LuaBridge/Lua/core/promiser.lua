--- `promiser`, as the plug-ins' util module has it: a function that waits, made from one that takes callbacks.
local core = ...
local async = core.import "async"

--- A function that awaits `object[method](..., success, error)`: it returns the value, or nil and the error.
---
--- Unlike the model's, it knows where the callbacks of Tureen's own functions belong, so that an optional argument may be
--- left out. Works where `await` does.
---@param object table
---@param method string
---@param name string?  what messages call the object
---@return fun(...): any, tureen.Error?
return function(object, method, name)
  if type(object) ~= "table" then
    core.raise("invalidArguments", ("promiser: argument 1 'object' must be a table, got %s"):format(type(object)))
  end
  if type(method) ~= "string" then
    core.raise("invalidArguments", ("promiser: argument 2 'method' must be a string, got %s"):format(type(method)))
  end
  if name ~= nil and type(name) ~= "string" then
    core.raise("invalidArguments", ("promiser: argument 3 'name' must be a string, got %s"):format(type(name)))
  end
  if type(object[method]) ~= "function" then
    core.raise("invalidArguments", ("promiser: %s has no function '%s'"):format(name or "the object", method))
  end
  return function(...) return async.await(object[method], ...) end
end
