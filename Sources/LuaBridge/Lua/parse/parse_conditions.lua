--- Functions that create the conditions of queries: `parse.equalTo("name", "Fantasy")`. A query or `allOf` joins several.
---
--- Equality is written as a bare value. On most columns this means the same as `$eq`, and it works on relations as well.
local core = ...
local arguments = core.import "arguments"
local call = core.import "force_call"
local values = core.import "parse_values"

local M = {}

---@class tureen.parse.Condition
---@field where table  in the server's form
local Condition = { __name = "tureen.parse.Condition" }
Condition.__index = Condition

local function condition(where) return setmetatable({ where = where }, Condition) end

function M.is_condition(value) return getmetatable(value) == Condition end

local function check_field(caller, field)
  if type(field) ~= "string" or field == "" then
    call.misuse("%s: argument 1 'field' must be the name of a column, got %s", caller, type(field))
  end
end

--- Joins conditions. An empty list matches every object.
---@param list tureen.parse.Condition[]
function M.joined(list)
  if #list == 0 then return {} end
  if #list == 1 then return list[1].where end
  local parts = core.array()
  for i, one in ipairs(list) do parts[i] = one.where end
  return { ["$and"] = parts }
end

--- Defines `M[name](field, value)`, which compares with a value.
local function compare(name, operator)
  M[name] = function(field, value)
    check_field(name, field)
    if value == nil then call.misuse("%s: argument 2 'value' is missing; use exists or doesNotExist", name) end
    local wire = values.to_wire(value, name .. ": argument 2 'value'")
    return condition { [field] = operator and { [operator] = wire } or wire }
  end
end

compare("equalTo", nil)
compare("notEqualTo", "$ne")
compare("lessThan", "$lt")
compare("lessThanOrEqualTo", "$lte")
compare("greaterThan", "$gt")
compare("greaterThanOrEqualTo", "$gte")

--- Defines `M[name](field, list)`.
local function compare_list(name, operator)
  M[name] = function(field, list)
    check_field(name, field)
    if not arguments.is_list(list) then arguments.wrong(name, 2, "values", "an array", list) end
    local wire = core.array()
    for i, value in ipairs(list) do wire[i] = values.to_wire(value, name .. ": argument 2 'values'") end
    return condition { [field] = { [operator] = wire } }
  end
end

compare_list("containedIn", "$in")
compare_list("notContainedIn", "$nin")
compare_list("containsAll", "$all")
compare_list("containedBy", "$containedBy")

--- Matches objects whose column has a value.
function M.exists(field)
  check_field("exists", field)
  return condition { [field] = { ["$exists"] = true } }
end

--- Matches objects whose column has no value.
function M.doesNotExist(field)
  check_field("doesNotExist", field)
  return condition { [field] = { ["$exists"] = false } }
end

--- Matches texts by a regular expression; options are letters of `imxs`.
function M.matches(field, pattern, options)
  check_field("matches", field)
  if type(pattern) ~= "string" then call.misuse("matches: argument 2 'pattern' must be a string, got %s", type(pattern)) end
  if options ~= nil and (type(options) ~= "string" or options:find "[^imxs]") then
    call.misuse("matches: argument 3 'options' must consist of letters from imxs, got %s", tostring(options))
  end
  return condition { [field] = { ["$regex"] = pattern, ["$options"] = options } }
end

--- Returns the text between \Q and \E, where no character is special. A \E in the text is quoted separately.
local function quoted(text) return "\\Q" .. text:gsub("\\E", "\\E\\\\E\\Q") .. "\\E" end

for name, shape in pairs { contains = "%s", startsWith = "^%s", endsWith = "%s$" } do
  M[name] = function(field, text)
    check_field(name, field)
    if type(text) ~= "string" then call.misuse("%s: argument 2 'text' must be a string, got %s", name, type(text)) end
    local before, behind = shape:match "^(.-)%%s(.*)$"
    return condition { [field] = { ["$regex"] = before .. quoted(text) .. behind } }
  end
end

--- Matches the objects of a relation of `parent`. The query must be for their class.
function M.relatedTo(parent, key)
  if type(parent) ~= "table" then arguments.wrong("relatedTo", 1, "parent", "an object of the server", parent) end
  if type(key) ~= "string" then arguments.wrong("relatedTo", 2, "key", "a string", key) end
  local owner = values.pointer_of(parent)
  if not owner then call.misuse("relatedTo: argument 1 'parent' must be an object of the server") end
  return condition { ["$relatedTo"] = { object = owner, key = key } }
end

--- Match pointers to objects that another query finds, or does not find.
for name, operator in pairs { matchesQuery = "$inQuery", doesNotMatchQuery = "$notInQuery" } do
  M[name] = function(field, query)
    check_field(name, field)
    if type(query) ~= "table" or type(query.conditions) ~= "table" then
      call.misuse("%s: argument 2 'query' must be a query", name)
    end
    return condition {
      [field] = { [operator] = { className = query.class.className, where = M.joined(query.conditions) } },
    }
  end
end

--- Match values that occur, or do not occur, in a column of the objects that another query finds.
for name, operator in pairs { matchesKeyInQuery = "$select", doesNotMatchKeyInQuery = "$dontSelect" } do
  M[name] = function(field, key, query)
    check_field(name, field)
    if type(key) ~= "string" then arguments.wrong(name, 2, "key", "a string", key) end
    if type(query) ~= "table" or type(query.conditions) ~= "table" then
      call.misuse("%s: argument 3 'query' must be a query", name)
    end
    local inner = { className = query.class.className, where = M.joined(query.conditions) }
    return condition { [field] = { [operator] = { query = inner, key = key } } }
  end
end

local function check_point(caller, position, name, point)
  if type(point) ~= "table" or point.__type ~= "GeoPoint" then arguments.wrong(caller, position, name, "a geoPoint", point) end
end

--- Matches points in a box between two opposite corners.
function M.withinGeoBox(field, southwest, northeast)
  check_field("withinGeoBox", field)
  check_point("withinGeoBox", 2, "southwest", southwest)
  check_point("withinGeoBox", 3, "northeast", northeast)
  return condition { [field] = { ["$within"] = { ["$box"] = core.array { southwest, northeast } } } }
end

--- Matches points inside a polygon, whose last corner is connected to the first.
function M.withinPolygon(field, corners)
  check_field("withinPolygon", field)
  if not arguments.is_list(corners) then arguments.wrong("withinPolygon", 2, "corners", "an array", corners) end
  local points = core.array()
  for i, corner in ipairs(corners) do
    check_point("withinPolygon", 2, ("corners[%d]"):format(i), corner)
    points[i] = corner
  end
  return condition { [field] = { ["$geoWithin"] = { ["$polygon"] = points } } }
end

--- Matches polygons that contain a point.
function M.polygonContains(field, point)
  check_field("polygonContains", field)
  check_point("polygonContains", 2, "point", point)
  return condition { [field] = { ["$geoIntersects"] = { ["$point"] = point } } }
end

--- Matches points near another one, nearest first; `kilometers` is the maximum distance.
function M.near(field, point, kilometers)
  check_field("near", field)
  if type(point) ~= "table" then arguments.wrong("near", 2, "point", "a geoPoint", point) end
  if call.given(kilometers) and not (type(kilometers) == "number" and kilometers >= 0) then
    arguments.wrong("near", 3, "kilometers", "a number, 0 or more", kilometers)
  end
  if type(point) ~= "table" or point.__type ~= "GeoPoint" then call.misuse "near: argument 2 'point' must be a geoPoint" end
  return condition { [field] = { ["$nearSphere"] = point, ["$maxDistanceInKilometers"] = kilometers } }
end

for name, operator in pairs { allOf = "$and", anyOf = "$or", noneOf = "$nor" } do
  M[name] = function(...)
    local parts = core.array()
    for i, one in ipairs { ... } do
      if not M.is_condition(one) then call.misuse("%s: argument %d must be a condition, such as equalTo(...)", name, i) end
      parts[i] = one.where
    end
    if #parts == 0 then call.misuse("%s: pass at least one condition", name) end
    return condition { [operator] = parts }
  end
end

return M
