--- Represents records as objects. `fetch`, `save` and `destroy` keep the object, the cache, the originals and the server
--- consistent.
---
---   local Contact = force.SObject:extend { sobjectType = "Contact", fieldlist = { "LastName", "Email" }, cache = cache }
---   local contact = Contact { LastName = "Ito" }
---   contact:save()            -- inside a task; or contact:save(success, error)
local core = ...
local arguments = core.import "arguments"
local async = core.import "async"
local call = core.import "force_call"
local conflict = core.import "force_conflict"
local sync = core.import "force_sync"

local given, copy = call.given, call.copy

---@class tureen.force.RemoteObject
---@field id any             the record's id; nil if it is new
---@field attributes table   the known attributes
local RemoteObject = { idAttribute = "Id", __name = "tureen.force.RemoteObject" }
RemoteObject.__index = RemoteObject

-- The settings of a class, each a value or a function(model, method). The options of a call override them.
local SETTINGS = { "fieldlist", "cacheMode", "mergeMode", "cache", "cacheForOriginals" }

-- record -> {changed, touched, waiting, holder}: the attributes that were set since the record was last read or saved, and those
-- that were set since the running request began; the calls that wait for its end; the coroutine that runs it
local states = setmetatable({}, { __mode = "k" })

local function state_of(self)
  local state = states[self]
  if not state then
    state = { changed = {}, touched = {} }
    states[self] = state
  end
  return state
end

local function note(self, name)
  local state = state_of(self)
  state.changed[name], state.touched[name] = true, true
end

local function construct(class, attributes, settings)
  if given(attributes) and type(attributes) ~= "table" then
    call.misuse("%s: argument 1 'attributes' must be a table, got %s", class.__name, type(attributes))
  end
  local model = setmetatable({ attributes = {}, collections = {} }, class)
  for key, value in pairs(settings or {}) do model[key] = value end
  model:set(attributes or {})
  return model
end

--- Creates a subclass with settings: `sobjectType`, `fieldlist`, `cache`, `cacheForOriginals`, `cacheMode`, `mergeMode`,
--- `idAttribute`, and methods. Calling the class with attributes and settings creates a record.
---@param settings table
---@return table
function RemoteObject:extend(settings)
  if type(settings) ~= "table" then arguments.wrong("extend", 1, "settings", "a table", settings) end
  local class = copy(settings)
  class.__index, class.__name = class, self.__name
  return setmetatable(class, { __index = self, __call = construct })
end

--- Returns an attribute; nil if it is not known.
function RemoteObject:get(name)
  if type(name) ~= "string" then arguments.wrong("get", 1, "name", "a string", name) end
  return self.attributes[name]
end

--- Sets one attribute, or all attributes of a table.
function RemoteObject:set(name, value)
  if type(name) ~= "table" and type(name) ~= "string" then
    arguments.wrong("set", 1, "name", "a string or a table", name)
  end
  local changes = type(name) == "table" and name or { [name] = value }
  for key, element in pairs(changes) do
    self.attributes[key] = element
    note(self, key)
  end
  local id = self.attributes[self.idAttribute]
  self.id = given(id) and id or nil
  return self
end

--- Removes an attribute.
function RemoteObject:unset(name)
  if type(name) ~= "string" then arguments.wrong("unset", 1, "name", "a string", name) end
  self.attributes[name] = nil
  note(self, name)
  return self:set {}
end

--- Returns whether the record has no id yet. A record that was created offline has a local id.
---@return boolean
function RemoteObject:isNew() return self.id == nil end

--- Returns a copy of the attributes.
function RemoteObject:toTable() return copy(self.attributes) end

--- Changes the record on the server or reads it. Subclasses override it; it runs in a task.
RemoteObject.syncRemoteObjectWithServer = function() return core.array() end

--- Returns the settings for one method.
local function settings_of(self, method, options)
  local result = {}
  for _, name in ipairs(SETTINGS) do
    local value = options and options[name]
    if not given(value) then value = self[name] end
    if type(value) == "function" then value = value(self, method) end
    result[name] = given(value) and value or nil
  end
  if result.fieldlist then result.fieldlist = arguments.fieldlist(result.fieldlist) end
  return result
end

local function check(self, caller, method, options)
  local used = settings_of(self, method, options)
  conflict.check(caller, method, self.id, used.cache, used.cacheMode, used.mergeMode)
  return used
end

--- Ends the turn of a call: the next one that still waits goes on.
local function leave_turn(state)
  state.holder = nil
  while state.waiting and #state.waiting > 0 do
    local following = table.remove(state.waiting, 1)
    if following.settle then return following.settle(true) end
  end
  state.waiting = nil
end

--- Runs `body` while no other call reads or saves the record, so that a new record is created once.
local function in_turn(self, body)
  local state, thread = state_of(self), coroutine.running()
  if state.holder == thread then return body() end
  if state.waiting then
    local entry = {}
    table.insert(state.waiting, entry)
    local is_free, err = async.wait("save", function(settle) entry.settle = settle end)
    entry.settle = nil
    if not is_free then return nil, err end
  else
    state.waiting = {}
  end
  state.holder = thread
  local results = table.pack(pcall(body))
  leave_turn(state)
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

--- Takes over the attributes of an answer, except those that were set while the request was in flight.
---@param exchanged table<string, any>  the names of the attributes that both sides have in common now
local function take(self, data, exchanged)
  local state = state_of(self)
  local touched = state.touched
  for key, value in pairs(data) do
    if not touched[key] then self.attributes[key] = value end
  end
  for key in pairs(exchanged) do state.changed[key] = touched[key] end
  local id = self.attributes[self.idAttribute]
  self.id = given(id) and id or nil
  return self
end

--- Reads or changes the record. `more`: attributes to set with it.
local function run(self, method, more, options)
  local used, state = settings_of(self, method, options), state_of(self)
  local attributes, changed = copy(self.attributes), copy(state.changed)
  for key, value in pairs(more or {}) do attributes[key], changed[key] = value, true end
  state.touched = {}
  if self.sobjectType then attributes = sync.typed(self.sobjectType, attributes) end
  local function server(server_method, id, values, fieldlist)
    return self:syncRemoteObjectWithServer(server_method, id, values, fieldlist)
  end
  local info = { overwrite = options and options.overwrite, changed = changed }
  return conflict.run(method, self.id, attributes, used.fieldlist, used.cache, used.cacheMode, used.cacheForOriginals,
    used.mergeMode, info, server)
end

local function method(name, params, body, check_use)
  RemoteObject[name] = call.define {
    name = name, is_method = true, params = params, check = check_use,
    body = function(self, ...)
      local values = table.pack(...)
      return in_turn(self, function() return body(self, table.unpack(values, 1, values.n)) end)
    end,
  }
end

local OPTIONS = { "options", "table", optional = true }

-- model:fetch(options?): the model with the fetched attributes; options: the settings, and overwrite = true
method("fetch", { OPTIONS }, function(self, options)
  local data, err = run(self, "read", nil, options)
  if data == nil then return nil, err end
  if data == core.null then
    return nil, call.new_error("notFound", ("record %s is not in the cache"):format(tostring(self.id)))
  end
  return take(self, data, data)
end, function(self, options)
  if self:isNew() then call.misuse("fetch: the record has no %s", self.idAttribute) end
  check(self, "fetch", "read", options)
end)

local function save_method(self) return self:isNew() and "create" or "update" end

-- model:save(attributes?, options?): the model; sets the attributes and saves it. Attributes that are set meanwhile stay set; a
-- call for the same model waits until this one has ended
method("save", { { "attributes", "table", optional = true }, OPTIONS }, function(self, attributes, options)
  local data, err = run(self, save_method(self), attributes, options)
  if data == nil then return nil, err end
  return take(self, data, copy(self.attributes))
end, function(self, _, options) check(self, "save", save_method(self), options) end)

local function leave_collections(self)
  for collection in pairs(copy(self.collections)) do collection:remove(self) end
end

-- model:destroy(options?): null; false if the record is new. The record is removed from its collections immediately, or with
-- wait = true after the server has answered
method("destroy", { OPTIONS }, function(self, options)
  local waits = options and options.wait == true
  if not waits or self:isNew() then leave_collections(self) end
  if self:isNew() then return false end
  local data, err = run(self, "delete", nil, options)
  if data == nil then return nil, err end
  if waits then leave_collections(self) end
  return data
end, function(self, options)
  if not self:isNew() then check(self, "destroy", "delete", options) end
end)

---@class tureen.force.SObject: tureen.force.RemoteObject
---@field sobjectType string
local SObject = RemoteObject:extend { __name = "tureen.force.SObject" }
SObject.__name = "tureen.force.SObject"

function SObject:syncRemoteObjectWithServer(method_name, id, attributes, fieldlist)
  return sync.syncSObjectWithServer(method_name, self.sobjectType, id, attributes, fieldlist)
end

---@class tureen.force.ApexRestObject: tureen.force.RemoteObject
---@field apexRestPath string
local ApexRestObject = RemoteObject:extend {}
ApexRestObject.__name = "tureen.force.ApexRestObject"

function ApexRestObject:syncRemoteObjectWithServer(method_name, id, attributes, fieldlist)
  return sync.syncApexRestObjectWithServer(method_name, self.apexRestPath, id, self.idAttribute, attributes, fieldlist)
end

--- Notes that the attributes of records are those that were read.
---@param models table[]
local function mark_read(models)
  for _, one in ipairs(models) do states[one] = nil end
end

return {
  mark_read = mark_read,
  RemoteObject = setmetatable(RemoteObject, { __call = construct }), SObject = SObject, ApexRestObject = ApexRestObject,
}
