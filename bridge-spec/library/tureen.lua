---@meta tureen
-- Definitions for editors (LuaCATS): point the language server's workspace.library here. Never loaded by a script.
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@alias tureen.Success fun(payload: any): any
---@alias tureen.Failure fun(err: tureen.Error): any

-- Names of the project: tureen init --definitions defines them again with those in its files.
---@alias tureen.IndexPath string
---@alias tureen.SoupName string
---@alias tureen.SyncName string

--- A path of a soup's entries that queries can use.
---@class tureen.SoupIndexSpec
---@field path string  the field; dots lead into nested objects
---@field type "string"|"integer"|"floating"|"full_text"|"json1"  the type of the indexed values

--- A query; the builders of tureen.smartstore make one.
---@class tureen.QuerySpec
---@field queryType "exact"|"range"|"like"|"match"|"smart"  the kind of query; it decides which of the other keys are used
---@field indexPath tureen.IndexPath?  the path to filter by; optional for match
---@field matchKey any  exact: the value; without it nothing is found. match: the full-text expression
---@field likeKey string?  a pattern with the wildcards % and _
---@field beginKey any  range: the first value; no lower bound if missing
---@field endKey any  range: the last value; no upper bound if missing
---@field smartSql string?  one SELECT over {soup}, {soup:path} and {soup:_soup}; a comment or a semicolon may follow it
---@field args any  the list of values for the ? in smartSql
---@field orderPath tureen.IndexPath?  the path to sort by
---@field order ("ascending"|"descending")?
---@field pageSize integer?  rows per page
---@field selectPaths tureen.IndexPath[]?  paths; the query returns rows of their values instead of whole entries
---@field lazy boolean?  whether entries are tureen.Record, which parse a field when it is read

--- An edit of one entry, applied in the order of these keys; either `entryId` or `externalId` is required.
---@class tureen.EntryPatch
---@field entryId integer?  the entry's _soupEntryId
---@field externalId any  the entry's value at the external id path
---@field ifExists boolean?  true: does nothing if there is no entry; else that is an error
---@field create table?  the entry to add instead if there is none
---@field ifVersion integer?  fails with entryChanged if the entry has another version; results name versions
---@field ifClean boolean?  true: leaves an entry with local changes as it is
---@field copy table?  the whole entry as it was read and then changed; only its differences are applied
---@field set table?  members and their new values
---@field unset string[]?  members to remove
---@field operations table?  path → {__op = "Increment", amount}, {__op = "Add" | "AddUnique" | "Remove", objects}, {__op = "Delete"} or {__op = "Set", value}; dots lead into objects, and positions into arrays, from 0
---@field confirmed table?  members that the server has now, because they were sent from here; the entry is clean if nothing else is to be sent
---@field sentVersion integer?  the version from which `confirmed` was sent; what was edited since stays to be sent
---@field flags table?  __locally_created__, __locally_updated__ and __locally_deleted__ to set; the entry gets all of them, and __local__, which follows from them

--- An entry after an edit.
---@class tureen.EditedEntry
---@field entryId integer
---@field version integer  every write of the entry raises it
---@field outcome "created"|"changed"|"unchanged"|"kept"|"conflict"  kept: it has local changes that were not to be touched; conflict: both sides changed a field
---@field entry table  the entry as stored

--- How a sync handles records that both sides changed, and which fields an upload sends.
---@class tureen.SyncOptions
---@field mergeMode ("OVERWRITE"|"LEAVE_IF_CHANGED"|"MERGE")?
---@field fieldlist (string[]|string)?  the fields that uploads send unless the target has field lists; `attributes` in it is ignored
---@field resolve table?  with MERGE: decides fields that both sides changed, without code, by name: "local", "server" or "ask"; `*` is all others and "ask" unless it is given. A conflict in which a field is asked stays, and so do deletions
---@field resolver string?  with MERGE: decides conflicts; registered with mobilesync.registerResolver, else a module that is a function
---@field maxPages integer?  the maximum number of pages of one run of a sync down; the run then ends STOPPED with hasMore, and `more` continues it
---@field graceMs integer?  how many milliseconds a sync runs before its progress is shown

--- One thing that doctor looks at.
---@class tureen.HealthCheck
---@field name "config"|"home"|"store"|"sync"|"net"|"auth"|"clock"
---@field status "ok"|"note"|"warn"|"fail"|"skipped"
---@field text string  what is so
---@field fix string?  what to do; null if nothing is to be done
---@field details table  the facts, by check

--- How changes are sent; other keys depend on the type.
---@class tureen.SyncUpTarget
---@field type ("collection"|"batch"|"plain"|"parent_children"|"rest"|"parse"|"custom")?  how and where the changes are sent
---@field createFieldlist (string[]|string)?  the fields that are sent of a new record
---@field updateFieldlist (string[]|string)?  the fields that are sent of a changed record

--- A page of a query and the cursor's data.
---@class tureen.Cursor
---@field cursorId any
---@field currentPageIndex integer  counted from 0
---@field pageSize integer
---@field totalPages integer
---@field totalEntries integer
---@field currentPageOrderedEntries any[]  entries; rows for a smart query or one with selectPaths
---@field lazy boolean?  as in the query spec

--- The changes of a soup by committed transactions since the last report; or the reason why the observer ended.
---@class tureen.Change
---@field soupName tureen.SoupName?  the soup; this member and all others but the last are in every change
---@field created integer[]?  entry ids; each id is in only one of the lists
---@field updated integer[]?
---@field removed integer[]?
---@field all boolean?  any entry may have changed; the lists are empty
---@field closed "userSwitched"?  the only member of the last update, if another user became the current one

--- The store of a call.
---@class tureen.StoreConfig
---@field isGlobalStore boolean?  true: the store that all users share; one of the two keys is required
---@field storeName string?

--- A saved sync and its state.
---@class tureen.SyncState
---@field _soupEntryId integer  the sync's id
---@field syncId integer  the same id, under the name that calls use
---@field type "syncDown"|"syncUp"
---@field name string?  absent for a sync without a name
---@field syncName tureen.SyncName?  the same name, under the name that calls use
---@field target table  as stored, with defaults filled in
---@field options table
---@field soupName tureen.SoupName
---@field status "NEW"|"STOPPED"|"RUNNING"|"DONE"|"FAILED"
---@field progress integer  0 to 100
---@field totalSize integer  how many records this run covers; -1 until known
---@field maxTimeStamp integer  newest modification stored, ms since 1970 UTC; -1 until known
---@field coveredTimeStamp integer  all changes up to this time are certainly stored, ms since 1970 UTC
---@field ghostsCheckedUntil integer  the last time at which no entry was a ghost, ms since 1970 UTC; -1 if unknown
---@field startTime integer  ms since 1970 UTC; 0 before the first run
---@field endTime integer  ms since 1970 UTC; 0 before the first end
---@field error string  why the last run ended FAILED: the body of the server's refusal, else a message
---@field fetched integer  new or changed records that the server sent
---@field stored integer  how many of them were written to the soup
---@field skipped integer  skipped records: dirty (down); newer on the server, nothing to send, or being sent by another run (up)
---@field conflicting integer  skipped records that both sides changed; getConflicts lists them, a parent with its children as one
---@field merged integer  records that both sides changed and that were merged, by field or by a resolver
---@field removed integer  entries that were removed because their record is deleted or no longer matches; only for collections (type rest)
---@field flagged integer  items that could not be used; warnings names the first ones
---@field pages integer  pages read, including unchanged ones
---@field hasMore boolean  the run ended at options.maxPages before the end of the list; more fetches the rest
---@field incomplete boolean  records moved between pages during the run, so some may be missing until the next run
---@field leftOut integer  entries of an applied plan that were left out, because they were changed since; absent if there are none
---@field resumeAt integer  when the server will answer again, if the run is STOPPED for that reason, ms since 1970 UTC; otherwise 0
---@field orgId string  the org whose records a sync of a global store fetches; absent before its first run, and for other syncs
---@field connection string  the named server of the target; absent for the org
---@field succeeded integer  uploads the server accepted
---@field failed integer  uploads the server refused; the entries have __last_error__
---@field inDoubt integer  creates with a lost answer whose record was not found yet; Tureen searches for them before it sends them again
---@field inDoubtUntil integer  until then the server may still be working on creates in doubt, ms since 1970 UTC; a later sync up sends those again that never arrived; 0 if no create waits
---@field requests integer  requests sent, without repeats
---@field retries integer  requests sent again after a failure
---@field bytes integer  bytes of the answers' bodies
---@field limitInfo string  the last answer's Sforce-Limit-Info, such as api-usage=18/5000
---@field warnings string[]  possible problems of the last run, as sentences for people, such as a LIMIT in a query
---@field queued boolean  whether the sync, though RUNNING, waits for other syncs of its soups

--- An entry that both sides changed.
---@class tureen.SyncConflict
---@field soupName tureen.SoupName
---@field entryId integer  the entry's _soupEntryId
---@field syncId integer  the sync that found it last
---@field kind "changed"|"deletedHere"|"deletedThere"|"unknown"  changed on both sides; deleted on one side and changed on the other; or unknown, if the server's version could not be read
---@field base table  the entry when both sides were last equal; null if they never were
---@field local table  the current entry
---@field server table  the server's record, with the fields that the sync read; null if it is deleted or unknown
---@field merged table  the entry with every change that only one side made; fields in conflict have the local value
---@field fields string[]  fields that both sides changed, to different values
---@field localChanges string[]  fields that differ from the base here
---@field remoteChanges string[]  fields that differ from the base on the server
---@field detectedAt integer  ms since 1970 UTC

--- An entry with changes that the server lacks.
---@class tureen.DirtyEntry
---@field soupName tureen.SoupName
---@field entryId integer  the entry's _soupEntryId
---@field recordId string?  the server's id; null if it has none yet
---@field title string?  Name, FirstName LastName, name, title or subject, else the server's id
---@field action "create"|"update"|"delete"
---@field state "waiting"|"skipped"|"held"|"conflict"|"refused"|"inDoubt"  waiting: goes with the next sync up; skipped: a run looked at it and did not send it; held: another run is sending it; conflict: both sides changed it; refused: the server said no; inDoubt: a creation without an answer
---@field fields string[]  the changed fields; of a new entry those with a value, of a deletion none
---@field since integer?  when it was first changed since it was as the server had it, ms since 1970 UTC; null without a history
---@field by tureen.HistoryActor?  who changed it last; null without a history
---@field reason table?  why it is in this state; null if it only waits
---@field runs integer?  runs that ended the same way; null without a history
---@field lastTry integer?  when the server was asked last, ms since 1970 UTC; null if not known
---@field until integer?  until when a creation without an answer waits, ms since 1970 UTC; null if no look-up can decide it
---@field syncName tureen.SyncName?  the sync up of the soup, the one that is sending it, or the one that found the conflict
---@field remedies string[]  what ends the state: words, or commands
---@field values table[]?  the changed fields with their values, with `withValues`

--- The figures of a soup.
---@class tureen.SoupOverview
---@field soup string
---@field entries integer
---@field dirty integer  entries with changes that the server lacks
---@field created integer  those by what happens to the record; the three make up dirty
---@field updated integer
---@field deleted integer
---@field waiting integer  those by their state, as of getDirtyEntries; the six make up dirty
---@field skipped integer
---@field held integer
---@field conflicts integer
---@field newConflicts integer  conflicts that the last run of their sync found first
---@field refused integer
---@field inDoubt integer
---@field oldestWaiting integer?  when the waiting entry that was left alone the longest was last written, ms since 1970 UTC
---@field indexes tureen.SoupIndexSpec[]

--- What a store holds.
---@class tureen.StoreOverview
---@field storeName string
---@field isGlobalStore boolean
---@field engine "sqlite"|"postgres"
---@field bytes integer
---@field walBytes integer?  of SQLite's write-ahead log
---@field history "all"|"names"|"off"  what is kept of the history
---@field soups tureen.SoupOverview[]
---@field syncs table[]  as getSyncStatus answers, or with the status ABANDONED if the process died; also with lastSuccess (the end of the last run that succeeded; after a failure as the history has it, else null), lastVerified (when the last comparison began that found no difference, as the history has it, else null), and owner (the pid and host of the running process, else null)

--- What a home holds.
---@class tureen.Overview
---@field home string
---@field org string
---@field user string?
---@field instanceUrl string?
---@field isSandbox boolean?
---@field session string?  the state of the sign-in, as tureen orgs shows it
---@field apiVersion string
---@field apiUsage tureen.ApiUsage?
---@field stores tureen.StoreOverview[]

--- How the store would run a smart query.
---@class tureen.QueryPlan
---@field steps table[]  id, parent (0 for none) and text, in the words of the database
---@field scans table[]  the soups that are read as a whole: soupName, and paths, those without an index by which the query filters, joins, groups or sorts

--- The program behind a write or a run.
---@class tureen.HistoryActor
---@field kind "script"|"exec"|"repl"|"cli"|"import"|"job"|"inspector"|"host"|"resume"
---@field name string?  the script without its folder, the command, or the program
---@field host string  the machine
---@field uid integer?
---@field version string  of Tureen
---@field pid integer?  the process of a run; null elsewhere

--- An attempt of a request, or a step of a run; what does not apply is null.
---@class tureen.RunEvent
---@field at integer  when the request was sent or the step was written, ms since 1970 UTC
---@field kind "request"|"page"|"upload"|"ghosts"|"lookup"|"end"
---@field soupName tureen.SoupName?
---@field rows integer?  records of a step; of the end, requests that were not kept
---@field bytes integer?  of the answer
---@field server string?  the host of the server
---@field method string?
---@field path string?  without the query
---@field status integer?  null without an answer
---@field attempt integer?  from 1; higher ones are repetitions
---@field ms integer?
---@field error string?  the code of the error
---@field run integer?  with `requests`
---@field syncName tureen.SyncName?  with `requests`

--- A run of a sync.
---@class tureen.SyncRun
---@field run integer  its number in the store
---@field syncId integer
---@field name string?  the sync's name
---@field kind "syncDown"|"syncUp"|"ghosts"|"verify"|"repair"
---@field status "RUNNING"|"DONE"|"STOPPED"|"FAILED"|"ABANDONED"
---@field look boolean  done, and records are left that a person has to look at
---@field startedAt integer  ms since 1970 UTC
---@field endedAt integer?
---@field error table?  domain, code, message, retryable
---@field limitInfo string?
---@field warnings string[]
---@field counts table?  the counts of the sync's state; null before the end
---@field by tureen.HistoryActor?
---@field job string?  the attempt of a job, ID/FENCE of tureen job runs
---@field plan string?  the id of the plan that was applied
---@field verified table?  of verify and repair: level, equal and complete
---@field events tureen.RunEvent[]?  with `run`: in the order of time
---@field omitted integer?  with `run`: requests and steps that were counted and not kept
---@field errors table[]?  with `run`: failures of requests, by code, with their count
---@field entries table[]?  with `run`: by cause, its count, and up to 1000 records in all: soupName, entryId, recordId, at, version, reason, fields

--- Runs, or requests.
---@class tureen.RunList
---@field history "all"|"names"|"off"  what this program keeps
---@field runs tureen.SyncRun[]?  without `requests`
---@field requests tureen.RunEvent[]?  with `requests`

--- A record that differs between a soup and its server.
---@class tureen.VerifyFinding
---@field soupName tureen.SoupName
---@field entryId integer?  null if the soup lacks the record
---@field recordId string?
---@field reason "missing"|"extra"|"different"|"behind"|"computed"|"dirty"|"moving"  behind: the next run brings it; computed: other values under the same date; moving: changed meanwhile
---@field fields string[]  the fields that differ
---@field text string  why, and what ends it; without values

--- How a soup differs from what its server would send.
---@class tureen.VerifyResult
---@field syncName tureen.SyncName?
---@field syncId integer
---@field level "count"|"ids"|"content"
---@field equal boolean  whether the soup has what the server would send, apart from local changes
---@field complete boolean  false if records were changed while they were compared
---@field local integer  entries of the sync
---@field server integer  records that the server would send
---@field compared integer  records that both have and that were compared
---@field requests integer  attempts of requests
---@field digest string?  a hash of what the soup has of the server: two stores with the same records have the same one; null for count
---@field missing tureen.VerifyFinding[]  the first 1000
---@field extra tureen.VerifyFinding[]  the first 1000
---@field different tureen.VerifyFinding[]  the first 1000
---@field counts table  all of them by reason; those that are 0 are left out
---@field repaired table?  with `repair`: stored, removed and left

--- Why an entry looks as it does.
---@class tureen.EntryExplanation
---@field history "all"|"names"|"off"
---@field soupName tureen.SoupName
---@field entryId integer?  null for a record that is not known
---@field recordId string?
---@field title string?
---@field state "clean"|"removed"|"unknown"|"waiting"|"skipped"|"held"|"conflict"|"refused"|"inDoubt"
---@field text string  one sentence that says it all
---@field why table[]  code and text of each reason
---@field owners string[]  the syncs that bring the record
---@field next table[]  syncName, expect (send, conflict, wait, skip, blocked or none) and text: what the next sync up does
---@field log table[]  what happened, newest first: at, run, syncName, by, version, cause, reason, fields, changes (name, from, to), times, certain, text
---@field fields table[]  name, value, base, server, and from: kind (server, local, merge, resolver, policy, discard, repair, unknown), run, at, by, certain

--- What a sync up would send; nothing was sent.
---@class tureen.SyncPlan
---@field format "tureen-plan/1"
---@field id string  a UUID
---@field madeAt integer  ms since 1970 UTC
---@field by table  the program that made it
---@field looked boolean  whether the server was asked about the records
---@field mergeMode "OVERWRITE"|"LEAVE_IF_CHANGED"|"MERGE"
---@field server table  org and userId, or connection and url (a hash)
---@field store table  id, storeName and isGlobalStore
---@field sync table  id, name, and definition (a hash)
---@field summary table  how many entries it creates, updates, upserts and deletes; conflicts, blocked, waiting, skipped; apiCalls, null if not known
---@field unknown string[]  what is not planned
---@field entries table[]  in the order of the run: soupName, entryId, version, action, recordId, title, expect (send, merge, conflict, skip, wait or blocked), request, why (code and text), fields (name, base, local, server, changed, sent); family, the other members that are sent together
---@field requests table[]  in order: n, purpose (look, search, send or read), server, method, path, records, bytes, apiCalls; null if functions of a script make them

--- The credentials that requests use.
---@class tureen.Credentials
---@field accessToken any  a string; null for a restricted script unless it may use com.salesforce.oauth
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
---@field authToken any  a string; null for a restricted script unless it may use com.salesforce.oauth and for accounts that are not current
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
---@field username string  the user id if the org does not tell the name
---@field displayName string
---@field email string

--- A user of an org in the home; an org without users is listed once, without a user.
---@class tureen.OrgAccount
---@field name string  the name of the org in this home
---@field username string
---@field userId string
---@field orgId string
---@field loginUrl string
---@field instanceUrl string
---@field isSandbox boolean  null if the org was not asked yet
---@field flow string  how the user signed in
---@field state "signed in"|"needs sign-in"|"not asked"  'needs sign-in' if only a person or other credentials help, 'not asked' if a way to sign in was not tried yet
---@field reason string  why the user needs to sign in
---@field isDefault boolean  whether it is used if no org and no user is named
---@field isCurrent boolean  whether it is used if the org is named without a user

--- An open sign-in of a person.
---@class tureen.Login
---@field id string
---@field url string  the address to open in the person's browser
---@field redirectUri string  the address that the browser is redirected to
---@field expiresAt integer  ms since 1970 UTC

--- The account of a person who has signed in.
---@class tureen.LoginAccount
---@field org string  the org's name in this home
---@field username string  the user id if the org does not tell the name
---@field displayName string
---@field userId string
---@field orgId string
---@field instanceUrl string
---@field isDefault boolean  whether it is the default org

--- How many API calls of an org all its clients have used in the last 24 hours.
---@class tureen.ApiUsage
---@field used integer
---@field max integer
---@field perApp table?  the same for this app only, if the org reports it
---@field seenAt integer  when the answer came, ms since 1970 UTC

--- A description of this core and its features.
---@class tureen.SDKInfo
---@field sdkVersion string  the version of the plug-in model
---@field appName string
---@field appVersion string
---@field forcePluginsAvailable string[]  the services
---@field bootConfig table  bootconfig.json with its defaults

---@alias tureen.PluginAction fun(args: table, success: (fun(value: any): boolean), error: (fun(err: any): boolean), progress: (fun(value: any): boolean), call: tureen.PluginCall): any, any

---@alias tureen.ServiceAction fun(args: table?, success: tureen.Success?, error: tureen.Failure?, progress: (fun(value: any))?): tureen.Call?

--- A call that was made without await. It is not the answer: arithmetic, comparison, concatenation and access to its
--- fields raise.
---@class tureen.Call

--- An error, as error callbacks get it.
---@class tureen.Error
---@field domain string  "bridge", "smartstore", "sync", "network", "host", "force", "parse", "jobs", or "sandbox" of tureen.sandbox: which part failed
---@field code string  stable; errors.json lists them
---@field message string  for people; may change
---@field retryable boolean  the same call may succeed later
---@field source string?  "service:action" of the call
---@field status integer?  HTTP status, domain network
---@field body string?  the body of the server's answer, domain network; its JSON for the code badAnswer of tureen.force
---@field errors table[]?  the elements of the server's error array, domain network
---@field sync tureen.SyncState?  the state of a sync that ended FAILED or was stopped
---@field offset integer?  the offset of the error in a text that is not valid JSON, counted from 0; code invalidJSON
---@field value any  what a task's function raised; code raised
---@field traceback string?  the traceback of the coroutine that waited
---@field base table?  the record when both sides last agreed; code conflict of tureen.force
---@field theirs table?  the server's record; code conflict
---@field yours table?  the record that was to be saved; code conflict
---@field remoteChanges string[]?  fields that the server changed; code conflict
---@field localChanges string[]?  fields that were changed here; code conflict
---@field conflictingChanges string[]?  fields that both changed to different values; code conflict

--- The options of tureen.configure.
---@class tureen.Settings
---@field home string?  where stores, sessions and the sandbox live
---@field org string?  "sandbox", an address, or a name whose credentials are kept under the home
---@field user string?  the user of the org; without it the one who signed in last
---@field credentials string?  a JSON file to sign in with
---@field apiVersion string?  such as "v66.0"
---@field caFile string?  a PEM file of certificates to trust in addition to the machine's own
---@field proxy string?  the proxy for other machines, such as "http://proxy.example.com:3128", or "none"; else HTTPS_PROXY
---@field accounts "one"|"home"|nil  the accounts that the script sees and may switch to: the current one, or all of the home
---@field apiBudget integer?  API calls a day that all hosts of a database make together
---@field apiReserve integer|string|nil  API calls of the org to leave for others: a number, or a part such as "10%"
---@field history "all"|"names"|"off"|nil  how much of its history a store keeps; names leaves out values and texts of servers
---@field recover "refuse"|"moveAside"|nil  for a damaged store; moveAside keeps it beside a new one
---@field storeKeyFile string?  a file with the encryption key of the stores; set at most one of these three
---@field storeKeyVariable string?  the environment variable that holds the key
---@field storeKeyCommand string|string[]|nil  a command that prints the key; it runs without a shell, and a string is split at its spaces
---@field store string?  a PostgreSQL database for the stores, such as "postgres://user@host/database"; without one they are files in the home
---@field storePasswordFile string?  a file with the password of that database; set at most one of these three
---@field storePasswordVariable string?  the environment variable that holds the password
---@field storePasswordCommand string|string[]|nil  a command that prints the password; it runs without a shell, and a string is split at its spaces
---@field sessionCommand string|string[]|nil  a program that stores sessions instead of session.json; it runs without a shell and gets one more argument: get, store or erase
---@field config string?  the folder of bootconfig.json, userstore.json, usersyncs.json
---@field connections table?  named servers, as in connections.json (see bridge-spec/guide/connections.md); a secret may be plain text here
---@field logRequests "off"|"error"|"warn"|"info"|"debug"|nil  the level of the request log for the org and every connection; overrides connections.json
---@field logRequestsFile string?  the file of that log instead of stderr

--- A function that runs in its own coroutine. An error in it goes to the tasks that await it, else to tureen.onerror.
---@class tureen.Task
local Task = {}

--- A plug-in that tureen.plugin has registered.
---@class tureen.Plugin
---@field service string
local Plugin = {}

--- A call: the last argument of an action.
---@class tureen.PluginCall
---@field id integer
---@field action string
---@field cancelled boolean  true once the caller has cancelled the call
---@field oncancel (fun(call: tureen.PluginCall))?  called on cancellation; without it, a call that waits for a callback ends with bridge/cancelled

--- A service of any kind, by name: its fields are its actions.
---@class tureen.Service
---@field [string] tureen.ServiceAction

--- A timer, as tureen.after returns it.
---@class tureen.Timer
local Timer = {}

--- Functions for every script: configuration, calls, polling, tasks, events, JSON.
---@class tureen
---@field null any  JSON's null, a light userdata; true in a condition, so compare with ==
---@field onerror (fun(err: any, traceback: string))?  gets uncaught errors of callbacks, tasks and failed calls without an error callback; if nil, they go to stderr and the run fails
---@field smartstore tureen.smartstore
---@field mobilesync tureen.mobilesync
---@field keyvalue tureen.keyvalue
---@field asset tureen.asset
---@field host tureen.host
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
---@return integer? call  for tureen.cancel
function tureen.exec(success, failure, service, action, args) end

--- Runs the callbacks that are waiting; waits at most this long for the first one.
---@param timeoutMs number?
---@return integer delivered
function tureen.poll(timeoutMs) end

--- Polls until nothing is pending. A function is run as a task first: its results follow `ok`; an error in it is
--- returned, not reported, so look at `ok` or use tureen.main. A task that still waits at the end, except for an event,
--- is an error of code stillWaiting, which tureen.onerror gets.
---@param main function?
---@param ... any
---@return boolean ok
---@return any result  main's result, or the error
---@return any traceback  the traceback of an error that main raised; else main's second result
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

--- Counts the unanswered calls.
---@return integer count  the number of unanswered calls
function tureen.pending() end

--- Runs fn in its own coroutine. An error in it goes to the tasks that await it, else to tureen.onerror.
---@param fn function
---@param ... tureen.SoupName|tureen.SyncName|any
---@return tureen.Task
function tureen.async(fn, ...) end

--- Calls fn with its own callbacks and waits for the answer, or waits for a task. For a function that waits by itself,
--- such as sleep, it just calls fn(...). A coroutine that a task resumes cannot wait: that raises an error.
---@param fn function|tureen.Task
---@param ... tureen.SoupName|tureen.SyncName|any
---@return any value
---@return tureen.Error err  nil on success
function tureen.await(fn, ...) end

--- Waits for all elements and returns their values in a list; at the first failure nil and that error.
---@param list (tureen.Task|function|table)[]  tasks, functions to run, or {fn, ...} as await takes them
---@return any[]? values
---@return tureen.Error err  nil on success
function tureen.all(list) end

--- Waits for the first element that ends.
---@param list (tureen.Task|function|table)[]
---@return any value
---@return tureen.Error err  nil on success
---@return integer position
function tureen.race(list) end

--- Awaits for at most ms milliseconds; after that it cancels the call and the error has the code "timeout".
---@param ms number
---@param fn function|tureen.Task
---@param ... any
---@return any value
---@return tureen.Error err  nil on success
function tureen.timeout(ms, fn, ...) end

--- Waits; other tasks and callbacks run meanwhile.
---@param ms number
---@return true? done
---@return tureen.Error err  nil on success
function tureen.sleep(ms) end

--- Calls fn once, from a poll. tureen.run waits for it.
---@param ms number
---@param fn fun()  called once, from a poll
---@return tureen.Timer
function tureen.after(ms, fn) end

--- Waits for the next event that filter returns true for.
---@param name string
---@param filter (fun(detail: any): boolean)?
---@param ms number?  the longest wait
---@return any detail
---@return tureen.Error err  nil on success
function tureen.waitEvent(name, filter, ms) end

--- Cancels a call: a sync stops, a request is aborted, a query ends. The call is still answered.
---@param id (integer|tureen.Call)?  what the called function returned; nil, for a refused call, has no effect
function tureen.cancel(id) end

--- Adds a service to this host: a name and actions. An action is a function (args, success, error, progress, call) that
--- runs as a task and may await. It answers once: with success(value) or error(err), at once or later, or by returning
--- a value, or nil and an error. An action that takes only args and returns nothing has answered null. Raises for a
--- name that is taken or not reverse-DNS.
---@param name string  the reverse-DNS name, such as com.acme.printer
---@param actions table  functions by the names of the actions: table<string, tureen.PluginAction>
---@param spec table?  {actions = {name = {arguments = ...}}}, in the form of bridge-spec/actions: a call with wrong arguments fails before the action is called
---@return tureen.Plugin
function tureen.plugin(name, actions, spec) end

--- Returns a service by its full name. Each of its fields is a function (args, success, error, progress) that calls the
--- action of that name and returns a value for tureen.cancel; it can be awaited: await(service.print, args, progress).
---@param name string
---@return tureen.Service
function tureen.service(name) end

--- Sends an event to the listeners of this script at the next poll.
---@param name string  the reverse-DNS name, such as com.acme.printer.jammed
---@param detail any
function tureen.emit(name, detail) end

--- Returns the value, or the default if the value is nil or null.
---@param value any
---@param default any?
---@return any value
function tureen.valueOr(value, default) end

--- Makes null print as "null" and errors name it. It changes the metatable of light userdata, which all code of a Lua
--- state shares: `tureen run`, `exec` and `repl` do it, other programs have to call this.
function tureen.describeNull() end

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
---@return tureen.Error err  nil on success; its code is invalidJSON, and it has an offset
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

--- Returns whether the task is running, has returned or has raised an error.
---@return "running"|"done"|"failed"
function Task:status() end

--- Ends the current wait of the task, and every later one, with nil and an error of code "cancelled".
function Task:cancel() end

--- Returns true if cancel was called while the task ran.
---@return boolean
function Task:is_cancelled() end

--- Removes the plug-in. Calls that it has received stay open until it answers them. A second call does nothing.
function Plugin:unregister() end

--- Cancels the timer: its function is not called.
function Timer:cancel() end

--- A file that was fetched.
---@class tureen.asset.Info
---@field path string  do not change the file
---@field contentType string  the server's content type; empty if it sent none
---@field bytes integer

--- Files that syncs of collections fetched for their rows (`assets` of targets of type `rest`), such as pictures.
---@class tureen.asset
local asset = {}

--- Returns the file that a sync of a collection fetched for a URL. The target's `assets` say which files to fetch.
---@param url string  the URL as the row has it
---@param connection string?
---@param success (fun(path: string?): any)?
---@param failure tureen.Failure?
---@return string?|nil path  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(url: string, success: (fun(path: string?): any)?, failure: tureen.Failure?): string?|nil, tureen.Error
function asset.path(url, connection, success, failure) end

--- Returns the same file with its content type and size; nil if none was fetched.
---@param url string  the URL as the row has it
---@param connection string?
---@param success (fun(info: tureen.asset.Info?): any)?
---@param failure tureen.Failure?
---@return tureen.asset.Info?|nil info  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(url: string, success: (fun(info: tureen.asset.Info?): any)?, failure: tureen.Failure?): tureen.asset.Info?|nil, tureen.Error
function asset.info(url, connection, success, failure) end

--- Checks to make before a script begins.
---@class tureen.bootstrap
local bootstrap = {}

--- Returns whether the org answers, even if it refuses the request.
---@param success (fun(isOnline: boolean): any)?
---@param failure tureen.Failure?
---@return boolean|nil isOnline  the value that success gets, inside a task
---@return tureen.Error err  nil on success
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

--- A start-up status.
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

--- tureen.exec with the plug-ins' version as its first argument. The module can be called, too: exec(...) is
--- exec.exec(...).
---@class tureen.exec
---@overload fun(pluginVersion: string, success: tureen.Success?, error: tureen.Failure?, service: string, action: string, args: table?): integer?
---@field timing boolean  true: write a line to stderr for each answer, with the ms it took
local exec = {}

--- Calls an action in the form that the plug-ins' modules use.
---@param pluginVersion string
---@param success tureen.Success?
---@param error tureen.Failure?
---@param service string
---@param action string
---@param args table?  the action's arguments, or a list with one such table
---@return integer? id  the id for tureen.cancel
function exec.exec(pluginVersion, success, error, service, action, args) end

--- The home and the settings of this host. Not for restricted scripts.
---@class tureen.host
local host = {}

--- Checks the home, the stores, the syncs and the servers, and says how to mend what is wrong.
---@param options {offline: boolean?, deep: boolean?, fix: boolean?}?
---@param success (fun(report: {checks: tureen.HealthCheck[], summary: table}): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(report: {checks: tureen.HealthCheck[], summary: table}): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function host.doctor(options, success, failure) end

--- Named key-value stores beside the soups. A value is any sequence of bytes.
---@class tureen.keyvalue
local keyvalue = {}

--- Returns the value of a key. The Lua function returns the string itself.
---@param name string
---@param key string
---@param success (fun(value: string|lightuserdata): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, key: string, success: (fun(value: string|lightuserdata): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function keyvalue.get(name, key, success, failure) end

--- Sets the value of a key, replacing an existing value.
---@param name string
---@param key string
---@param value string
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, key: string, value: string, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function keyvalue.put(name, key, value, success, failure) end

--- Removes a key.
---@param name string
---@param key string
---@param success (fun(existed: boolean): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, key: string, success: (fun(existed: boolean): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function keyvalue.remove(name, key, success, failure) end

--- Returns whether a key exists.
---@param name string
---@param key string
---@param success (fun(exists: boolean): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, key: string, success: (fun(exists: boolean): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function keyvalue.contains(name, key, success, failure) end

--- Counts the keys of a key-value store.
---@param name string
---@param success (fun(count: integer): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, success: (fun(count: integer): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function keyvalue.count(name, success, failure) end

--- Removes all keys, and with them the key-value store.
---@param name string
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function keyvalue.clear(name, success, failure) end

--- Lists the keys, sorted by their bytes.
---@param name string
---@param pattern string?
---@param success (fun(keys: string[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(name: string, success: (fun(keys: string[]): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, pattern: string?, success: (fun(keys: string[]): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, name: string, success: (fun(keys: string[]): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function keyvalue.keys(name, pattern, success, failure) end

--- Lists the key-value stores that are not empty, sorted by name.
---@param success (fun(names: string[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(names: string[]): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
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

--- A sync target written in Lua: the first three functions are for syncs down, the others for syncs up. Each function
--- for syncs up is optional; without it the engine sends the record itself. updateOnServer and deleteOnServer may also
--- return an HTTP status.
---@class tureen.CustomTarget
---@field startFetch (fun(target: table, maxTimeStamp: integer): table[]?, {totalSize: integer?, more: any}?)?
---@field continueFetch (fun(target: table, more: any): table[]?, {totalSize: integer?, more: any}?)?
---@field remoteIds (fun(target: table, localIds: string[]): string[])?
---@field createOnServer (fun(target: table, record: table, fields: table): string|integer?, any)?  the id and, if known, the record's time stamp; or nil and the reason
---@field updateOnServer (fun(target: table, record: table, fields: table): boolean|integer?, any)?  true and the record's new time stamp, without which the next edit counts as a conflict if dates are compared; or false and the reason
---@field deleteOnServer (fun(target: table, record: table): boolean|integer?, any)?  true; or false and the reason; 404 means that the record is gone
---@field fetchLastModifiedDates (fun(target: table, records: table[]): (string|false|nil)[])?  false: deleted, nil: not known; asked for up to 25 records at a time, before these are sent
---@field fetchFromServer (fun(target: table, records: table[], fields: string[]): (table|false|nil)[])?  the server's versions of changed records; false: deleted, nil: unknown
---@field isNewerThanServer (fun(target: table, record: table): boolean)?  asked for each record right before it is sent

--- Syncing between soups and the server.
---@class tureen.mobilesync
---@field MERGE_MODE {OVERWRITE: string, LEAVE_IF_CHANGED: string, MERGE: string}
---@field FETCH_MODE {CACHE_ONLY: string, CACHE_FIRST: string, SERVER_FIRST: string}
local mobilesync = {}

--- Creates a sync down and runs it.
---@param target table
---@param soupName tureen.SoupName
---@param options tureen.SyncOptions?
---@param syncName tureen.SyncName?
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(target: table, soupName: tureen.SoupName, options: tureen.SyncOptions?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(target: table, soupName: tureen.SoupName, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: table, soupName: tureen.SoupName, options: tureen.SyncOptions?, syncName: tureen.SyncName?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: table, soupName: tureen.SoupName, options: tureen.SyncOptions?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: table, soupName: tureen.SoupName, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.syncDown(target, soupName, options, syncName, success, failure) end

--- Creates a sync up and runs it: it sends every dirty entry.
---@param target tureen.SyncUpTarget?
---@param soupName tureen.SoupName
---@param options tureen.SyncOptions
---@param syncName tureen.SyncName?
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(target: tureen.SyncUpTarget?, soupName: tureen.SoupName, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(soupName: tureen.SoupName, options: tureen.SyncOptions, syncName: tureen.SyncName?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(soupName: tureen.SoupName, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: tureen.SyncUpTarget?, soupName: tureen.SoupName, options: tureen.SyncOptions, syncName: tureen.SyncName?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: tureen.SyncUpTarget?, soupName: tureen.SoupName, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, options: tureen.SyncOptions, syncName: tureen.SyncName?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.syncUp(target, soupName, options, syncName, success, failure) end

--- Runs a saved sync again, starting where the last run ended.
---@param syncIdOrName integer|tureen.SyncName
---@param options { maxRequests: integer? }?
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(syncIdOrName: integer|tureen.SyncName, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, options: { maxRequests: integer? }?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.reSync(syncIdOrName, options, success, failure) end

--- Creates a named sync, or gives it another definition, and runs it from where its last run left off. If the source or
--- destination of its records changed, it starts over.
---@param definition {syncName: string, syncType: "syncDown"|"syncUp", soupName: string, target: table?, options: tureen.SyncOptions?}
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, definition: {syncName: string, syncType: "syncDown"|"syncUp", soupName: string, target: table?, options: tureen.SyncOptions?}, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.ensureSync(definition, success, failure) end

--- Runs a saved sync down again from the beginning of its list; entries stay until the page that replaces them is
--- stored.
---@param syncIdOrName integer|tureen.SyncName
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.refresh(syncIdOrName, success, failure) end

--- Continues a sync down that ended at its maxPages, for the same number of pages. It ends DONE at once if there are no
--- more pages.
---@param syncIdOrName integer|tureen.SyncName
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.more(syncIdOrName, success, failure) end

--- Returns the state of a saved sync.
---@param syncIdOrName integer|tureen.SyncName
---@param success (fun(sync: tureen.SyncState|lightuserdata): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, success: (fun(sync: tureen.SyncState|lightuserdata): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.getSyncStatus(syncIdOrName, success, failure) end

--- Deletes a saved sync. Does nothing if it does not exist.
---@param syncIdOrName integer|tureen.SyncName
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.deleteSync(syncIdOrName, success, failure) end

--- Removes clean entries that the server would no longer send. With mergeMode MERGE, locally changed entries whose
--- record is deleted become conflicts.
---@param syncIdOrName integer|tureen.SyncName
---@param options { force: boolean?, maxRequests: integer? }?
---@param success (fun(removed: integer): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(syncIdOrName: integer|tureen.SyncName, success: (fun(removed: integer): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, options: { force: boolean?, maxRequests: integer? }?, success: (fun(removed: integer): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, success: (fun(removed: integer): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.cleanResyncGhosts(syncIdOrName, options, success, failure) end

--- Compares the soup of a sync down with what its server would send. Local changes do not count as differences. Without
--- `repair` nothing but the history is written. A `rest` target needs `ghosts` with the mode fullList.
---@param syncIdOrName integer|tureen.SyncName
---@param options { level: string?, repair: boolean?, max: integer? }?
---@param success (fun(result: tureen.VerifyResult): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(syncIdOrName: integer|tureen.SyncName, success: (fun(result: tureen.VerifyResult): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, options: { level: string?, repair: boolean?, max: integer? }?, success: (fun(result: tureen.VerifyResult): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, success: (fun(result: tureen.VerifyResult): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.verifySync(syncIdOrName, options, success, failure) end

--- Stops a running sync at its next page or batch.
---@param syncIdOrName integer|tureen.SyncName
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.cancelSync(syncIdOrName, success, failure) end

--- Saves a sync down without running it.
---@param target table
---@param soupName tureen.SoupName
---@param options tureen.SyncOptions?
---@param syncName tureen.SyncName?
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(target: table, soupName: tureen.SoupName, options: tureen.SyncOptions?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(target: table, soupName: tureen.SoupName, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: table, soupName: tureen.SoupName, options: tureen.SyncOptions?, syncName: tureen.SyncName?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: table, soupName: tureen.SoupName, options: tureen.SyncOptions?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: table, soupName: tureen.SoupName, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.createSyncDown(target, soupName, options, syncName, success, failure) end

--- Saves a sync up without running it.
---@param target tureen.SyncUpTarget?
---@param soupName tureen.SoupName
---@param options tureen.SyncOptions
---@param syncName tureen.SyncName?
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(target: tureen.SyncUpTarget?, soupName: tureen.SoupName, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(soupName: tureen.SoupName, options: tureen.SyncOptions, syncName: tureen.SyncName?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(soupName: tureen.SoupName, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: tureen.SyncUpTarget?, soupName: tureen.SoupName, options: tureen.SyncOptions, syncName: tureen.SyncName?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, target: tureen.SyncUpTarget?, soupName: tureen.SoupName, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, options: tureen.SyncOptions, syncName: tureen.SyncName?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, options: tureen.SyncOptions, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.createSyncUp(target, soupName, options, syncName, success, failure) end

--- Returns whether a saved sync with this name exists.
---@param syncName tureen.SyncName
---@param success (fun(isThere: boolean): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncName: tureen.SyncName, success: (fun(isThere: boolean): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.hasSyncWithName(syncName, success, failure) end

--- Refuses new syncs and stops running ones at their next page or batch.
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.stop(success, failure) end

--- Returns whether a sync is still running after stop.
---@param success (fun(isStopping: boolean): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(isStopping: boolean): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.isStopping(success, failure) end

--- Returns whether all syncs have ended after stop.
---@param success (fun(isStopped: boolean): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(isStopped: boolean): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.isStopped(success, failure) end

--- Accepts syncs again after stop.
---@param options {restartStopped: boolean?}?
---@param success (fun(states: tureen.SyncState[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(states: tureen.SyncState[]): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, options: {restartStopped: boolean?}?, success: (fun(states: tureen.SyncState[]): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(states: tureen.SyncState[]): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.restart(options, success, failure) end

--- Fetches the description of a type and caches it in the soup sfdcMetadata.
---@param sobjectType string
---@param fetchMode ("CACHE_ONLY"|"CACHE_FIRST"|"SERVER_FIRST")?
---@param success (fun(metadata: table|lightuserdata): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(sobjectType: string, success: (fun(metadata: table|lightuserdata): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, sobjectType: string, fetchMode: ("CACHE_ONLY"|"CACHE_FIRST"|"SERVER_FIRST")?, success: (fun(metadata: table|lightuserdata): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, sobjectType: string, success: (fun(metadata: table|lightuserdata): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.fetchMetadata(sobjectType, fetchMode, success, failure) end

--- Fetches the user's layout of a type and caches it in the soup sfdcLayouts.
---@param layout {sobjectType: string, formFactor: string?, layoutType: string?, mode: string?, recordTypeId: string?}
---@param fetchMode ("CACHE_ONLY"|"CACHE_FIRST"|"SERVER_FIRST")?
---@param success (fun(layout: table|lightuserdata): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(layout: {sobjectType: string, formFactor: string?, layoutType: string?, mode: string?, recordTypeId: string?}, success: (fun(layout: table|lightuserdata): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, layout: {sobjectType: string, formFactor: string?, layoutType: string?, mode: string?, recordTypeId: string?}, fetchMode: ("CACHE_ONLY"|"CACHE_FIRST"|"SERVER_FIRST")?, success: (fun(layout: table|lightuserdata): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, layout: {sobjectType: string, formFactor: string?, layoutType: string?, mode: string?, recordTypeId: string?}, success: (fun(layout: table|lightuserdata): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.fetchLayout(layout, fetchMode, success, failure) end

--- Lists the unresolved conflicts: entries that both sides changed.
---@param filter {soupName: string?, entryId: integer?, syncId: integer?, syncName: string?, run: integer?}?
---@param success (fun(conflicts: tureen.SyncConflict[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(conflicts: tureen.SyncConflict[]): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, filter: {soupName: string?, entryId: integer?, syncId: integer?, syncName: string?, run: integer?}?, success: (fun(conflicts: tureen.SyncConflict[]): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(conflicts: tureen.SyncConflict[]): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.getConflicts(filter, success, failure) end

--- Resolves a conflict. The next sync up sends the remaining local changes.
---@param conflict {soupName: string, entryId: integer, resolution: "local"|"server"|nil, record: table?}
---@param success (fun(entry: table|lightuserdata): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, conflict: {soupName: string, entryId: integer, resolution: "local"|"server"|nil, record: table?}, success: (fun(entry: table|lightuserdata): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.resolveConflict(conflict, success, failure) end

--- Returns what the home holds: org and user, and each store with its soups, what waits in them, and its syncs with
--- their last runs. Changes nothing and sends no request; a sync whose process died is ABANDONED here and stays as it
--- is.
---@param success (fun(overview: tureen.Overview): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(overview: tureen.Overview): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.getOverview(success, failure) end

--- Lists the entries with changes that the server lacks: why each one is not there yet, and what ends that. Changes
--- nothing.
---@param filter {soupName: string?, state: string?, run: integer?, withValues: boolean?}?
---@param success (fun(entries: tureen.DirtyEntry[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(entries: tureen.DirtyEntry[]): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, filter: {soupName: string?, state: string?, run: integer?, withValues: boolean?}?, success: (fun(entries: tureen.DirtyEntry[]): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(entries: tureen.DirtyEntry[]): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.getDirtyEntries(filter, success, failure) end

--- Drops local changes, all in one transaction: an entry becomes what the server is known to have, and a deletion is
--- taken back. Entries stay while an upload of them has no answer or a sync of the soup runs.
---@param soupName tureen.SoupName
---@param entryIds integer[]
---@param options {fields: string[]?, created: boolean?}?
---@param success (fun(result: {discarded: table[], kept: table[]}): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(soupName: tureen.SoupName, entryIds: integer[], success: (fun(result: {discarded: table[], kept: table[]}): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entryIds: integer[], options: {fields: string[]?, created: boolean?}?, success: (fun(result: {discarded: table[], kept: table[]}): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entryIds: integer[], success: (fun(result: {discarded: table[], kept: table[]}): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.discardChanges(soupName, entryIds, options, success, failure) end

--- Lists what the runs of syncs did, as the store's history has it: the result, who ran them and what they cost; of one
--- run also its requests, steps and records. Changes nothing; a run whose process died is ABANDONED here and stays as
--- it is.
---@param filter {syncName: string?, syncId: integer?, since: integer?, failed: boolean?, run: integer?, requests: boolean?, before: integer?, limit: integer?}?
---@param success (fun(list: tureen.RunList): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(list: tureen.RunList): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, filter: {syncName: string?, syncId: integer?, since: integer?, failed: boolean?, run: integer?, requests: boolean?, before: integer?, limit: integer?}?, success: (fun(list: tureen.RunList): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(list: tureen.RunList): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.getRuns(filter, success, failure) end

--- Says what a sync up would send, entry by entry and request by request, and changes nothing. It asks the server only
--- with server.
---@param syncIdOrName integer|tureen.SyncName
---@param options {server: boolean?, maxRequests: integer?}?
---@param success (fun(plan: tureen.SyncPlan): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(syncIdOrName: integer|tureen.SyncName, success: (fun(plan: tureen.SyncPlan): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, options: {server: boolean?, maxRequests: integer?}?, success: (fun(plan: tureen.SyncPlan): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, success: (fun(plan: tureen.SyncPlan): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.planSync(syncIdOrName, options, success, failure) end

--- Sends what a plan says, as far as its entries are still as the plan saw them; others are left out, with a warning. A
--- plan is applied once.
---@param plan tureen.SyncPlan
---@param options {allOrNothing: boolean?}?
---@param success (fun(sync: tureen.SyncState): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(plan: tureen.SyncPlan, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, plan: tureen.SyncPlan, options: {allOrNothing: boolean?}?, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, plan: tureen.SyncPlan, success: (fun(sync: tureen.SyncState): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.applyPlan(plan, options, success, failure) end

--- Says why an entry looks as it does, and what the next sync up does with it. Also what happened to it, and where the
--- value of each field comes from. Changes nothing. It asks the server only with server.
---@param soupName tureen.SoupName
---@param entryIdOrRecordId integer|string
---@param options {server: boolean?}?
---@param success (fun(told: tureen.EntryExplanation): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(soupName: tureen.SoupName, entryIdOrRecordId: integer|string, success: (fun(told: tureen.EntryExplanation): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entryIdOrRecordId: integer|string, options: {server: boolean?}?, success: (fun(told: tureen.EntryExplanation): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entryIdOrRecordId: integer|string, success: (fun(told: tureen.EntryExplanation): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.explainEntry(soupName, entryIdOrRecordId, options, success, failure) end

--- Saves the named syncs of usersyncs.json that are missing from the signed-in user's store or differ there. The first
--- use of the store does the same.
---@param success (fun(syncs: string[]): any)?  the syncs that the file names
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function mobilesync.setupUserSyncsFromDefaultConfig(success, failure) end

--- Does the same with globalsyncs.json and the store that all users share.
---@param success (fun(syncs: string[]): any)?  the syncs that the file names
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function mobilesync.setupGlobalSyncsFromDefaultConfig(success, failure) end

--- Stores a new entry that the next sync up creates on the server: with `attributes.type`, the flags of a created entry
--- and, if the fields have no id, a local id.
---@param soupName tureen.SoupName
---@param sobjectType string  the type's name, such as "Contact"
---@param fields table
---@param idField string?  the target's idFieldName; default "Id"
---@param success (fun(entry: table): any)?  the entry as stored
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(soupName: tureen.SoupName, sobjectType: string, fields: table, success: (fun(entry: table): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, sobjectType: string, fields: table, idField: string?, success: (fun(entry: table): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, sobjectType: string, fields: table, success: (fun(entry: table): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.newRecord(soupName, sobjectType, fields, idField, success, failure) end

--- Stores an entry with changes and marks it: the next sync up sends it.
---@param soupName tureen.SoupName
---@param entry table  the entry as read from the soup, with its _soupEntryId; the table is not changed
---@param changes table?  the fields to set
---@param success (fun(entry: table): any)?  the entry as stored
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(soupName: tureen.SoupName, entry: table, success: (fun(entry: table): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entry: table, changes: table?, success: (fun(entry: table): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entry: table, success: (fun(entry: table): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.markUpdated(soupName, entry, changes, success, failure) end

--- Marks an entry as deleted: the next sync up deletes it on the server and then locally. It only removes an entry that
--- was created locally.
---@param soupName tureen.SoupName
---@param entry table  the entry as read from the soup, with its _soupEntryId
---@param success (fun(entry: table): any)?  the entry as stored
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entry: table, success: (fun(entry: table): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.markDeleted(soupName, entry, success, failure) end

--- Undoes markUpdated and markDeleted: the next sync up skips the entry. An entry that was created locally stays
--- marked. The fields keep their local values until a sync down fetches the record.
---@param soupName tureen.SoupName
---@param entry table  the entry as read from the soup, with its _soupEntryId
---@param success (fun(entry: table): any)?  the entry as stored
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entry: table, success: (fun(entry: table): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function mobilesync.unmark(soupName, entry, success, failure) end

--- Registers the function behind `options.resolver` of syncs with mergeMode MERGE. It gets a conflict and returns the
--- record to keep, "local", "server", or "skip" or nil to leave the conflict; it may await. nil removes the function.
---@param name string
---@param resolver (fun(conflict: tureen.SyncConflict): table|string|nil)?
function mobilesync.registerResolver(name, resolver) end

--- Returns an iterator over the pages of a sync down with `maxPages`, for a task: each step runs the sync for that many
--- pages and returns its state.
---@param syncIdOrName integer|tureen.SyncName
---@return fun(): tureen.SyncState? next
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName): fun(): tureen.SyncState?
function mobilesync.pages(syncIdOrName) end

--- Calls a function with the state at each change of a sync. With `grace` it follows the progress bar of `tureen run`:
--- no call in the first `options.graceMs` of a run, then at most five a second and one at the end; a failure is always
--- reported. Returns a function that stops the calls.
---@param syncIdOrName integer|tureen.SyncName
---@param fn fun(state: tureen.SyncState)
---@param options { grace: boolean? }?
---@return fun() stop
---@overload fun(storeConfig: boolean|tureen.StoreConfig, syncIdOrName: integer|tureen.SyncName, fn: fun(state: tureen.SyncState), options: { grace: boolean? }?): fun()
function mobilesync.onProgress(syncIdOrName, fn, options) end

--- Registers the function behind the key `transform` of targets `{type = "rest"}`: it gets an item and returns it with
--- its computed fields, or nil to leave it out. If none is registered, `module.name` is the function `name` of that
--- module.
---@param name string
---@param transform (fun(item: table): table?)?
function mobilesync.registerTransform(name, transform) end

--- Registers the functions behind targets `{type = "custom", luaImpl = name}`; nil removes them.
---@param name string
---@param implementation tureen.CustomTarget?
function mobilesync.registerTarget(name, implementation) end

--- The arguments of tureen.network.sendRequest in its first form.
---@class tureen.RequestOptions
---@field endPoint string?  the prefix of the path, such as "/services/data"
---@field path string  the path, or a full https:// URL
---@field method string?  default GET
---@field queryParams table|string|nil  the query of GET, DELETE and HEAD, the JSON body of other methods; with body, the query of every method
---@field body table|string|nil  the body: a table as JSON, a string as it is
---@field headerParams table?
---@field fileParams table?  {part = {fileUrl, fileMimeType?, fileName?}}: the body becomes multipart
---@field returnBinary boolean?  success gets {encodedBody, contentType}
---@field doesNotRequireAuthentication boolean?  true: without the org's token or the connection's authorization
---@field expects "any"|"json"|"nothing"|"jsonOrNothing"|nil  the body that a successful answer must have; with another one the call fails with invalidBody
---@field connection string?  a name of connections.json instead of the org
---@field cache "default"|"revalidate"|"reload"|"bypass"|"offline"|nil  the mode of the connection's response cache
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

--- The session: the signed-in user and its tokens.
---@class tureen.oauth
local oauth = {}

--- Returns the session in use.
---@param success (fun(credentials: tureen.Credentials): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function oauth.getAuthCredentials(success, failure) end

--- Signs in. A user who is already signed in gets a new token.
---@param success (fun(credentials: tureen.Credentials): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function oauth.authenticate(success, failure) end

--- Ends the session. Requests fail until authenticate is called. Tureen asks the login host once to revoke the token;
--- if the host is unreachable, Tureen logs that, and the token stays valid until it expires. Stores stay.
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function oauth.logoutCurrentUser(success, failure) end

--- Returns the start page of an app.
---@param success (fun(url: string): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function oauth.getAppHomeUrl(success, failure) end

--- Does the same as logoutCurrentUser.
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function oauth.logout(success, failure) end

---@alias tureen.parse.Signed number

--- A condition of a query.
---@class tureen.parse.Condition
---@field where table  the condition in the server's form

--- The options of calls that read or save.
---@class tureen.parse.Options
---@field cacheMode string?  a value of CACHE_MODE; by default the class's, else server-only
---@field include string[]|string|nil  pointer columns whose objects to fetch too
---@field keys string[]|string|nil  only these columns
---@field order string[]|string|nil  columns to sort by, with - before descending ones
---@field limit integer?
---@field skip integer?

--- The settings of a class.
---@class tureen.parse.Settings
---@field connection string?  a name of connections.json
---@field soup string?  the soup that holds its objects; required by every cache mode except server-only
---@field storeConfig tureen.StoreConfig?  the store of the soup
---@field relations table<string, {className: string?, linkSoup: string?, idsField: string?}>|nil  by relation column: the class of its targets, and where the links are kept: rows in a soup, or a list of ids in the record
---@field clientKeyField string?  a column for an id by which a create with a lost answer can be found
---@field cacheMode string?
---@field validate table<string, fun(value: any, object: tureen.parse.Object): string?>|nil  hooks by field, each of which returns a message if the value is wrong; or one function(object) that returns the messages by field

--- A class; called with fields it makes a new object.
---@class tureen.parse.Class: tureen.parse.Object

--- An object of a class.
---@class tureen.parse.Object
---@field className string
---@field objectId string?  nil if the object is new
---@field localId string?  the id of a new object
---@field fields table<string, any>  the fields as the server has them, with all changes that are not saved yet; read them with get
local Object = {}

--- A relation of an object. Added and removed links are sent with the next save of the object.
---@class tureen.parse.Relation
local Relation = {}

--- A query, built step by step.
---@class tureen.parse.Query
local Query = {}

--- Objects of a Parse server: classes, queries, relations, atomic operations, users; from the server or from soups.
---@class tureen.parse
---@field CACHE_MODE {CACHE_ONLY: string, CACHE_FIRST: string, SERVER_ONLY: string, SERVER_FIRST: string}
---@field Object tureen.parse.Object  settings of all classes
local parse = {}

--- Creates a class, or returns the existing one; settings change the keys they contain.
---@param name string
---@param settings tureen.parse.Settings?
---@return tureen.parse.Class
function parse.class(name, settings) end

--- Names the connection of classes that have none of their own; "default" until then.
---@param name string
function parse.use(name) end

--- Makes a date from seconds since 1970, or from a time in ISO 8601.
---@param time tureen.parse.Signed|string
---@return table
function parse.date(time) end

--- Makes a point on the earth from a latitude and a longitude in degrees.
---@param latitude tureen.parse.Signed
---@param longitude tureen.parse.Signed
---@return table
function parse.geoPoint(latitude, longitude) end

--- Makes a polygon; its last corner is joined to the first.
---@param corners table[]  at least three geoPoints
---@return table
function parse.polygon(corners) end

--- Makes a file. A save or a sync uploads it before the object that holds it.
---@param name string
---@param content string  the file's bytes
---@param contentType string?  the content type, such as image/jpeg; by default derived from common file name extensions
---@return table
function parse.file(name, content, contentType) end

--- Finds objects of a class, 100 unless a limit is set.
---@param className string
---@param condition tureen.parse.Condition?
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object[]): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(className: string, condition: tureen.parse.Condition?, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
---@overload fun(className: string, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
function parse.find(className, condition, options, success, failure) end

--- Finds the first object.
---@param className string
---@param condition tureen.parse.Condition?
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object): any)?  tureen.null if there is none
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(className: string, condition: tureen.parse.Condition?, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
---@overload fun(className: string, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function parse.first(className, condition, options, success, failure) end

--- Counts the objects.
---@param className string
---@param condition tureen.parse.Condition?
---@param options tureen.parse.Options?
---@param success (fun(value: integer): any)?
---@param failure tureen.Failure?
---@return integer|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(className: string, condition: tureen.parse.Condition?, success: (fun(value: integer): any)?, failure: tureen.Failure?): integer|nil, tureen.Error
---@overload fun(className: string, success: (fun(value: integer): any)?, failure: tureen.Failure?): integer|nil, tureen.Error
function parse.count(className, condition, options, success, failure) end

--- Finds every match, however many there are.
---@param className string
---@param condition tureen.parse.Condition?
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object[]): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(className: string, condition: tureen.parse.Condition?, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
---@overload fun(className: string, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
function parse.findAll(className, condition, options, success, failure) end

--- Finds objects in the soup of their class, without the server.
---@param className string
---@param condition tureen.parse.Condition?
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object[]): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(className: string, condition: tureen.parse.Condition?, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
---@overload fun(className: string, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
function parse.findInSoup(className, condition, options, success, failure) end

--- Fetches one object.
---@param className string
---@param objectId string
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(className: string, objectId: string, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function parse.fetch(className, objectId, options, success, failure) end

--- Saves objects and all new objects that they refer to, referenced objects first.
---@param objects tureen.parse.Object[]
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object[]): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(objects: tureen.parse.Object[], success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
function parse.saveAll(objects, options, success, failure) end

--- Deletes an object. It is not an error if the object is already gone.
---@param className string
---@param objectId string
---@param options tureen.parse.Options?
---@param success (fun(value: string): any)?  OK
---@param failure tureen.Failure?
---@return string|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(className: string, objectId: string, success: (fun(value: string): any)?, failure: tureen.Failure?): string|nil, tureen.Error
function parse.delete(className, objectId, options, success, failure) end

--- Creates a user. The connection then acts as that user.
---@param fields table  at least username and password
---@param options {connection: string?}?
---@param success (fun(value: tureen.parse.Object): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(fields: table, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function parse.signUp(fields, options, success, failure) end

--- Signs a user in. The connection then acts as that user, also in syncs and later runs.
---@param username string
---@param password string
---@param options {connection: string?}?
---@param success (fun(value: tureen.parse.Object): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(username: string, password: string, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function parse.logIn(username, password, options, success, failure) end

--- Ends the session. The connection then acts as no user.
---@param options {connection: string?}?
---@param success (fun(value: string): any)?  OK
---@param failure tureen.Failure?
---@return string|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(success: (fun(value: string): any)?, failure: tureen.Failure?): string|nil, tureen.Error
function parse.logOut(options, success, failure) end

--- Fetches the user that the connection acts as.
---@param options {connection: string?}?
---@param success (fun(value: tureen.parse.Object): any)?  tureen.null if the connection acts as no user
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
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

--- The list holds only these values.
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

--- The text matches a regular expression in the syntax of PCRE2, as the server's. In a soup it needs `libpcre2-8`,
--- which Debian installs with grep; a search that takes more than a second fails.
---@param field string
---@param pattern string
---@param options string?  any of the letters imxs
---@return tureen.parse.Condition
function parse.matches(field, pattern, options) end

--- The text contains this text.
---@param field string
---@param text string
---@return tureen.parse.Condition
function parse.contains(field, text) end

--- The text begins with this text.
---@param field string
---@param text string
---@return tureen.parse.Condition
function parse.startsWith(field, text) end

--- The text ends with this text.
---@param field string
---@param text string
---@return tureen.parse.Condition
function parse.endsWith(field, text) end

--- The objects that a relation of `parent` leads to; the query is of their class.
---@param parent tureen.parse.Object
---@param key string
---@return tureen.parse.Condition
function parse.relatedTo(parent, key) end

--- The pointer leads to an object that another query finds.
---@param field string
---@param query tureen.parse.Query
---@return tureen.parse.Condition
function parse.matchesQuery(field, query) end

--- The pointer leads to no object that another query finds.
---@param field string
---@param query tureen.parse.Query
---@return tureen.parse.Condition
function parse.doesNotMatchQuery(field, query) end

--- The column equals the column `key` of an object that another query finds.
---@param field string
---@param key string  the column of the other class
---@param query tureen.parse.Query
---@return tureen.parse.Condition
function parse.matchesKeyInQuery(field, key, query) end

--- The column does not equal the column `key` of any object that another query finds.
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

--- The point lies in the box between two opposite corners.
---@param field string
---@param southwest table  a geoPoint
---@param northeast table  a geoPoint
---@return tureen.parse.Condition
function parse.withinGeoBox(field, southwest, northeast) end

--- The point lies in a polygon, whose last corner is joined to the first.
---@param field string
---@param corners table[]  at least three geoPoints
---@return tureen.parse.Condition
function parse.withinPolygon(field, corners) end

--- The polygon contains a point.
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

--- Returns a field, or a part of one by a path with dots; nil if it is not known. Pointers are objects.
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

--- Adds to a number on the server, even if it has changed there meanwhile.
---@param name string
---@param amount number?  default 1
---@return tureen.parse.Object
function Object:increment(name, amount) end

--- Appends a value, or each of an array, to a list.
---@param name string
---@param value any
---@return tureen.parse.Object
function Object:add(name, value) end

--- Appends a value, or each of an array, unless the list has it.
---@param name string
---@param value any
---@return tureen.parse.Object
function Object:addUnique(name, value) end

--- Removes a value, or each of an array, from a list.
---@param name string
---@param value any
---@return tureen.parse.Object
function Object:remove(name, value) end

--- Returns a relation of the object.
---@param key string
---@return tureen.parse.Relation
function Object:relation(key) end

--- Returns whether the server does not have the object yet.
---@return boolean
function Object:isNew() end

--- Returns whether a save has something to send.
---@return boolean
function Object:isDirty() end

--- Returns a pointer to the object, in the server's form.
---@return table
function Object:toPointer() end

--- Returns the fields with the id, in the server's form.
---@return table
function Object:toTable() end

--- Returns the mistakes that the hooks of the class found, by field; nil if there are none.
---@return table<string, string>?
function Object:validate() end

--- Saves the object with all new objects that it points to.
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: tureen.parse.Object, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function Object:save(options, success, failure) end

--- Fetches the object again.
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: tureen.parse.Object, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function Object:fetch(options, success, failure) end

--- Deletes the object. It is not an error if it is already gone.
---@param options tureen.parse.Options?
---@param success (fun(value: string): any)?  OK
---@param failure tureen.Failure?
---@return string|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
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
---@param class tureen.parse.Class?  optional if `relations` of the class names it
---@return tureen.parse.Query
function Relation:query(class) end

--- Adds conditions; all of them must hold.
---@param ... tureen.parse.Condition
---@return tureen.parse.Query
function Query:where(...) end

--- Also fetches the objects that pointer columns lead to.
---@param ... string
---@return tureen.parse.Query
function Query:include(...) end

--- Sorts by columns, with - before descending ones.
---@param ... string
---@return tureen.parse.Query
function Query:order(...) end

--- Fetches only these columns.
---@param ... string
---@return tureen.parse.Query
function Query:select(...) end

--- Sets the maximum number of objects; default 100.
---@param number integer
---@return tureen.parse.Query
function Query:limit(number) end

--- Skips this many objects.
---@param number integer
---@return tureen.parse.Query
function Query:skip(number) end

--- Finds the objects.
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object[]): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: tureen.parse.Query, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
function Query:find(options, success, failure) end

--- Finds every match, however many there are.
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object[]): any)?
---@param failure tureen.Failure?
---@return tureen.parse.Object[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: tureen.parse.Query, success: (fun(value: tureen.parse.Object[]): any)?, failure: tureen.Failure?): tureen.parse.Object[]|nil, tureen.Error
function Query:findAll(options, success, failure) end

--- Finds the first object.
---@param options tureen.parse.Options?
---@param success (fun(value: tureen.parse.Object): any)?  tureen.null if there is none
---@param failure tureen.Failure?
---@return tureen.parse.Object|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: tureen.parse.Query, success: (fun(value: tureen.parse.Object): any)?, failure: tureen.Failure?): tureen.parse.Object|nil, tureen.Error
function Query:first(options, success, failure) end

--- Counts the objects.
---@param options tureen.parse.Options?
---@param success (fun(value: integer): any)?
---@param failure tureen.Failure?
---@return integer|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
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

--- The functions of tureen.mobilesync, each with a store config as its first argument. syncDown, syncUp and reSync call
--- back once: success if the sync is DONE, error if it FAILED, cannot start or was STOPPED (code `stopped`).
---@class tureen.react_mobilesync: tureen.mobilesync
local react_mobilesync = {}

--- The REST functions of tureen.force, with the differences of the React Native variant.
---@class tureen.react_net: tureen.force
local react_net = {}

--- Sets the version of the REST API, for the whole of tureen.force.
---@param version string  such as "v66.0"
function react_net.setApiVersion(version) end

--- Returns the version of the REST API.
---@return string
function react_net.getApiVersion() end

--- Calls tureen.network.sendRequest, with the model's ten positional parameters or a table.
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
---@return "OK"|nil ok  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function react_net.update(sobjectType, id, fields, success, failure) end

--- The functions of tureen.smartstore, each with a store config as its first argument.
---@class tureen.react_smartstore: tureen.smartstore
local react_smartstore = {}

--- Turns functions with callbacks into functions that wait, for use inside a task.
---@class tureen.react_util
local react_util = {}

--- Returns a function that awaits `fn(..., success, error)` and returns the value, or nil and the error.
---@param fn function
---@return fun(...: any): any, tureen.Error
function react_util.promiser(fn) end

--- Does the same, but the function never fails: it returns the value, or the error in its place.
---@param fn function
---@return fun(...: any): any
function react_util.promiserNoRejection(fn) end

--- Waits for some milliseconds, as tureen.sleep does.
---@param ms number
---@return true? done
---@return tureen.Error err  nil on success
function react_util.timeoutPromiser(ms) end

--- When a change becomes visible, with the current time stamps: after a number of data calls, or when the org's clock
--- has advanced far enough.
---@class tureen.sandbox.Moment
---@field requests integer?
---@field seconds integer?

--- A fault: its kind with the kind's parameters, when it happens, and for which requests. bridge-spec/sandbox/README.md
--- lists the kinds.
---@class tureen.sandbox.Rule
---@field kind string
---@field nth integer|integer[]|nil  the n-th matching request, counted from 1
---@field every integer?  every k-th
---@field first integer?  the first n
---@field after integer?  all but the first n
---@field probability number?  0 to 1, drawn from the seed
---@field path string?  such as "/services/data/**" or "composite/sobjects"
---@field method string?
---@field host string?
---@field session string?  an access token, or its mark in the log
---@field contains string?  text in the query or the body
---@field times integer?  the maximum number of times that the fault happens

--- Control of the embedded sandbox org. Works under `tureen run`; elsewhere every call fails with `unknownService`.
---@class tureen.sandbox
local sandbox = {}

--- Creates a record as another client would. Returns its id, or "OK" if it becomes visible later.
---@param type string
---@param fields table
---@param after tureen.sandbox.Moment?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(type: string, fields: table, success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.create(type, fields, after, success, failure) end

--- Changes a record as another client would.
---@param type string
---@param id string
---@param fields table
---@param after tureen.sandbox.Moment?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(type: string, id: string, fields: table, success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.update(type, id, fields, after, success, failure) end

--- Deletes a record as another client would.
---@param type string
---@param id string
---@param after tureen.sandbox.Moment?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(type: string, id: string, success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.delete(type, id, after, success, failure) end

--- Returns the records of a query, without a session and without faults; for SELECT COUNT() their number.
---@param soql string
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sandbox.query(soql, success, failure) end

--- Stores a copy of the org's data in memory; the default name is "default".
---@param name string?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.snapshot(name, success, failure) end

--- Restores the org's data from a copy. Clients stay signed in.
---@param name string?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.restore(name, success, failure) end

--- Resets the org and the forge to their initial data. The Parse server becomes empty, or gets its initial data with
--- `seed`. Clients of the org stay signed in.
---@param seed boolean?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.reset(seed, success, failure) end

--- Adds a fault rule, or several; returns its id, or a list of ids.
---@param rule tureen.sandbox.Rule|{rules: tureen.sandbox.Rule[]}
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sandbox.addFault(rule, success, failure) end

--- Removes a rule; returns whether it existed.
---@param id integer
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sandbox.removeFault(id, success, failure) end

--- Lists the rules and the seed.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sandbox.faults(success, failure) end

--- Removes all rules.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sandbox.clearFaults(success, failure) end

--- Restarts the counts of all rules and the random numbers.
---@param seed integer?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.resetFaults(seed, success, failure) end

--- Lists every kind of fault with its parameters.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sandbox.faultKinds(success, failure) end

--- Lists the requests that the org received, oldest first.
---@param filter {since: integer?, method: string?, path: string?, fault: string?}?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.requests(filter, success, failure) end

--- Clears the log of requests.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sandbox.clearRequests(success, failure) end

--- Reads, moves or holds the org's clock, in seconds since 1970 UTC.
---@param change {hold: boolean?, advance: integer?, set: integer?}?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.clock(change, success, failure) end

--- Changes settings of the forge beside the org and returns all of them, its url and its tokens.
---@param settings table?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.forge(settings, success, failure) end

--- Changes settings of the Parse server beside the org and returns all of them, its url, application id and keys.
---@param settings table?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.parse(settings, success, failure) end

--- Ends every access token.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sandbox.expireSessions(success, failure) end

--- Expires every open query locator.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sandbox.expireLocators(success, failure) end

--- Revokes one token.
---@param token string
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sandbox.revokeToken(token, success, failure) end

--- Moves the org to another port; the old one refuses data requests: "refused", "urlNotReset" or "closed".
---@param change {old: string?}?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.migrate(change, success, failure) end

--- Gives the org a new id and ends all tokens and approvals, as the refresh of a Salesforce sandbox does.
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sandbox.refreshOrg(success, failure) end

--- Lets the token resource redirect to "secondPort" or another origin; without `to` it answers again.
---@param change {to: string?, status: integer?}?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.redirectTokens(change, success, failure) end

--- Refuses a user or a client for its address, or with `restricted = false` no longer.
---@param change {user: string?, client: string?, restricted: boolean?}
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sandbox.restrictAddress(change, success, failure) end

--- Lists the sign-ins, oldest first, each with time, user, client, grant and result.
---@param filter {since: integer?}?
---@param success (fun(payload: any): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(payload: any): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sandbox.signIns(filter, success, failure) end

--- Describes this core and its features.
---@class tureen.sdkinfo
local sdkinfo = {}

--- Describes this core and its features.
---@param success (fun(info: tureen.SDKInfo): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sdkinfo.getInfo(success, failure) end

--- Declares that the script uses a feature; the User-Agent contains the code.
---@param feature string
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sdkinfo.registerAppFeature(feature, success, failure) end

--- Removes a declared feature.
---@param feature string
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sdkinfo.unregisterAppFeature(feature, success, failure) end

--- The arguments of startLogin.
---@class tureen.LoginOptions
---@field org string?  the name under which the home keeps the org, or its address
---@field loginUrl string?  the login address
---@field clientId string?  the app's consumer key
---@field user string?  the name of the user who has to sign in
---@field redirectUri string?  default http://localhost:1717/OauthRedirect
---@field scope string?  scopes separated by spaces
---@field prompt "none"|"login"|"consent"|"select_account"|nil
---@field listen boolean?  whether the browser is on this machine
---@field newOrg boolean?  whether the name may now stand for another org

--- The accounts of the home, and the current one.
---@class tureen.sfaccountmanager
local sfaccountmanager = {}

--- Lists the accounts of the home that have a session, the current one first.
---@param success (fun(accounts: tureen.Account[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sfaccountmanager.getUsers(success, failure) end

--- Returns the current user.
---@param success (fun(account: tureen.Account|lightuserdata): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sfaccountmanager.getCurrentUser(success, failure) end

--- Ends the session of an account, by default of the current one. If it was the current one, no user is current
--- afterwards. Stores stay.
---@param user {userId: string, orgId: string}?
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sfaccountmanager.logout(user, success, failure) end

--- Makes another account of the home the current one. Earlier calls are answered first, as the previous user; running
--- syncs end STOPPED after their page, and are cancelled after 30 seconds; the user's cursors close and its observers
--- end with {"closed": "userSwitched"}; then the event userSwitched is sent, and later calls run as the new user.
--- Global stores keep their cursors and observers. Nothing is resumed after switching back: call reSync.
---@param user {userId: string, orgId: string}?
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sfaccountmanager.switchToUser(user, success, failure) end

--- Lists the users of the orgs in the home with the state of their sign-ins. Sends no request.
---@param success (fun(orgs: tureen.OrgAccount[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sfaccountmanager.getOrgs(success, failure) end

--- Asks the org who the signed-in user is. If there is no session, it signs in first, without a person.
---@param success (fun(identity: tureen.Identity): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sfaccountmanager.getIdentity(success, failure) end

--- Returns how many API calls the org has used, from the newest answer that a process of this home received. Sends no
--- request.
---@param success (fun(usage: tureen.ApiUsage|lightuserdata): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sfaccountmanager.getUsage(success, failure) end

--- Starts the sign-in of a person and returns the address to open in a browser. A host has at most one open sign-in,
--- which ends after 300 seconds.
---@param options tureen.LoginOptions?
---@param success (fun(login: tureen.Login): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(success: (fun(login: tureen.Login): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sfaccountmanager.startLogin(options, success, failure) end

--- Waits for the person, then exchanges the code and stores the session under the home, either completely or not at
--- all. Several calls get the same answer; cancelling one ends the sign-in.
---@param id string  the id that startLogin returned
---@param url string?  the address that the browser was redirected to
---@param success (fun(account: tureen.LoginAccount): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(id: string, success: (fun(account: tureen.LoginAccount): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function sfaccountmanager.finishLogin(id, url, success, failure) end

--- Cancels a sign-in and releases its port. Does nothing if the sign-in has ended.
---@param id string  the id that startLogin returned
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function sfaccountmanager.cancelLogin(id, success, failure) end

--- A record of a query with `lazy = true`: a field is parsed when it is read, and a nested object is a record, too. It
--- cannot be changed. A field hides a method of the same name. The record keeps the text of its whole page in memory.
---@class tureen.Record: userdata
---@field [string] any
local Record = {}

--- Receives changes until it is closed. You need not keep a reference to it.
---@class tureen.Observer
local Observer = {}

--- The store: soups, entries, queries, cursors.
---@class tureen.smartstore
local smartstore = {}

--- Creates a soup. An existing soup stays as it is.
---@param soupName tureen.SoupName
---@param indexSpecs tureen.SoupIndexSpec[]
---@param success (fun(soupName: string): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, indexSpecs: tureen.SoupIndexSpec[], success: (fun(soupName: string): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.registerSoup(soupName, indexSpecs, success, failure) end

--- Returns whether a soup exists.
---@param soupName tureen.SoupName
---@param success (fun(exists: boolean): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, success: (fun(exists: boolean): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.soupExists(soupName, success, failure) end

--- Returns the index specs of a soup.
---@param soupName tureen.SoupName
---@param success (fun(indexSpecs: tureen.SoupIndexSpec[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, success: (fun(indexSpecs: tureen.SoupIndexSpec[]): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.getSoupIndexSpecs(soupName, success, failure) end

--- Changes the index specs of a soup. Readers see either the old soup or the new one, even after a crash.
---@param soupName tureen.SoupName
---@param indexSpecs tureen.SoupIndexSpec[]
---@param reIndexData boolean?
---@param success (fun(soupName: string): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(soupName: tureen.SoupName, indexSpecs: tureen.SoupIndexSpec[], success: (fun(soupName: string): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, indexSpecs: tureen.SoupIndexSpec[], reIndexData: boolean?, success: (fun(soupName: string): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, indexSpecs: tureen.SoupIndexSpec[], success: (fun(soupName: string): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.alterSoup(soupName, indexSpecs, reIndexData, success, failure) end

--- Fills indexes from the entries. Time stamps and versions of the entries stay.
---@param soupName tureen.SoupName
---@param paths tureen.IndexPath[]
---@param success (fun(soupName: string): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, paths: tureen.IndexPath[], success: (fun(soupName: string): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.reIndexSoup(soupName, paths, success, failure) end

--- Removes a soup with its entries. Does nothing if it does not exist.
---@param soupName tureen.SoupName
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.removeSoup(soupName, success, failure) end

--- Removes all entries of a soup.
---@param soupName tureen.SoupName
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.clearSoup(soupName, success, failure) end

--- Inserts or updates entries, all of them or none. `upsertSoupEntriesWithExternalId` passes another path.
---@param soupName tureen.SoupName
---@param entries table[]
---@param success (fun(entries: table[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entries: table[], success: (fun(entries: table[]): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.upsertSoupEntries(soupName, entries, success, failure) end

--- Inserts or updates entries, all of them or none. `upsertSoupEntriesWithExternalId` passes another path.
---@param soupName tureen.SoupName
---@param entries table[]
---@param externalIdPath tureen.IndexPath
---@param success (fun(entries: table[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entries: table[], externalIdPath: tureen.IndexPath, success: (fun(entries: table[]): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.upsertSoupEntriesWithExternalId(soupName, entries, externalIdPath, success, failure) end

--- Edits entries, all of them or none, each as it is stored when the edit is applied. A patch changes only the members
--- that it names.
---@param soupName tureen.SoupName
---@param patches tureen.EntryPatch[]
---@param externalIdPath tureen.IndexPath?
---@param success (fun(edited: (tureen.EditedEntry|lightuserdata)[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(soupName: tureen.SoupName, patches: tureen.EntryPatch[], success: (fun(edited: (tureen.EditedEntry|lightuserdata)[]): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, patches: tureen.EntryPatch[], externalIdPath: tureen.IndexPath?, success: (fun(edited: (tureen.EditedEntry|lightuserdata)[]): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, patches: tureen.EntryPatch[], success: (fun(edited: (tureen.EditedEntry|lightuserdata)[]): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.patchSoupEntries(soupName, patches, externalIdPath, success, failure) end

--- Stores records that a script fetched from a server itself, all of them or none, as a page of a sync down does.
---@param soupName tureen.SoupName
---@param records table[]
---@param mode "OVERWRITE"|"LEAVE_IF_CHANGED"|"MERGE"
---@param options {externalIdPath: string?, modificationDateFieldName: string?, partial: boolean?, kept: string[]?, onlyKnown: boolean?}?
---@param success (fun(merged: (tureen.EditedEntry|lightuserdata)[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(soupName: tureen.SoupName, records: table[], mode: "OVERWRITE"|"LEAVE_IF_CHANGED"|"MERGE", success: (fun(merged: (tureen.EditedEntry|lightuserdata)[]): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, records: table[], mode: "OVERWRITE"|"LEAVE_IF_CHANGED"|"MERGE", options: {externalIdPath: string?, modificationDateFieldName: string?, partial: boolean?, kept: string[]?, onlyKnown: boolean?}?, success: (fun(merged: (tureen.EditedEntry|lightuserdata)[]): any)?, failure: tureen.Failure?): tureen.Call?
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, records: table[], mode: "OVERWRITE"|"LEAVE_IF_CHANGED"|"MERGE", success: (fun(merged: (tureen.EditedEntry|lightuserdata)[]): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.mergeServerRecords(soupName, records, mode, options, success, failure) end

--- Returns entries by their ids. Missing entries are left out.
---@param soupName tureen.SoupName
---@param entryIds integer[]
---@param success (fun(entries: table[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entryIds: integer[], success: (fun(entries: table[]): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.retrieveSoupEntries(soupName, entryIds, success, failure) end

--- Removes entries by their ids, or the entries on the first page of a query. One of the two arguments is required.
---@param soupName tureen.SoupName
---@param entryIdsOrQuerySpec integer[]|tureen.QuerySpec
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entryIdsOrQuerySpec: integer[]|tureen.QuerySpec, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.removeFromSoup(soupName, entryIdsOrQuerySpec, success, failure) end

--- Opens a cursor on a query of one soup: exact, range, like or match.
---@param soupName tureen.SoupName
---@param querySpec tureen.QuerySpec
---@param success (fun(cursor: tureen.Cursor): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, querySpec: tureen.QuerySpec, success: (fun(cursor: tureen.Cursor): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.querySoup(soupName, querySpec, success, failure) end

--- Opens a cursor on a smart SQL statement.
---@param querySpec tureen.QuerySpec
---@param success (fun(cursor: tureen.Cursor): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, querySpec: tureen.QuerySpec, success: (fun(cursor: tureen.Cursor): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.runSmartQuery(querySpec, success, failure) end

--- Returns how the store would run a smart SQL statement, and which soups it would read from the first entry to the
--- last, without running it.
---@param querySpec tureen.QuerySpec
---@param success (fun(plan: tureen.QueryPlan): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, querySpec: tureen.QuerySpec, success: (fun(plan: tureen.QueryPlan): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.getQueryPlan(querySpec, success, failure) end

--- Moves a cursor to another page. `moveCursorToNextPage` and `moveCursorToPreviousPage` call it too.
---@param cursor tureen.Cursor
---@param index integer
---@param success (fun(cursor: tureen.Cursor): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor, index: integer, success: (fun(cursor: tureen.Cursor): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.moveCursorToPageIndex(cursor, index, success, failure) end

--- Moves the cursor to the next page; an error on the last one.
---@param cursor tureen.Cursor
---@param success (fun(cursor: tureen.Cursor): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor, success: (fun(cursor: tureen.Cursor): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.moveCursorToNextPage(cursor, success, failure) end

--- Moves the cursor to the previous page; an error on the first one.
---@param cursor tureen.Cursor
---@param success (fun(cursor: tureen.Cursor): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor, success: (fun(cursor: tureen.Cursor): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.moveCursorToPreviousPage(cursor, success, failure) end

--- Closes a cursor. Does nothing if it is closed.
---@param cursor tureen.Cursor
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.closeCursor(cursor, success, failure) end

--- Reports committed changes until it is closed. You need not keep a reference to the observer; it does not count as
--- pending.
---@param soupNameOrQuerySpec tureen.SoupName|tureen.QuerySpec
---@param callback fun(change: tureen.Change)
---@param error tureen.Failure?
---@return tureen.Observer
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupNameOrQuerySpec: tureen.SoupName|tureen.QuerySpec, callback: fun(change: tureen.Change), error: tureen.Failure?): tureen.Observer
function smartstore.observe(soupNameOrQuerySpec, callback, error) end

--- Closes an observer. Does nothing if it does not exist.
---@param observer tureen.Observer
---@param success (fun(ok: "OK"): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, observer: tureen.Observer, success: (fun(ok: "OK"): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.closeObserver(observer, success, failure) end

--- Returns the size of the store on disk.
---@param success (fun(bytes: integer): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(bytes: integer): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.getDatabaseSize(success, failure) end

--- Removes a store with all its soups. Fails if another process has the store open.
---@param success (fun(done: boolean): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@overload fun(storeConfig: boolean|tureen.StoreConfig, success: (fun(done: boolean): any)?, failure: tureen.Failure?): tureen.Call?
---@nodiscard
function smartstore.removeStore(success, failure) end

--- Registers the soups of userstore.json that are missing from the signed-in user's store. The first use of the store
--- does the same.
---@param success (fun(soups: string[]): any)?  the soups that the file names
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function smartstore.setupUserStoreFromDefaultConfig(success, failure) end

--- Does the same with globalstore.json and the store that all users share.
---@param success (fun(soups: string[]): any)?  the soups that the file names
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function smartstore.setupGlobalStoreFromDefaultConfig(success, failure) end

--- Lists the signed-in user's stores.
---@param success (fun(stores: tureen.StoreConfig[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function smartstore.getAllStores(success, failure) end

--- Lists the shared stores.
---@param success (fun(stores: tureen.StoreConfig[]): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function smartstore.getAllGlobalStores(success, failure) end

--- Removes the signed-in user's stores with all their soups.
---@param success (fun(done: boolean): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function smartstore.removeAllStores(success, failure) end

--- Removes the shared stores with all their soups.
---@param success (fun(done: boolean): any)?
---@param failure tureen.Failure?
---@return tureen.Call? call  for tureen.cancel
---@nodiscard
function smartstore.removeAllGlobalStores(success, failure) end

--- Builds a query for all entries of a soup, ordered by a path.
---@param path tureen.IndexPath?
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param selectPaths tureen.IndexPath[]?
---@return tureen.QuerySpec
function smartstore.buildAllQuerySpec(path, order, pageSize, selectPaths) end

--- Builds a query for entries whose path has this value. Note that the page size comes before the order.
---@param path tureen.IndexPath?
---@param matchKey any
---@param pageSize integer?
---@param order ("ascending"|"descending")?
---@param orderPath tureen.IndexPath?
---@param selectPaths tureen.IndexPath[]?
---@return tureen.QuerySpec
function smartstore.buildExactQuerySpec(path, matchKey, pageSize, order, orderPath, selectPaths) end

--- Builds a query for entries between two values, both included; a missing value means no bound.
---@param path tureen.IndexPath?
---@param beginKey any
---@param endKey any
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param orderPath tureen.IndexPath?
---@param selectPaths tureen.IndexPath[]?
---@return tureen.QuerySpec
function smartstore.buildRangeQuerySpec(path, beginKey, endKey, order, pageSize, orderPath, selectPaths) end

--- Builds a query for entries whose path matches a pattern with the wildcards % and _.
---@param path tureen.IndexPath?
---@param likeKey string?
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param orderPath tureen.IndexPath?
---@param selectPaths tureen.IndexPath[]?
---@return tureen.QuerySpec
function smartstore.buildLikeQuerySpec(path, likeKey, order, pageSize, orderPath, selectPaths) end

--- Builds a full-text query of a path, or of all paths if it is nil.
---@param path tureen.IndexPath?
---@param matchKey any
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param orderPath tureen.IndexPath?
---@param selectPaths tureen.IndexPath[]?
---@return tureen.QuerySpec
function smartstore.buildMatchQuerySpec(path, matchKey, order, pageSize, orderPath, selectPaths) end

--- Builds a query from a smart SQL statement.
---@param smartSql string
---@param pageSize integer?
---@return tureen.QuerySpec
function smartstore.buildSmartQuerySpec(smartSql, pageSize) end

--- Turns words that a person typed into a key for a match query: every word must occur, and none is read as an
--- operator.
---@param words string
---@return string key
function smartstore.quoteMatch(words) end

--- Returns the whole record as a table.
---@return table record  the whole record
function Record:table() end

--- Returns the JSON text.
---@return string text  the record as JSON, as tostring and tureen.json.encode return it
function Record:text() end

--- Stops the callback. May be called twice; `local o <close> = ...` calls it at the end of a block.
function Observer:close() end

return tureen
