--- Syncs one record between the server and a cache.
local core = ...
local cached = core.import "force_cached"
local call = core.import "force_call"
local client = core.import "force_client"
local modes = core.import "force_modes"
local storecache = core.import "force_storecache"
local url = core.import "force_url"

local M = {}

local given, copy = call.given, call.copy
local CACHE_MODE = modes.CACHE_MODE
local FLAGS = { "__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__" }
-- Members that the store or the server adds to a record and the server does not accept.
local NOT_SENT = { attributes = true, _soupEntryId = true, _soupLastModifiedDate = true, __sync_id__ = true }
for _, flag in ipairs(FLAGS) do NOT_SENT[flag] = true end

--- Returns the listed attributes; all attributes if there is no list.
local function listed(attributes, fieldlist)
  if not given(fieldlist) then return copy(attributes) end
  local result = {}
  for _, field in ipairs(fieldlist) do result[field] = given(attributes) and attributes[field] or nil end
  return result
end

--- Returns the listed attributes in the form that is sent, without the id.
local function to_send(attributes, fieldlist, id_field)
  local result = listed(attributes, fieldlist)
  for key in pairs(NOT_SENT) do result[key] = nil end
  result[id_field] = nil
  return result
end

local METHOD, ATTRIBUTES = { "method", "string" }, { "attributes", "table", optional = true }
local ID = { "id", "string", optional = true }
local FIELDLIST = { "fieldlist", "fieldlist", optional = true }
local TYPE = { "sobjectType", "string" }
local CACHE, CACHE_MODE_PARAM = { "cache", "cache", optional = true }, { "cacheMode", "string", optional = true }
M.params = {
  method = METHOD, id = ID, attributes = ATTRIBUTES, fieldlist = FIELDLIST, type = TYPE, cache = CACHE,
  cache_mode = CACHE_MODE_PARAM,
}

local function define(name, params, body, check)
  M[name] = call.define {
    name = name, params = params, body = body,
    check = function(method, ...)
      modes.check_method(name, method)
      if check then check(method, ...) end
    end,
  }
end

--- Returns the attributes with the record's type as `attributes.type`, like the server's records. A sync up of the cache's soup
--- needs it.
function M.typed(kind, attributes)
  local result = copy(attributes)
  if type(result.attributes) ~= "table" or not given(result.attributes.type) then
    result.attributes = copy(type(result.attributes) == "table" and result.attributes or nil)
    result.attributes.type = kind
  end
  return result
end

--- Saves a record with an id and the given flags.
---@param changed table<string, any>?  the names of the changed attributes, if only they are to be written
local function save(cache, id, attributes, fieldlist, created, updated, changed)
  local record = listed(attributes, fieldlist)
  record.attributes = given(attributes) and attributes.attributes or nil -- its type, which the list may omit
  record[cache.keyField] = id
  record.__locally_created__, record.__locally_updated__, record.__locally_deleted__ = created, updated, false
  if changed and storecache.is_own(cache) then return cached.update(cache, record, changed) end
  return cache:save(record)
end

local in_cache = {}

function in_cache.create(id, attributes, fieldlist, cache, is_local)
  return save(cache, is_local and cache:makeLocalId() or id, attributes, fieldlist, is_local, false)
end

function in_cache.read(id, _, fieldlist, cache) return cache:retrieve(id, fieldlist) end

function in_cache.update(id, attributes, fieldlist, cache, is_local, changed)
  return save(cache, id, attributes, fieldlist, cache:isLocalId(id), is_local, changed)
end

function in_cache.delete(id, attributes, _, cache, is_local)
  if not is_local or cache:isLocalId(id) then return cache:remove(id) end
  local about = given(attributes) and attributes.attributes or nil
  local saved, err = cache:save { [cache.keyField] = id, attributes = about, __locally_deleted__ = true }
  if not saved then return nil, err end
  return core.null
end

local function check_id(caller, method, id)
  if method ~= "create" and id == nil then call.misuse("%s: 'id' must be a string to %s", caller, method) end
end

-- syncRemoteObjectWithCache(method, id, attributes, fieldlist, cache, localAction?): the record in the cache; null after a delete
-- and for a missing record. localAction marks the record as changed locally
define("syncRemoteObjectWithCache",
  { METHOD, ID, ATTRIBUTES, FIELDLIST, { "cache", "cache" }, { "localAction", "boolean", optional = true } },
  function(method, id, attributes, fieldlist, cache, is_local)
    return in_cache[method](id, attributes, fieldlist, cache, is_local == true)
  end,
  function(method, id, _, _, _, is_local)
    if not (method == "create" and is_local) and id == nil then
      call.misuse("syncRemoteObjectWithCache: 'id' must be a string to %s", method)
    end
  end)

--- Returns the attributes with the id that the server assigned.
local function with_id(attributes, id_field, id)
  local result = copy(attributes)
  result[id_field] = id
  return result
end

local function done(value, err, result)
  if value == nil then return nil, err end
  return result
end

local on_server = {}

function on_server.create(kind, _, attributes, fieldlist)
  local answer, err = client.create(kind, to_send(attributes, fieldlist, "Id"))
  if not answer then return nil, err end
  return with_id(attributes, "Id", answer.id)
end

function on_server.read(kind, id, _, fieldlist) return client.retrieve(kind, id, fieldlist) end

function on_server.update(kind, id, attributes, fieldlist, headers)
  local data = to_send(attributes, fieldlist, "Id")
  data.Id = id
  local answer, err = client.update(kind, data, headers)
  return done(answer, err, copy(attributes))
end

function on_server.delete(kind, id)
  local answer, err = client.del(kind, id)
  return done(answer, err, core.null)
end

-- syncSObjectWithServer(method, sobjectType, id, attributes, fieldlist, headers?): the server's record after a read; the
-- attributes with the Id after a create or an update; null after a delete. headers are sent with an update
define("syncSObjectWithServer", { METHOD, TYPE, ID, ATTRIBUTES, FIELDLIST, { "headers", "table", optional = true } },
  function(method, kind, id, attributes, fieldlist, headers)
    return on_server[method](kind, id, attributes, fieldlist, headers)
  end,
  function(method, _, id) check_id("syncSObjectWithServer", method, id) end)

local on_apex = {}

function on_apex.create(path, _, id_field, attributes, fieldlist)
  local answer, err = client.apexrest {
    method = "POST", path = path, data = to_send(attributes, fieldlist, id_field), expects = "json",
  }
  if not answer then return nil, err end
  if not given(answer[id_field]) then
    return nil, call.new_error("badAnswer", ("%s must answer a create with the record's '%s'"):format(path, id_field))
  end
  return with_id(attributes, id_field, answer[id_field])
end

function on_apex.read(path, id, _, _, fieldlist)
  return client.apexrest {
    path = path .. "/" .. url.encode(id), params = { fields = table.concat(fieldlist, ",") }, expects = "json",
  }
end

function on_apex.update(path, id, id_field, attributes, fieldlist)
  local request = { method = "PATCH", path = path .. "/" .. url.encode(id), expects = "jsonOrNothing" }
  request.data = to_send(attributes, fieldlist, id_field)
  local answer, err = client.apexrest(request)
  return done(answer, err, copy(attributes))
end

function on_apex.delete(path, id)
  local answer, err = client.apexrest {
    method = "DELETE", path = path .. "/" .. url.encode(id), expects = "jsonOrNothing",
  }
  return done(answer, err, core.null)
end

-- syncApexRestObjectWithServer(method, path, id, idField, attributes, fieldlist): like syncSObjectWithServer, on an Apex REST
-- endpoint
define("syncApexRestObjectWithServer",
  { METHOD, { "path", "string" }, ID, { "idField", "string" }, ATTRIBUTES, FIELDLIST },
  function(method, path, id, id_field, attributes, fieldlist)
    return on_apex[method](path, id, id_field, attributes, fieldlist)
  end,
  function(method, _, id, _, _, fieldlist)
    check_id("syncApexRestObjectWithServer", method, id)
    if method == "read" and fieldlist == nil then
      call.misuse("syncApexRestObjectWithServer: 'fieldlist' must be an array of strings to read")
    end
  end)

--- Returns the server's record with the local changes that are not sent yet, for a cache of the script's own.
local function keep_changes(cache, id, data, info)
  if info.overwrite then return data end
  local stored, err = cache:retrieve(id)
  if stored == nil then return nil, err end
  if stored == core.null or stored.__local__ ~= true then return data end
  local result = copy(data)
  for key, value in pairs(stored) do result[key] = value end
  return result, nil, true
end

--- Writes the server's answer into a cache of the script's own.
local function write_into(cache, method, id, data, info)
  if method == "read" then
    local record, err, is_dirty = keep_changes(cache, id, data, info)
    if record == nil then return nil, err end
    if is_dirty then return cache:save(record) end
    return save(cache, id, record, nil, false, false)
  end
  if cache:isLocalId(id) then
    local removed, err = cache:remove(id)
    if removed == nil then return nil, err end
  end
  local target = (method == "create" or cache:isLocalId(id)) and (data[cache.keyField] or data.Id) or id
  return save(cache, target, data, nil, false, false)
end

--- Writes the server's answer into the cache.
local function write_back(method, id, data, cache, info, sent)
  if method == "delete" then return in_cache.delete(id, nil, nil, cache, false) end
  if not storecache.is_own(cache) then return write_into(cache, method, id, data, info) end
  if method == "read" then return cached.read(cache, id, data, info.overwrite == true) end
  local target = (method == "create" or cache:isLocalId(id)) and (data[cache.keyField] or data.Id) or id
  return cached.confirm(cache, target, data, sent)
end

--- Syncs with the server and writes its answer into the cache.
local function server_first(method, id, attributes, fieldlist, cache, info, sync_with_server)
  local server_method = cache:isLocalId(id) and method == "update" and "create" or method
  local sent = { id = id, attributes = copy(attributes), names = to_send(attributes, fieldlist, cache.keyField) }
  local err
  if method ~= "read" and method ~= "delete" then
    sent.version, err = cached.version(cache, id)
    if err then return nil, err end
  end
  local data
  data, err = sync_with_server(server_method, id, attributes, fieldlist)
  if data == nil then return nil, err end
  return write_back(method, id, data, cache, info, sent)
end

--- Implements syncRemoteObject; the arguments are already checked.
function M.run(method, id, attributes, fieldlist, cache, cache_mode, info, sync_with_server)
  info = info or {}
  info.wasReadFromCache = false
  if not cache or cache_mode == CACHE_MODE.SERVER_ONLY then
    return sync_with_server(method, id, attributes, fieldlist)
  end
  if cache_mode == CACHE_MODE.CACHE_ONLY then
    info.wasReadFromCache = method == "read"
    return in_cache[method](id, attributes, method ~= "read" and fieldlist or nil, cache, true, info.changed)
  end
  if cache_mode == CACHE_MODE.CACHE_FIRST then
    local record, err = in_cache.read(id, nil, fieldlist, cache)
    if record == nil then return nil, err end
    info.wasReadFromCache = record ~= core.null
    if info.wasReadFromCache then return record end
  end
  return server_first(method, id, attributes, fieldlist, cache, info, sync_with_server)
end

local INFO = { "info", "table", optional = true }

local function check_run(caller, method, id, cache, cache_mode)
  modes.check_cache_mode(caller, cache_mode)
  check_id(caller, method, id)
  modes.check_use(method, id, cache, cache_mode)
end
M.check_run = check_run

-- syncRemoteObject(method, id, attributes, fieldlist, cache, cacheMode, info, syncWithServer): the record; null after a delete.
-- Sets info.wasReadFromCache. With info.overwrite the server's record replaces local changes that are not sent yet.
-- syncWithServer(method, id, attributes, fieldlist) runs in a task
define("syncRemoteObject",
  { METHOD, ID, ATTRIBUTES, FIELDLIST, CACHE, CACHE_MODE_PARAM, INFO, { "syncWithServer", "callable" } }, M.run,
  function(method, id, _, _, cache, cache_mode) check_run("syncRemoteObject", method, id, cache, cache_mode) end)

--- Returns the function that syncs a record of a type with the server.
function M.sobject_server(kind)
  return function(method, id, attributes, fieldlist, headers)
    return M.syncSObjectWithServer(method, kind, id, attributes, fieldlist, headers)
  end
end

-- syncSObject(method, sobjectType, id, attributes, fieldlist, cache, cacheMode, info): like syncRemoteObject, for a type's record
define("syncSObject", { METHOD, TYPE, ID, ATTRIBUTES, FIELDLIST, CACHE, CACHE_MODE_PARAM, INFO },
  function(method, kind, id, attributes, fieldlist, cache, cache_mode, info)
    return M.run(method, id, M.typed(kind, attributes), fieldlist, cache, cache_mode, info, M.sobject_server(kind))
  end,
  function(method, _, id, _, _, cache, cache_mode) check_run("syncSObject", method, id, cache, cache_mode) end)

return M
