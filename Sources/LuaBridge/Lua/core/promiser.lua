--- `promiser` of the plug-ins' util module: converts a function with callbacks to one that waits.
local core = ...
local async = core.import "async"

--- Returns a function that awaits `object[method](..., success, error)` and returns the value, or nil and the error.
---
--- Unlike that of the Mobile SDK, it knows the position of the callbacks of Tureen's functions, so that optional arguments may be
--- omitted. Works inside tasks only.
---@param object table
---@param method string
---@param name string?  the object's name in messages
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
