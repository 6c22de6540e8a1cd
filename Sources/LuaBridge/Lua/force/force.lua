--- Gives scripts access to the org's records: functions of the REST API, caches, records as objects, conflict detection.
---
---   local force = require "tureen.force"
---   tureen.main(function() print(#force.query("SELECT Id FROM Contact").records) end)
---
--- Every function that uses the server or a store takes `success` and `error` as its last arguments and works with `await`.
--- Inside a task it can be called without callbacks: it waits and returns the value, or nil and an error.
local core = ...
local call = core.import "force_call"
local client = core.import "force_notifications"
local collection = core.import "force_collection"
local conflict = core.import "force_conflict"
local fetch = core.import "force_fetch"
local guard = core.import "guard"
local model = core.import "force_model"
local modes = core.import "force_modes"
local storecache = core.import "force_storecache"
local sync = core.import "force_sync"
local sdkinfo = core.import "sdkinfo"

local FEATURE = "SJ" -- the model's code for scripts that use this library

---@class tureen.force
local M = {
  client = client, forceJsClient = client, smartstoreClient = core.import "smartstore_client",
  CACHE_MODE = modes.CACHE_MODE, MERGE_MODE = modes.MERGE_MODE, MERGE_MODE_DOWNLOAD = storecache.MERGE_MODE_DOWNLOAD,
  StoreCache = storecache.StoreCache, SObjectType = core.import "force_sobjecttype",
  RemoteObject = model.RemoteObject, SObject = model.SObject, ApexRestObject = model.ApexRestObject,
  RemoteObjectCollection = collection.RemoteObjectCollection, SObjectCollection = collection.SObjectCollection,
  ApexRestObjectCollection = collection.ApexRestObjectCollection,
}

for name, value in pairs(client) do
  if type(value) == "function" and not client.internal[name] then M[name] = value end
end
for _, part in ipairs { sync, conflict, fetch } do
  for name, value in pairs(part) do
    if name:find("^sync%u") or name:find("^fetch%u") then M[name] = value end
  end
end

--- Sets the API version, if it is not v66.0, and for tests a function that answers requests instead of the network.
---@param options {apiVersion: string?, requestHandler: function?}?
function M.init(options)
  if options ~= nil and type(options) ~= "table" then
    call.misuse("init: argument 1 'options' must be a table, got %s", type(options))
  end
  client.configure(options or {})
  sdkinfo.registerAppFeature(FEATURE)
end

--- Returns the type of a failure.
local function kind_of(err)
  if err.code == "conflict" and err.remoteChanges then return "ConflictError" end
  if err.domain == "network" then return err.status and "RestError" or "NetworkError" end
  if err.domain == "smartstore" then return "StoreError" end
  return "Error"
end

--- Returns a copy of an error with a type, for display: `{type, message, ...}`. The types are RestError (the server refused the
--- request; with `status` and `details`, the errors of its body), ConflictError (with `base`, `theirs`, `yours`, `remoteChanges`,
--- `localChanges`, `conflictingChanges`), NetworkError (no answer arrived), StoreError, and Error for anything else.
---@param err any
---@return table
function M.Error(err)
  if type(err) ~= "table" then return { type = "Error", message = guard.text(err) } end
  local result = {}
  for key, value in pairs(err) do result[key] = value end
  result.type, result.message = kind_of(err), err.message or guard.text(err)
  if result.type == "RestError" then result.details = err.errors or core.array() end
  return result
end

return M
