--- Lists of records as objects, filled by a fetch.
---
---   local contacts = force.SObjectCollection { model = Contact, cache = cache,
---     config = { type = "soql", query = "SELECT Id, LastName FROM Contact" } }
---   contacts:fetch()          -- inside a task; contacts.models then
local core = ...
local arguments = core.import "arguments"
local call = core.import "force_call"
local fetch = core.import "force_fetch"
local model = core.import "force_model"
local modes = core.import "force_modes"
local storecache = core.import "force_storecache"

local given, copy = call.given, call.copy
local CACHE_MODE = modes.CACHE_MODE

---@class tureen.force.RemoteObjectCollection
---@field models table[]  the records, in order
local RemoteObjectCollection = { __name = "tureen.force.RemoteObjectCollection", model = model.RemoteObject }
RemoteObjectCollection.__index = RemoteObjectCollection

local function construct(class, settings)
  local collection = setmetatable(copy(settings), class)
  collection.models, collection.asked, collection.newest = {}, 0, 0
  return collection
end

--- Creates a subclass with settings: `model`, `config`, `cache`, `cacheForOriginals`, `cacheMode`, `mergeMode`, each a value or a
--- function(collection), and methods. Calling the class with settings creates a collection.
function RemoteObjectCollection:extend(settings)
  if type(settings) ~= "table" then arguments.wrong("extend", 1, "settings", "a table", settings) end
  local class = copy(settings)
  class.__index, class.__name = class, self.__name
  return setmetatable(class, { __index = self, __call = construct })
end

--- Appends a record, which may be given as its attributes, and returns it.
function RemoteObjectCollection:add(record)
  if type(record) ~= "table" then arguments.wrong("add", 1, "record", "a table", record) end
  if type(record.syncRemoteObjectWithServer) ~= "function" then record = self:parse(record) end
  record.collections[self] = true
  self.models[#self.models + 1] = record
  return record
end

--- Removes a record and returns whether the collection contained it.
function RemoteObjectCollection:remove(record)
  if type(record) ~= "table" or type(record.collections) ~= "table" then
    arguments.wrong("remove", 1, "record", "a record", record)
  end
  record.collections[self] = nil
  for i, other in ipairs(self.models) do
    if other == record then
      table.remove(self.models, i)
      return true
    end
  end
  return false
end

--- Returns the record with this id, or nil.
function RemoteObjectCollection:get(id)
  for _, record in ipairs(self.models) do if record.id == id then return record end end
end

--- Creates a record from fetched attributes.
function RemoteObjectCollection:parse(attributes)
  if type(attributes) ~= "table" then arguments.wrong("parse", 1, "attributes", "a table", attributes) end
  local settings = {}
  for _, name in ipairs { "cache", "cacheForOriginals" } do
    if self.model[name] == nil then settings[name] = self[name] end
  end
  return self.model(attributes, settings)
end

--- Replaces all records.
function RemoteObjectCollection:reset(records)
  if given(records) and not arguments.is_list(records) then
    arguments.wrong("reset", 1, "records", "an array of tables", records)
  end
  for i, record in ipairs(given(records) and records or {}) do
    if type(record) ~= "table" then arguments.wrong("reset", 1, ("records[%d]"):format(i), "a table", record) end
  end
  for _, record in ipairs(self.models) do record.collections[self] = nil end
  self.models = {}
  for _, attributes in ipairs(given(records) and records or {}) do self:add(attributes) end
  return self
end

local function setting(self, name, options)
  local value = options and options[name]
  if not given(value) then value = self[name] end
  if type(value) == "function" then value = value(self) end
  return given(value) and value or nil
end

--- Fetches from the server as `config` says. Subclasses override it; it runs in a task.
function RemoteObjectCollection:fetchRemoteObjectsFromServer() -- luacheck: ignore 212
  return fetch.Records(core.array(), 0)
end

--- Fetches from the cache. It runs in a task.
function RemoteObjectCollection:fetchRemoteObjectsFromCache(config, cache) -- luacheck: ignore 212
  return cache:find(config.cacheQuery)
end

local function load(self, config, options)
  local cache = setting(self, "cache", options)
  local mode = config.type == "cache" and CACHE_MODE.CACHE_ONLY or setting(self, "cacheMode", options)
  return fetch.run(function() return self:fetchRemoteObjectsFromServer(config) end,
    function() return self:fetchRemoteObjectsFromCache(config, cache) end,
    mode, cache, setting(self, "cacheForOriginals", options), setting(self, "mergeMode", options))
end

local function method(name, params, body, check)
  RemoteObjectCollection[name] = call.define { name = name, is_method = true, params = params, body = body, check = check }
end

-- collection:fetch(options?): the collection, whose records are replaced by the found ones. If a newer fetch was answered first,
-- the error has the code superseded. Without a config the collection becomes empty
method("fetch", { { "options", "table", optional = true } }, function(self, options)
  local config = setting(self, "config", options)
  if config == nil then return self:reset() end
  self.asked = self.asked + 1
  local number = self.asked
  local found, err = load(self, config, options)
  if not found then return nil, err end
  if number < self.newest then return nil, call.new_error("superseded", "a newer fetch was answered first") end
  self.newest, self.found = number, found
  self:reset(found.records)
  model.mark_read(self.models)
  if config.closeCursorImmediate then
    local closed
    closed, err = found:closeCursor()
    if not closed then return nil, err end
  end
  return self
end, function(self, options)
  modes.check_cache_mode("fetch", setting(self, "cacheMode", options))
  storecache.check_mode("fetch", setting(self, "mergeMode", options))
  local config = setting(self, "config", options)
  local is_cache = config and (config.type == "cache" or setting(self, "cacheMode", options) == CACHE_MODE.CACHE_ONLY)
  if is_cache and not (setting(self, "cache", options) and type(config.cacheQuery) == "table") then
    call.misuse("fetch: reading the cache needs a 'cache' and a 'config.cacheQuery'")
  end
end)

--- Returns whether `getMore` will find records.
---@return boolean
function RemoteObjectCollection:hasMore() return self.found ~= nil and self.found:hasMore() end

-- collection:getMore(): the attributes of the next records, which are added to the collection; an empty list at the end
method("getMore", {}, function(self)
  if not self.found then return core.array() end
  local records, err = self.found:getMore()
  if not records then return nil, err end
  for _, attributes in ipairs(records) do model.mark_read { self:add(attributes) } end
  return records
end)

-- collection:closeCursor(): null; getMore then finds nothing
method("closeCursor", {}, function(self)
  if not self.found then return core.null end
  return self.found:closeCursor()
end)

---@class tureen.force.SObjectCollection: tureen.force.RemoteObjectCollection
local SObjectCollection = RemoteObjectCollection:extend { model = model.SObject }
SObjectCollection.__name = "tureen.force.SObjectCollection"

function SObjectCollection:fetchRemoteObjectsFromServer(config) -- luacheck: ignore 212
  return fetch.fetchSObjectsFromServer(config)
end

--- Creates a record, whose type comes from its attributes unless the record class has one.
function SObjectCollection:parse(attributes)
  local record = RemoteObjectCollection.parse(self, attributes)
  local about = attributes.attributes
  if record.sobjectType == nil and type(about) == "table" then record.sobjectType = about.type end
  return record
end

---@class tureen.force.ApexRestObjectCollection: tureen.force.RemoteObjectCollection
local ApexRestObjectCollection = RemoteObjectCollection:extend { model = model.ApexRestObject }
ApexRestObjectCollection.__name = "tureen.force.ApexRestObjectCollection"

function ApexRestObjectCollection:fetchRemoteObjectsFromServer(config) -- luacheck: ignore 212
  return fetch.fetchApexRestObjectsFromServer(config)
end

return {
  RemoteObjectCollection = setmetatable(RemoteObjectCollection, { __call = construct }),
  SObjectCollection = SObjectCollection, ApexRestObjectCollection = ApexRestObjectCollection,
}
