---@meta tureen
-- Definitions for editors (LuaCATS): point the language server's workspace.library here. Never loaded by a script.

---@class tureen.Error
---@field domain string       "bridge", "smartstore", "sync", "network", "host": which part failed
---@field code string         stable; errors.json lists them
---@field message string      for people; may change
---@field retryable boolean   the same call may succeed later
---@field source string?      "service:action" of the call
---@field status integer?     HTTP status, domain network
---@field body string?        the server's body as it came, domain network
---@field errors table[]?     the elements of the server's error array, domain network
---@field sync tureen.SyncState?  the state of a sync that ended FAILED

---@class tureen.StoreConfig
---@field isGlobalStore boolean
---@field storeName string?   "defaultStore" when left out

---@class tureen.SoupIndexSpec
---@field path string
---@field type "string"|"integer"|"floating"|"full_text"|"json1"

---@class tureen.QuerySpec
---@field queryType "exact"|"range"|"like"|"match"|"smart"
---@field indexPath string?
---@field matchKey any
---@field likeKey string?
---@field beginKey any
---@field endKey any
---@field smartSql string?
---@field orderPath string?
---@field order "ascending"|"descending"|nil
---@field pageSize integer?
---@field selectPaths string[]?
---@field lazy boolean?          true: entries are tureen.Record, parsed as their fields are read

---A record of a query with `lazy = true`: a field is parsed when it is read, an object in it is a record again. It
---cannot be changed. A field hides the method of its name. It keeps the text of its whole page in memory.
---@class tureen.Record: userdata
---@field [string] any
local Record = {}
---@return table record  all of it
function Record:table() end
---@return string text  as JSON; what tostring and tureen.json.encode give, too
function Record:text() end

---@class tureen.Cursor
---@field cursorId any
---@field currentPageIndex integer  from 0 on
---@field pageSize integer
---@field totalPages integer
---@field totalEntries integer
---@field currentPageOrderedEntries table[]
---@field lazy boolean?          as in the query spec

---@class tureen.Change      what committed transactions did to a soup since the last one was heard
---@field soupName string
---@field created integer[]   entry ids; each id stands in one list
---@field updated integer[]
---@field removed integer[]
---@field all boolean         any entry may have changed; the lists are empty

---@class tureen.Observer
local Observer = {}
---Its callback is not called again. Safe twice; `local o <close> = ...` does it at the end of a block.
function Observer:close() end

---@class tureen.SyncState
---@field _soupEntryId integer      the sync's id
---@field type "syncDown"|"syncUp"
---@field name string?
---@field target table
---@field options table
---@field soupName string
---@field status "NEW"|"STOPPED"|"RUNNING"|"DONE"|"FAILED"
---@field progress integer          0 to 100
---@field totalSize integer         -1 until known
---@field maxTimeStamp integer      ms since 1970 UTC; -1 until known
---@field coveredTimeStamp integer  ms since 1970 UTC
---@field startTime integer         ms since 1970 UTC
---@field endTime integer           ms since 1970 UTC
---@field error string
---@field fetched integer
---@field stored integer
---@field skipped integer
---@field conflicting integer
---@field succeeded integer
---@field failed integer
---@field inDoubt integer
---@field requests integer
---@field retries integer
---@field bytes integer

---@alias tureen.Success fun(payload: any)
---@alias tureen.Failure fun(err: tureen.Error)

---@class tureen.Settings
---@field home string?          where stores, sessions and the sandbox live
---@field org string?           "sandbox", an address, or a name whose credentials are kept under the home
---@field credentials string?   a JSON file to sign in with
---@field apiVersion string?    such as "v66.0"
---@field recover "refuse"|"moveAside"|nil  for a damaged store; moveAside keeps it beside a new one
---@field config string?        the folder of bootconfig.json, userstore.json, usersyncs.json

---@class tureen.Task
local Task = {}
---@return "running"|"done"|"failed"
function Task:status() end

---@class tureen
---@field null lightuserdata  JSON's null; true in a condition, so compare with ==
---@field onerror (fun(err: any, traceback: string))?  gets the errors nobody caught
---@field smartstore tureen.smartstore
---@field mobilesync tureen.mobilesync
---@field keyvalue tureen.keyvalue
---@field sdkinfo tureen.sdkinfo
---@field document tureen.document
local tureen = { json = {} }

---Before the first use of a store or a sync; raises afterwards.
---@param settings tureen.Settings
function tureen.configure(settings) end
---@param success tureen.Success?
---@param failure tureen.Failure?
---@param service string
---@param action string
---@param args table?
function tureen.exec(success, failure, service, action, args) end
---Runs the callbacks that wait, asleep at most so long for the first one.
---@param timeoutMs number?
---@return integer delivered
function tureen.poll(timeoutMs) end
---Polls until nothing is pending.
---@return boolean ok, any err
function tureen.run() end
---@return integer descriptor  readable while poll would deliver; neither read nor close it
function tureen.fd() end
---@return integer count  calls still to be answered
function tureen.pending() end
---@param fn function
---@return tureen.Task
function tureen.async(fn, ...) end
---@param fn function
---@return any value, tureen.Error? err
function tureen.await(fn, ...) end
---@generic T: table
---@param list T?
---@return T
function tureen.array(list) end
---@return string text
function tureen.json.encode(value) end
---@param text string
---@return any
function tureen.json.decode(text) end
---@param name string
---@param listener fun(detail: any)
function tureen.on(name, listener) end
---@param name string
---@param listener fun(detail: any)
function tureen.once(name, listener) end
---@param name string
---@param listener fun(detail: any)
function tureen.off(name, listener) end

---@class tureen.document
local document = {}
---@param type string
---@param listener fun(event: {type: string, detail: any})
function document.addEventListener(type, listener) end
---@param type string
---@param listener fun(event: {type: string, detail: any})
function document.removeEventListener(type, listener) end

-- Every function below takes an optional store config first: a boolean or a tureen.StoreConfig.

---@class tureen.smartstore
local smartstore = {}
---@param soupName string
---@param indexSpecs tureen.SoupIndexSpec[]
---@param success fun(soupName: string)?
---@param failure tureen.Failure?
function smartstore.registerSoup(soupName, indexSpecs, success, failure) end
---@param soupName string
---@param success fun(exists: boolean)?
---@param failure tureen.Failure?
function smartstore.soupExists(soupName, success, failure) end
---@param soupName string
---@param success fun(indexSpecs: tureen.SoupIndexSpec[])?
---@param failure tureen.Failure?
function smartstore.getSoupIndexSpecs(soupName, success, failure) end
---@param soupName string
---@param indexSpecs tureen.SoupIndexSpec[]
---@param reIndexData boolean?
---@param success fun(soupName: string)?
---@param failure tureen.Failure?
function smartstore.alterSoup(soupName, indexSpecs, reIndexData, success, failure) end
---@param soupName string
---@param paths string[]
---@param success fun(soupName: string)?
---@param failure tureen.Failure?
function smartstore.reIndexSoup(soupName, paths, success, failure) end
---@param soupName string
---@param success tureen.Success?
---@param failure tureen.Failure?
function smartstore.removeSoup(soupName, success, failure) end
---@param soupName string
---@param success tureen.Success?
---@param failure tureen.Failure?
function smartstore.clearSoup(soupName, success, failure) end
---@param soupName string
---@param entries table[]
---@param success fun(entries: table[])?
---@param failure tureen.Failure?
function smartstore.upsertSoupEntries(soupName, entries, success, failure) end
---@param soupName string
---@param entries table[]
---@param externalIdPath string
---@param success fun(entries: table[])?
---@param failure tureen.Failure?
function smartstore.upsertSoupEntriesWithExternalId(soupName, entries, externalIdPath, success, failure) end
---@param soupName string
---@param entryIds integer[]
---@param success fun(entries: table[])?
---@param failure tureen.Failure?
function smartstore.retrieveSoupEntries(soupName, entryIds, success, failure) end
---@param soupName string
---@param idsOrSpec integer[]|tureen.QuerySpec
---@param success tureen.Success?
---@param failure tureen.Failure?
function smartstore.removeFromSoup(soupName, idsOrSpec, success, failure) end
---@param soupName string
---@param querySpec tureen.QuerySpec
---@param success fun(cursor: tureen.Cursor)?
---@param failure tureen.Failure?
function smartstore.querySoup(soupName, querySpec, success, failure) end
---@param querySpec tureen.QuerySpec
---@param success fun(cursor: tureen.Cursor)?
---@param failure tureen.Failure?
function smartstore.runSmartQuery(querySpec, success, failure) end
---@param cursor tureen.Cursor
---@param index integer
---@param success fun(cursor: tureen.Cursor)?
---@param failure tureen.Failure?
function smartstore.moveCursorToPageIndex(cursor, index, success, failure) end
---@param cursor tureen.Cursor
---@param success fun(cursor: tureen.Cursor)?
---@param failure tureen.Failure?
function smartstore.moveCursorToNextPage(cursor, success, failure) end
---@param cursor tureen.Cursor
---@param success fun(cursor: tureen.Cursor)?
---@param failure tureen.Failure?
function smartstore.moveCursorToPreviousPage(cursor, success, failure) end
---@param cursor tureen.Cursor
---@param success tureen.Success?
---@param failure tureen.Failure?
function smartstore.closeCursor(cursor, success, failure) end
---Tells of committed changes until it is closed; need not be kept, and is not pending.
---@param soupOrQuerySpec string|tureen.QuerySpec
---@param callback fun(change: tureen.Change)
---@param failure tureen.Failure?
---@return tureen.Observer
function smartstore.observe(soupOrQuerySpec, callback, failure) end
---@param observer tureen.Observer
---@param success tureen.Success?
---@param failure tureen.Failure?
function smartstore.closeObserver(observer, success, failure) end
---@param success fun(bytes: integer)?
---@param failure tureen.Failure?
function smartstore.getDatabaseSize(success, failure) end
---@param success tureen.Success?
---@param failure tureen.Failure?
function smartstore.removeStore(success, failure) end
---@param success fun(stores: tureen.StoreConfig[])?
---@param failure tureen.Failure?
function smartstore.getAllStores(success, failure) end
---@param success fun(stores: tureen.StoreConfig[])?
---@param failure tureen.Failure?
function smartstore.getAllGlobalStores(success, failure) end
---@param success tureen.Success?
---@param failure tureen.Failure?
function smartstore.removeAllStores(success, failure) end
---@param success tureen.Success?
---@param failure tureen.Failure?
function smartstore.removeAllGlobalStores(success, failure) end
---@return tureen.QuerySpec
function smartstore.buildAllQuerySpec(path, order, pageSize, selectPaths) end
---@return tureen.QuerySpec
function smartstore.buildExactQuerySpec(path, matchKey, pageSize, order, orderPath, selectPaths) end
---@return tureen.QuerySpec
function smartstore.buildRangeQuerySpec(path, beginKey, endKey, order, pageSize, orderPath, selectPaths) end
---@return tureen.QuerySpec
function smartstore.buildLikeQuerySpec(path, likeKey, order, pageSize, orderPath, selectPaths) end
---@return tureen.QuerySpec
function smartstore.buildMatchQuerySpec(path, matchKey, order, pageSize, orderPath, selectPaths) end
---@return tureen.QuerySpec
function smartstore.buildSmartQuerySpec(smartSql, pageSize) end

---@class tureen.keyvalue
local keyvalue = {}
---@param name string
---@param key string
---@param success fun(value: string|lightuserdata)?
---@param failure tureen.Failure?
function keyvalue.get(name, key, success, failure) end
---@param name string
---@param key string
---@param value string
---@param success tureen.Success?
---@param failure tureen.Failure?
function keyvalue.put(name, key, value, success, failure) end
---@param name string
---@param key string
---@param success fun(existed: boolean)?
---@param failure tureen.Failure?
function keyvalue.remove(name, key, success, failure) end
---@param name string
---@param key string
---@param success fun(exists: boolean)?
---@param failure tureen.Failure?
function keyvalue.contains(name, key, success, failure) end
---@param name string
---@param success fun(count: integer)?
---@param failure tureen.Failure?
function keyvalue.count(name, success, failure) end
---@param name string
---@param success tureen.Success?
---@param failure tureen.Failure?
function keyvalue.clear(name, success, failure) end
---@param name string
---@param pattern string?
---@param success fun(keys: string[])?
---@param failure tureen.Failure?
function keyvalue.keys(name, pattern, success, failure) end
---@param success fun(names: string[])?
---@param failure tureen.Failure?
function keyvalue.stores(success, failure) end

---@class tureen.mobilesync
local mobilesync = { MERGE_MODE = { OVERWRITE = "OVERWRITE", LEAVE_IF_CHANGED = "LEAVE_IF_CHANGED" } }
---@param target table
---@param soupName string
---@param options {mergeMode: string?}?
---@param syncName string?
---@param success fun(sync: tureen.SyncState)?
---@param failure tureen.Failure?
function mobilesync.syncDown(target, soupName, options, syncName, success, failure) end
---@param target table?
---@param soupName string
---@param options {fieldlist: string[]?, mergeMode: string?}
---@param syncName string?
---@param success fun(sync: tureen.SyncState)?
---@param failure tureen.Failure?
function mobilesync.syncUp(target, soupName, options, syncName, success, failure) end
---@param idOrName integer|string
---@param success fun(sync: tureen.SyncState)?
---@param failure tureen.Failure?
function mobilesync.reSync(idOrName, success, failure) end
---@param idOrName integer|string
---@param success fun(sync: tureen.SyncState|lightuserdata)?
---@param failure tureen.Failure?
function mobilesync.getSyncStatus(idOrName, success, failure) end
---@param idOrName integer|string
---@param success tureen.Success?
---@param failure tureen.Failure?
function mobilesync.deleteSync(idOrName, success, failure) end
---@param syncId integer
---@param success fun(removed: integer)?
---@param failure tureen.Failure?
function mobilesync.cleanResyncGhosts(syncId, success, failure) end

---@class tureen.sdkinfo
local sdkinfo = {}
---@param success fun(info: table)?
---@param failure tureen.Failure?
function sdkinfo.getInfo(success, failure) end

return tureen
