--- Changes of one field as values: what they do to a value, how two of them join, and their wire form.
---
--- An operation is `{op = "Set", value}`, `{op = "Delete"}`, `{op = "Increment", amount}`, `{op, objects}` with `Add`,
--- `AddUnique` or `Remove`, or `{op = "Relation", links = {{target, is_added}, ...}}`, where the last link of a target counts. No
--- function changes its arguments.
local core = ...
local call = core.import "force_call"
local values = core.import "parse_values"

local M = {}

local function plain_table(value) return type(value) == "table" and value ~= core.null and not values.is_object(value) end

function M.is_list(value) return plain_table(value) and (core.is_array(value) or value[1] ~= nil) end

local function copied(list)
  local result = core.array()
  call.append(result, list or {})
  return result
end
M.copied = copied

--- Returns a copy of a value in which no table is shared with it, except objects.
function M.snapshot(value)
  if not plain_table(value) then return value end
  local result = M.is_list(value) and core.array() or {}
  for key, element in pairs(value) do result[key] = M.snapshot(element) end
  return result
end

-- MARK: Paths

--- Returns the column of a name, and the parts below it.
---@return string column, string[] parts
function M.split(name)
  local parts = {}
  for part in name:gmatch "[^.]+" do parts[#parts + 1] = part end
  return table.remove(parts, 1), parts
end

--- Returns the key of a part. Indexes of lists count from 0, as on the server; nil if the list has no such element.
local function key_of(part, inside)
  if not M.is_list(inside) then return part end
  local index = part:find "^%d+$" and math.tointeger(tonumber(part))
  return index and index < #inside and index + 1 or nil
end

--- Returns the part of a value; nil if it has none.
function M.part(value, parts)
  for _, part in ipairs(parts) do
    local key = plain_table(value) and key_of(part, value)
    value = key and value[key]
    if value == nil then return nil end
  end
  return value
end

--- Returns a value with another part. Creates missing tables on the path, like the server. A removed element of a list becomes
--- null. The second result names a list that has no such element.
function M.with_part(value, parts, part, at)
  at = at or 1
  if at > #parts then return part end
  if not plain_table(value) then
    if part == nil then return value end
    value = {}
  end
  local key, is_list = key_of(parts[at], value), M.is_list(value)
  if key == nil then return nil, table.concat(parts, ".", 1, at) end
  local inner, missing = M.with_part(value[key], parts, part, at + 1)
  if missing then return nil, missing end
  local result = is_list and copied(value) or call.copy(value)
  if inner == nil and is_list then inner = core.null end
  result[key] = inner
  return result
end

-- MARK: Values

local function same_wire(a, b)
  if type(a) ~= "table" or type(b) ~= "table" or a == core.null or b == core.null then return a == b end
  for key, element in pairs(a) do
    if not same_wire(element, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

--- Returns whether two values in wire form are equal.
M.same = same_wire

local function index_of(list, value)
  local wire = values.to_wire(value)
  for i, known in ipairs(list) do
    if same_wire(values.to_wire(known), wire) then return i end
  end
end

local LISTS = {
  Add = function(list, value) list[#list + 1] = value end,
  AddUnique = function(list, value)
    if not index_of(list, value) then list[#list + 1] = value end
  end,
  Remove = function(list, value)
    local i = index_of(list, value)
    while i do
      table.remove(list, i)
      i = index_of(list, value)
    end
  end,
}

--- Adds numbers like the server: a sum that is too large for an integer is a floating-point number.
function M.sum(a, b)
  local sum = a + b
  if math.type(a) ~= "integer" or math.type(b) ~= "integer" then return sum end
  local is_wrapped = (a < 0) == (b < 0) and (sum < 0) ~= (a < 0)
  return is_wrapped and a + 0.0 + b or sum
end

--- Returns the value after an operation; nil if it is removed.
function M.applied(op, value)
  if op.op == "Set" then return op.value end
  if op.op == "Delete" then return nil end
  if op.op == "Relation" then return value end
  if op.op == "Increment" then return M.sum(type(value) == "number" and value or 0, op.amount) end
  local list = copied(M.is_list(value) and value or nil)
  for _, one in ipairs(op.objects) do LISTS[op.op](list, one) end
  return list
end

--- Returns one operation with the effect of two; nil if there is none.
function M.joined(earlier, later)
  local kind = later.op
  if kind == "Set" or kind == "Delete" then return later end
  if kind == "Relation" then
    if earlier.op ~= kind then return later end
    local links = copied(earlier.links)
    call.append(links, later.links)
    return { op = kind, links = links }
  end
  if earlier.op == "Set" then return { op = "Set", value = M.applied(later, earlier.value) } end
  if earlier.op == "Delete" then return { op = "Set", value = M.applied(later, nil) } end
  if earlier.op ~= kind then return nil end
  if kind == "Increment" then return { op = kind, amount = M.sum(earlier.amount, later.amount) } end
  local objects = copied(earlier.objects)
  call.append(objects, later.objects)
  return { op = kind, objects = objects }
end

--- Returns an operation that later changes of the script's tables do not reach.
function M.frozen(op)
  if op.op == "Set" then return { op = "Set", value = M.snapshot(op.value) } end
  if op.objects then return { op = op.op, objects = M.snapshot(op.objects) } end
  return op
end

--- Returns an operation in the form of soups: its values are in wire form.
function M.stored(op)
  if op.op == "Set" then return { op = "Set", value = values.to_wire(op.value) } end
  if op.objects then return { op = op.op, objects = values.to_wire(op.objects) } end
  return op
end

-- MARK: Sending

--- Returns the links that a save sends, without removals of objects that the server does not have: `{id, target, is_added}`.
function M.net_links(op)
  local list, at = {}, {}
  for _, link in ipairs(op.links or {}) do
    local id = link.target.objectId or link.target.localId
    local place = at[id] or #list + 1
    at[id], list[place] = place, { id = id, target = link.target, is_added = link.is_added }
  end
  return list
end

--- Returns the wire form of an operation; nil if there is nothing to send.
function M.wire_of(op)
  if op.op == "Set" then return values.to_wire(op.value) end
  if op.op == "Delete" then return { __op = "Delete" } end
  if op.op == "Increment" then return { __op = "Increment", amount = op.amount } end
  if op.objects then return { __op = op.op, objects = values.to_wire(op.objects) } end
  local added, removed, parts = core.array(), core.array(), core.array()
  for _, link in ipairs(M.net_links(op)) do
    local pointer = values.pointer_of(link.target)
    if link.is_added then added[#added + 1] = pointer elseif link.target.objectId then removed[#removed + 1] = pointer end
  end
  if #added > 0 then parts[#parts + 1] = { __op = "AddRelation", objects = added } end
  if #removed > 0 then parts[#parts + 1] = { __op = "RemoveRelation", objects = removed } end
  if #parts < 2 then return parts[1] end
  return { __op = "Batch", ops = parts }
end

return M
