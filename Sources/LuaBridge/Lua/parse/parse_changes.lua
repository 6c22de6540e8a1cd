--- Tracks the changes of an object's fields as a list of operation sets.
---
--- `object.server` has the fields as the server has them. Changes go into the last set of `object.sets`. A save freezes that set
--- and begins another, so changes that are made while it runs wait for the next save. When it succeeds, its set is applied to
--- `object.server`; when it fails, the set is joined with the next one. `object.fields` shows all of them together.
---
--- A dotted name refers to a part of a column: `stats.reads`, or `items.0` in a list. In a set no name lies inside another one.
local core = ...
local call = core.import "force_call"
local operations = core.import "parse_operations"
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

-- MARK: Fields

--- Returns the value of a column or of a part of it; nil if it is not known.
function M.value(fields, name)
  local column, parts = operations.split(name)
  return operations.part(fields[column], parts)
end

--- Sets the value of a column or of a part of it. Only `fields` itself is changed, no table in it.
---@return string? missing  an element that a list on the path does not have; nothing is changed then
function M.put(fields, name, value)
  local column, parts = operations.split(name)
  local made, missing = operations.with_part(fields[column], parts, value)
  if missing then return ("%s.%s"):format(column, missing) end
  fields[column] = made
end

local function apply_set(fields, set)
  -- An index of a list that has meanwhile become shorter has no effect here; the server decides.
  for name, op in pairs(set) do M.put(fields, name, operations.applied(op, M.value(fields, name))) end
  return fields
end
M.apply_set = apply_set

--- Returns the fields after the first `count` sets.
local function after(object, count)
  local fields = call.copy(object.server)
  for i = 1, count do apply_set(fields, object.sets[i]) end
  return fields
end
M.after = after

--- Makes `object.fields` anew.
function M.refresh(object) object.fields = after(object, #object.sets) end

--- Prepares an object without fields.
function M.begin(object)
  object.server, object.sets, object.fields = {}, { {} }, {}
  return object
end

--- Returns whether a save has something to send.
function M.is_dirty(object)
  for _, set in ipairs(object.sets) do
    if next(set) then return true end
  end
  return false
end

--- Merges the parts of an answer into the value `over` and returns the result.
local function laid(parts, over)
  if not (type(parts) == "table" and parts ~= core.null) or values.is_object(parts) or parts.__type or operations.is_list(parts)
    or type(over) ~= "table" or over == core.null or values.is_object(over) then
    return parts
  end
  local result = call.copy(over)
  for key, part in pairs(parts) do
    if type(part) == "table" and part.__op == "Delete" then result[key] = nil else result[key] = laid(part, over[key]) end
  end
  return result
end

--- Takes fields from the server.
---@param parted table?  columns of which `fields` has only parts
function M.take(object, fields, parted)
  for key, value in pairs(fields) do
    object.server[key] = parted and parted[key] and laid(value, object.server[key]) or value
  end
  M.refresh(object)
end

-- MARK: One set

local function is_inside(name, outer) return name:sub(1, #outer + 1) == outer .. "." end

--- Returns the name in a set that `name` lies in, and the names that lie in it.
local function neighbours(set, name)
  local outer, inner = nil, {}
  for other in pairs(set) do
    if is_inside(name, other) then outer = other elseif is_inside(other, name) then inner[#inner + 1] = other end
  end
  return outer, inner
end

local function drop(set, names)
  for _, name in ipairs(names) do set[name] = nil end
end

--- Adds an operation to a set.
---@param whole fun(name: string): any  returns the value of a name after the operation; nil if it is not known
---@return boolean  false if the set cannot express both; it is not changed then
local function add(set, name, op, whole)
  local outer, inner = neighbours(set, name)
  local is_value = op.op == "Set" or op.op == "Delete"
  if outer and op.op == "Delete" and set[outer].op == "Delete" then return true end
  local at, result = outer or name, nil
  if not outer and (#inner == 0 or is_value) then
    result = set[name] and operations.joined(set[name], op) or not set[name] and op or nil
  end
  if not result then
    local value = whole(at)
    if value == nil then return false end
    result = { op = "Set", value = value }
  end
  drop(set, inner)
  set[at] = result
  return true
end

--- Returns whether an object's columns are sent as values, because the server does not have the object.
local function sends_whole(object) return object:isNew() and #object.sets == 1 end

--- Makes the set of an object that is created with it: columns with values, and relations.
local function made_whole(set, fields)
  for name, op in pairs(call.copy(set)) do
    if op.op ~= "Relation" then
      local column = operations.split(name)
      set[name] = nil
      set[column] = fields[column] ~= nil and { op = "Set", value = fields[column] } or { op = "Delete" }
    end
  end
end

local function change(object, caller, name, op)
  local set = object.sets[#object.sets]
  local column = operations.split(name)
  local before = object.fields[column]
  local missing = M.put(object.fields, name, operations.applied(op, M.value(object.fields, name)))
  if missing then misuse("%s: '%s' is not an element of the list, whose indexes count from 0", caller, missing) end
  local function whole(of)
    local is_known = M.value(after(object, #object.sets - 1), of) ~= nil
    local earlier = set[of]
    is_known = is_known or earlier and (earlier.op == "Set" or earlier.op == "Delete")
    return is_known and M.value(object.fields, of) or nil
  end
  if not add(set, name, op, whole) then
    object.fields[column] = before
    local outer, inner = neighbours(set, name)
    local earlier = set[name] or set[outer] or set[inner[1]]
    misuse("%s: '%s' was already changed by %s, one request cannot express both changes, and the current value is not known: "
      .. "fetch the object first, or save it between the two changes", caller, name, earlier.op)
  end
  if sends_whole(object) then made_whole(set, object.fields) end
end

-- MARK: Changes

function M.set(object, name, value) change(object, "set", name, { op = "Set", value = value }) end

function M.unset(object, name) change(object, "unset", name, { op = "Delete" }) end

local function is_finite(number) return number == number and number - number == 0 end

--- Adds to a number.
function M.increment(object, name, amount)
  M.check_name("increment", name)
  amount = given(amount) and amount or 1
  if type(amount) ~= "number" or not is_finite(amount) then
    misuse("increment: argument 2 'amount' must be a finite number, got %s",
      type(amount) == "number" and tostring(amount) or type(amount))
  end
  local before, earlier = M.value(object.fields, name), object.sets[#object.sets][name]
  for _, number in pairs { before, earlier and earlier.amount } do
    if type(number) == "number" and not is_finite(operations.sum(number, amount)) then
      misuse("increment: '%s' would become too large for a number", name)
    end
  end
  change(object, "increment", name, { op = "Increment", amount = amount })
end

local function list_of(value)
  if operations.is_list(value) then return value end
  return { value }
end

--- Changes a list by one value, or by each value of an array.
---@param operation string  Add, AddUnique or Remove
function M.change_list(object, caller, operation, name, value)
  M.check_name(caller, name)
  if value == nil then misuse("%s: argument 2 'value' is missing", caller) end
  values.to_wire(value, caller .. ": argument 2 'value'")
  change(object, caller, name, { op = operation, objects = operations.copied(list_of(value)) })
end

--- Adds objects to a relation, or removes them.
function M.link(object, name, targets, is_added)
  local set, links = object.sets[#object.sets], {}
  for i, target in ipairs(targets) do links[i] = { target = target, is_added = is_added } end
  if #links == 0 then return end
  local op = { op = "Relation", links = links }
  set[name] = set[name] and operations.joined(set[name], op) or op
end

-- MARK: Saves

-- The frozen sets of saves that have not ended.
local held = setmetatable({}, { __mode = "k" })

--- Freezes the changes so far for a save, and begins another set. Returns the frozen one.
function M.freeze(object)
  local set = object.sets[#object.sets]
  for name, op in pairs(set) do set[name] = operations.frozen(op) end
  object.sets[#object.sets + 1] = {}
  held[set] = true
  return set
end

local function place_of(object, set)
  for i, one in ipairs(object.sets) do
    if one == set then return i end
  end
end

--- Returns whether a frozen set is neither applied nor given back.
function M.is_open(object, set) return place_of(object, set) ~= nil end

--- Applies the first set to the fields of the server.
function M.commit(object)
  local set = table.remove(object.sets, 1)
  held[set] = nil
  apply_set(object.server, set)
  M.refresh(object)
end

--- Removes a field that the server keeps to itself.
function M.forget(object, name)
  object.server[name] = nil
  M.refresh(object)
end

--- Moves the changes of a set into a later one, whose changes follow them. Returns those that cannot be joined, nil if there are
--- none.
local function join(earlier, later)
  local result, left = call.copy(earlier), {}
  for name, op in pairs(later) do
    local function whole(of)
      local outer = result[of]
      if not outer or outer.op ~= "Set" and outer.op ~= "Delete" then return nil end
      local fields = { value = operations.applied(outer, nil) }
      local path = "value" .. name:sub(#of + 1)
      if M.put(fields, path, operations.applied(op, M.value(fields, path))) then return nil end
      return fields.value
    end
    if not add(result, name, op, whole) then
      local outer, inner = neighbours(result, name)
      inner[#inner + 1] = result[name] and name or outer
      for _, other in ipairs(inner) do left[other] = result[other] end
      drop(result, inner)
      result[name] = op
    end
  end
  for name in pairs(later) do later[name] = nil end
  for name, op in pairs(result) do later[name] = op end
  return next(left) and left or nil
end

--- Gives the changes of a save that failed back: they belong to the set that follows. Changes that cannot be joined with later
--- ones stay in front of them, for a request of their own.
---@param set table  the frozen set of the save
function M.give_back(object, set)
  local place = place_of(object, set)
  if not place then return end
  held[set] = nil
  local later, left = object.sets[place + 1], {}
  -- Sets in front of it are what an earlier save left, or belong to a save that is still running.
  while place > 0 and not held[object.sets[place]] do
    local rest = join(table.remove(object.sets, place), later)
    if rest then table.insert(left, 1, rest) end
    place = place - 1
  end
  for i, rest in ipairs(left) do table.insert(object.sets, place + i, rest) end
  if object:isNew() and place == 0 then made_whole(object.sets[1], after(object, 1)) end
  M.refresh(object)
end

--- Returns the columns of which a set changes only parts.
function M.parted(set)
  local columns = {}
  for name in pairs(set) do
    local column = operations.split(name)
    if column ~= name then columns[column] = true end
  end
  return columns
end

--- Returns the expected fields after the first set. They show whether an operation whose answer was lost has been applied.
function M.known(object)
  local fields = after(object, 1)
  local known = { updatedAt = object.server.updatedAt, username = fields.username }
  for name, op in pairs(object.sets[1]) do
    local is_operation = op.op == "Increment" or op.objects ~= nil
    if is_operation and M.value(object.server, name) ~= nil then known[name] = values.to_wire(M.value(fields, name)) end
  end
  return known
end

--- Returns the wire form of the first set.
function M.wire(object)
  local wire = {}
  for name, op in pairs(object.sets[1]) do wire[name] = operations.wire_of(op) end
  return wire
end

return M
