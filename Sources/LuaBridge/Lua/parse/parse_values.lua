--- Converts field values between their script form and their wire form.
local core = ...

local M = {}

-- Set by parse_object: `object_of(value)` creates an object from a pointer or an included object; `is_object(value)` recognizes
-- objects.
M.object_of = nil
M.is_object = nil

--- Returns the pointer for an object or a pointer; nil for other values.
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

--- Converts a value to its wire form: objects become pointers. Raises if the value contains itself.
---@param caller string?  the function and the argument, for the error
function M.to_wire(value, caller, depth)
  if type(value) == "number" and (value ~= value or value == math.huge or value == -math.huge) then
    core.raise("invalidArguments", ("%s must not be or contain %s, which JSON cannot represent")
      :format(caller or "a value", value ~= value and "NaN" or "infinity"))
  end
  if type(value) ~= "table" or value == core.null then return value end
  local pointer = M.pointer_of(value)
  if pointer then return pointer end
  depth = (depth or 0) + 1
  if depth > DEEPEST then
    core.raise("invalidArguments", ("%s must not contain itself, or nest more than %d tables")
      :format(caller or "a value", DEEPEST))
  end
  local result = is_array(value) and core.array() or {}
  for key, element in pairs(value) do result[key] = M.to_wire(element, caller, depth) end
  return result
end

--- Converts a value from its wire form: pointers and included objects become objects.
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
