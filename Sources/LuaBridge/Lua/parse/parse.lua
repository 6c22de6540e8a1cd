--- Gives scripts access to a Parse server: classes, queries, relations, users.
---
---   local parse = require "tureen.parse"
---   local Genre = parse.class("Genre", { connection = "library" })
---   tureen.main(function()
---     if Genre:query(parse.equalTo("name", "Fantasy")):first() == tureen.null then Genre { name = "Fantasy" }:save() end
---   end)
---
--- Every function that uses the server or a store takes `success` and `error` as its last arguments and works with `await`.
--- Inside a task it can be called without callbacks: it waits and returns the value, or nil and an error.
local core = ...
local arguments = core.import "arguments"
local call = core.import "force_call"
local conditions = core.import "parse_conditions"
local modes = core.import "force_modes"
local object = core.import "parse_object"
local parse_call = core.import "parse_call"

local misuse = call.misuse

---@class tureen.parse
local M = { CACHE_MODE = modes.CACHE_MODE, Object = object.Object, class = object.class }

for name, make in pairs(conditions) do
  if name ~= "is_condition" and name ~= "joined" then M[name] = make end
end

--- Sets the connection for calls and classes that name none. Initially it is "default".
---@param name string
function M.use(name)
  if type(name) ~= "string" or name == "" then misuse("use: argument 1 'name' must be a string, got %s", type(name)) end
  object.connection = name
end

-- MARK: values

--- Creates a date.
---@param time number|string  seconds since 1970, as returned by os.time, or an ISO string
function M.date(time)
  if type(time) == "number" then
    if time ~= time or time < -62135596800 or time > 253402300799 then
      misuse("date: argument 1 'time' must be a number of seconds in the years 1 to 9999, got %s", tostring(time))
    end
    -- The nearest millisecond: a double of a time with a fraction is mostly a little smaller than the time.
    local milliseconds = math.floor(time * 1000 + 0.5)
    time = os.date("!%Y-%m-%dT%H:%M:%S", milliseconds // 1000) .. (".%03dZ"):format(milliseconds % 1000)
  elseif type(time) ~= "string" then
    misuse("date: argument 1 'time' must be a number or a string, got %s", type(time))
  end
  return { __type = "Date", iso = time }
end

--- Creates a geographic point; the coordinates are degrees.
function M.geoPoint(latitude, longitude)
  for i, value in ipairs { latitude or false, longitude or false } do
    if type(value) ~= "number" or value ~= value or value - value ~= 0 then
      misuse("geoPoint: argument %d '%s' must be a finite number, got %s", i, i == 1 and "latitude" or "longitude",
        type(value) == "number" and tostring(value) or type(value ~= false and value or nil))
    end
  end
  return { __type = "GeoPoint", latitude = latitude, longitude = longitude }
end

--- Creates a file. The save or the sync that sends the object that contains it uploads the file first.
---@param content string  the file's bytes
---@param content_type string?  such as image/jpeg; by default derived from common file name extensions
function M.file(name, content, content_type)
  if type(name) ~= "string" or name == "" then arguments.wrong("file", 1, "name", "a string that is not empty", name) end
  if type(content) ~= "string" or content == "" then
    arguments.wrong("file", 2, "content", "a string that is not empty", content)
  end
  if call.given(content_type) and type(content_type) ~= "string" then
    arguments.wrong("file", 3, "contentType", "a string", content_type)
  end
  return { __type = "File", name = name, base64 = core.to_base64(content), contentType = content_type }
end

--- Creates a polygon. Its corners are geoPoints; the last one is connected to the first.
function M.polygon(corners)
  if not arguments.is_list(corners) then arguments.wrong("polygon", 1, "corners", "an array", corners) end
  local coordinates = core.array()
  for i, corner in ipairs(corners) do
    if type(corner) ~= "table" or corner.__type ~= "GeoPoint" then
      arguments.wrong("polygon", 1, ("corners[%d]"):format(i), "a geoPoint", corner)
    end
    coordinates[i] = core.array { corner.latitude, corner.longitude }
  end
  return { __type = "Polygon", coordinates = coordinates }
end

-- MARK: objects

local CLASS, OPTIONS = { "className", "string" }, { "options", "table", optional = true }
local CONDITION = { "condition", "table", optional = true }

local function define(name, params, body, check)
  M[name] = call.define { name = name, params = params, body = body, check = check }
end

--- Returns a query with the options of a call.
local function query_of(class_name, condition, options)
  local query = object.class(class_name):query()
  if condition then query:where(condition) end
  options = options or {}
  if options.include then query:include(options.include) end
  if options.order then query:order(options.order) end
  if options.keys then query:select(options.keys) end
  if options.limit then query:limit(options.limit) end
  if options.skip then query:skip(options.skip) end
  return query
end

-- find(className, condition?, options?): the objects; options: include, order, keys, limit, skip, cacheMode
-- first(...): the first object or null; count(...): the number of objects; findAll(...): all objects, without a limit
for _, name in ipairs { "find", "first", "count", "findAll" } do
  define(name, { CLASS, CONDITION, OPTIONS }, function(class_name, condition, options)
    local query = query_of(class_name, condition, options)
    return query[name](query, options)
  end)
end

-- findInSoup(className, condition?, options?): like find, from the soup of the class
define("findInSoup", { CLASS, CONDITION, OPTIONS }, function(class_name, condition, options)
  return query_of(class_name, condition, options):find { cacheMode = modes.CACHE_MODE.CACHE_ONLY }
end)

-- fetch(className, objectId, options?): the object; options: include, keys, cacheMode
define("fetch", { CLASS, { "objectId", "string" }, OPTIONS }, function(class_name, id, options)
  return object.object_of(object.class(class_name), { objectId = id }):fetch(options)
end)

-- saveAll(objects, options?): the objects; saves them and the new objects that they refer to; options: cacheMode
define("saveAll", { { "objects", "tables" }, OPTIONS }, function(objects, options)
  local saved, err = object.save_all(objects, options)
  if not saved then return nil, err end
  return objects
end, function(objects)
  for i, one in ipairs(objects) do
    if not object.is_object(one) then arguments.wrong("saveAll", 1, ("objects[%d]"):format(i), "an object of a class", one) end
  end
end)

-- delete(className, objectId, options?): "OK"; options: cacheMode
define("delete", { CLASS, { "objectId", "string" }, OPTIONS }, function(class_name, id, options)
  return object.object_of(object.class(class_name), { objectId = id }):destroy(options)
end)

-- MARK: users

local function connection(options)
  return call.given(options) and options.connection or object.connection_of(object.class "_User")
end

local function user(row, err)
  if not row then return nil, err end
  if row == core.null then return row end
  return object.object_of(object.class "_User", row)
end

-- signUp(fields, options?): the new user; the connection acts as this user from then on; options: connection
define("signUp", { { "fields", "table" }, OPTIONS }, function(fields, options)
  return user(parse_call.wait("signUp", { connection = connection(options), fields = fields }))
end, function(fields)
  for _, name in ipairs { "username", "password" } do
    if type(fields[name]) ~= "string" then arguments.wrong("signUp", 1, "fields." .. name, "a string", fields[name]) end
  end
end)

-- logIn(username, password, options?): the user; the connection acts as this user from then on
define("logIn", { { "username", "string" }, { "password", "string" }, OPTIONS }, function(name, password, options)
  return user(parse_call.wait("logIn", { connection = connection(options), username = name, password = password }))
end)

-- logOut(options?): "OK"; the connection acts as no user from then on
define("logOut", { OPTIONS }, function(options) return parse_call.wait("logOut", { connection = connection(options) }) end)

-- currentUser(options?): the user that the connection acts as, or null
define("currentUser", { OPTIONS }, function(options)
  return user(parse_call.wait("currentUser", { connection = connection(options) }))
end)

return M
