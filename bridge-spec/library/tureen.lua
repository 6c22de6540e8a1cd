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
---@field ghostsCheckedUntil integer  ms since 1970 UTC; -1 before
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
---@field storeKeyFile string?      a file with the key that stores are encrypted with; of these three at most one
---@field storeKeyVariable string?  the environment variable that holds it
---@field storeKeyCommand string|string[]|nil  prints it; run without a shell, a string is split at its spaces
---@field config string?        the folder of bootconfig.json, userstore.json, usersyncs.json

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
---A function that runs as a coroutine of its own. An error in it goes to those who await it, else to tureen.onerror.
---@class tureen.Task
local Task = {}
---@return "running"|"done"|"failed"
function Task:status() end
---What it waits for ends with nil and an error of code "cancelled", and so does all it waits for later.
function Task:cancel() end
---@return boolean
function Task:is_cancelled() end
---@class tureen.Timer
local Timer = {}
---The function is not called any more.
function Timer:cancel() end
---@param fn function
---@return tureen.Task
function tureen.async(fn, ...) end
---@param fn function|tureen.Task
---@return any value, tureen.Error? err
function tureen.await(fn, ...) end
---Waits for all of them: their values in a list; at the first failure nil and that error.
---@param list (tureen.Task|function|table)[]  tasks, functions to run, or {fn, ...} as await takes them
---@return any[]? values, tureen.Error? err
function tureen.all(list) end
---Waits for the first that ends.
---@param list (tureen.Task|function|table)[]
---@return any value, tureen.Error? err, integer position
function tureen.race(list) end
---As await, but for ms milliseconds at most: then what runs is cancelled and the error has the code "timeout".
---@param ms number
---@param fn function|tureen.Task
---@return any value, tureen.Error? err
function tureen.timeout(ms, fn, ...) end
---@param ms number
---@return true? done, tureen.Error? err
function tureen.sleep(ms) end
---@param ms number
---@param fn fun()  called once, from a poll
---@return tureen.Timer
function tureen.after(ms, fn) end
---Waits for the next event that filter returns true for.
---@param name string
---@param filter (fun(detail: any): boolean)?
---@param ms number?  at most so long
---@return any detail, tureen.Error? err
function tureen.waitEvent(name, filter, ms) end
---What tureen.network.sendRequest takes in its first form.
---@class tureen.RequestOptions
---@field endPoint string?       what goes before the path, such as "/services/data"
---@field path string            the rest, or a full https:// URL
---@field method string?         GET when left out
---@field queryParams table|string|nil  GET, DELETE, HEAD: the query; else the JSON body
---@field headerParams table?
---@field fileParams table?      {part = {fileUrl, fileMimeType?, fileName?}}: the body becomes multipart
---@field returnBinary boolean?  success gets {encodedBody, contentType}
---@field doesNotRequireAuthentication boolean?  no token is sent

local network = {}
---A request with the org's session. The model's ten positions are taken as well (callbacks third and fourth).
---@param options tureen.RequestOptions
---@param success fun(body: any)?
---@param error fun(err: tureen.Error)?
---@return integer? id
function network.sendRequest(options, success, error) end
---The bytes of a binary result.
---@param result {encodedBody: string, contentType: string}
---@return string
function network.bytes(result) end
tureen.network = network

---Gives up a call: a sync stops, a request is broken off; it is answered all the same.
---@param id integer  what the function that made the call returned
function tureen.cancel(id) end
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
---Words as a person typed them, made into a key for a match query: every one has to occur, none is taken for an operator.
---@param words string
---@return string key
function smartstore.quoteMatch(words) end

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
---@param idOrName integer|string
---@param success fun(removed: integer)?
---@param failure tureen.Failure?
function mobilesync.cleanResyncGhosts(idOrName, success, failure) end
---@param idOrName integer|string
---@param success tureen.Success?
---@param failure tureen.Failure?
function mobilesync.cancelSync(idOrName, success, failure) end
---@param target table
---@param soupName string
---@param options {mergeMode: string?}?
---@param syncName string?
---@param success fun(sync: tureen.SyncState)?
---@param failure tureen.Failure?
function mobilesync.createSyncDown(target, soupName, options, syncName, success, failure) end
---@param target table?
---@param soupName string
---@param options {fieldlist: string[]?, mergeMode: string?}
---@param syncName string?
---@param success fun(sync: tureen.SyncState)?
---@param failure tureen.Failure?
function mobilesync.createSyncUp(target, soupName, options, syncName, success, failure) end
---@param syncName string
---@param success fun(isThere: boolean)?
---@param failure tureen.Failure?
function mobilesync.hasSyncWithName(syncName, success, failure) end
---@param success tureen.Success?
---@param failure tureen.Failure?
function mobilesync.stop(success, failure) end
---@param success fun(isStopping: boolean)?
---@param failure tureen.Failure?
function mobilesync.isStopping(success, failure) end
---@param success fun(isStopped: boolean)?
---@param failure tureen.Failure?
function mobilesync.isStopped(success, failure) end
---@param options {restartStopped: boolean?}?
---@param success fun(states: tureen.SyncState[])?
---@param failure tureen.Failure?
function mobilesync.restart(options, success, failure) end
---@param sobjectType string
---@param fetchMode "CACHE_ONLY"|"CACHE_FIRST"|"SERVER_FIRST"?
---@param success fun(metadata: table|lightuserdata)?
---@param failure tureen.Failure?
function mobilesync.fetchMetadata(sobjectType, fetchMode, success, failure) end
---@param layout {sobjectType: string, formFactor: string?, layoutType: string?, mode: string?, recordTypeId: string?}
---@param fetchMode "CACHE_ONLY"|"CACHE_FIRST"|"SERVER_FIRST"?
---@param success fun(layout: table|lightuserdata)?
---@param failure tureen.Failure?
function mobilesync.fetchLayout(layout, fetchMode, success, failure) end
--- A sync target written in Lua: the first three functions are for syncs down, the others for syncs up. Of the latter each may be
--- left out; the engine then sends the record itself.
---@class tureen.CustomTarget
---@field startFetch (fun(target: table, maxTimeStamp: integer): table[]?, {totalSize: integer?, more: any}?)?
---@field continueFetch (fun(target: table, more: any): table[]?, {totalSize: integer?, more: any}?)?
---@field remoteIds (fun(target: table, localIds: string[]): string[])?
---@field createOnServer (fun(target: table, record: table, fields: table): string?, any)?  the id, or nil and why not
--- True, or false and why not, or an HTTP status:
---@field updateOnServer (fun(target: table, record: table, fields: table): boolean|integer?, any)?
---@field deleteOnServer (fun(target: table, record: table): boolean|integer?, any)?  the same; 404 says that it is gone
---@field fetchLastModifiedDates (fun(target: table, records: table[]): (string|false|nil)[])?  false: deleted, nil: not known
---@field isNewerThanServer (fun(target: table, record: table): boolean)?

--- The functions behind targets `{type = "custom", luaImpl = name}`; nil takes them away.
---@param name string
---@param implementation tureen.CustomTarget?
function mobilesync.registerTarget(name, implementation) end

---@class tureen.sdkinfo
local sdkinfo = {}
---@param success fun(info: table)?
---@param failure tureen.Failure?
function sdkinfo.getInfo(success, failure) end
---@param feature string
---@param success tureen.Success?
---@param failure tureen.Failure?
function sdkinfo.registerAppFeature(feature, success, failure) end
---@param feature string
---@param success tureen.Success?
---@param failure tureen.Failure?
function sdkinfo.unregisterAppFeature(feature, success, failure) end

---@class tureen.oauth
local oauth = {}
---@param success fun(credentials: table)?
---@param failure tureen.Failure?
function oauth.getAuthCredentials(success, failure) end
---@param success fun(credentials: table)?
---@param failure tureen.Failure?
function oauth.authenticate(success, failure) end
---@param success tureen.Success?
---@param failure tureen.Failure?
function oauth.logoutCurrentUser(success, failure) end
---@param success fun(url: string)?
---@param failure tureen.Failure?
function oauth.getAppHomeUrl(success, failure) end

---@class tureen.sfaccountmanager
local sfaccountmanager = {}
---@param success fun(accounts: table[])?
---@param failure tureen.Failure?
function sfaccountmanager.getUsers(success, failure) end
---@param success fun(account: table|lightuserdata)?
---@param failure tureen.Failure?
function sfaccountmanager.getCurrentUser(success, failure) end
---@param user {userId: string, orgId: string}?
---@param success tureen.Success?
---@param failure tureen.Failure?
function sfaccountmanager.logout(user, success, failure) end
---@param user {userId: string, orgId: string}?
---@param success tureen.Success?
---@param failure tureen.Failure?
function sfaccountmanager.switchToUser(user, success, failure) end

---The embedded sandbox org, from behind. Works under `tureen run`; elsewhere every call fails with `unknownService`.
---`require "tureen.sandbox"`
---@class tureen.sandbox
local sandbox = {}

---When a change becomes visible, with the stamps of now: after so many further data calls, or when the org's clock
---has gone so far.
---@class tureen.sandbox.Moment
---@field requests integer?
---@field seconds integer?

---What goes wrong, when and to whom; the parameters of the kind stand beside these. bridge-spec/sandbox/README.md
---lists the kinds.
---@class tureen.sandbox.Rule
---@field kind string
---@field nth integer|integer[]|nil   the n-th request that fits, from 1 on
---@field every integer?              every k-th
---@field first integer?              the first n
---@field after integer?              all but the first n
---@field probability number?         0 to 1, drawn from the seed
---@field path string?                such as "/services/data/**" or "composite/sobjects"
---@field method string?
---@field host string?
---@field session string?             an access token, or its mark in the log
---@field contains string?            text in the query or the body
---@field times integer?              how often at most

---@param type string
---@param fields table
---@param after tureen.sandbox.Moment?
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.create(type, fields, after, success, failure) end
---@param type string
---@param id string
---@param fields table
---@param after tureen.sandbox.Moment?
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.update(type, id, fields, after, success, failure) end
---@param type string
---@param id string
---@param after tureen.sandbox.Moment?
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.delete(type, id, after, success, failure) end
---@param soql string
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.query(soql, success, failure) end
---@param rule tureen.sandbox.Rule|{rules: tureen.sandbox.Rule[]}
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.addFault(rule, success, failure) end
---@param id integer
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.removeFault(id, success, failure) end
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.faults(success, failure) end
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.clearFaults(success, failure) end
---Counts and chance begin again.
---@param seed integer?
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.resetFaults(seed, success, failure) end
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.faultKinds(success, failure) end
---What the org was asked, oldest first.
---@param filter {since: integer?, method: string?, path: string?, fault: string?}?
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.requests(filter, success, failure) end
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.clearRequests(success, failure) end
---The org's time, in seconds since 1970 UTC.
---@param change {hold: boolean?, advance: integer?, set: integer?}?
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.clock(change, success, failure) end
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.expireSessions(success, failure) end
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.expireLocators(success, failure) end
---@param token string
---@param success tureen.Success?
---@param failure tureen.Failure?
function sandbox.revokeToken(token, success, failure) end

return tureen
