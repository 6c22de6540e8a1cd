--- Reads the metadata of a type: its fields, recent records and layouts. A cache stores one row for each type.
local core = ...
local call = core.import "force_call"
local arguments = core.import "arguments"
local async = core.import "async"
local client = core.import "force_client"
local modes = core.import "force_modes"

local CACHE_MODE = modes.CACHE_MODE
local MASTER_RECORD_TYPE = "012000000000000AAA"

---@class tureen.force.SObjectType
local SObjectType = call.class "SObjectType"

---@param sobject_type string
---@param cache tureen.force.StoreCache?
---@param cache_mode string?  a `force.CACHE_MODE`; by default server-first
function SObjectType:new(sobject_type, cache, cache_mode)
  if type(sobject_type) ~= "string" then call.misuse("SObjectType: argument 1 'sobjectType' must be a string") end
  if call.given(cache) and (type(cache) ~= "table" or type(cache.retrieve) ~= "function") then
    arguments.wrong("SObjectType", 2, "cache", "a cache", cache)
  end
  if not call.given(cache_mode) then cache_mode = CACHE_MODE.SERVER_FIRST end
  modes.check_cache_mode("SObjectType", cache_mode)
  self.sobjectType, self.cacheMode = sobject_type, cache_mode
  self.cache = call.given(cache) and cache or nil
  self.known, self.pending = {}, {}
end

--- Reads a column from the cache or the server, depending on the mode, and saves the server's value in the cache.
local function load(self, column, ask)
  local cache, mode = self.cache, self.cacheMode
  if cache and (mode == CACHE_MODE.CACHE_ONLY or mode == CACHE_MODE.CACHE_FIRST) then
    local row, err = cache:retrieve(self.sobjectType)
    if row == nil then return nil, err end
    if row ~= core.null and call.given(row[column]) then return row[column] end
  end
  if mode == CACHE_MODE.CACHE_ONLY then return core.null end
  local value, err = ask()
  if value == nil then return nil, err end
  if cache and mode ~= CACHE_MODE.SERVER_ONLY then
    local saved
    saved, err = cache:save { [cache.keyField] = self.sobjectType, [column] = value }
    if not saved then return nil, err end
  end
  return value
end

--- Loads a column once: simultaneous callers share one request, and only a success is remembered.
local function shared(self, column, ask)
  if self.known[column] ~= nil then return self.known[column] end
  local task = self.pending[column]
  if not task then
    task = async.create(function() return load(self, column, ask) end)
    self.pending[column] = task
    async.start(task)
  end
  local value, err = async.await(task)
  if self.pending[column] == task then
    self.pending[column] = nil
    if value ~= nil and value ~= core.null then self.known[column] = value end
  end
  return value, err
end

local function method(name, params, body)
  SObjectType[name] = call.define { name = name, is_method = true, params = params, body = body }
end

-- type:describe(): a table with fields, keyPrefix, childRelationships and more
method("describe", {}, function(self)
  return shared(self, "describeResult", function() return client.describe(self.sobjectType) end)
end)

-- type:getMetadata(): {objectDescribe, recentItems}
method("getMetadata", {}, function(self)
  return shared(self, "metadataResult", function() return client.metadata(self.sobjectType) end)
end)

-- type:describeLayout(recordTypeId?): the layout of a record type, by default the master record type
method("describeLayout", { { "recordTypeId", "string", optional = true } }, function(self, record_type)
  record_type = record_type or MASTER_RECORD_TYPE
  return shared(self, "layoutInfo_" .. record_type, function()
    return client.describeLayout(self.sobjectType, record_type)
  end)
end)

-- type:reset(): forgets the loaded metadata and removes the row from the cache
method("reset", {}, function(self)
  self.known, self.pending = {}, {}
  if self.cache then return self.cache:remove(self.sobjectType) end
  return core.null
end)

return SObjectType
