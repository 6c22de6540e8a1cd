---@meta tureen
-- Definitions for editors (LuaCATS): point the language server's workspace.library here. Never loaded by a script.
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@alias tureen.Success fun(payload: any): any
---@alias tureen.Failure fun(err: tureen.Error): any

--- A path of a soup's entries that queries can use.
---@class tureen.SoupIndexSpec
---@field path string  the field, with dots for a field of an object in it
---@field type "string"|"integer"|"floating"|"full_text"|"json1"  how its values are kept

--- What a query asks for; the builders of tureen.smartstore make one.
---@class tureen.QuerySpec
---@field queryType "exact"|"range"|"like"|"match"|"smart"  which of the keys count
---@field indexPath string?  the path that is filtered on; for match it may be missing
---@field matchKey any  exact: the value, without which nothing is found; match: the full-text expression
---@field likeKey string?  with % and _ as wild cards
---@field beginKey any  range: the first value; missing: no bound
---@field endKey any  range: the last value; missing: no bound
---@field smartSql string?  one SELECT over {soup}, {soup:path} and {soup:_soup}; a comment or a semicolon may follow it
---@field args any  a list: values for the ? of smartSql
---@field orderPath string?  the path to sort by
---@field order ("ascending"|"descending")?
---@field pageSize integer?  rows a page
---@field selectPaths string[]?  rows of these values in place of whole entries
---@field lazy boolean?  entries are tureen.Record, parsed as their fields are read

--- How a sync treats what both sides changed, and what an upload sends.
---@class tureen.SyncOptions
---@field mergeMode ("OVERWRITE"|"LEAVE_IF_CHANGED"|"MERGE")?
---@field fieldlist string[]?  what uploads send unless the target says
---@field resolver string?  with MERGE: decides conflicts; registered with mobilesync.registerResolver, else a module that is a function

--- How changes are sent; further keys belong to the type.
---@class tureen.SyncUpTarget
---@field type ("collection"|"batch"|"plain"|"parent_children"|"custom")?  how many records go into a request
---@field createFieldlist string[]?  what is sent of a new record
---@field updateFieldlist string[]?  what is sent of a changed one

--- A page of a query, and what is needed for the others.
---@class tureen.Cursor
---@field cursorId any
---@field currentPageIndex integer  from 0 on
---@field pageSize integer
---@field totalPages integer
---@field totalEntries integer
---@field currentPageOrderedEntries any[]  entries; rows for a smart query or one with selectPaths
---@field lazy boolean?  as in the query spec

--- What committed transactions did to a soup since the last one was heard.
---@class tureen.Change
---@field soupName string
---@field created integer[]  entry ids; each id stands in one list
---@field updated integer[]
---@field removed integer[]
---@field all boolean  any entry may have changed; the lists are empty

--- Which store a call means.
---@class tureen.StoreConfig
---@field isGlobalStore boolean  true: the store all users share
---@field storeName string?

--- A saved sync, and how far it got.
---@class tureen.SyncState
---@field _soupEntryId integer  the sync's id
---@field type "syncDown"|"syncUp"
---@field name string?  absent for a sync without a name
---@field target table  as stored, with what its maker left out
---@field options table
---@field soupName string
---@field status "NEW"|"STOPPED"|"RUNNING"|"DONE"|"FAILED"
---@field progress integer  0 to 100
---@field totalSize integer  records this run is about; -1 until known
---@field maxTimeStamp integer  newest modification stored, ms since 1970 UTC; -1 until known
---@field coveredTimeStamp integer  all changes up to here are stored for certain, ms since 1970 UTC
---@field ghostsCheckedUntil integer  no entry was a ghost then, ms since 1970 UTC; -1 when that is not known
---@field startTime integer  ms since 1970 UTC; 0 before the first run
---@field endTime integer  ms since 1970 UTC; 0 before the first end
---@field error string  why the last run ended FAILED: the server's body, else a message
---@field fetched integer  records the server sent that are new or changed
---@field stored integer  of these, written into the soup
---@field skipped integer  left alone: dirty here (down), newer on the server (up), nothing to send
---@field conflicting integer  of the skipped, those changed on both sides; each is among getConflicts, of a family one for all
---@field merged integer  changed on both sides and brought together, by field or by a resolver
---@field succeeded integer  uploads the server accepted
---@field failed integer  uploads the server refused; the entries have __last_error__
---@field inDoubt integer  creates whose outcome is unknown
---@field requests integer  requests sent, repeated ones not counted
---@field retries integer  requests sent again after a failure
---@field bytes integer  bytes of the answers' bodies
---@field limitInfo string  the last answer's Sforce-Limit-Info, such as api-usage=18/5000
---@field queued boolean  RUNNING, and waiting for other syncs of its soups

--- An entry that both sides changed.
---@class tureen.SyncConflict
---@field soupName string
---@field entryId integer  the entry's _soupEntryId
---@field syncId integer  the sync that met it last
---@field kind "changed"|"deletedHere"|"deletedThere"|"unknown"  changed on both sides; deleted on one and changed on the other; unknown: what the server has could not be read
---@field base table  the entry when it last equalled the server; null when it never did
---@field local table  the entry as it stands
---@field server table  the server's record, with the fields that the sync read; null when it is deleted or not known
---@field merged table  the entry with the changes of one side only taken from that side; fields in conflict have the local value
---@field fields string[]  changed on both sides, to different values
---@field localChanges string[]  fields that differ from the base here
---@field remoteChanges string[]  fields that differ from the base on the server
---@field detectedAt integer  ms since 1970 UTC

--- What requests are sent with.
---@class tureen.Credentials
---@field accessToken string
---@field refreshToken string?  only where the host allows it
---@field userId any
---@field orgId any
---@field loginUrl any
---@field instanceUrl string
---@field identityUrl any
---@field clientId any
---@field userAgent string
---@field communityId any
---@field communityUrl any

--- Who is signed in.
---@class tureen.Account
---@field authToken string
---@field loginServer any
---@field idUrl any
---@field instanceServer string
---@field orgId any
---@field userId any
---@field username any
---@field clientId any

--- What this core is and can do.
---@class tureen.SDKInfo
---@field sdkVersion string  of the plug-in model
---@field appName string
---@field appVersion string
---@field forcePluginsAvailable string[]  the services
---@field bootConfig table  bootconfig.json with its defaults

--- What error callbacks get.
---@class tureen.Error
---@field domain string  "bridge", "smartstore", "sync", "network", "host", "force": which part failed
---@field code string  stable; errors.json lists them
---@field message string  for people; may change
---@field retryable boolean  the same call may succeed later
---@field source string?  "service:action" of the call
---@field status integer?  HTTP status, domain network
---@field body string?  the server's body as it came, domain network
---@field errors table[]?  the elements of the server's error array, domain network
---@field sync tureen.SyncState?  the state of a sync that ended FAILED or was stopped
---@field offset integer?  the byte of a text that is no JSON, from 0 on; code invalidJSON
---@field value any  what a task's function raised; code raised
---@field traceback string?  of the coroutine that waited
---@field base table?  the record when both sides last agreed; code conflict of tureen.force
---@field theirs table?  the server's record; code conflict
---@field yours table?  the record that was to be saved; code conflict
---@field remoteChanges string[]?  fields that the server changed; code conflict
---@field localChanges string[]?  fields that were changed here; code conflict
---@field conflictingChanges string[]?  fields that both changed to different values; code conflict

--- What tureen.configure takes.
---@class tureen.Settings
---@field home string?  where stores, sessions and the sandbox live
---@field org string?  "sandbox", an address, or a name whose credentials are kept under the home
---@field credentials string?  a JSON file to sign in with
---@field apiVersion string?  such as "v66.0"
---@field caFile string?  a PEM file of certificates that are trusted beside the machine's own
---@field recover "refuse"|"moveAside"|nil  for a damaged store; moveAside keeps it beside a new one
---@field storeKeyFile string?  a file with the key that stores are encrypted with; of these three at most one
---@field storeKeyVariable string?  the environment variable that holds it
---@field storeKeyCommand string|string[]|nil  prints it; run without a shell, a string is split at its spaces
---@field config string?  the folder of bootconfig.json, userstore.json, usersyncs.json

--- A function that runs as a coroutine of its own. An error in it goes to those who await it, else to tureen.onerror.
---@class tureen.Task
local Task = {}

--- What tureen.after gives.
---@class tureen.Timer
local Timer = {}

--- What every script needs: configuring, calls, polling, tasks, events, JSON.
---@class tureen
---@field null any  JSON's null, a light userdata; true in a condition, so compare with ==
---@field onerror (fun(err: any, traceback: string))?  gets the errors nobody caught
---@field smartstore tureen.smartstore
---@field mobilesync tureen.mobilesync
---@field keyvalue tureen.keyvalue
---@field sdkinfo tureen.sdkinfo
---@field document tureen.document
---@field network tureen.network
---@field oauth tureen.oauth
---@field sfaccountmanager tureen.sfaccountmanager
---@field accounts tureen.sfaccountmanager  the same by a shorter name
---@field force tureen.force
---@field optimistic tureen.optimistic
local tureen = { json = {} }

--- Before the first use of a store or a sync; raises afterwards, and in restricted scripts.
---@param options tureen.Settings
function tureen.configure(options) end

--- Sends a call: `success(payload)` or `error(err)` runs at a later poll.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@param service string
---@param action string
---@param args table?
---@return integer? id  for tureen.cancel
function tureen.exec(success, failure, service, action, args) end

--- Runs the callbacks that wait, asleep at most so long for the first one.
---@param timeoutMs number?
---@return integer delivered
function tureen.poll(timeoutMs) end

--- Polls until nothing is pending; with a function, runs that as a task first: what it returns follows ok, and an error
--- in it comes back as it was raised. A task that waits all the same, but for an event, is an error of code
--- stillWaiting: tureen.onerror gets it.
---@param main function?
---@param ... any
---@return boolean ok
---@return any result  what main returned; or the error
function tureen.run(main, ...) end

--- A descriptor that is readable while poll would deliver something.
---@return integer descriptor  readable while poll would deliver; neither read nor close it
function tureen.fd() end

--- How many calls will still be answered.
---@return integer count  calls still to be answered
function tureen.pending() end

--- Runs fn as a coroutine of its own. An error in it goes to those who await it, else to tureen.onerror.
---@param fn function
---@param ... any
---@return tureen.Task
function tureen.async(fn, ...) end

--- Calls fn with callbacks of its own and waits for the answer; or waits for a task. With a function that waits itself,
--- as sleep does, it is fn(...).
---@param fn function|tureen.Task
---@param ... any
---@return any value
---@return tureen.Error err  nil when it went well
function tureen.await(fn, ...) end

--- Waits for all of them: their values in a list; at the first failure nil and that error.
---@param list (tureen.Task|function|table)[]  tasks, functions to run, or {fn, ...} as await takes them
---@return any[]? values
---@return tureen.Error err  nil when it went well
function tureen.all(list) end

--- Waits for the first that ends.
---@param list (tureen.Task|function|table)[]
---@return any value
---@return tureen.Error err  nil when it went well
---@return integer position
function tureen.race(list) end

--- As await, but for ms milliseconds at most: then what runs is cancelled and the error has the code "timeout".
---@param ms number
---@param fn function|tureen.Task
---@param ... any
---@return any value
---@return tureen.Error err  nil when it went well
function tureen.timeout(ms, fn, ...) end

--- Waits; other tasks and callbacks run meanwhile.
---@param ms number
---@return true? done
---@return tureen.Error err  nil when it went well
function tureen.sleep(ms) end

--- Calls fn once, from a poll. tureen.run waits for it.
---@param ms number
---@param fn fun()  called once, from a poll
---@return tureen.Timer
function tureen.after(ms, fn) end

--- Waits for the next event that filter returns true for.
---@param name string
---@param filter (fun(detail: any): boolean)?
---@param ms number?  at most so long
---@return any detail
---@return tureen.Error err  nil when it went well
function tureen.waitEvent(name, filter, ms) end

--- Gives up a call: a sync stops, a request is broken off, a query ends; it is answered all the same.
---@param id integer?  what the function that made the call returned; nil, of a call that was refused, does nothing
function tureen.cancel(id) end

--- Marks a table as an array, so that it stays one when it is empty; without one, a new table.
---@generic T: table
---@param t T?
---@return T
function tureen.array(t) end

--- The value as JSON text.
---@param value any
---@return string text
function tureen.json.encode(value) end

--- The value of JSON text, or nil and an error.
---@param text string
---@return any value
---@return tureen.Error err  nil when it went well; code invalidJSON, with its offset
function tureen.json.decode(text) end

--- Calls the listener with the detail of each event of this type.
---@param type string
---@param listener fun(detail: any)
function tureen.on(type, listener) end

--- Calls the listener with the detail of the next event of this type.
---@param type string
---@param listener fun(detail: any)
function tureen.once(type, listener) end

--- Ends what on or once began.
---@param type string
---@param listener fun(detail: any)
function tureen.off(type, listener) end

--- Whether it runs, has returned or has raised.
---@return "running"|"done"|"failed"
function Task:status() end

--- What it waits for ends with nil and an error of code "cancelled", and so does all it waits for later.
function Task:cancel() end

--- True once cancel was called while it ran.
---@return boolean
function Task:is_cancelled() end

--- The function is not called any more.
function Timer:cancel() end

--- What a script may want to know before it begins.
---@class tureen.bootstrap
local bootstrap = {}

--- Whether the org answers now, be it with a refusal.
---@param success (fun(isOnline: boolean): any)?
---@param failure tureen.Failure?
---@return boolean|nil isOnline  what success gets, inside a task
---@return tureen.Error err  nil when it went well
function bootstrap.deviceIsOnline(success, failure) end

--- Events, as web pages know them: listeners get {type, detail}.
---@class tureen.document
local document = {}

--- Calls the listener with each event of this type. Adding one twice changes nothing.
---@param type string
---@param listener fun(event: {type: string, detail: any})
function document.addEventListener(type, listener) end

--- Ends what addEventListener began.
---@param type string
---@param listener fun(event: {type: string, detail: any})
function document.removeEventListener(type, listener) end

--- Calls the listener with the detail of each event of this type.
---@param type string
---@param listener fun(detail: any)
function document.on(type, listener) end

--- Calls the listener with the detail of the next event of this type.
---@param type string
---@param listener fun(detail: any)
function document.once(type, listener) end

--- Ends what on or once began.
---@param type string
---@param listener fun(detail: any)
function document.off(type, listener) end

--- Says whether there is a network, for scripts that know better: `online` or `offline` when that is a change.
---@param isOnline boolean
function document.setOnline(isOnline) end

--- How far a start has come.
---@class tureen.event.Status
---@field code integer
---@field description string
---@field isError boolean

--- What start pages tell each other, and the functions of tureen.document.
---@class tureen.event: tureen.document
---@field EVENT table<string, tureen.event.Status>  AUTHENTICATING, STARTING, OFFLINE
local event = {}

--- Sends `bootstrapStatusEvent`; the listeners run at the next poll.
---@param status tureen.event.Status  one of EVENT, or another
function event.sendStatusEvent(status) end

--- tureen.exec with the plug-ins' version in front. The module may be called as well: exec(...) is exec.exec(...).
---@class tureen.exec
---@overload fun(pluginVersion: string, success: tureen.Success?, error: tureen.Failure?, service: string, action: string, args: table?): integer?
---@field timing boolean  true: a line on stderr for each answer, with the ms it took
local exec = {}

--- Calls an action as the plug-ins' modules do.
---@param pluginVersion string
---@param success tureen.Success?
---@param error tureen.Failure?
---@param service string
---@param action string
---@param args table?  the action's object, or a list with it
---@return integer? id  for tureen.cancel
function exec.exec(pluginVersion, success, error, service, action, args) end

--- Values of any bytes under any key, in stores with names, beside the soups.
---@class tureen.keyvalue
local keyvalue = {}

--- The value of a key. The Lua function gives the string itself.
---@param name string
---@param key string
---@param success (fun(value: string|lightuserdata): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, key: string, success: (fun(value: string|lightuserdata): any)?, failure: tureen.Failure?): integer?
function keyvalue.get(name, key, success, failure) end

--- Sets the value of a key, whether or not it had one.
---@param name string
---@param key string
---@param value string
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, key: string, value: string, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function keyvalue.put(name, key, value, success, failure) end

--- Removes a key.
---@param name string
---@param key string
---@param success (fun(existed: boolean): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, key: string, success: (fun(existed: boolean): any)?, failure: tureen.Failure?): integer?
function keyvalue.remove(name, key, success, failure) end

--- Whether there is such a key.
---@param name string
---@param key string
---@param success (fun(exists: boolean): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, key: string, success: (fun(exists: boolean): any)?, failure: tureen.Failure?): integer?
function keyvalue.contains(name, key, success, failure) end

--- How many keys a key-value store has.
---@param name string
---@param success (fun(count: integer): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, success: (fun(count: integer): any)?, failure: tureen.Failure?): integer?
function keyvalue.count(name, success, failure) end

--- Removes every key, and with them the key-value store.
---@param name string
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function keyvalue.clear(name, success, failure) end

--- The keys in the order of their bytes.
---@param name string
---@param pattern string?
---@param success (fun(keys: string[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(name: string, success: (fun(keys: string[]): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, pattern: string?, success: (fun(keys: string[]): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, success: (fun(keys: string[]): any)?, failure: tureen.Failure?): integer?
function keyvalue.keys(name, pattern, success, failure) end

--- The key-value stores of a file that hold something, sorted by name.
---@param success (fun(names: string[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(names: string[]): any)?, failure: tureen.Failure?): integer?
function keyvalue.stores(success, failure) end

---@alias tureen.logger.Level "error"|"warn"|"info"|"debug"

--- Lines for whoever runs the script, on stderr, and URLs made fit for them.
---@class tureen.logger
local logger = {}

--- What is shown: a level shows its own lines and those of the levels before it. At first it is "info".
---@param level tureen.logger.Level
function logger.setLogLevel(level) end

--- The level that is set.
---@return tureen.logger.Level
function logger.getLogLevel() end

--- Writes a line when its level is shown.
---@param level tureen.logger.Level
---@param message any
function logger.log(level, message) end

--- Writes a line of level info.
---@param message any
function logger.logToConsole(message) end

--- Writes a line of level error.
---@param message any
function logger.logError(message) end

--- The URL with `[redacted]` for the values of the named parameters, in its query and behind its `#`.
---@param url string
---@param names string|string[]
---@return string
function logger.sanitizeUrlParamsForLogging(url, names) end

--- A sync target written in Lua: the first three functions are for syncs down, the others for syncs up. Of the latter
--- each may be left out; the engine then sends the record itself. True, or false and why not, or an HTTP status:
---@class tureen.CustomTarget
---@field startFetch (fun(target: table, maxTimeStamp: integer): table[]?, {totalSize: integer?, more: any}?)?
---@field continueFetch (fun(target: table, more: any): table[]?, {totalSize: integer?, more: any}?)?
---@field remoteIds (fun(target: table, localIds: string[]): string[])?
---@field createOnServer (fun(target: table, record: table, fields: table): string?, any)?  the id, or nil and why not
---@field updateOnServer (fun(target: table, record: table, fields: table): boolean|integer?, any)?
---@field deleteOnServer (fun(target: table, record: table): boolean|integer?, any)?  the same; 404 says that it is gone
---@field fetchLastModifiedDates (fun(target: table, records: table[]): (string|false|nil)[])?  false: deleted, nil: not known
---@field fetchFromServer (fun(target: table, records: table[], fields: string[]): (table|false|nil)[])?  what the server has of records that it changed; false: deleted, nil: not known
---@field isNewerThanServer (fun(target: table, record: table): boolean)?

--- Syncing between soups and the server.
---@class tureen.mobilesync
---@field MERGE_MODE {OVERWRITE: string, LEAVE_IF_CHANGED: string, MERGE: string}
---@field FETCH_MODE {CACHE_ONLY: string, CACHE_FIRST: string, SERVER_FIRST: string}
local mobilesync = {}

--- Creates a sync down and runs it.
---@param target table
---@param soupName string
---@param options tureen.SyncOptions?
---@param syncName string?
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(target: table, soupName: string, options: tureen.SyncOptions?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(target: table, soupName: string, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: table, soupName: string, options: tureen.SyncOptions?, syncName: string?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: table, soupName: string, options: tureen.SyncOptions?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: table, soupName: string, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
function mobilesync.syncDown(target, soupName, options, syncName, success, failure) end

--- Creates a sync up and runs it: every entry that is marked dirty is sent.
---@param target tureen.SyncUpTarget?
---@param soupName string
---@param options tureen.SyncOptions
---@param syncName string?
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(target: tureen.SyncUpTarget?, soupName: string, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(soupName: string, options: tureen.SyncOptions, syncName: string?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(soupName: string, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: tureen.SyncUpTarget?, soupName: string, options: tureen.SyncOptions, syncName: string?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: tureen.SyncUpTarget?, soupName: string, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, options: tureen.SyncOptions, syncName: string?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
function mobilesync.syncUp(target, soupName, options, syncName, success, failure) end

--- Runs a saved sync again: from where the last run left off.
---@param syncIdOrName integer|string
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|string, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
function mobilesync.reSync(syncIdOrName, success, failure) end

--- The state of a saved sync.
---@param syncIdOrName integer|string
---@param success (fun(sync: tureen.SyncState|lightuserdata): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|string, success: (fun(sync: tureen.SyncState|lightuserdata): any)?, failure: tureen.Failure?): integer?
function mobilesync.getSyncStatus(syncIdOrName, success, failure) end

--- Forgets a saved sync; fine when there is none.
---@param syncIdOrName integer|string
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|string, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function mobilesync.deleteSync(syncIdOrName, success, failure) end

--- Removes clean entries that the server would no longer send; of a sync with mergeMode MERGE, changed entries whose
--- record is deleted become conflicts.
---@param syncIdOrName integer|string
---@param success (fun(removed: integer): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|string, success: (fun(removed: integer): any)?, failure: tureen.Failure?): integer?
function mobilesync.cleanResyncGhosts(syncIdOrName, success, failure) end

--- Ends one running sync at its next page or batch.
---@param syncIdOrName integer|string
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|string, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function mobilesync.cancelSync(syncIdOrName, success, failure) end

--- Saves a sync down without running it.
---@param target table
---@param soupName string
---@param options tureen.SyncOptions?
---@param syncName string?
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(target: table, soupName: string, options: tureen.SyncOptions?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(target: table, soupName: string, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: table, soupName: string, options: tureen.SyncOptions?, syncName: string?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: table, soupName: string, options: tureen.SyncOptions?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: table, soupName: string, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
function mobilesync.createSyncDown(target, soupName, options, syncName, success, failure) end

--- Saves a sync up without running it.
---@param target tureen.SyncUpTarget?
---@param soupName string
---@param options tureen.SyncOptions
---@param syncName string?
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(target: tureen.SyncUpTarget?, soupName: string, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(soupName: string, options: tureen.SyncOptions, syncName: string?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(soupName: string, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: tureen.SyncUpTarget?, soupName: string, options: tureen.SyncOptions, syncName: string?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: tureen.SyncUpTarget?, soupName: string, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, options: tureen.SyncOptions, syncName: string?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
function mobilesync.createSyncUp(target, soupName, options, syncName, success, failure) end

--- Whether a saved sync has a name.
---@param syncName string
---@param success (fun(isThere: boolean): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncName: string, success: (fun(isThere: boolean): any)?, failure: tureen.Failure?): integer?
function mobilesync.hasSyncWithName(syncName, success, failure) end

--- Refuses syncs from now on and ends those that run at their next page or batch.
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function mobilesync.stop(success, failure) end

--- Whether something still runs after stop.
---@param success (fun(isStopping: boolean): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(isStopping: boolean): any)?, failure: tureen.Failure?): integer?
function mobilesync.isStopping(success, failure) end

--- Whether nothing runs any more after stop.
---@param success (fun(isStopped: boolean): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(isStopped: boolean): any)?, failure: tureen.Failure?): integer?
function mobilesync.isStopped(success, failure) end

--- Takes syncs again after stop.
---@param options {restartStopped: boolean?}?
---@param success (fun(states: tureen.SyncState[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(states: tureen.SyncState[]): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, options: {restartStopped: boolean?}?, success: (fun(states: tureen.SyncState[]): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(states: tureen.SyncState[]): any)?, failure: tureen.Failure?): integer?
function mobilesync.restart(options, success, failure) end

--- What the server knows of a type, cached in the soup sfdcMetadata.
---@param sobjectType string
---@param fetchMode ("CACHE_ONLY"|"CACHE_FIRST"|"SERVER_FIRST")?
---@param success (fun(metadata: table|lightuserdata): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(sobjectType: string, success: (fun(metadata: table|lightuserdata): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, sobjectType: string, fetchMode: ("CACHE_ONLY"|"CACHE_FIRST"|"SERVER_FIRST")?, success: (fun(metadata: table|lightuserdata): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, sobjectType: string, success: (fun(metadata: table|lightuserdata): any)?, failure: tureen.Failure?): integer?
function mobilesync.fetchMetadata(sobjectType, fetchMode, success, failure) end

--- How a type is laid out for the user, cached in the soup sfdcLayouts.
---@param layout {sobjectType: string, formFactor: string?, layoutType: string?, mode: string?, recordTypeId: string?}
---@param fetchMode ("CACHE_ONLY"|"CACHE_FIRST"|"SERVER_FIRST")?
---@param success (fun(layout: table|lightuserdata): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(layout: {sobjectType: string, formFactor: string?, layoutType: string?, mode: string?, recordTypeId: string?}, success: (fun(layout: table|lightuserdata): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, layout: {sobjectType: string, formFactor: string?, layoutType: string?, mode: string?, recordTypeId: string?}, fetchMode: ("CACHE_ONLY"|"CACHE_FIRST"|"SERVER_FIRST")?, success: (fun(layout: table|lightuserdata): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, layout: {sobjectType: string, formFactor: string?, layoutType: string?, mode: string?, recordTypeId: string?}, success: (fun(layout: table|lightuserdata): any)?, failure: tureen.Failure?): integer?
function mobilesync.fetchLayout(layout, fetchMode, success, failure) end

--- The entries that both sides changed and nobody has resolved.
---@param filter {soupName: string?, entryId: integer?, syncId: integer?, syncName: string?}?
---@param success (fun(conflicts: tureen.SyncConflict[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(conflicts: tureen.SyncConflict[]): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, filter: {soupName: string?, entryId: integer?, syncId: integer?, syncName: string?}?, success: (fun(conflicts: tureen.SyncConflict[]): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(conflicts: tureen.SyncConflict[]): any)?, failure: tureen.Failure?): integer?
function mobilesync.getConflicts(filter, success, failure) end

--- Ends a conflict. What is left to send goes with the next sync up.
---@param conflict {soupName: string, entryId: integer, resolution: "local"|"server"|nil, record: table?}
---@param success (fun(entry: table|lightuserdata): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, conflict: {soupName: string, entryId: integer, resolution: "local"|"server"|nil, record: table?}, success: (fun(entry: table|lightuserdata): any)?, failure: tureen.Failure?): integer?
function mobilesync.resolveConflict(conflict, success, failure) end

--- The function behind `options.resolver` of syncs with mergeMode MERGE: it gets a conflict and gives the record as it
--- shall be, "local", "server", or "skip" or nil, which leave it; it may await. nil takes it away.
---@param name string
---@param resolver (fun(conflict: tureen.SyncConflict): table|string|nil)?
function mobilesync.registerResolver(name, resolver) end

--- The functions behind targets `{type = "custom", luaImpl = name}`; nil takes them away.
---@param name string
---@param implementation tureen.CustomTarget?
function mobilesync.registerTarget(name, implementation) end

--- What tureen.network.sendRequest takes in its first form.
---@class tureen.RequestOptions
---@field endPoint string?  what goes before the path, such as "/services/data"
---@field path string  the rest, or a full https:// URL
---@field method string?  GET when left out
---@field queryParams table|string|nil  GET, DELETE, HEAD: the query; else the JSON body
---@field headerParams table?
---@field fileParams table?  {part = {fileUrl, fileMimeType?, fileName?}}: the body becomes multipart
---@field returnBinary boolean?  success gets {encodedBody, contentType}
---@field doesNotRequireAuthentication boolean?  no token is sent

--- Requests to the org's REST API, with its session.
---@class tureen.network
local network = {}

--- A request with the org's session. The model's ten positions are taken as well (callbacks third and fourth).
---@param options tureen.RequestOptions
---@param success (fun(body: any): any)?
---@param failure tureen.Failure?
---@return integer? id
function network.sendRequest(options, success, failure) end

--- The bytes of a binary result.
---@param result {encodedBody: string, contentType: string}
---@return string
function network.bytes(result) end

--- Who is signed in to the org, and with what.
---@class tureen.oauth
local oauth = {}

--- The session in use.
---@param success (fun(credentials: tureen.Credentials): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function oauth.getAuthCredentials(success, failure) end

--- Signs in; who is signed in gets a new token.
---@param success (fun(credentials: tureen.Credentials): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function oauth.authenticate(success, failure) end

--- Ends the session; requests fail until authenticate. The login host is asked once to revoke the token; when it cannot
--- be reached, that is logged and the token lives until it expires. Stores stay.
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function oauth.logoutCurrentUser(success, failure) end

--- The page an app begins with.
---@param success (fun(url: string): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function oauth.getAppHomeUrl(success, failure) end

--- The same as logoutCurrentUser.
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function oauth.logout(success, failure) end

--- When a change becomes visible, with the stamps of now: after so many further data calls, or when the org's clock has
--- gone so far.
---@class tureen.sandbox.Moment
---@field requests integer?
---@field seconds integer?

--- What goes wrong, when and to whom; the parameters of the kind stand beside these. bridge-spec/sandbox/README.md
--- lists the kinds.
---@class tureen.sandbox.Rule
---@field kind string
---@field nth integer|integer[]|nil  the n-th request that fits, from 1 on
---@field every integer?  every k-th
---@field first integer?  the first n
---@field after integer?  all but the first n
---@field probability number?  0 to 1, drawn from the seed
---@field path string?  such as "/services/data/**" or "composite/sobjects"
---@field method string?
---@field host string?
---@field session string?  an access token, or its mark in the log
---@field contains string?  text in the query or the body
---@field times integer?  how often at most

--- The embedded sandbox org, from behind. Works under `tureen run`; elsewhere every call fails with `unknownService`.
---@class tureen.sandbox
local sandbox = {}

--- Somebody else creates a record; its id, "OK" when it becomes visible later.
---@param type string
---@param fields table
---@param after tureen.sandbox.Moment?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(type: string, fields: table, success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.create(type, fields, after, success, failure) end

--- Somebody else changes a record.
---@param type string
---@param id string
---@param fields table
---@param after tureen.sandbox.Moment?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(type: string, id: string, fields: table, success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.update(type, id, fields, after, success, failure) end

--- Somebody else deletes a record.
---@param type string
---@param id string
---@param after tureen.sandbox.Moment?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(type: string, id: string, success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.delete(type, id, after, success, failure) end

--- The records the org has, past its session and its faults.
---@param soql string
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.query(soql, success, failure) end

--- Adds a rule, or several; its id, or a list of them.
---@param rule tureen.sandbox.Rule|{rules: tureen.sandbox.Rule[]}
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.addFault(rule, success, failure) end

--- Whether there was such a rule.
---@param id integer
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.removeFault(id, success, failure) end

--- The rules and the seed.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.faults(success, failure) end

--- Takes all rules away.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.clearFaults(success, failure) end

--- Counts and chance begin again.
---@param seed integer?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.resetFaults(seed, success, failure) end

--- Every kind with its parameters.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.faultKinds(success, failure) end

--- What the org was asked, oldest first.
---@param filter {since: integer?, method: string?, path: string?, fault: string?}?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.requests(filter, success, failure) end

--- Forgets what the org was asked.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.clearRequests(success, failure) end

--- The org's time, in seconds since 1970 UTC.
---@param change {hold: boolean?, advance: integer?, set: integer?}?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.clock(change, success, failure) end

--- Every access token ends.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.expireSessions(success, failure) end

--- Every open query locator is forgotten.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.expireLocators(success, failure) end

--- One token ends.
---@param token string
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.revokeToken(token, success, failure) end

--- What this core is and can do.
---@class tureen.sdkinfo
local sdkinfo = {}

--- What this core is, and what it can do.
---@param success (fun(info: tureen.SDKInfo): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sdkinfo.getInfo(success, failure) end

--- Says that the script uses a feature; the server sees the code in the User-Agent.
---@param feature string
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sdkinfo.registerAppFeature(feature, success, failure) end

--- Takes a feature back.
---@param feature string
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sdkinfo.unregisterAppFeature(feature, success, failure) end

--- The accounts the host has: one, when somebody is signed in.
---@class tureen.sfaccountmanager
local sfaccountmanager = {}

--- The accounts the host has.
---@param success (fun(accounts: tureen.Account[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sfaccountmanager.getUsers(success, failure) end

--- Who is signed in.
---@param success (fun(account: tureen.Account|lightuserdata): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sfaccountmanager.getCurrentUser(success, failure) end

--- Ends the session of an account; without one, of who is signed in.
---@param user {userId: string, orgId: string}?
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function sfaccountmanager.logout(user, success, failure) end

--- Makes an account the current one.
---@param user {userId: string, orgId: string}?
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function sfaccountmanager.switchToUser(user, success, failure) end

--- A record of a query with `lazy = true`: a field is parsed when it is read, an object in it is a record again. It
--- cannot be changed. A field hides the method of its name. It keeps the text of its whole page in memory.
---@class tureen.Record: userdata
---@field [string] any
local Record = {}

--- Hears of changes until it is closed; need not be kept.
---@class tureen.Observer
local Observer = {}

--- The store: soups, entries, queries, cursors.
---@class tureen.smartstore
local smartstore = {}

--- Creates a soup; one that exists stays as it is.
---@param soupName string
---@param indexSpecs tureen.SoupIndexSpec[]
---@param success (fun(soupName: string): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, indexSpecs: tureen.SoupIndexSpec[], success: (fun(soupName: string): any)?, failure: tureen.Failure?): integer?
function smartstore.registerSoup(soupName, indexSpecs, success, failure) end

--- Whether there is such a soup.
---@param soupName string
---@param success (fun(exists: boolean): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, success: (fun(exists: boolean): any)?, failure: tureen.Failure?): integer?
function smartstore.soupExists(soupName, success, failure) end

--- The index specs of a soup.
---@param soupName string
---@param success (fun(indexSpecs: tureen.SoupIndexSpec[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, success: (fun(indexSpecs: tureen.SoupIndexSpec[]): any)?, failure: tureen.Failure?): integer?
function smartstore.getSoupIndexSpecs(soupName, success, failure) end

--- Gives a soup other index specs, in one step for everybody who looks: the old soup or the new one, also after a
--- crash.
---@param soupName string
---@param indexSpecs tureen.SoupIndexSpec[]
---@param reIndexData boolean?
---@param success (fun(soupName: string): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(soupName: string, indexSpecs: tureen.SoupIndexSpec[], success: (fun(soupName: string): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, indexSpecs: tureen.SoupIndexSpec[], reIndexData: boolean?, success: (fun(soupName: string): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, indexSpecs: tureen.SoupIndexSpec[], success: (fun(soupName: string): any)?, failure: tureen.Failure?): integer?
function smartstore.alterSoup(soupName, indexSpecs, reIndexData, success, failure) end

--- Fills indexes from the entries, whose stamps and versions stay.
---@param soupName string
---@param paths string[]
---@param success (fun(soupName: string): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, paths: string[], success: (fun(soupName: string): any)?, failure: tureen.Failure?): integer?
function smartstore.reIndexSoup(soupName, paths, success, failure) end

--- Removes a soup with its entries; fine when there is none.
---@param soupName string
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function smartstore.removeSoup(soupName, success, failure) end

--- Removes all entries of a soup.
---@param soupName string
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function smartstore.clearSoup(soupName, success, failure) end

--- Inserts or updates entries, all of them or none. `upsertSoupEntriesWithExternalId` sends another path.
---@param soupName string
---@param entries table[]
---@param success (fun(entries: table[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, entries: table[], success: (fun(entries: table[]): any)?, failure: tureen.Failure?): integer?
function smartstore.upsertSoupEntries(soupName, entries, success, failure) end

--- Inserts or updates entries, all of them or none. `upsertSoupEntriesWithExternalId` sends another path.
---@param soupName string
---@param entries table[]
---@param externalIdPath string
---@param success (fun(entries: table[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, entries: table[], externalIdPath: string, success: (fun(entries: table[]): any)?, failure: tureen.Failure?): integer?
function smartstore.upsertSoupEntriesWithExternalId(soupName, entries, externalIdPath, success, failure) end

--- Entries by their ids; those that are not there are left out.
---@param soupName string
---@param entryIds integer[]
---@param success (fun(entries: table[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, entryIds: integer[], success: (fun(entries: table[]): any)?, failure: tureen.Failure?): integer?
function smartstore.retrieveSoupEntries(soupName, entryIds, success, failure) end

--- Removes entries by their ids, or those on the first page of a query. One of the two arguments is needed.
---@param soupName string
---@param entryIdsOrQuerySpec integer[]|tureen.QuerySpec
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, entryIdsOrQuerySpec: integer[]|tureen.QuerySpec, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function smartstore.removeFromSoup(soupName, entryIdsOrQuerySpec, success, failure) end

--- Opens a cursor on a query of one soup: exact, range, like or match.
---@param soupName string
---@param querySpec tureen.QuerySpec
---@param success (fun(cursor: tureen.Cursor): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, querySpec: tureen.QuerySpec, success: (fun(cursor: tureen.Cursor): any)?, failure: tureen.Failure?): integer?
function smartstore.querySoup(soupName, querySpec, success, failure) end

--- Opens a cursor on a smart SQL statement.
---@param querySpec tureen.QuerySpec
---@param success (fun(cursor: tureen.Cursor): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, querySpec: tureen.QuerySpec, success: (fun(cursor: tureen.Cursor): any)?, failure: tureen.Failure?): integer?
function smartstore.runSmartQuery(querySpec, success, failure) end

--- Another page of a cursor. `moveCursorToNextPage` and `moveCursorToPreviousPage` send it too.
---@param cursor tureen.Cursor
---@param index integer
---@param success (fun(cursor: tureen.Cursor): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor, index: integer, success: (fun(cursor: tureen.Cursor): any)?, failure: tureen.Failure?): integer?
function smartstore.moveCursorToPageIndex(cursor, index, success, failure) end

--- The cursor on the next page; an error on the last one.
---@param cursor tureen.Cursor
---@param success (fun(cursor: tureen.Cursor): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor, success: (fun(cursor: tureen.Cursor): any)?, failure: tureen.Failure?): integer?
function smartstore.moveCursorToNextPage(cursor, success, failure) end

--- The cursor on the page before; an error on the first one.
---@param cursor tureen.Cursor
---@param success (fun(cursor: tureen.Cursor): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor, success: (fun(cursor: tureen.Cursor): any)?, failure: tureen.Failure?): integer?
function smartstore.moveCursorToPreviousPage(cursor, success, failure) end

--- Closes a cursor; fine when it is closed.
---@param cursor tureen.Cursor
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function smartstore.closeCursor(cursor, success, failure) end

--- Tells of committed changes until it is closed; need not be kept, and is not pending.
---@param soupNameOrQuerySpec string|tureen.QuerySpec
---@param callback fun(change: tureen.Change)
---@param error tureen.Failure?
---@return tureen.Observer
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupNameOrQuerySpec: string|tureen.QuerySpec, callback: fun(change: tureen.Change), error: tureen.Failure?): tureen.Observer
function smartstore.observe(soupNameOrQuerySpec, callback, error) end

--- Ends an observer; nothing happens when there is none.
---@param observer tureen.Observer
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, observer: tureen.Observer, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function smartstore.closeObserver(observer, success, failure) end

--- Size of the store on disk.
---@param success (fun(bytes: integer): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(bytes: integer): any)?, failure: tureen.Failure?): integer?
function smartstore.getDatabaseSize(success, failure) end

--- Removes a store with all its soups. One that another process has open is not removed.
---@param success (fun(done: boolean): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(done: boolean): any)?, failure: tureen.Failure?): integer?
function smartstore.removeStore(success, failure) end

--- Lists the signed-in user's stores.
---@param success (fun(stores: tureen.StoreConfig[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function smartstore.getAllStores(success, failure) end

--- Lists the shared stores.
---@param success (fun(stores: tureen.StoreConfig[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function smartstore.getAllGlobalStores(success, failure) end

--- Removes the signed-in user's stores with all their soups.
---@param success (fun(done: boolean): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function smartstore.removeAllStores(success, failure) end

--- Removes the shared stores with all their soups.
---@param success (fun(done: boolean): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function smartstore.removeAllGlobalStores(success, failure) end

--- All entries of a soup, ordered by a path.
---@param path string?
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param selectPaths string[]?
---@return tureen.QuerySpec
function smartstore.buildAllQuerySpec(path, order, pageSize, selectPaths) end

--- Entries whose path has this value. Mind the order: the page size stands before the order.
---@param path string?
---@param matchKey any
---@param pageSize integer?
---@param order ("ascending"|"descending")?
---@param orderPath string?
---@param selectPaths string[]?
---@return tureen.QuerySpec
function smartstore.buildExactQuerySpec(path, matchKey, pageSize, order, orderPath, selectPaths) end

--- Entries between two values, both included; a missing one is no bound.
---@param path string?
---@param beginKey any
---@param endKey any
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param orderPath string?
---@param selectPaths string[]?
---@return tureen.QuerySpec
function smartstore.buildRangeQuerySpec(path, beginKey, endKey, order, pageSize, orderPath, selectPaths) end

--- Entries like a text, with % and _ as wild cards.
---@param path string?
---@param likeKey string?
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param orderPath string?
---@param selectPaths string[]?
---@return tureen.QuerySpec
function smartstore.buildLikeQuerySpec(path, likeKey, order, pageSize, orderPath, selectPaths) end

--- Entries that match a full-text expression in a path, or anywhere when it is nil.
---@param path string?
---@param matchKey any
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param orderPath string?
---@param selectPaths string[]?
---@return tureen.QuerySpec
function smartstore.buildMatchQuerySpec(path, matchKey, order, pageSize, orderPath, selectPaths) end

--- Rows of a smart SQL statement.
---@param smartSql string
---@param pageSize integer?
---@return tureen.QuerySpec
function smartstore.buildSmartQuerySpec(smartSql, pageSize) end

--- Words as a person typed them, made into a key for a match query: every one has to occur, none is taken for an
--- operator.
---@param words string
---@return string key
function smartstore.quoteMatch(words) end

--- All of it, as a table.
---@return table record  all of it
function Record:table() end

--- Its JSON text.
---@return string text  as JSON; what tostring and tureen.json.encode give, too
function Record:text() end

--- Its callback is not called again. Safe twice; `local o <close> = ...` does it at the end of a block.
function Observer:close() end

return tureen
