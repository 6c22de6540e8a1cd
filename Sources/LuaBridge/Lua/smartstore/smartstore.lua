--- Soups, entries, queries and cursors, with the functions of the Mobile SDK's plug-in.
---
--- Every function except the four for all stores takes an optional store config first: a boolean (true: the global
--- store) or `{isGlobalStore = boolean, storeName = string?}`. The last two arguments are `success` and `error`.
local core = ...
local guard = core.import "guard"
local arguments = core.import "arguments"
local calls = core.import "calls"
local nearest = core.import "nearest"
local queryspec = core.import "queryspec"

---@class tureen.StoreConfig
---@field isGlobalStore boolean
---@field storeName string?

---@class tureen.SoupIndexSpec
---@field path string
---@field type "string"|"integer"|"floating"|"full_text"|"json1"

---@class tureen.Cursor
---@field cursorId any
---@field currentPageIndex integer  starting with 0
---@field pageSize integer
---@field totalPages integer
---@field totalEntries integer
---@field currentPageOrderedEntries table[]

---@class tureen.smartstore
local M = {}

local SERVICE = "com.salesforce.smartstore"
local define, action = arguments.define, arguments.action

local SOUP = { "soupName", "string" }
local INDEXES = { "indexSpecs", "tables" }
local CURSOR = { "cursor", "cursor" }

--- Defines `M[name]`, which calls one action with the keys `keys`.
local function simple(name, wire_name, params, keys)
  M[name] = define {
    name = name, has_store = true, params = params, send = action(SERVICE, wire_name, keys),
  }
end

-- registerSoup([config,] soupName, indexSpecs, success, error): success gets the name
simple("registerSoup", "pgRegisterSoup", { SOUP, INDEXES }, { "soupName", "indexes" })
-- soupExists([config,] soupName, ...): a boolean
simple("soupExists", "pgSoupExists", { SOUP }, { "soupName" })
-- getSoupIndexSpecs([config,] soupName, ...): a list of {path, type}
simple("getSoupIndexSpecs", "pgGetSoupIndexSpecs", { SOUP }, { "soupName" })
-- alterSoup([config,] soupName, indexSpecs, reIndexData, ...): the name
simple("alterSoup", "pgAlterSoup", { SOUP, INDEXES, { "reIndexData", "boolean", optional = true } },
  { "soupName", "indexes", "reIndexData" })
-- reIndexSoup([config,] soupName, paths, ...): the name
simple("reIndexSoup", "pgReIndexSoup", { SOUP, { "paths", "strings" } }, { "soupName", "paths" })
-- removeSoup([config,] soupName, ...): "OK", even if there was none
simple("removeSoup", "pgRemoveSoup", { SOUP }, { "soupName" })
-- clearSoup([config,] soupName, ...): "OK"
simple("clearSoup", "pgClearSoup", { SOUP }, { "soupName" })
-- upsertSoupEntriesWithExternalId([config,] soupName, entries, externalIdPath, ...): the entries as stored
simple("upsertSoupEntriesWithExternalId", "pgUpsertSoupEntries",
  { SOUP, { "entries", "tables" }, { "externalIdPath", "string" } }, { "soupName", "entries", "externalIdPath" })
-- patchSoupEntries([config,] soupName, patches, [externalIdPath,] ...): {entryId, version, outcome, entry} for each patch; null
-- for one with ifExists that found no entry
simple("patchSoupEntries", "patchSoupEntries",
  { SOUP, { "patches", "tables" }, { "externalIdPath", "string", optional = true } },
  { "soupName", "patches", "externalIdPath" })

local MERGE_OPTIONS = { "externalIdPath", "modificationDateFieldName", "partial", "kept", "onlyKnown" }

-- mergeServerRecords([config,] soupName, records, mode, [options,] ...): {entryId, version, outcome, entry} for each record
M.mergeServerRecords = define {
  name = "mergeServerRecords", has_store = true,
  params = { SOUP, { "records", "tables" }, { "mode", "string" }, { "options", "table", optional = true } },
  send = function(success, failure, config, values, caller)
    config.soupName, config.records, config.mode = values[1], values[2], values[3]
    for key in pairs(values[4] or {}) do
      local is_known = false
      for _, name in ipairs(MERGE_OPTIONS) do is_known = is_known or name == key end
      if not is_known then
        core.raise("invalidArguments", ("mergeServerRecords: unknown option '%s'%s")
          :format(tostring(key), nearest.hint(key, MERGE_OPTIONS)))
      end
      config[key] = values[4][key]
    end
    return calls.send(success, failure, SERVICE, "mergeServerRecords", config, caller)
  end,
}

-- retrieveSoupEntries([config,] soupName, entryIds, ...): the entries found
simple("retrieveSoupEntries", "pgRetrieveSoupEntries", { SOUP, { "entryIds", "integers" } },
  { "soupName", "entryIds" })
-- getDatabaseSize([config,] ...): bytes
simple("getDatabaseSize", "pgGetDatabaseSize", {}, {})
-- removeStore([config,] ...): true
simple("removeStore", "pgRemoveStore", {}, {})

-- upsertSoupEntries([config,] soupName, entries, ...): the entries as stored, found by _soupEntryId
M.upsertSoupEntries = define {
  name = "upsertSoupEntries", has_store = true, params = { SOUP, { "entries", "tables" } },
  send = function(success, failure, config, values, caller)
    config.soupName, config.entries, config.externalIdPath = values[1], values[2], "_soupEntryId"
    return calls.send(success, failure, SERVICE, "pgUpsertSoupEntries", config, caller)
  end,
}

local function check_ids(ids)
  for i, id in ipairs(ids) do
    if type(id) ~= "number" or not math.tointeger(id) then
      arguments.wrong("removeFromSoup", 2, ("entryIds[%d]"):format(i), "an integer", id)
    end
  end
end

-- removeFromSoup([config,] soupName, entryIds | querySpec, ...): "OK"
M.removeFromSoup = define {
  name = "removeFromSoup", has_store = true, params = { SOUP, { "entryIdsOrQuerySpec", "ids_or_spec" } },
  send = function(success, failure, config, values, caller)
    local what = values[2]
    config.soupName = values[1]
    if arguments.is_list(what) then
      check_ids(what)
      config.entryIds = next(what) == nil and core.array() or what
    else
      config.querySpec = what
    end
    return calls.send(success, failure, SERVICE, "pgRemoveFromSoup", config, caller)
  end,
}

--- Returns the spec to send. An order without a path uses the path of the filter.
local function with_order_path(spec)
  local order, order_path = spec.order, spec.orderPath
  if order == nil or order == core.null or (order_path ~= nil and order_path ~= core.null) then return spec end
  local copy = {}
  for key, value in pairs(spec) do copy[key] = value end
  copy.orderPath = spec.indexPath
  return copy
end

-- querySoup([config,] soupName, querySpec, ...): a cursor. For smart queries use runSmartQuery
M.querySoup = define {
  name = "querySoup", has_store = true, params = { SOUP, { "querySpec", "table" } },
  send = function(success, failure, config, values, caller)
    if values[2].queryType == "smart" then
      core.raise("invalidArguments", "Smart queries can only be run using runSmartQuery")
    end
    config.soupName, config.querySpec = values[1], with_order_path(values[2])
    return calls.send(success, failure, SERVICE, "pgQuerySoup", config, caller)
  end,
}

-- runSmartQuery([config,] querySpec, ...): a cursor
M.runSmartQuery = define {
  name = "runSmartQuery", has_store = true, params = { { "querySpec", "table" } },
  send = function(success, failure, config, values, caller)
    if values[1].queryType ~= "smart" then
      core.raise("invalidArguments", "runSmartQuery can only run smart queries")
    end
    config.querySpec = values[1]
    return calls.send(success, failure, SERVICE, "pgRunSmartQuery", config, caller)
  end,
}

-- getQueryPlan([config,] querySpec, ...): the steps of a smart query, and the soups that it reads as a whole
M.getQueryPlan = define {
  name = "getQueryPlan", has_store = true, params = { { "querySpec", "table" } },
  send = function(success, failure, config, values, caller)
    config.querySpec = values[1]
    return calls.send(success, failure, SERVICE, "getQueryPlan", config, caller)
  end,
}

local function move(success, failure, config, cursor, index, caller)
  config.cursorId, config.index, config.lazy = cursor.cursorId, index, cursor.lazy
  return calls.send(success, failure, SERVICE, "pgMoveCursorToPageIndex", config, caller)
end

--- Fails a call at the next poll with an error that does not come from native code.
local function refuse(failure, code, message)
  calls.refuse(failure, calls.new_error(code, message, { source = SERVICE .. ":pgMoveCursorToPageIndex" }))
end

-- moveCursorToPageIndex([config,] cursor, index, ...): a new cursor; pages count from 0
M.moveCursorToPageIndex = define {
  name = "moveCursorToPageIndex", has_store = true, params = { CURSOR, { "index", "integer" } },
  send = function(success, failure, config, values, caller)
    return move(success, failure, config, values[1], values[2], caller)
  end,
}

-- moveCursorToNextPage([config,] cursor, ...): a new cursor
M.moveCursorToNextPage = define {
  name = "moveCursorToNextPage", has_store = true, params = { CURSOR },
  send = function(success, failure, config, values, caller)
    local cursor = values[1]
    local pages = math.type(cursor.totalPages) and cursor.totalPages or 0
    if cursor.currentPageIndex >= pages - 1 then
      return refuse(failure, "noSuchPage", "moveCursorToNextPage called while on last page")
    end
    return move(success, failure, config, cursor, math.tointeger(cursor.currentPageIndex) + 1, caller)
  end,
}

-- moveCursorToPreviousPage([config,] cursor, ...): a new cursor
M.moveCursorToPreviousPage = define {
  name = "moveCursorToPreviousPage", has_store = true, params = { CURSOR },
  send = function(success, failure, config, values, caller)
    local cursor = values[1]
    if cursor.currentPageIndex <= 0 then
      return refuse(failure, "noSuchPage", "moveCursorToPreviousPage called while on first page")
    end
    return move(success, failure, config, cursor, math.tointeger(cursor.currentPageIndex) - 1, caller)
  end,
}

-- closeCursor([config,] cursor, ...): "OK", even if it was closed before
M.closeCursor = define {
  name = "closeCursor", has_store = true, params = { CURSOR },
  send = function(success, failure, config, values, caller)
    config.cursorId = values[1].cursorId
    return calls.send(success, failure, SERVICE, "pgCloseCursor", config, caller)
  end,
}

---@class tureen.Observer  receives changes until it is closed, even if the script does not reference it
---@field package id integer
---@field package config table
---@field package closed boolean
local Observer = {}
Observer.__index = Observer
Observer.__name = "tureen.Observer"

local observers = 0 -- the id of the last observer

-- closeObserver([config,] observer, ...): "OK", even if it was closed before
M.closeObserver = define {
  name = "closeObserver", has_store = true, params = { { "observer", "table" } },
  send = function(success, failure, config, values, caller)
    local observer = values[1]
    if getmetatable(observer) ~= Observer then
      arguments.wrong("closeObserver", 1, "observer", "an observer", observer)
    end
    observer.closed = true
    config.isGlobalStore, config.storeName = observer.config.isGlobalStore, observer.config.storeName
    config.observerId = observer.id
    return calls.send(success, failure, SERVICE, "pgCloseObserver", config, caller)
  end,
}

--- Closes the observer. Its callback is not called again, not even for earlier changes. May be called twice.
function Observer:close()
  if not self.closed then M.closeObserver(self, nil, function() end) end -- ignore the error if the store is closed
end

Observer.__close = Observer.close

--- Returns the success callback of an observer. The bridge passes a list of changes, one per soup; null after it was closed; or
--- the reason if it ends by itself.
local function tell(observer, callback)
  return function(changes)
    if changes == core.null or observer.closed then return end
    if changes.closed then
      observer.closed = true
      return guard.invoke(callback, changes)
    end
    for _, change in ipairs(changes) do
      if not observer.closed then guard.invoke(callback, change) end
    end
  end
end

-- observe([config,] soupName | smart querySpec, callback, error): an observer. The callback gets {soupName, created,
-- updated, removed, all} after each commit; commits in quick succession are combined. It gets {closed = "userSwitched"} last if
-- another user becomes the current one. error is called if the observer cannot start or its store is closed. An observer does not
-- count as pending: `tureen.run` does not wait for it
M.observe = define {
  name = "observe", has_store = true, callback = "callback", params = { { "soupNameOrQuerySpec", "soup_or_spec" } },
  send = function(callback, failure, config, values)
    if type(callback) ~= "function" then arguments.wrong("observe", 2, "callback", "a function", callback) end
    observers = observers + 1
    local what = values[1]
    local observer = setmetatable({
      id = observers, closed = false,
      config = { isGlobalStore = config.isGlobalStore, storeName = config.storeName },
    }, Observer)
    config.observerId = observer.id
    if type(what) == "string" then config.soupName = what else config.querySpec = what end
    local place = not failure and core.where() or nil
    local function failed(err)
      observer.closed = true
      if failure then return guard.invoke(failure, err) end
      -- Closing its store ends an observer; any other error means that it could not start.
      if err.code ~= "storeClosed" then calls.unhandled(err, place) end
    end
    calls.exec(tell(observer, callback), failed, SERVICE, "pgObserve", config, true)
    return observer
  end,
}

-- getAllStores(success, error) and getAllGlobalStores: the stores as {storeName, isGlobalStore}; the removing functions: true
for _, name in ipairs { "getAllStores", "getAllGlobalStores", "removeAllStores", "removeAllGlobalStores" } do
  local wire_name = "pg" .. name:sub(1, 1):upper() .. name:sub(2)
  M[name] = define { name = name, params = {}, send = action(SERVICE, wire_name, {}) }
end

-- setupUserStoreFromDefaultConfig(success, error), setupGlobalStoreFromDefaultConfig(...): the soups in userstore.json or
-- globalstore.json; missing ones are registered
arguments.define_set_up(M, "setupUserStoreFromDefaultConfig", SERVICE, "pgSetupStoreFromDefaultConfig", false)
arguments.define_set_up(M, "setupGlobalStoreFromDefaultConfig", SERVICE, "pgSetupStoreFromDefaultConfig", true)

for name, builder in pairs(queryspec) do M[name] = builder end

return M
