--- Values of fields: as a script has them, and as they travel.
local core = ...

local M = {}

-- Set by the module of objects: makes an object of a pointer or an included object, and tells objects from other tables.
M.object_of = nil
M.is_object = nil

--- A pointer to an object or from one; nil for anything else.
function M.pointer_of(value)
  if type(value) ~= "table" then return nil end
  if M.is_object(value) then
    return { __type = "Pointer", className = value.className, objectId = value.objectId or value.localId }
  end
  if value.__type == "Pointer" then return value end
  return nil
end

local function is_array(value) return core.is_array(value) or value[1] ~= nil end

local DEEPEST = 100

--- The value as it travels: objects become pointers. Raises when it holds itself.
---@param caller string?  names the function and the argument in the error
function M.to_wire(value, caller, depth)
  if type(value) == "number" and (value ~= value or value == math.huge or value == -math.huge) then
    core.raise("invalidArguments", ("%s must not be or hold %s, which JSON has no form for")
      :format(caller or "a value", value ~= value and "NaN" or "infinity"))
  end
  if type(value) ~= "table" or value == core.null then return value end
  local pointer = M.pointer_of(value)
  if pointer then return pointer end
  depth = (depth or 0) + 1
  if depth > DEEPEST then
    core.raise("invalidArguments", ("%s must not hold itself, or more than %d tables in one another")
      :format(caller or "a value", DEEPEST))
  end
  local result = is_array(value) and core.array() or {}
  for key, element in pairs(value) do result[key] = M.to_wire(element, caller, depth) end
  return result
end

--- The value for a script: pointers and included objects become objects.
function M.from_wire(value, connection)
  if type(value) ~= "table" or value == core.null then return value end
  if (value.__type == "Pointer" or value.__type == "Object") and type(value.className) == "string" then
    return M.object_of(value, connection)
  end
  local result = is_array(value) and core.array() or {}
  for key, element in pairs(value) do result[key] = M.from_wire(element, connection) end
  return result
end

--- Calls `visit(object)` for each object in a value.
function M.each_object(value, visit)
  if type(value) ~= "table" or value == core.null then return end
  if M.is_object(value) then return visit(value) end
  for _, element in pairs(value) do M.each_object(element, visit) end
end

return M
