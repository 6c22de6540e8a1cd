--- Records the changes of an object's fields, values and operations, until the next save sends them.
---
--- A dotted name refers to a part of an Object column: `stats.reads`.
local core = ...
local call = core.import "force_call"
local values = core.import "parse_values"

local given, misuse = call.given, call.misuse

local M = {}

local SERVER_FIELDS = { objectId = true, createdAt = true, updatedAt = true }

function M.check_name(caller, name)
  if type(name) ~= "string" then misuse("%s: argument 1 'name' must be a string, got %s", caller, type(name)) end
  if ("." .. name .. "."):find("..", 1, true) then
    misuse("%s: '%s' names neither a column nor a part of one, such as stats.reads", caller, name)
  end
  if SERVER_FIELDS[name] then misuse("%s: '%s' is set by the server", caller, name) end
end

-- MARK: Parts

local function column_of(name) return name:match "^[^.]*" end

local function plain_table(value) return type(value) == "table" and value ~= core.null and not values.is_object(value) end

local function key_of(part, inside) return core.is_array(inside) and (math.tointeger(tonumber(part)) or -2) + 1 or part end

--- Returns the value of a column or of a part of it; nil if it is not known.
function M.value(fields, name)
  local value = fields
  for part in name:gmatch "[^.]+" do
    if not plain_table(value) then return nil end
    value = value[key_of(part, value)]
  end
  return value
end

--- Sets the value of a column or of a part of it. Creates missing tables on the path, like the server.
function M.put(fields, name, value)
  local inside, before = fields, nil
  for part in name:gmatch "[^.]+" do
    if before then
      local key = key_of(before, inside)
      if not plain_table(inside[key]) then inside[key] = {} end
      inside = inside[key]
    end
    before = part
  end
  inside[key_of(before or name, inside)] = value
end

--- Merges the parts of an answer into the value `over` and returns the result.
function M.laid(parts, over)
  if not plain_table(parts) or parts.__type or core.is_array(parts) or not plain_table(over) then return parts end
  for key, part in pairs(parts) do
    if type(part) == "table" and part.__op == "Delete" then over[key] = nil else over[key] = M.laid(part, over[key]) end
  end
  return over
end

--- Returns the columns of which only parts were changed.
function M.parted(changes)
  local columns = {}
  for name in pairs(changes) do
    if name:find(".", 1, true) then columns[column_of(name)] = true end
  end
  return columns
end

-- MARK: Operations

local function has_value(list, value)
  local wire = core.encode { values.to_wire(value) }
  for i, known in ipairs(list) do
    if core.encode { values.to_wire(known) } == wire then return i end
  end
end

-- name -> function(list, value), which returns the changed list
local LISTS = {
  Add = function(list, value) list[#list + 1] = value end,
  AddUnique = function(list, value)
    if not has_value(list, value) then list[#list + 1] = value end
  end,
  Remove = function(list, value)
    local i = has_value(list, value)
    while i do
      table.remove(list, i)
      i = has_value(list, value)
    end
  end,
}

local function copied(list)
  local result = core.array()
  call.append(result, list or {})
  return result
end

--- Adds two numbers. Where an integer would wrap around, the sum is a float, as on the server.
local function sum(a, b)
  local total = a + b
  if math.type(total) == "integer" and (a ~ total) & (b ~ total) < 0 then return a + 0.0 + b end
  return total
end

--- Returns the value after an operation.
local function applied(op, value)
  if op.op == "Increment" then return sum(type(value) == "number" and value or 0, op.amount) end
  local list = copied(type(value) == "table" and value or nil)
  for _, one in ipairs(op.objects) do LISTS[op.op](list, one) end
  return list
end

--- Combines two operations; nil if no single operation expresses both.
local function both(earlier, op)
  if earlier.op ~= op.op then return nil end
  if op.op == "Increment" then return { op = op.op, amount = sum(earlier.amount, op.amount), guessed = earlier.guessed } end
  local all = copied(earlier.objects)
  call.append(all, op.objects)
  return { op = op.op, objects = all, guessed = earlier.guessed }
end

--- Removes the changes of a column's parts, for a column that is replaced.
local function drop_parts(changes, column)
  for name in pairs(changes) do
    if name:sub(1, #column + 1) == column .. "." then changes[name] = nil end
  end
end

--- Returns whether a column is sent as a value, because the server has none yet or the column is replaced anyway.
local function sends_whole(object, column)
  return object:isNew() or object.changes[column] ~= nil and object.changes[column].value ~= nil
end

function M.set(object, name, value)
  local column = column_of(name)
  M.put(object.fields, name, value)
  if column ~= name and sends_whole(object, column) then
    object.changes[column] = { value = object.fields[column] }
  else
    drop_parts(object.changes, name)
    object.changes[name] = { value = value }
  end
end

function M.unset(object, name)
  local column = column_of(name)
  if column == name or M.value(object.fields, name) ~= nil then M.put(object.fields, name, nil) end
  if column ~= name and sends_whole(object, column) then
    object.changes[column] = { value = object.fields[column] }
  else
    drop_parts(object.changes, name)
    object.changes[name] = { op = "Delete" }
  end
end

local function apply(object, caller, name, op)
  local column, changes = column_of(name), object.changes
  local before, earlier = M.value(object.fields, name), changes[name]
  local joined = earlier and both(earlier, op)
  local is_whole = sends_whole(object, column)
  if earlier and earlier.guessed and not joined and not is_whole then
    misuse("%s: '%s' was already changed by %s, one request cannot express both changes, and the current value is not known: "
      .. "fetch the object first, or save it between the two changes", caller, name, earlier.op)
  end
  M.put(object.fields, name, applied(op, before))
  if is_whole then
    changes[column] = { value = object.fields[column] }
  elseif joined then
    changes[name] = joined
  elseif earlier then
    changes[name] = { value = M.value(object.fields, name) }
  else
    drop_parts(changes, name)
    op.guessed = before == nil
    changes[name] = op
  end
end

--- Adds to a number.
function M.increment(object, name, amount)
  M.check_name("increment", name)
  amount = given(amount) and amount or 1
  if type(amount) ~= "number" or amount ~= amount or amount == math.huge or amount == -math.huge then
    misuse("increment: argument 2 'amount' must be a finite number, got %s",
      type(amount) == "number" and tostring(amount) or type(amount))
  end
  apply(object, "increment", name, { op = "Increment", amount = amount })
end

local function list_of(value)
  if plain_table(value) and (core.is_array(value) or value[1] ~= nil) then return value end
  return { value }
end

--- Changes a list by one value, or by each value of an array.
---@param operation string  Add, AddUnique or Remove
function M.change_list(object, caller, operation, name, value)
  M.check_name(caller, name)
  if value == nil then misuse("%s: argument 2 'value' is missing", caller) end
  values.to_wire(value, caller .. ": argument 2 'value'")
  apply(object, caller, name, { op = operation, objects = copied(list_of(value)) })
end

--- Returns the expected fields after a save. They show whether an operation whose answer was lost has been applied.
function M.known(object)
  local known = { updatedAt = object.fields.updatedAt, username = object.fields.username }
  for name, change in pairs(object.changes) do
    if change.op and change.op ~= "Delete" and not change.guessed then
      known[name] = values.to_wire(M.value(object.fields, name))
    end
  end
  return known
end

-- MARK: Sending

--- Returns the wire form of a change.
function M.wire_of(change)
  if change.links then
    local added, removed = core.array(), core.array()
    for _, link in pairs(change.links) do
      local list = link.is_added and added or removed
      list[#list + 1] = values.pointer_of(link.target)
    end
    local parts = core.array()
    if #added > 0 then parts[#parts + 1] = { __op = "AddRelation", objects = added } end
    if #removed > 0 then parts[#parts + 1] = { __op = "RemoveRelation", objects = removed } end
    if #parts == 1 then return parts[1] end
    return { __op = "Batch", ops = parts }
  end
  if change.op == "Increment" then return { __op = "Increment", amount = change.amount } end
  if change.op == "Delete" then return { __op = "Delete" } end
  if change.op then return { __op = change.op, objects = values.to_wire(change.objects) } end
  return values.to_wire(change.value)
end

return M
