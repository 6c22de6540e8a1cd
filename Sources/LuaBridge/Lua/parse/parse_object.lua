--- Represents objects of a Parse server: their fields and changes, and saving them with the new objects that they refer to.
---
---   local Genre = parse.class("Genre")
---   local genre = Genre { name = "Fantasy" }
---   genre:save()            -- inside a task; or genre:save(success, error)
local core = ...
local arguments = core.import "arguments"
local call = core.import "force_call"
local changes = core.import "parse_changes"
local local_ids = core.import "local_ids"
local modes = core.import "force_modes"
local nearest = core.import "nearest"
local parse_call = core.import "parse_call"
local query = core.import "parse_query"
local saving = core.import "parse_save"
local soups = core.import "parse_soups"
local values = core.import "parse_values"

local given, misuse = call.given, call.misuse
local CACHE_MODE, mode_of = modes.CACHE_MODE, saving.mode_of

---@class tureen.parse.Object
---@field className string
---@field objectId string?   the server's id; nil while the object is new
---@field localId string?    the id of an object that is new or was created offline
---@field fields table       the values from the server with all changes that are not saved yet
local Object = { __name = "tureen.parse.Object" }
Object.__index = Object

local M = { Object = Object, connection = "default", classes = {} }

local function is_object(value)
  local class = type(value) == "table" and getmetatable(value)
  return type(class) == "table" and class.is_parse_class == true
end
values.is_object, M.is_object = is_object, is_object

-- MARK: Classes

local SETTINGS = {
  connection = "string", soup = "string", storeConfig = "table", relations = "table", clientKeyField = "string",
  cacheMode = "string", validate = "any",
}

local function check_settings(name, settings)
  for key, value in pairs(settings) do
    local kind = SETTINGS[key]
    if not kind then
      local known = {}
      for one in pairs(SETTINGS) do known[#known + 1] = one end
      table.sort(known)
      misuse("class: 'settings' of %s has the unknown key '%s'%s", name, tostring(key), nearest.hint(key, known))
    end
    if kind ~= "any" and type(value) ~= kind then misuse("class: 'settings.%s' must be a %s, got %s", key, kind, type(value)) end
  end
  modes.check_cache_mode("class", settings.cacheMode)
  local hooks = settings.validate
  if hooks ~= nil and type(hooks) ~= "table" and type(hooks) ~= "function" then
    misuse("class: 'settings.validate' must be a function, or a table of functions by field, got %s", type(hooks))
  end
  if type(hooks) == "table" then
    for field, hook in pairs(hooks) do
      if type(hook) ~= "function" then misuse("class: 'settings.validate.%s' must be a function, got %s", field, type(hook)) end
    end
  end
end

local function construct(class, fields)
  if given(fields) and type(fields) ~= "table" then
    misuse("%s: argument 1 'fields' must be a table, got %s", class.className, type(fields))
  end
  local object = setmetatable(changes.begin { localId = local_ids.make() }, class)
  for key, value in pairs(fields or {}) do object:set(key, value) end
  return object
end

--- Returns the class of this name, which is created at the first call. Given settings replace earlier ones.
---@param name string
---@param settings table?  connection, soup, relations, clientKeyField, cacheMode, validate
function M.class(name, settings)
  if type(name) ~= "string" then misuse("class: argument 1 'name' must be a string, got %s", type(name)) end
  if name == "" then misuse "class: argument 1 'name' must not be empty" end
  if given(settings) and type(settings) ~= "table" then arguments.wrong("class", 2, "settings", "a table", settings) end
  local class = M.classes[name]
  if not class then
    class = { className = name, is_parse_class = true, __name = "tureen.parse." .. name, relations = {} }
    class.__index = class
    setmetatable(class, { __index = Object, __call = construct })
    M.classes[name] = class
  end
  if given(settings) then
    check_settings(name, settings)
    for key, value in pairs(settings) do class[key == "validate" and "hooks" or key] = value end
  end
  return class
end

function M.connection_of(class) return rawget(class, "connection") or M.connection end

--- Creates an object from a row of the server or a soup.
local function object_of(class, row)
  local object = setmetatable(changes.begin {}, class)
  object:take(row)
  return object
end
M.object_of = object_of

values.object_of = function(row) return object_of(M.class(row.className), row) end

-- MARK: Fields

--- Takes the fields of a row of the server or a soup. Changes that are not saved yet stay.
---@param parted table?  columns of which the row contains only parts
function Object:take(row, parted)
  local fields = {}
  for key, value in pairs(row) do
    if key ~= "__type" and key ~= "className" and key ~= "objectId" then fields[key] = values.from_wire(value) end
  end
  changes.take(self, fields, parted)
  local id = row.objectId
  if local_ids.is_local(id) then self.localId = id elseif given(id) then self.objectId = id end
  return self
end

--- Returns a field, or for a dotted name a part of one; nil if it is not known. Pointers are returned as objects.
function Object:get(name)
  if type(name) ~= "string" then misuse("get: argument 1 'name' must be a string, got %s", type(name)) end
  local value = changes.value(self.fields, name)
  if value == core.null then return nil end
  return value
end

--- Sets one field, or all fields of a table. Values that are objects are sent as pointers.
function Object:set(name, value)
  if type(name) == "table" then
    for key, element in pairs(name) do self:set(key, element) end
    return self
  end
  changes.check_name("set", name)
  if value == nil then misuse("set: argument 2 'value' is missing; use unset") end
  values.to_wire(value, "set: argument 2 'value'")
  changes.set(self, name, value)
  return self
end

--- Removes a field.
function Object:unset(name)
  changes.check_name("unset", name)
  changes.unset(self, name)
  return self
end

--- Adds `amount`, by default 1, to a number. The server adds it to its current value.
function Object:increment(name, amount)
  changes.increment(self, name, amount)
  return self
end

local function change_list(self, caller, operation, name, value)
  changes.change_list(self, caller, operation, name, value)
  return self
end

--- Appends a value, or each value of an array, to a list.
function Object:add(name, value) return change_list(self, "add", "Add", name, value) end

--- Appends a value, or each value of an array, if the list does not contain it.
function Object:addUnique(name, value) return change_list(self, "addUnique", "AddUnique", name, value) end

--- Removes a value, or each value of an array, from a list.
function Object:remove(name, value) return change_list(self, "remove", "Remove", name, value) end

--- Returns whether the server does not have the object yet.
---@return boolean
function Object:isNew() return self.objectId == nil end

--- Returns whether a save has something to send.
---@return boolean
function Object:isDirty() return self:isNew() or changes.is_dirty(self) end

--- Returns a pointer to the object in wire form.
function Object:toPointer() return values.pointer_of(self) end

--- Returns the fields and the id in wire form.
function Object:toTable()
  local row = values.to_wire(self.fields)
  row.objectId = self.objectId or self.localId
  return row
end

-- MARK: Relations

---@class tureen.parse.Relation
local Relation = call.class "parse.Relation"

function Relation:new(owner, key) self.owner, self.key = owner, key end

local function check_target(caller, target)
  if not is_object(target) then misuse("%s: each argument must be an object, got %s", caller, type(target)) end
end

local function change_links(self, caller, is_added, ...)
  local targets = { ... }
  if #targets == 1 and not is_object(targets[1]) and type(targets[1]) == "table" then targets = targets[1] end
  for _, target in ipairs(targets) do check_target(caller, target) end
  changes.link(self.owner, self.key, targets, is_added)
  return self
end

--- Links objects. The next save of the owner sends it.
function Relation:add(...) return change_links(self, "add", true, ...) end

--- Removes links. The next save of the owner sends it.
function Relation:remove(...) return change_links(self, "remove", false, ...) end

--- Returns a query of the linked objects. `class` may be omitted if `relations` of the owner's class names it.
function Relation:query(class)
  if not class then
    local known = self.owner.relations[self.key]
    if not known or not known.className then
      misuse("query: pass the class that '%s' leads to, or name it in 'relations' of class %s", self.key, self.owner.className)
    end
    class = M.class(known.className)
  end
  return class:queryRelations(self.key, self.owner)
end

--- Returns a relation of the object.
---@return tureen.parse.Relation
function Object:relation(key)
  changes.check_name("relation", key)
  return Relation(self, key)
end

-- MARK: Checks

--- Returns the problems that the class's hooks report, by field; nil if there are none.
function Object:validate()
  local hooks, wrong = getmetatable(self).hooks, {}
  if type(hooks) == "function" then wrong = hooks(self) or {} end
  for field, hook in pairs(type(hooks) == "table" and hooks or {}) do
    local problem = hook(self:get(field), self)
    if problem then wrong[field] = problem == true and "is not valid" or problem end
  end
  return next(wrong) and wrong or nil
end

-- MARK: Saving

local function check_use(caller, object, options)
  modes.check_cache_mode(caller, options and options.cacheMode)
  local mode = mode_of(object, options)
  if mode == CACHE_MODE.CACHE_FIRST and caller ~= "fetch" then misuse("Can't %s with cacheMode cache-first", caller) end
  if mode ~= CACHE_MODE.SERVER_ONLY and not rawget(getmetatable(object), "soup") then
    misuse("%s: cacheMode %s needs 'soup' in the settings of class %s", caller, mode, object.className)
  end
end

--- Saves objects of one connection and the new objects that they refer to.
function M.save_all(objects, options) return saving.all(objects, options, M.connection_of) end

local OPTIONS = { "options", "table", optional = true }

local function method(name, params, body, check)
  Object[name] = call.define { name = name, is_method = true, params = params, body = body, check = check }
end

-- object:save(options?): the object; saves it and the new objects that it points to; options: cacheMode
method("save", { OPTIONS }, function(self, options)
  local saved, err = M.save_all({ self }, options)
  if not saved then return nil, err end
  return self
end, function(self, options) check_use("save", self, options) end)

local function fetch(self, options)
  local mode, class = mode_of(self, options), getmetatable(self)
  if mode == CACHE_MODE.CACHE_ONLY or mode == CACHE_MODE.CACHE_FIRST then
    local row, err = soups.find_one(class, self.objectId or self.localId)
    if row == nil then return nil, err end
    if row ~= core.null then return self:take(row) end
    if mode == CACHE_MODE.CACHE_ONLY then
      return nil, parse_call.new_error("notFound", ("%s %s is not in soup '%s'")
        :format(self.className, self.objectId or self.localId, class.soup))
    end
  end
  local keys = options and given(options.keys) and options.keys or nil
  local row, err = parse_call.wait("fetch", {
    connection = M.connection_of(class), className = self.className, objectId = self.objectId,
    include = query.names(options and options.include), keys = query.names(keys),
  })
  if not row then return nil, err end
  if mode ~= CACHE_MODE.SERVER_ONLY then
    local stored, problem = soups.store_rows(class, { row }, M.class, keys and "known" or nil)
    if not stored then return nil, problem end
  end
  -- Columns that the server no longer has are not in the row.
  if not keys then self.server = {} end
  return self:take(row)
end

-- object:fetch(options?): the object with its current fields; options: cacheMode, include, keys
method("fetch", { OPTIONS }, function(self, options) return saving.in_turn("fetch", self, fetch, self, options) end,
  function(self, options)
    check_use("fetch", self, options)
    if self:isNew() and mode_of(self, options) ~= CACHE_MODE.CACHE_ONLY then misuse "fetch: the object is new; save it first" end
  end)

local function destroy(self, options)
  local mode, class = mode_of(self, options), getmetatable(self)
  if mode == CACHE_MODE.CACHE_ONLY then return soups.mark_deleted(class, self.objectId or self.localId) end
  local done, err = parse_call.wait("delete", {
    connection = M.connection_of(class), className = self.className, objectId = self.objectId,
  })
  if done == nil then return nil, err end
  if mode == CACHE_MODE.SERVER_FIRST then return soups.remove(class, self.objectId) end
  return done
end

-- object:destroy(options?): "OK", even if the object no longer exists; options: cacheMode
method("destroy", { OPTIONS }, function(self, options) return saving.in_turn("destroy", self, destroy, self, options) end,
  function(self, options)
    check_use("destroy", self, options)
    if self:isNew() and mode_of(self, options) ~= CACHE_MODE.CACHE_ONLY then
      misuse "destroy: the object is new; the server does not have it"
    end
  end)

-- MARK: Queries

--- Returns a query of the class.
---@return tureen.parse.Query
function Object:query(...) return query.Query(self, M):where(...) end

--- Returns a query of the objects of this class in a relation of another object.
---@return tureen.parse.Query
function Object:queryRelations(key, parent)
  return self:query(core.import "parse_conditions".relatedTo(parent, key))
end

return M
