--- Syncing between soups and the server.
---
--- Every function takes an optional store config first (see `tureen.smartstore`); the last two arguments are `success`
--- and `error`. `syncDown`, `syncUp` and `reSync` call `success(sync)` at every change of the sync: first with status
--- RUNNING, last with DONE or STOPPED. `error(err)` is called once if a sync cannot start or ends FAILED; `err.sync` is
--- its state then. Every change also emits a `sync` event.
local core = ...
local arguments = core.import "arguments"
local async = core.import "async"
local calls = core.import "calls"
local custom = core.import "custom"
local marks = core.import "marks"
local progress = core.import "progress"

---@class tureen.SyncState
---@field _soupEntryId integer  the sync's id
---@field syncId integer        the same, as calls name it
---@field type "syncDown"|"syncUp"
---@field name string?
---@field syncName string?      the same, as calls name it
---@field target table
---@field options table
---@field soupName string
---@field status "NEW"|"STOPPED"|"RUNNING"|"DONE"|"FAILED"
---@field progress integer      0 to 100
---@field totalSize integer     -1 until known
---@field hasMore boolean       the run ended at options.maxPages; `more` continues
---@field maxTimeStamp integer  newest modification stored, ms since 1970 UTC; -1 until known

---@class tureen.mobilesync
local M = {
  MERGE_MODE = { OVERWRITE = "OVERWRITE", LEAVE_IF_CHANGED = "LEAVE_IF_CHANGED", MERGE = "MERGE" },
}

-- registerTarget(name, implementation): registers the functions of targets of type "custom" with this luaImpl
M.registerTarget = custom.register
-- registerResolver(name, resolver): registers the function for options.resolver of syncs with mergeMode MERGE
M.registerResolver = custom.register_resolver
-- registerTransform(name, fn): registers the function for the key `transform` of targets of type "rest"
M.registerTransform = custom.register_transform
-- onProgress([config,] syncIdOrName, fn, [{grace = true}]): calls fn(state) at each change of the sync; see the module progress
M.onProgress = progress.on_progress

-- newRecord, markUpdated, markDeleted, unmark: see the module marks
for name, mark in pairs(marks) do M[name] = mark end

local SERVICE = "com.salesforce.mobilesync"
local define, action = arguments.define, arguments.action

local SOUP = { "soupName", "string" }
local SYNC_NAME = { "syncName", "string", optional = true }

-- syncDown([config,] target, soupName, options, [syncName,] success, error)
M.syncDown = define {
  name = "syncDown", has_store = true, is_sync = true,
  params = { { "target", "table" }, SOUP, { "options", "table", optional = true }, SYNC_NAME },
  send = action(SERVICE, "syncDown", { "target", "soupName", "options", "syncName" }),
}

--- Inserts an empty target if it is omitted, so that the soup's name is in its place, or null.
local function insert_target(given, at)
  if type(given[at]) == "string" then
    table.move(given, at, given.n, at + 1)
    given.n = given.n + 1
    given[at] = {}
  elseif given[at] == core.null then
    given[at] = {}
  end
end

-- syncUp([config,] [target,] soupName, options, [syncName,] success, error)
M.syncUp = define {
  name = "syncUp", has_store = true, is_sync = true, insert = insert_target,
  params = { { "target", "table" }, SOUP, { "options", "table" }, SYNC_NAME },
  send = action(SERVICE, "syncUp", { "target", "soupName", "options", "syncName" }),
}

--- Sets the keys that identify the sync: a string is a name, a number an id.
local function with_sync(config, which)
  if type(which) == "string" then
    config.syncId, config.syncName = core.null, which
  else
    config.syncId, config.syncName = math.tointeger(which), core.null
  end
  return config
end

local function about_sync(name, is_sync, convert)
  M[name] = define {
    name = name, has_store = true, is_sync = is_sync, params = { { "syncIdOrName", "id_or_name" } },
    send = function(success, failure, config, values, caller)
      if success and convert then
        local inner = success
        success = function(payload) return inner(convert(payload)) end
      end
      return calls.send(success, failure, SERVICE, name, with_sync(config, values[1]), caller)
    end,
  }
end

--- Defines a function about a sync that takes options.
local function about_sync_with(name, is_sync)
  M[name] = define {
    name = name, has_store = true, is_sync = is_sync,
    params = { { "syncIdOrName", "id_or_name" }, { "options", "table", optional = true } },
    send = function(success, failure, config, values, caller)
      arguments.add_members(caller, config, values[2])
      return calls.send(success, failure, SERVICE, name, with_sync(config, values[1]), caller)
    end,
  }
end

--- Defines a function whose one table has the arguments of the action.
local function with_members(name, param, form)
  form = form or {}
  M[name] = define {
    name = name, has_store = true, is_sync = form.is_sync,
    params = { { param, "table", optional = form.is_optional } },
    send = function(success, failure, config, values, caller)
      arguments.add_members(caller, config, values[1])
      return calls.send(success, failure, SERVICE, name, config, caller)
    end,
  }
end

-- reSync([config,] syncIdOrName, [{maxRequests?},] success, error)
about_sync_with("reSync", true)
-- refresh([config,] syncIdOrName, success, error): fetches the whole list again; entries stay until they are replaced
about_sync("refresh", true)
-- more([config,] syncIdOrName, success, error): fetches the next pages after a run that ended at its maxPages
about_sync("more", true)
-- getSyncStatus([config,] syncIdOrName, ...): the sync state; tureen.null if there is none
about_sync("getSyncStatus", false, function(state)
  if type(state) == "table" and state._soupEntryId ~= nil then return state end
  return core.null
end)
-- deleteSync([config,] syncIdOrName, ...): "OK", even if there was none
about_sync("deleteSync", false)

-- cleanResyncGhosts([config,] syncIdOrName, [{force?, maxRequests?},] ...): the number of removed entries
about_sync_with("cleanResyncGhosts", false)
-- verifySync([config,] syncIdOrName, [{level?, repair?, max?},] ...): how the soup differs from what the server would send
about_sync_with("verifySync", false)
-- planSync([config,] syncIdOrName, [{server?, maxRequests?},] ...): what a sync up would send; nothing is sent
about_sync_with("planSync", false)

-- applyPlan([config,] plan, [{allOrNothing?},] success, error): sends what still matches a plan, and runs as reSync does
M.applyPlan = define {
  name = "applyPlan", has_store = true, is_sync = true,
  params = { { "plan", "table" }, { "options", "table", optional = true } },
  send = function(success, failure, config, values, caller)
    config.plan = values[1]
    arguments.add_members(caller, config, values[2])
    return calls.send(success, failure, SERVICE, "applyPlan", config, caller)
  end,
}

-- cancelSync([config,] syncIdOrName, ...): stops the sync at its next page or batch; "OK", even if it is not running
about_sync("cancelSync", false)

--- Returns an iterator over the pages of a sync down with `maxPages`, for use in a task. Each step runs the sync for that many
--- pages and returns its state. The first step continues after the last run, or fetches new records. The iteration ends with the
--- list; a failed run raises its error.
function M.pages(config, which)
  if which == nil then config, which = nil, config end
  if type(which) ~= "string" and math.type(which) ~= "integer" then
    arguments.wrong("pages", 1, "syncIdOrName", "a sync id or a sync name", which)
  end
  local has_begun, has_ended = false, false
  return function()
    if has_ended then return nil end
    local run = M.more
    local function ask(fn)
      local value, err
      if config then value, err = async.await(fn, config, which) else value, err = async.await(fn, which) end
      if value == nil then error(err, 0) end
      return value
    end
    if not has_begun then
      local known = ask(M.getSyncStatus)
      if known == core.null or not known.hasMore then run = M.reSync end
      has_begun = true
    end
    local state = ask(run)
    has_ended = not state.hasMore
    return state
  end
end

-- createSyncDown([config,] target, soupName, options, [syncName,] ...): the saved sync with status NEW; does not run it
M.createSyncDown = define {
  name = "createSyncDown", has_store = true,
  params = { { "target", "table" }, SOUP, { "options", "table", optional = true }, SYNC_NAME },
  send = action(SERVICE, "createSyncDown", { "target", "soupName", "options", "syncName" }),
}

-- createSyncUp([config,] [target,] soupName, options, [syncName,] ...): the saved sync with status NEW; does not run it
M.createSyncUp = define {
  name = "createSyncUp", has_store = true, insert = insert_target,
  params = { { "target", "table" }, SOUP, { "options", "table" }, SYNC_NAME },
  send = action(SERVICE, "createSyncUp", { "target", "soupName", "options", "syncName" }),
}

-- hasSyncWithName([config,] syncName, ...): true if a sync has this name
M.hasSyncWithName = define {
  name = "hasSyncWithName", has_store = true, params = { { "syncName", "string" } },
  send = action(SERVICE, "hasSyncWithName", { "syncName" }),
}

local function about_all(name)
  M[name] = define { name = name, has_store = true, params = {}, send = action(SERVICE, name, {}) }
end

-- stop([config,] ...): refuses new syncs and stops the running ones at their next page or batch; "OK" at once
about_all("stop")
-- isStopping([config,] ...): true if a sync is still running after stop
about_all("isStopping")
-- isStopped([config,] ...): true if no sync is running after stop
about_all("isStopped")

-- restart([config,] [{restartStopped = true},] ...): accepts syncs again and optionally restarts STOPPED ones; the final states
-- of the restarted syncs, once all have ended
M.restart = define {
  name = "restart", has_store = true, params = { { "options", "table", optional = true } },
  send = function(success, failure, config, values, caller)
    arguments.add_members(caller, config, values[1])
    return calls.send(success, failure, SERVICE, "restart", config, caller)
  end,
}

-- getConflicts([config,] [{soupName?, entryId?, syncId?, syncName?, run?},] ...): the entries that both sides changed, each with
-- its base, local, server and merged version
with_members("getConflicts", "filter", { is_optional = true })

-- resolveConflict([config,] {soupName, entryId, resolution = "local"|"server"} or {soupName, entryId, record}, ...): the
-- resulting entry; tureen.null if it was removed
with_members("resolveConflict", "conflict")

-- ensureSync([config,] {syncName, syncType, soupName, target?, options?}, ...): creates the named sync, or gives it this
-- definition, and runs it as reSync does
with_members("ensureSync", "definition", { is_sync = true })

-- getOverview([config,] ...): org, user and stores, each with its soups, what waits in them, and its syncs; of all stores, or
-- of the one that config names
M.getOverview = define {
  name = "getOverview", has_store = true, params = {},
  send = function(success, failure, config, _, caller)
    return calls.send(success, failure, SERVICE, "getOverview", config, caller)
  end,
}

-- getDirtyEntries([config,] [{soupName?, state?, run?, withValues?},] ...): the entries with changes that the server lacks, with
-- the reason and what ends it
with_members("getDirtyEntries", "filter", { is_optional = true })

-- discardChanges([config,] soupName, entryIds, [{fields?, created?},] ...): drops local changes; the entries that were
-- discarded, and those that were kept with the reason
M.discardChanges = define {
  name = "discardChanges", has_store = true,
  params = { SOUP, { "entryIds", "integers" }, { "options", "table", optional = true } },
  send = function(success, failure, config, values, caller)
    config.soupName, config.entryIds = values[1], values[2]
    arguments.add_members(caller, config, values[3])
    return calls.send(success, failure, SERVICE, "discardChanges", config, caller)
  end,
}

-- getRuns([config,] [{syncName?, syncId?, since?, failed?, run?, requests?, before?, limit?},] ...): what the runs of the syncs
-- did, newest first; one run with its requests and records; or the requests
with_members("getRuns", "filter", { is_optional = true })

-- explainEntry([config,] soupName, entryIdOrRecordId, [{server?},] ...): why an entry looks as it does, what happened to it, and
-- what the next sync does with it
M.explainEntry = define {
  name = "explainEntry", has_store = true,
  params = { SOUP, { "entryIdOrRecordId", "entry_or_record_id" }, { "options", "table", optional = true } },
  send = function(success, failure, config, values, caller)
    arguments.add_members(caller, config, values[3])
    config.soupName = values[1]
    config[type(values[2]) == "number" and "entryId" or "recordId"] = values[2]
    return calls.send(success, failure, SERVICE, "explainEntry", config, caller)
  end,
}

-- setupUserSyncsFromDefaultConfig(success, error), setupGlobalSyncsFromDefaultConfig(...): the syncs in usersyncs.json or
-- globalsyncs.json; missing and changed ones are saved
arguments.define_set_up(M, "setupUserSyncsFromDefaultConfig", SERVICE, "setupSyncsFromDefaultConfig", false)
arguments.define_set_up(M, "setupGlobalSyncsFromDefaultConfig", SERVICE, "setupSyncsFromDefaultConfig", true)

M.FETCH_MODE = { CACHE_ONLY = "CACHE_ONLY", CACHE_FIRST = "CACHE_FIRST", SERVER_FIRST = "SERVER_FIRST" }
local FETCH_MODE = { "fetchMode", "string", optional = true }

-- fetchMetadata([config,] sobjectType, [fetchMode,] ...): the description of a type; tureen.null if there is none
M.fetchMetadata = define {
  name = "fetchMetadata", has_store = true, params = { { "sobjectType", "string" }, FETCH_MODE },
  send = action(SERVICE, "fetchMetadata", { "sobjectType", "fetchMode" }),
}

-- fetchLayout([config,] {sobjectType, formFactor?, layoutType?, mode?, recordTypeId?}, [fetchMode,] ...): the page layout of a
-- type; tureen.null if there is none
M.fetchLayout = define {
  name = "fetchLayout", has_store = true, params = { { "layout", "table" }, FETCH_MODE },
  send = function(success, failure, config, values, caller)
    arguments.add_members(caller, config, values[1])
    config.fetchMode = values[2]
    return calls.send(success, failure, SERVICE, "fetchLayout", config, caller)
  end,
}

return M
