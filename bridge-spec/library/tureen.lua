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
---@field fieldlist (string[]|string)?  what uploads send unless the target says; `attributes` in it does no harm
---@field resolver string?  with MERGE: decides conflicts; registered with mobilesync.registerResolver, else a module that is a function
---@field maxPages integer?  pages of one run of a sync down; it then ends STOPPED with hasMore, and `more` goes on
---@field graceMs integer?  milliseconds before progress is shown

--- How changes are sent; further keys belong to the type.
---@class tureen.SyncUpTarget
---@field type ("collection"|"batch"|"plain"|"parent_children"|"rest"|"parse"|"custom")?  how many records go into a request
---@field createFieldlist (string[]|string)?  what is sent of a new record
---@field updateFieldlist (string[]|string)?  what is sent of a changed one

--- A page of a query, and what is needed for the others.
---@class tureen.Cursor
---@field cursorId any
---@field currentPageIndex integer  from 0 on
---@field pageSize integer
---@field totalPages integer
---@field totalEntries integer
---@field currentPageOrderedEntries any[]  entries; rows for a smart query or one with selectPaths
---@field lazy boolean?  as in the query spec

--- What committed transactions did to a soup since the last one was heard; or why nothing more is heard.
---@class tureen.Change
---@field soupName string?  this and all but the last member stand in every change
---@field created integer[]?  entry ids; each id stands in one list
---@field updated integer[]?
---@field removed integer[]?
---@field all boolean?  any entry may have changed; the lists are empty
---@field closed "userSwitched"?  alone, in the last update: another user is the current one

--- Which store a call means.
---@class tureen.StoreConfig
---@field isGlobalStore boolean?  true: the store all users share; one of the two keys is needed
---@field storeName string?

--- A saved sync, and how far it got.
---@class tureen.SyncState
---@field _soupEntryId integer  the sync's id
---@field syncId integer  the same, as calls name it
---@field type "syncDown"|"syncUp"
---@field name string?  absent for a sync without a name
---@field syncName string?  the same, as calls name it
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
---@field error string  why the last run ended FAILED: the body of the server's refusal, else a message
---@field fetched integer  records the server sent that are new or changed
---@field stored integer  of these, written into the soup
---@field skipped integer  left alone: dirty here (down), newer on the server (up), nothing to send, or another run is sending it
---@field conflicting integer  of the skipped, those changed on both sides; each is among getConflicts, of a family one for all
---@field merged integer  changed on both sides and brought together, by field or by a resolver
---@field removed integer  entries that went because the server has deleted their record or it is no longer wanted; of collections (type rest)
---@field flagged integer  items of the server that could not be used; warnings names the first ones
---@field pages integer  pages read, those that had not changed included
---@field hasMore boolean  the run ended at options.maxPages and the list goes on: more brings the rest
---@field incomplete boolean  records moved between the pages while the list was read: some may be missing until the next run
---@field resumeAt integer  STOPPED because the server answers nothing more before that, ms since 1970 UTC; 0 otherwise
---@field orgId string  the org whose records a sync of a global store brings; absent before its first run, and for other syncs
---@field connection string  the named server of the target; absent for the org
---@field succeeded integer  uploads the server accepted
---@field failed integer  uploads the server refused; the entries have __last_error__
---@field inDoubt integer  creates whose answer was lost and that were not found yet: they are looked for, and not sent again blindly
---@field inDoubtUntil integer  until then the server may still be working on creates in doubt, ms since 1970 UTC; a sync up after that sends those again that never arrived; 0 when none waits
---@field requests integer  requests sent, repeated ones not counted
---@field retries integer  requests sent again after a failure
---@field bytes integer  bytes of the answers' bodies
---@field limitInfo string  the last answer's Sforce-Limit-Info, such as api-usage=18/5000
---@field warnings string[]  what about the last run is known to surprise, in sentences for people: a LIMIT in a query that is run again
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
---@field accessToken any  a string; null to a restricted script
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

--- A user who is signed in.
---@class tureen.Account
---@field authToken any  a string; null to a restricted script, and of an account that is not current
---@field loginServer any
---@field idUrl any
---@field instanceServer string
---@field orgId any
---@field userId any
---@field username any
---@field clientId any

--- A user as the org describes it.
---@class tureen.Identity
---@field userId string
---@field orgId string
---@field username string  the user id where the org keeps the name to itself
---@field displayName string
---@field email string

--- A user of an org that the home knows; an org without users has one without a user.
---@class tureen.OrgAccount
---@field name string  what the org is called here
---@field username string
---@field userId string
---@field orgId string
---@field loginUrl string
---@field instanceUrl string
---@field isSandbox boolean  null when the org was not asked yet
---@field flow string  how the user signed in
---@field state "signed in"|"needs sign-in"|"not asked"  'needs sign-in' when only a person or other credentials help, 'not asked' when there is a way to sign in that was not tried yet
---@field reason string  why the user needs to sign in
---@field isDefault boolean  whether it is meant where no org and no user is named
---@field isCurrent boolean  whether it is meant where the org is named and no user

--- A sign-in of a person that has begun.
---@class tureen.Login
---@field id string
---@field url string  to be opened in the person's browser
---@field redirectUri string  where the browser ends
---@field expiresAt integer  ms since 1970 UTC

--- The account of a person who has signed in.
---@class tureen.LoginAccount
---@field org string  its name in this home
---@field username string  the user id when the org keeps the name to itself
---@field displayName string
---@field userId string
---@field orgId string
---@field instanceUrl string
---@field isDefault boolean  whether it is the org that is meant when none is named

--- How many of its API calls an org has used, those of all callers over the last 24 hours.
---@class tureen.ApiUsage
---@field used integer
---@field max integer
---@field perApp table?  the same for this app alone, where the org says it
---@field seenAt integer  when the answer came, ms since 1970 UTC

--- What this core is and can do.
---@class tureen.SDKInfo
---@field sdkVersion string  of the plug-in model
---@field appName string
---@field appVersion string
---@field forcePluginsAvailable string[]  the services
---@field bootConfig table  bootconfig.json with its defaults

---@alias tureen.PluginAction fun(args: table, success: (fun(value: any): boolean), error: (fun(err: any): boolean), progress: (fun(value: any): boolean), call: tureen.PluginCall): any, any

---@alias tureen.ServiceAction fun(args: table?, success: tureen.Success?, error: tureen.Failure?, progress: (fun(value: any))?): integer?

--- What error callbacks get.
---@class tureen.Error
---@field domain string  "bridge", "smartstore", "sync", "network", "host", "force": which part failed
---@field code string  stable; errors.json lists them
---@field message string  for people; may change
---@field retryable boolean  the same call may succeed later
---@field source string?  "service:action" of the call
---@field status integer?  HTTP status, domain network
---@field body string?  the server's body as it came, domain network; code badAnswer of tureen.force: its JSON
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
---@field sessionCommand string|string[]|nil  a program that keeps sessions in place of session.json; run without a shell with one more word: get, store or erase
---@field config string?  the folder of bootconfig.json, userstore.json, usersyncs.json
---@field connections table?  named servers, as in connections.json (see bridge-spec/connections.md); a secret may be plain text here
---@field logRequests "off"|"error"|"warn"|"info"|"debug"|nil  logs the requests to the org and to every connection, in place of what connections.json says
---@field logRequestsFile string?  where that log goes in place of stderr

--- A function that runs as a coroutine of its own. An error in it goes to those who await it, else to tureen.onerror.
---@class tureen.Task
local Task = {}

--- A plug-in that tureen.plugin has registered.
---@class tureen.Plugin
---@field service string
local Plugin = {}

--- What an action gets as its last argument: one call.
---@class tureen.PluginCall
---@field id integer
---@field action string
---@field cancelled boolean  true once the caller has given the call up
---@field oncancel (fun(call: tureen.PluginCall))?  set it to hear of that; without it a call that waits for a callback then ends with bridge/cancelled

--- A service of any kind, by name: its fields are its actions.
---@class tureen.Service
---@field [string] tureen.ServiceAction

--- What tureen.after gives.
---@class tureen.Timer
local Timer = {}

--- Functions for every script: configuration, calls, polling, tasks, events, JSON.
---@class tureen
---@field null any  JSON's null, a light userdata; true in a condition, so compare with ==
---@field onerror (fun(err: any, traceback: string))?  gets uncaught errors: of callbacks, of tasks, of failed calls without an error callback; nil: they go to stderr and the run fails
---@field smartstore tureen.smartstore
---@field mobilesync tureen.mobilesync
---@field keyvalue tureen.keyvalue
---@field asset tureen.asset
---@field parse tureen.parse
---@field sdkinfo tureen.sdkinfo
---@field document tureen.document
---@field network tureen.network
---@field oauth tureen.oauth
---@field sfaccountmanager tureen.sfaccountmanager
---@field accounts tureen.sfaccountmanager  the same by a shorter name
---@field force tureen.force
---@field sandbox tureen.sandbox
---@field event tureen.event
---@field logger tureen.logger
---@field bootstrap tureen.bootstrap
---@field promiser fun(object: table, method: string, name: string?): fun(...: any): any, tureen.Error  the module tureen.promiser, which is a function
---@field optimistic tureen.optimistic
local tureen = { json = {} }

--- Sets the home, the org and so on, before the first use of a store or a sync; raises afterwards, and in restricted
--- scripts.
---@param options tureen.Settings
function tureen.configure(options) end

--- Sends a call: `success(payload)` or `error(err)` runs at a later poll. A failure without an error callback is an
--- uncaught error: it is reported once.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@param service string
---@param action string
---@param args table?
---@return integer? id  for tureen.cancel
function tureen.exec(success, failure, service, action, args) end

--- Runs the callbacks that are waiting; sleeps at most this long for the first one.
---@param timeoutMs number?
---@return integer delivered
function tureen.poll(timeoutMs) end

--- Polls until nothing is pending. A function is run as a task first: its results follow `ok`; an error in it is
--- returned, not reported, so look at `ok` or use tureen.main. A task that still waits at the end, except for an event,
--- is an error of code stillWaiting, which tureen.onerror gets.
---@param main function?
---@param ... any
---@return boolean ok
---@return any result  what main returned; or the error
---@return any traceback  of an error that main raised; else main's second result
function tureen.run(main, ...) end

--- Runs a whole program: the function as a task, then everything that is pending. An error is reported on stderr with
--- the traceback of where it happened, or passed to tureen.onerror, and the program ends with exit status 1. An error
--- of a callback that was reported already sets the status, too. The function may return an exit status from 0 to 255;
--- false means 1, and so does nil with an error. With status 0 tureen.main returns; otherwise it closes the state and
--- ends the program, in stock Lua as under `tureen run`. In a program that embeds Lua, use tureen.run, which ends
--- nothing.
---@param main function
---@param ... any
function tureen.main(main, ...) end

--- Returns a descriptor that is readable while poll would deliver something.
---@return integer descriptor  readable while poll would deliver; neither read nor close it
function tureen.fd() end

--- Counts the calls that are still to be answered.
---@return integer count  calls still to be answered
function tureen.pending() end

--- Runs fn as a coroutine of its own. An error in it goes to the tasks that await it, else to tureen.onerror.
---@param fn function
---@param ... any
---@return tureen.Task
function tureen.async(fn, ...) end

--- Calls fn with callbacks of its own and waits for the answer, or waits for a task. For a function that waits itself,
--- such as sleep, it is fn(...).
---@param fn function|tureen.Task
---@param ... any
---@return any value
---@return tureen.Error err  nil when it went well
function tureen.await(fn, ...) end

--- Waits for all elements and returns their values in a list; at the first failure nil and that error.
---@param list (tureen.Task|function|table)[]  tasks, functions to run, or {fn, ...} as await takes them
---@return any[]? values
---@return tureen.Error err  nil when it went well
function tureen.all(list) end

--- Waits for the first element that ends.
---@param list (tureen.Task|function|table)[]
---@return any value
---@return tureen.Error err  nil when it went well
---@return integer position
function tureen.race(list) end

--- Awaits for at most ms milliseconds; after that it cancels the call and the error has the code "timeout".
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

--- Gives up a call: a sync stops, a request is aborted, a query ends. The call is still answered.
---@param id integer?  what the function that made the call returned; nil, of a call that was refused, does nothing
function tureen.cancel(id) end

--- Adds a service to this host: a name and actions. An action is a function (args, success, error, progress, call) that
--- runs as a task and may await. It answers once: with success(value) or error(err), then or later, or by returning a
--- value, or nil and an error. Raises for a name that is taken or not reverse-DNS.
---@param name string  reverse-DNS, such as com.acme.printer
---@param actions table  functions by the names of the actions: table<string, tureen.PluginAction>
---@param spec table?  {actions = {name = {arguments = ...}}}, as bridge-spec/actions describes actions: wrong arguments are answered before an action hears of the call
---@return tureen.Plugin
function tureen.plugin(name, actions, spec) end

--- Returns a service by its whole name. Each of its fields is a function (args, success, error, progress) that calls
--- the action of that name and returns an id for tureen.cancel; it can be awaited: await(service.print, args,
--- progress).
---@param name string
---@return tureen.Service
function tureen.service(name) end

--- Tells the listeners of this script of an event at the next poll.
---@param name string  reverse-DNS, such as com.acme.printer.jammed
---@param detail any
function tureen.emit(name, detail) end

--- Marks a table as an array, so that it stays one when it is empty; without a table it makes a new one.
---@generic T: table
---@param t T?
---@return T
function tureen.array(t) end

--- Returns the value as JSON text.
---@param value any
---@return string text
function tureen.json.encode(value) end

--- Parses JSON text; nil and an error if it is not valid.
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

--- Removes a listener that on or once added.
---@param type string
---@param listener fun(detail: any)
function tureen.off(type, listener) end

--- Returns whether the task is running, has returned or has raised.
---@return "running"|"done"|"failed"
function Task:status() end

--- Ends what the task waits for, now and later, with nil and an error of code "cancelled".
function Task:cancel() end

--- Returns true if cancel was called while the task ran.
---@return boolean
function Task:is_cancelled() end

--- Removes the plug-in. Calls that it has got stay open until it answers them. Calling it twice does nothing.
function Plugin:unregister() end

--- Cancels the timer: its function is not called.
function Timer:cancel() end

--- A file that was fetched.
---@class tureen.asset.Info
---@field path string  do not change the file
---@field contentType string  as the server said it; empty when it did not
---@field bytes integer

--- Files that syncs of collections fetched beside their rows (`assets` of targets of type `rest`), such as pictures.
---@class tureen.asset
local asset = {}

--- The file that a sync of a collection fetched for a URL, by the key assets of its target.
---@param url string  as it stands in the row
---@param connection string?
---@param success (fun(path: string?): any)?
---@param failure tureen.Failure?
---@return string?|nil path  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(url: string, success: (fun(path: string?): any)?, failure: tureen.Failure?): string?|nil, tureen.Error
function asset.path(url, connection, success, failure) end

--- The same file with its content type and its size; nil when none was fetched.
---@param url string  as it stands in the row
---@param connection string?
---@param success (fun(info: tureen.asset.Info?): any)?
---@param failure tureen.Failure?
---@return tureen.asset.Info?|nil info  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(url: string, success: (fun(info: tureen.asset.Info?): any)?, failure: tureen.Failure?): tureen.asset.Info?|nil, tureen.Error
function asset.info(url, connection, success, failure) end

--- Checks to make before a script begins.
---@class tureen.bootstrap
local bootstrap = {}

--- Returns whether the org answers, even if it refuses the request.
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

--- Removes a listener that addEventListener added.
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

--- Removes a listener that on or once added.
---@param type string
---@param listener fun(detail: any)
function document.off(type, listener) end

--- Tells the library whether there is a network; sends `online` or `offline` if that is a change.
---@param isOnline boolean
function document.setOnline(isOnline) end

--- How far a start has come.
---@class tureen.event.Status
---@field code integer
---@field description string
---@field isError boolean

--- Status events of start pages, and the functions of tureen.document.
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

--- Calls an action in the form that the plug-ins' modules use.
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

--- Log lines on stderr, and URLs without their secrets.
---@class tureen.logger
local logger = {}

--- Sets which lines are shown: those of this level and of the more severe ones. The default is "info".
---@param level tureen.logger.Level
function logger.setLogLevel(level) end

--- Returns the level.
---@return tureen.logger.Level
function logger.getLogLevel() end

--- Writes a line if its level is shown.
---@param level tureen.logger.Level
---@param message any
function logger.log(level, message) end

--- Writes a line of level info.
---@param message any
function logger.logToConsole(message) end

--- Writes a line of level error.
---@param message any
function logger.logError(message) end

--- Replaces the values of the named parameters by `[redacted]`, in the URL's query and behind its `#`.
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
---@field createOnServer (fun(target: table, record: table, fields: table): string?, any)?  the id, and the record's time stamp where the server tells it; or nil and why not
---@field updateOnServer (fun(target: table, record: table, fields: table): boolean|integer?, any)?  true, and the record's new time stamp: without it the next edit of the record is taken for a conflict where dates are compared; or false and why not
---@field deleteOnServer (fun(target: table, record: table): boolean|integer?, any)?  the same; 404 says that it is gone
---@field fetchLastModifiedDates (fun(target: table, records: table[]): (string|false|nil)[])?  false: deleted, nil: not known; asked for up to 25 records at a time, before these are sent
---@field fetchFromServer (fun(target: table, records: table[], fields: string[]): (table|false|nil)[])?  what the server has of records that it changed; false: deleted, nil: not known
---@field isNewerThanServer (fun(target: table, record: table): boolean)?  asked for each record right before it is sent

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

--- Runs a saved sync down again from the beginning of its list; entries stay until the page that replaces them is
--- stored.
---@param syncIdOrName integer|string
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|string, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
function mobilesync.refresh(syncIdOrName, success, failure) end

--- Goes on behind the last page of a sync down that ended at its maxPages, for as many pages again; DONE at once when
--- the list has ended.
---@param syncIdOrName integer|string
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|string, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): integer?
function mobilesync.more(syncIdOrName, success, failure) end

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
---@param options { force: boolean? }?
---@param success (fun(removed: integer): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(syncIdOrName: integer|string, success: (fun(removed: integer): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|string, options: { force: boolean? }?, success: (fun(removed: integer): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|string, success: (fun(removed: integer): any)?, failure: tureen.Failure?): integer?
function mobilesync.cleanResyncGhosts(syncIdOrName, options, success, failure) end

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

--- The entries that both sides changed and that are not resolved.
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

--- Saves the named syncs of usersyncs.json that are missing or defined otherwise, for the signed-in user's store. The
--- first use of the store does so by itself.
---@param success (fun(syncs: string[]): any)?  the syncs that the file names
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function mobilesync.setupUserSyncsFromDefaultConfig(success, failure) end

--- The same with globalsyncs.json and the store all users share.
---@param success (fun(syncs: string[]): any)?  the syncs that the file names
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function mobilesync.setupGlobalSyncsFromDefaultConfig(success, failure) end

--- Stores a new entry that the next sync up creates on the server: with `attributes.type`, the flags of a created entry
--- and, where the fields have no id, a local one.
---@param soupName string
---@param sobjectType string  such as "Contact"
---@param fields table
---@param idField string?  the target's idFieldName; "Id" when left out
---@param success (fun(entry: table): any)?  as stored
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(soupName: string, sobjectType: string, fields: table, success: (fun(entry: table): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, sobjectType: string, fields: table, idField: string?, success: (fun(entry: table): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, sobjectType: string, fields: table, success: (fun(entry: table): any)?, failure: tureen.Failure?): integer?
function mobilesync.newRecord(soupName, sobjectType, fields, idField, success, failure) end

--- Stores an entry with changes and marks it: the next sync up sends it.
---@param soupName string
---@param entry table  as it was read from the soup, with its _soupEntryId; it stays as it is
---@param changes table?  fields to set
---@param success (fun(entry: table): any)?  as stored
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(soupName: string, entry: table, success: (fun(entry: table): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, entry: table, changes: table?, success: (fun(entry: table): any)?, failure: tureen.Failure?): integer?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, entry: table, success: (fun(entry: table): any)?, failure: tureen.Failure?): integer?
function mobilesync.markUpdated(soupName, entry, changes, success, failure) end

--- Marks an entry as deleted: the next sync up deletes it on the server and then here. One that was made here is just
--- removed by it.
---@param soupName string
---@param entry table  as it was read from the soup, with its _soupEntryId
---@param success (fun(entry: table): any)?  as stored
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, entry: table, success: (fun(entry: table): any)?, failure: tureen.Failure?): integer?
function mobilesync.markDeleted(soupName, entry, success, failure) end

--- Takes back markUpdated and markDeleted: the next sync up leaves the entry alone, unless it was made here, which
--- stays marked. Its fields keep the values they have here until a sync down brings the record.
---@param soupName string
---@param entry table  as it was read from the soup, with its _soupEntryId
---@param success (fun(entry: table): any)?  as stored
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: string, entry: table, success: (fun(entry: table): any)?, failure: tureen.Failure?): integer?
function mobilesync.unmark(soupName, entry, success, failure) end

--- Registers the function behind `options.resolver` of syncs with mergeMode MERGE. It gets a conflict and returns the
--- record to keep, "local", "server", or "skip" or nil to leave the conflict; it may await. nil removes the function.
---@param name string
---@param resolver (fun(conflict: tureen.SyncConflict): table|string|nil)?
function mobilesync.registerResolver(name, resolver) end

--- An iterator over the pages of a sync down with `maxPages`, for a task: each step runs the sync for as many pages and
--- gives its state.
---@param syncIdOrName integer|string
---@return fun(): tureen.SyncState? next
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|string): fun(): tureen.SyncState?
function mobilesync.pages(syncIdOrName) end

--- Calls a function with the state at each change of a sync, from now on. With `grace` only when the bar of `tureen
--- run` would show it: nothing of a run shorter than `options.graceMs`, then at most five times a second, and the last
--- state; a failure always. Returns a function that ends it.
---@param syncIdOrName integer|string
---@param fn fun(state: tureen.SyncState)
---@param options { grace: boolean? }?
---@return fun() stop
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|string, fn: fun(state: tureen.SyncState), options: { grace: boolean? }?): fun()
function mobilesync.onProgress(syncIdOrName, fn, options) end

--- Registers the function behind the key `transform` of targets `{type = "rest"}`: it gets an item and returns it with
--- what it computed, nil to leave it out. Without one, `module.name` is the function `name` of that module.
---@param name string
---@param transform (fun(item: table): table?)?
function mobilesync.registerTransform(name, transform) end

--- Registers the functions behind targets `{type = "custom", luaImpl = name}`; nil removes them.
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
---@field expects "any"|"json"|"nothing"|"jsonOrNothing"|nil  what the body of a good answer has to be, else the call fails with invalidBody
---@field connection string?  a name of connections.json in place of the org
---@field cache "default"|"revalidate"|"reload"|"bypass"|"offline"|nil  what the response cache of the connection may do
---@field returnResponse boolean?  success gets {status, headers, body}; of a connection also {url, cache, stale, age}

--- Requests to the org's REST API, with its session, and to named connections.
---@class tureen.network
local network = {}

--- Sends a request with the org's session. The ten positional parameters of the plug-ins work as well (callbacks third
--- and fourth).
---@param options tureen.RequestOptions
---@param success (fun(body: any): any)?
---@param failure tureen.Failure?
---@return integer? id
function network.sendRequest(options, success, failure) end

--- Decodes a binary result.
---@param result {encodedBody: string, contentType: string}
---@return string
function network.bytes(result) end

--- The session: who is signed in, and with which tokens.
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

--- Does the same as logoutCurrentUser.
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function oauth.logout(success, failure) end

---@alias tureen.parse.Signed number

--- A condition of a query.
---@class tureen.parse.Condition
---@field where table  as the server takes it

--- What calls that read or save take.
---@class tureen.parse.Options
---@field cacheMode string?  a value of CACHE_MODE; the class's, or server-only, when left out
---@field include string[]|string|nil  pointer columns whose objects come along
---@field keys string[]|string|nil  these columns alone
---@field order string[]|string|nil  columns, - before those that descend
---@field limit integer?
---@field skip integer?

--- What a class is.
---@class tureen.parse.Settings
---@field connection string?  a name of connections.json
---@field soup string?  where its objects are kept; needed by every cache mode but server-only
---@field storeConfig tureen.StoreConfig?  the store of the soup
---@field relations table<string, {className: string?, linkSoup: string?, idsField: string?}>|nil  by relation column: the class of its targets, and where the links are kept: rows in a soup, or a list of ids in the record
---@field clientKeyField string?  a column for an id that tells a create whose answer is lost from others
---@field cacheMode string?
---@field validate table<string, fun(value: any, object: tureen.parse.Object): string?>|nil  hooks by field, each returns what is wrong; or one function(object) that returns a table by field

--- A class; called with fields it makes a new object.
---@class tureen.parse.Class: tureen.parse.Object

--- An object of a class.
---@class tureen.parse.Object
---@field className string
---@field objectId string?  nil while it is new
---@field localId string?  of an object that is new
---@field fields table<string, any>  as the server has them, or as they were set here
local Object = {}

--- A relation of an object: what is added and removed goes with the next save of the object.
---@class tureen.parse.Relation
local Relation = {}

--- A query, built step by step.
---@class tureen.parse.Query
local Query = {}

--- Objects of a Parse server: classes, queries, relations, atomic operations, users; from the server or from soups.
---@class tureen.parse
---@field CACHE_MODE {CACHE_ONLY: string, CACHE_FIRST: string, SERVER_ONLY: string, SERVER_FIRST: string}
---@field Object tureen.parse.Object  what all classes have
local parse = {}

--- Makes a class, or gives the one that was made before; settings set what they name.
---@param name string
---@param settings tureen.parse.Settings?
---@return tureen.parse.Class
function parse.class(name, settings) end

--- Names the connection of what has none of its own; "default" until then.
---@param name string
function parse.use(name) end

--- Makes a date of seconds since 1970, or of ISO text.
---@param time tureen.parse.Signed|string
---@return table
function parse.date(time) end

--- Makes a place on the earth, in degrees.
---@param latitude tureen.parse.Signed
---@param longitude tureen.parse.Signed
---@return table
function parse.geoPoint(latitude, longitude) end

--- Makes an area; its last corner is joined to the first.
---@param corners table[]  geoPoints, three at least
---@return table
function parse.polygon(corners) end

--- Makes a file. It goes to the server before the object that holds it, with the save or the sync that sends that one.
---@param name string
---@param content string  its bytes
---@param contentType string?  such as image/jpeg; known for common endings of names
---@return table
function parse.file(name, content, contentType) end

--- Finds objects of a class, 100 unless a limit is set.
---@param className string
---@param condition tureen.parse.Condition?
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object[]): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object[]|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(className: string, condition: tureen.parse.Condition?, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
---@overload fun(className: string, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
function parse.find(className, condition, options, success, failure) end

--- Finds the first object.
---@param className string
---@param condition tureen.parse.Condition?
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object): any)?  tureen.null without one
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(className: string, condition: tureen.parse.Condition?, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
---@overload fun(className: string, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function parse.first(className, condition, options, success, failure) end

--- Counts the objects.
---@param className string
---@param condition tureen.parse.Condition?
---@param options tureen.parse.Options?
---@param success (fun(value: integer): any)?
---@param failure tureen.Failure?
---@return integer|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(className: string, condition: tureen.parse.Condition?, success: (fun(value: integer): any)?, failure: tureen.Failure?): integer|nil, tureen.Error
---@overload fun(className: string, success: (fun(value: integer): any)?, failure: tureen.Failure?): integer|nil, tureen.Error
function parse.count(className, condition, options, success, failure) end

--- Finds every match, however many there are.
---@param className string
---@param condition tureen.parse.Condition?
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object[]): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object[]|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(className: string, condition: tureen.parse.Condition?, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
---@overload fun(className: string, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
function parse.findAll(className, condition, options, success, failure) end

--- Finds objects in the soup of their class, without the server.
---@param className string
---@param condition tureen.parse.Condition?
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object[]): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object[]|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(className: string, condition: tureen.parse.Condition?, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
---@overload fun(className: string, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
function parse.findInSoup(className, condition, options, success, failure) end

--- Fetches one object.
---@param className string
---@param objectId string
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(className: string, objectId: string, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function parse.fetch(className, objectId, options, success, failure) end

--- Saves objects and all that is new around them, those that others point to first.
---@param objects tureen.parse.Object[]
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object[]): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object[]|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(objects: tureen.parse.Object[], success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
function parse.saveAll(objects, options, success, failure) end

--- Deletes an object; one that is gone already is no error.
---@param className string
---@param objectId string
---@param options tureen.parse.Options?
---@param success (fun(value: string): any)?  OK
---@param failure tureen.Failure?
---@return string|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(className: string, objectId: string, success: (fun(value: string): any)?, failure: tureen.Failure?): string|nil, tureen.Error
function parse.delete(className, objectId, options, success, failure) end

--- Makes a user, as whom the connection acts from then on.
---@param fields table  username and password at least
---@param options {connection: string?}?
---@param success (fun(value: tureen.parse.Object): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(fields: table, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function parse.signUp(fields, options, success, failure) end

--- Signs a user in; the connection acts as that user from then on, also in syncs and in later runs.
---@param username string
---@param password string
---@param options {connection: string?}?
---@param success (fun(value: tureen.parse.Object): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(username: string, password: string, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function parse.logIn(username, password, options, success, failure) end

--- Ends the session; the connection acts as no user from then on.
---@param options {connection: string?}?
---@param success (fun(value: string): any)?  OK
---@param failure tureen.Failure?
---@return string|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(success: (fun(value: string): any)?, failure: tureen.Failure?): string|nil, tureen.Error
function parse.logOut(options, success, failure) end

--- Fetches the user that the connection acts as.
---@param options {connection: string?}?
---@param success (fun(value: tureen.parse.Object): any)?  tureen.null when it acts as no user
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function parse.currentUser(options, success, failure) end

--- The column equals the value, or is a list or a relation that holds it.
---@param field string
---@param value any
---@return tureen.parse.Condition
function parse.equalTo(field, value) end

--- The column does not equal the value.
---@param field string
---@param value any
---@return tureen.parse.Condition
function parse.notEqualTo(field, value) end

--- The column is less than the value.
---@param field string
---@param value any
---@return tureen.parse.Condition
function parse.lessThan(field, value) end

--- The column is not greater than the value.
---@param field string
---@param value any
---@return tureen.parse.Condition
function parse.lessThanOrEqualTo(field, value) end

--- The column is greater than the value.
---@param field string
---@param value any
---@return tureen.parse.Condition
function parse.greaterThan(field, value) end

--- The column is not less than the value.
---@param field string
---@param value any
---@return tureen.parse.Condition
function parse.greaterThanOrEqualTo(field, value) end

--- The column is one of the values.
---@param field string
---@param values any[]
---@return tureen.parse.Condition
function parse.containedIn(field, values) end

--- The column is none of the values.
---@param field string
---@param values any[]
---@return tureen.parse.Condition
function parse.notContainedIn(field, values) end

--- The list holds all of the values.
---@param field string
---@param values any[]
---@return tureen.parse.Condition
function parse.containsAll(field, values) end

--- The list holds nothing but these values.
---@param field string
---@param values any[]
---@return tureen.parse.Condition
function parse.containedBy(field, values) end

--- The column has a value.
---@param field string
---@return tureen.parse.Condition
function parse.exists(field) end

--- The column has no value.
---@param field string
---@return tureen.parse.Condition
function parse.doesNotExist(field) end

--- The text fits a regular expression.
---@param field string
---@param pattern string
---@param options string?  letters of imxs
---@return tureen.parse.Condition
function parse.matches(field, pattern, options) end

--- The text has this part.
---@param field string
---@param text string
---@return tureen.parse.Condition
function parse.contains(field, text) end

--- The text begins so.
---@param field string
---@param text string
---@return tureen.parse.Condition
function parse.startsWith(field, text) end

--- The text ends so.
---@param field string
---@param text string
---@return tureen.parse.Condition
function parse.endsWith(field, text) end

--- The objects that a relation of `parent` leads to; the query is of their class.
---@param parent tureen.parse.Object
---@param key string
---@return tureen.parse.Condition
function parse.relatedTo(parent, key) end

--- The pointer leads to what another query finds.
---@param field string
---@param query tureen.parse.Query
---@return tureen.parse.Condition
function parse.matchesQuery(field, query) end

--- The pointer leads to nothing that another query finds.
---@param field string
---@param query tureen.parse.Query
---@return tureen.parse.Condition
function parse.doesNotMatchQuery(field, query) end

--- A value that a column has in what another query finds.
---@param field string
---@param key string  the column of the other class
---@param query tureen.parse.Query
---@return tureen.parse.Condition
function parse.matchesKeyInQuery(field, key, query) end

--- A value that no such column has.
---@param field string
---@param key string  the column of the other class
---@param query tureen.parse.Query
---@return tureen.parse.Condition
function parse.doesNotMatchKeyInQuery(field, key, query) end

--- The point is near another one; the nearest come first.
---@param field string
---@param point table
---@param kilometers number?  the greatest distance
---@return tureen.parse.Condition
function parse.near(field, point, kilometers) end

--- A point in a box between two opposite corners.
---@param field string
---@param southwest table  a geoPoint
---@param northeast table  a geoPoint
---@return tureen.parse.Condition
function parse.withinGeoBox(field, southwest, northeast) end

--- A point inside an area, whose last corner is joined to the first.
---@param field string
---@param corners table[]  geoPoints, three at least
---@return tureen.parse.Condition
function parse.withinPolygon(field, corners) end

--- A polygon that holds a point.
---@param field string
---@param point table  a geoPoint
---@return tureen.parse.Condition
function parse.polygonContains(field, point) end

--- All of the conditions hold.
---@param ... tureen.parse.Condition
---@return tureen.parse.Condition
function parse.allOf(...) end

--- At least one of the conditions holds.
---@param ... tureen.parse.Condition
---@return tureen.parse.Condition
function parse.anyOf(...) end

--- None of the conditions holds.
---@param ... tureen.parse.Condition
---@return tureen.parse.Condition
function parse.noneOf(...) end

--- Returns a field, or with dots a part of one; nil if it is not known. Pointers are objects.
---@param name string
---@return any
function Object:get(name) end

--- Sets one field, or all of a table.
---@param name string|table
---@param value any?
---@return tureen.parse.Object
function Object:set(name, value) end

--- Removes a field.
---@param name string
---@return tureen.parse.Object
function Object:unset(name) end

--- Adds to a number at the server, whatever it is there by then.
---@param name string
---@param amount number?  1 when left out
---@return tureen.parse.Object
function Object:increment(name, amount) end

--- Appends a value, or each of an array, to a list.
---@param name string
---@param value any
---@return tureen.parse.Object
function Object:add(name, value) end

--- Appends what the list lacks.
---@param name string
---@param value any
---@return tureen.parse.Object
function Object:addUnique(name, value) end

--- Takes a value, or each of an array, out of a list.
---@param name string
---@param value any
---@return tureen.parse.Object
function Object:remove(name, value) end

--- Returns a relation of the object.
---@param key string
---@return tureen.parse.Relation
function Object:relation(key) end

--- Returns whether the server does not know it yet.
---@return boolean
function Object:isNew() end

--- Returns whether a save has something to send.
---@return boolean
function Object:isDirty() end

--- Returns a pointer to it, as it travels.
---@return table
function Object:toPointer() end

--- Returns the fields with the id, as they travel.
---@return table
function Object:toTable() end

--- Returns what the hooks of the class say is wrong, by field; nil when nothing is.
---@return table<string, string>?
function Object:validate() end

--- Saves it with all new objects that it points to.
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(self: tureen.parse.Object, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function Object:save(options, success, failure) end

--- Reads it anew.
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(self: tureen.parse.Object, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function Object:fetch(options, success, failure) end

--- Deletes it; an object that is gone already is no error.
---@param options tureen.parse.Options?
---@param success (fun(value: string): any)?  OK
---@param failure tureen.Failure?
---@return string|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(self: tureen.parse.Object, success: (fun(value: string): any)?, failure: tureen.Failure?): string|nil, tureen.Error
function Object:destroy(options, success, failure) end

--- Returns a query of the class.
---@param ... tureen.parse.Condition?
---@return tureen.parse.Query
function Object:query(...) end

--- Returns a query of the objects of this class that a relation of another object leads to.
---@param key string
---@param parent tureen.parse.Object
---@return tureen.parse.Query
function Object:queryRelations(key, parent) end

--- Links objects, or each of an array.
---@param ... tureen.parse.Object
---@return tureen.parse.Relation
function Relation:add(...) end

--- Removes links.
---@param ... tureen.parse.Object
---@return tureen.parse.Relation
function Relation:remove(...) end

--- Returns a query of the objects that are linked.
---@param class tureen.parse.Class?  can be left out when `relations` of the class names it
---@return tureen.parse.Query
function Relation:query(class) end

--- Adds conditions; all of them have to hold.
---@param ... tureen.parse.Condition
---@return tureen.parse.Query
function Query:where(...) end

--- Brings the objects that pointer columns lead to.
---@param ... string
---@return tureen.parse.Query
function Query:include(...) end

--- Sorts by columns, - before those that descend.
---@param ... string
---@return tureen.parse.Query
function Query:order(...) end

--- Brings these columns alone.
---@param ... string
---@return tureen.parse.Query
function Query:select(...) end

--- Sets how many objects come at most; 100 when it is not set.
---@param number integer
---@return tureen.parse.Query
function Query:limit(number) end

--- Passes over so many objects.
---@param number integer
---@return tureen.parse.Query
function Query:skip(number) end

--- Finds the objects.
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object[]): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object[]|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(self: tureen.parse.Query, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
function Query:find(options, success, failure) end

--- Finds every match, however many there are.
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object[]): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object[]|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(self: tureen.parse.Query, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
function Query:findAll(options, success, failure) end

--- Finds the first object.
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object): any)?  tureen.null without one
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(self: tureen.parse.Query, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function Query:first(options, success, failure) end

--- Counts the objects.
---@param options tureen.parse.Options?
---@param success (fun(value: integer): any)?
---@param failure tureen.Failure?
---@return integer|nil value  what success gets, inside a task
---@return tureen.Error err  nil when it went well
---@overload fun(self: tureen.parse.Query, success: (fun(value: integer): any)?, failure: tureen.Failure?): integer|nil, tureen.Error
function Query:count(options, success, failure) end

--- The modules of the React Native variant, for scripts that were written for it.
---@class tureen.react_force
---@field net tureen.react_net
---@field forceClient tureen.react_net  the same
---@field mobilesync tureen.react_mobilesync
---@field smartstore tureen.react_smartstore
---@field oauth tureen.oauth
---@field forceUtil tureen.react_util
local react_force = {}

--- The functions of tureen.mobilesync, each with a store config in front. syncDown, syncUp and reSync call back once:
--- success when the sync is DONE, error when it FAILED, cannot start or was STOPPED (code `stopped`).
---@class tureen.react_mobilesync: tureen.mobilesync
local react_mobilesync = {}

--- The REST functions of tureen.force, with the differences of the React Native variant.
---@class tureen.react_net: tureen.force
local react_net = {}

--- Sets the version of the REST API, for the whole of tureen.force.
---@param version string  such as "v66.0"
function react_net.setApiVersion(version) end

--- The version of the REST API.
---@return string
function react_net.getApiVersion() end

--- tureen.network.sendRequest, with the model's ten positions or a table.
---@param options tureen.RequestOptions
---@param success (fun(body: any): any)?
---@param failure tureen.Failure?
---@return integer? id
function react_net.sendRequest(options, success, failure) end

--- Changes fields of a record.
---@param sobjectType string
---@param id string
---@param fields table
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return "OK"|nil ok  what success gets, inside a task
---@return tureen.Error err  nil when it went well
function react_net.update(sobjectType, id, fields, success, failure) end

--- The functions of tureen.smartstore, each with a store config in front.
---@class tureen.react_smartstore: tureen.smartstore
local react_smartstore = {}

--- Functions that wait, made from functions with callbacks; for use inside a task.
---@class tureen.react_util
local react_util = {}

--- A function that awaits `fn(..., success, error)`: it returns the value, or nil and the error.
---@param fn function
---@return fun(...: any): any, tureen.Error
function react_util.promiser(fn) end

--- The same, but it never fails: it returns the value, or the error in its place.
---@param fn function
---@return fun(...: any): any
function react_util.promiserNoRejection(fn) end

--- Waits for some milliseconds, as tureen.sleep.
---@param ms number
---@return true? done
---@return tureen.Error err  nil when it went well
function react_util.timeoutPromiser(ms) end

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

--- Control of the embedded sandbox org. Works under `tureen run`; elsewhere every call fails with `unknownService`.
---@class tureen.sandbox
local sandbox = {}

--- Creates a record as another client would; its id, "OK" if it becomes visible later.
---@param type string
---@param fields table
---@param after tureen.sandbox.Moment?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(type: string, fields: table, success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.create(type, fields, after, success, failure) end

--- Changes a record as another client would.
---@param type string
---@param id string
---@param fields table
---@param after tureen.sandbox.Moment?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(type: string, id: string, fields: table, success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.update(type, id, fields, after, success, failure) end

--- Deletes a record as another client would.
---@param type string
---@param id string
---@param after tureen.sandbox.Moment?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(type: string, id: string, success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.delete(type, id, after, success, failure) end

--- Returns the records of a query, without a session and without faults; for SELECT COUNT() their number.
---@param soql string
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.query(soql, success, failure) end

--- Keeps a copy of what the org holds, in memory; "default" when no name is given.
---@param name string?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.snapshot(name, success, failure) end

--- The org holds again what it held when the copy was taken. Clients stay signed in.
---@param name string?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.restore(name, success, failure) end

--- The org and the forge are like new ones, seeded; the Parse server is empty, or with `seed` holds its starting data.
--- Clients of the org stay signed in.
---@param seed boolean?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.reset(seed, success, failure) end

--- Adds a fault rule, or several; returns its id, or a list of ids.
---@param rule tureen.sandbox.Rule|{rules: tureen.sandbox.Rule[]}
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.addFault(rule, success, failure) end

--- Removes a rule; returns whether it existed.
---@param id integer
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.removeFault(id, success, failure) end

--- Lists the rules and the seed.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.faults(success, failure) end

--- Removes all rules.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.clearFaults(success, failure) end

--- Restarts the counts of all rules and the random numbers.
---@param seed integer?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.resetFaults(seed, success, failure) end

--- Lists every kind of fault with its parameters.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.faultKinds(success, failure) end

--- Lists the requests that the org received, oldest first.
---@param filter {since: integer?, method: string?, path: string?, fault: string?}?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.requests(filter, success, failure) end

--- Clears the log of requests.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.clearRequests(success, failure) end

--- Reads, moves or holds the org's clock, in seconds since 1970 UTC.
---@param change {hold: boolean?, advance: integer?, set: integer?}?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.clock(change, success, failure) end

--- Changes settings of the forge beside the org and returns all of them, its url and its tokens.
---@param settings table?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.forge(settings, success, failure) end

--- Changes settings of the Parse server beside the org and returns all of them, its url, application id and keys.
---@param settings table?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.parse(settings, success, failure) end

--- Ends every access token.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.expireSessions(success, failure) end

--- Expires every open query locator.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.expireLocators(success, failure) end

--- Revokes one token.
---@param token string
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.revokeToken(token, success, failure) end

--- Moves the org to another port; the old one refuses data requests: "refused", "urlNotReset" or "closed".
---@param change {old: string?}?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.migrate(change, success, failure) end

--- Gives the org a new id and ends all tokens and approvals, as the refresh of a Salesforce sandbox does.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.refreshOrg(success, failure) end

--- Lets the token resource redirect to "secondPort" or another origin; without `to` it answers again.
---@param change {to: string?, status: integer?}?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.redirectTokens(change, success, failure) end

--- Refuses a user or a client for its address, or with `restricted = false` no longer.
---@param change {user: string?, client: string?, restricted: boolean?}
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sandbox.restrictAddress(change, success, failure) end

--- Lists the sign-ins, oldest first, each with time, user, client, grant and result.
---@param filter {since: integer?}?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): integer?
function sandbox.signIns(filter, success, failure) end

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

--- What startLogin takes.
---@class tureen.LoginOptions
---@field org string?  the name to keep the org under, or its address
---@field loginUrl string?  where to sign in
---@field clientId string?  the app's consumer key
---@field user string?  the name of the user who is to sign in
---@field redirectUri string?  http://localhost:1717/OauthRedirect if not given
---@field scope string?  scopes with spaces between them
---@field prompt "none"|"login"|"consent"|"select_account"|nil
---@field listen boolean?  whether the browser is on this machine
---@field newOrg boolean?  whether another org may be behind the name now

--- The accounts of the home, and which of them is current.
---@class tureen.sfaccountmanager
local sfaccountmanager = {}

--- The accounts of the home that have a session, the current one first.
---@param success (fun(accounts: tureen.Account[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sfaccountmanager.getUsers(success, failure) end

--- Who is signed in.
---@param success (fun(account: tureen.Account|lightuserdata): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sfaccountmanager.getCurrentUser(success, failure) end

--- Ends the session of an account; without one, of the current one. After that no user is current. Stores stay.
---@param user {userId: string, orgId: string}?
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function sfaccountmanager.logout(user, success, failure) end

--- Makes another account of the home the current one. Calls made before are answered first, as the user before; running
--- syncs end STOPPED at their page, and are cancelled after 30 seconds; the user's cursors close and its observers end
--- with {"closed": "userSwitched"}; then the event userSwitched comes, and later calls run as the new user. Global
--- stores keep their cursors and observers. Nothing is resumed after switching back: call reSync.
---@param user {userId: string, orgId: string}?
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): integer?
function sfaccountmanager.switchToUser(user, success, failure) end

--- The users of the orgs that the home knows, and what is known of their sign-ins. Sends nothing.
---@param success (fun(orgs: tureen.OrgAccount[]): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sfaccountmanager.getOrgs(success, failure) end

--- Who the session in use belongs to, as the org says. Signs in without a person where there is no session.
---@param success (fun(identity: tureen.Identity): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sfaccountmanager.getIdentity(success, failure) end

--- How many of its API calls the org has used, as the newest answer to any process of this home said. Sends nothing.
---@param success (fun(usage: tureen.ApiUsage|lightuserdata): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sfaccountmanager.getUsage(success, failure) end

--- Begins the sign-in of a person and answers the address to open in a browser. A host has one open sign-in at a time;
--- it ends after 300 s.
---@param options tureen.LoginOptions?
---@param success (fun(login: tureen.Login): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(success: (fun(login: tureen.Login): any)?, failure: tureen.Failure?): integer?
function sfaccountmanager.startLogin(options, success, failure) end

--- Waits for the person, then exchanges the code and keeps the session under the home: everything is stored, or
--- nothing. Several calls get the same answer; giving one up ends the sign-in.
---@param id string  of startLogin
---@param url string?  the address that the browser ended at
---@param success (fun(account: tureen.LoginAccount): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(id: string, success: (fun(account: tureen.LoginAccount): any)?, failure: tureen.Failure?): integer?
function sfaccountmanager.finishLogin(id, url, success, failure) end

--- Gives a sign-in up; its port is free when this answers. Changes nothing when the sign-in has ended.
---@param id string  of startLogin
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function sfaccountmanager.cancelLogin(id, success, failure) end

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

--- Moves the cursor to the next page; an error on the last one.
---@param cursor tureen.Cursor
---@param success (fun(cursor: tureen.Cursor): any)?
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor, success: (fun(cursor: tureen.Cursor): any)?, failure: tureen.Failure?): integer?
function smartstore.moveCursorToNextPage(cursor, success, failure) end

--- Moves the cursor to the previous page; an error on the first one.
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

--- Reports committed changes until it is closed. The observer need not be kept, and does not count as pending.
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

--- Registers the soups of userstore.json that are missing in the signed-in user's store. The first use of the store
--- does so by itself.
---@param success (fun(soups: string[]): any)?  the soups that the file names
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function smartstore.setupUserStoreFromDefaultConfig(success, failure) end

--- The same with globalstore.json and the store all users share.
---@param success (fun(soups: string[]): any)?  the soups that the file names
---@param failure tureen.Failure?
---@return integer? id  for tureen.cancel
function smartstore.setupGlobalStoreFromDefaultConfig(success, failure) end

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

--- Builds a query for all entries of a soup, ordered by a path.
---@param path string?
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param selectPaths string[]?
---@return tureen.QuerySpec
function smartstore.buildAllQuerySpec(path, order, pageSize, selectPaths) end

--- Builds a query for entries whose path has this value. Note the order: the page size stands before the order.
---@param path string?
---@param matchKey any
---@param pageSize integer?
---@param order ("ascending"|"descending")?
---@param orderPath string?
---@param selectPaths string[]?
---@return tureen.QuerySpec
function smartstore.buildExactQuerySpec(path, matchKey, pageSize, order, orderPath, selectPaths) end

--- Builds a query for entries between two values, both included; a missing value means no bound.
---@param path string?
---@param beginKey any
---@param endKey any
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param orderPath string?
---@param selectPaths string[]?
---@return tureen.QuerySpec
function smartstore.buildRangeQuerySpec(path, beginKey, endKey, order, pageSize, orderPath, selectPaths) end

--- Builds a query for entries like a text, with % and _ as wild cards.
---@param path string?
---@param likeKey string?
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param orderPath string?
---@param selectPaths string[]?
---@return tureen.QuerySpec
function smartstore.buildLikeQuerySpec(path, likeKey, order, pageSize, orderPath, selectPaths) end

--- Builds a full-text query in a path, or in all paths if it is nil.
---@param path string?
---@param matchKey any
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param orderPath string?
---@param selectPaths string[]?
---@return tureen.QuerySpec
function smartstore.buildMatchQuerySpec(path, matchKey, order, pageSize, orderPath, selectPaths) end

--- Builds a query from a smart SQL statement.
---@param smartSql string
---@param pageSize integer?
---@return tureen.QuerySpec
function smartstore.buildSmartQuerySpec(smartSql, pageSize) end

--- Turns words that a person typed into a key for a match query: every word has to occur, none is taken for an
--- operator.
---@param words string
---@return string key
function smartstore.quoteMatch(words) end

--- Returns the whole record as a table.
---@return table record  all of it
function Record:table() end

--- Returns the JSON text.
---@return string text  as JSON; what tostring and tureen.json.encode give, too
function Record:text() end

--- Stops the callback. May be called twice; `local o <close> = ...` calls it at the end of a block.
function Observer:close() end

return tureen
