---@meta tureen.force
-- Definitions for editors (LuaCATS) of the record library. Never loaded by a script.
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

---@alias tureen.force.Method "create"|"read"|"update"|"delete"

--- A failure in a form to show to people.
---@class tureen.force.Failure: tureen.Error
---@field type "RestError"|"ConflictError"|"NetworkError"|"StoreError"|"Error"
---@field details table[]?  the server's errors, if type is RestError

--- A soup as a cache of records.
---@class tureen.force.StoreCache
---@field soupName string
---@field keyField string  the field that identifies a record
---@field config tureen.StoreConfig  the store of the soup
local StoreCache = {}

--- The result of a fetch.
---@class tureen.force.Records
---@field records table[]
---@field totalSize integer?  the number of records that match on the server
local Records = {}

--- The metadata of an object.
---@class tureen.force.SObjectType
local SObjectType = {}

--- A record as an object; called with attributes and settings, a class makes one.
---@class tureen.force.RemoteObject
---@overload fun(attributes: table?, settings: table?): tureen.force.RemoteObject
---@field id string?  nil if the record is new
---@field attributes table  its metadata
---@field [string] any  settings and functions of the class or the record
local RemoteObject = {}

--- A record of an org object.
---@class tureen.force.SObject: tureen.force.RemoteObject
---@overload fun(attributes: table?, settings: table?): tureen.force.SObject
---@field sobjectType string

--- A record that an Apex REST resource of the org serves.
---@class tureen.force.ApexRestObject: tureen.force.RemoteObject
---@overload fun(attributes: table?, settings: table?): tureen.force.ApexRestObject
---@field apexRestPath string

--- A list of records, filled by a fetch; called with settings, a class makes one.
---@class tureen.force.RemoteObjectCollection
---@overload fun(settings: table?): tureen.force.RemoteObjectCollection
---@field models tureen.force.RemoteObject[]  the records, in order
---@field config any  the query of a fetch: a table, or a function that returns one
---@field [string] any  settings and functions of the class or the collection
local RemoteObjectCollection = {}

--- Records of an org object.
---@class tureen.force.SObjectCollection: tureen.force.RemoteObjectCollection
---@overload fun(settings: table?): tureen.force.SObjectCollection

--- Records that an Apex REST resource of the org serves.
---@class tureen.force.ApexRestObjectCollection: tureen.force.RemoteObjectCollection
---@overload fun(settings: table?): tureen.force.ApexRestObjectCollection

--- The org's records: the REST API function by function, caches, records as objects, conflicts.
---@class tureen.force
---@field client tureen.force  the REST functions alone
---@field CACHE_MODE {CACHE_ONLY: string, CACHE_FIRST: string, SERVER_ONLY: string, SERVER_FIRST: string}
---@field MERGE_MODE table<string, string>  OVERWRITE, MERGE_ACCEPT_YOURS, MERGE_FAIL_IF_CONFLICT, MERGE_FAIL_IF_CHANGED
---@field MERGE_MODE_DOWNLOAD table<string, string>  OVERWRITE, MERGE_ACCEPT_THEIRS, LEAVE_IF_CHANGED
---@field SObject tureen.force.SObject
---@field ApexRestObject tureen.force.ApexRestObject
---@field RemoteObject tureen.force.RemoteObject
---@field RemoteObjectCollection tureen.force.RemoteObjectCollection
---@field SObjectCollection tureen.force.SObjectCollection
---@field ApexRestObjectCollection tureen.force.ApexRestObjectCollection
---@field smartstoreClient tureen.smartstore.Client  the functions of tureen.smartstore, each awaiting its answer
local force = {}

--- Sets the API version; for tests also a function that answers requests in place of the network.
---@param options {apiVersion: string?, requestHandler: (fun(request: table): any, any)?}?
function force.init(options) end

--- Returns a copy of an error that has a `type`, for showing it to people.
---@param err any
---@return tureen.force.Failure
function force.Error(err) end

--- Splits a URL into its parts; nil if it is not a URL.
---@param url string
---@return {protocol: string, host: string, hostname: string, port: string?, path: string, params: table, hash: string}?
function force.parseUrl(url) end

--- Splits a path into end point and path.
---@param endPoint string?
---@param path string
---@return {endPoint: string, path: string}
function force.computeEndPointIfMissing(endPoint, path) end

--- Lists the API versions of the org.
---@param success (fun(value: table[]): any)?
---@param failure tureen.Failure?
---@return table[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.versions(success, failure) end

--- Lists the resources of the API: name to path.
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.resources(success, failure) end

--- Reads the org's limits: name to {Max, Remaining}.
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.limits(success, failure) end

--- Lists all objects of the org.
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.describeGlobal(success, failure) end

--- Reads an object's short description and its recent records.
---@param sobjectType string
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.metadata(sobjectType, success, failure) end

--- Reads an object's fields, child relationships and so on.
---@param sobjectType string
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.describe(sobjectType, success, failure) end

--- Does the same as describe.
---@param sobjectType string
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.getPickListValues(sobjectType, success, failure) end

--- Reads all layouts of an object, or that of one record type.
---@param sobjectType string
---@param recordTypeId string?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(sobjectType: string, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.describeLayout(sobjectType, recordTypeId, success, failure) end

--- Runs a SOQL query.
---@param soql string
---@param success (fun(value: {totalSize: integer, done: boolean, records: table[], nextRecordsUrl: string?}): any)?
---@param failure tureen.Failure?
---@return {totalSize: integer, done: boolean, records: table[], nextRecordsUrl: string?}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.query(soql, success, failure) end

--- Runs a SOQL query that also finds deleted records.
---@param soql string
---@param success (fun(value: {totalSize: integer, done: boolean, records: table[], nextRecordsUrl: string?}): any)?
---@param failure tureen.Failure?
---@return {totalSize: integer, done: boolean, records: table[], nextRecordsUrl: string?}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.queryAll(soql, success, failure) end

--- Reads the next page, by the nextRecordsUrl of a query; the host in the URL is ignored.
---@param url string  a nextRecordsUrl
---@param success (fun(value: {totalSize: integer, done: boolean, records: table[], nextRecordsUrl: string?}): any)?
---@param failure tureen.Failure?
---@return {totalSize: integer, done: boolean, records: table[], nextRecordsUrl: string?}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.queryMore(url, success, failure) end

--- Runs a SOSL search.
---@param sosl string
---@param success (fun(value: {searchRecords: table[]}): any)?
---@param failure tureen.Failure?
---@return {searchRecords: table[]}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.search(sosl, success, failure) end

--- Reads a record; `fields` is a list of names, or a string with commas.
---@param sobjectType string
---@param id string
---@param fields (string|string[])?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(sobjectType: string, id: string, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.retrieve(sobjectType, id, fields, success, failure) end

--- Creates a record.
---@param sobjectType string
---@param data table
---@param success (fun(value: {id: string, success: boolean, errors: table[]}): any)?
---@param failure tureen.Failure?
---@return {id: string, success: boolean, errors: table[]}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.create(sobjectType, data, success, failure) end

--- Changes a record; `data` holds its Id and the fields to change.
---@param sobjectType string
---@param data table  the fields to change, with Id
---@param headers table?
---@param success (fun(value: "OK"): any)?
---@param failure tureen.Failure?
---@return "OK"|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(sobjectType: string, data: table, success: (fun(value: "OK"): any)?, failure: tureen.Failure?): "OK"|nil, tureen.Error
function force.update(sobjectType, data, headers, success, failure) end

--- Creates or changes the record with an external id; without one it creates a record.
---@param sobjectType string
---@param externalIdField string
---@param externalId string?  nil to create a record
---@param data table
---@param success (fun(value: {id: string, success: boolean, created: boolean}): any)?
---@param failure tureen.Failure?
---@return {id: string, success: boolean, created: boolean}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.upsert(sobjectType, externalIdField, externalId, data, success, failure) end

--- Deletes a record.
---@param sobjectType string
---@param id string
---@param success (fun(value: "OK"): any)?
---@param failure tureen.Failure?
---@return "OK"|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.del(sobjectType, id, success, failure) end

--- Downloads an attachment; network.bytes decodes it.
---@param id string
---@param success (fun(value: {encodedBody: string, contentType: string}): any)?
---@param failure tureen.Failure?
---@return {encodedBody: string, contentType: string}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.getAttachment(id, success, failure) end

--- Creates up to 200 records, each with attributes.type.
---@param allOrNone boolean
---@param records table[]
---@param success (fun(value: table[]): any)?
---@param failure tureen.Failure?
---@return table[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.collectionCreate(allOrNone, records, success, failure) end

--- Changes up to 200 records.
---@param allOrNone boolean
---@param records table[]
---@param success (fun(value: table[]): any)?
---@param failure tureen.Failure?
---@return table[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.collectionUpdate(allOrNone, records, success, failure) end

--- Creates or changes up to 200 records by an external id.
---@param allOrNone boolean
---@param sobjectType string
---@param externalIdField string
---@param records table[]
---@param success (fun(value: table[]): any)?
---@param failure tureen.Failure?
---@return table[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.collectionUpsert(allOrNone, sobjectType, externalIdField, records, success, failure) end

--- Reads records by their ids; the list has null for an unknown id.
---@param sobjectType string
---@param ids string[]
---@param fields string[]|string
---@param success (fun(value: table[]): any)?
---@param failure tureen.Failure?
---@return table[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.collectionRetrieve(sobjectType, ids, fields, success, failure) end

--- Deletes up to 200 records.
---@param allOrNone boolean
---@param ids string[]
---@param success (fun(value: table[]): any)?
---@param failure tureen.Failure?
---@return table[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.collectionDelete(allOrNone, ids, success, failure) end

--- Sends up to 25 requests in one; each url begins with the version.
---@param requests {method: string, url: string, richInput: table?}[]
---@param haltOnError boolean?
---@param success (fun(value: {hasErrors: boolean, results: table[]}): any)?
---@param failure tureen.Failure?
---@return {hasErrors: boolean, results: table[]}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(requests: {method: string, url: string, richInput: table?}[], success: (fun(value: {hasErrors: boolean, results: table[]}): any)?, failure: tureen.Failure?): {hasErrors: boolean, results: table[]}|nil, tureen.Error
function force.batch(requests, haltOnError, success, failure) end

--- Sends up to 25 requests that may refer to one another; each url begins with /services/data.
---@param allOrNone boolean
---@param requests {method: string, url: string, referenceId: string, body: table?}[]
---@param success (fun(value: {compositeResponse: table[]}): any)?
---@param failure tureen.Failure?
---@return {compositeResponse: table[]}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.composite(allOrNone, requests, success, failure) end

--- Creates records with their children.
---@param sobjectType string
---@param records table[]
---@param success (fun(value: {hasErrors: boolean, results: table[]}): any)?
---@param failure tureen.Failure?
---@return {hasErrors: boolean, results: table[]}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.tree(sobjectType, records, success, failure) end

--- Reads the ids of a briefcase.
---@param relayToken string?
---@param changedAfterTimestamp string?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(relayToken: string?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.primingRecords(relayToken, changedAfterTimestamp, success, failure) end

--- Calls an Apex REST resource; a table's path gets the prefix /services/apexrest if it lacks it.
---@param request string|{path: string, method: string?, params: table?, data: table?, headerParams: table?}
---@param success (fun(value: any): any)?
---@param failure tureen.Failure?
---@return any|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.apexrest(request, success, failure) end

--- Sends a request below the chatter path.
---@param request {path: string, method: string?, params: table?, data: table?}
---@param success (fun(value: any): any)?
---@param failure tureen.Failure?
---@return any|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.chatter(request, success, failure) end

--- Sends any request to the org.
---@param request {path: string, method: string?, params: table?, data: table?, headerParams: table?, binary: boolean?}
---@param success (fun(value: any): any)?
---@param failure tureen.Failure?
---@return any|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.request(request, success, failure) end

--- Sends a request to any full URL.
---@param url string
---@param binary boolean?
---@param noAuth boolean?
---@param request table?
---@param success (fun(value: any): any)?
---@param failure tureen.Failure?
---@return any|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(url: string, binary: boolean?, noAuth: boolean?, success: (fun(value: any): any)?, failure: tureen.Failure?): any|nil, tureen.Error
---@overload fun(url: string, binary: boolean?, success: (fun(value: any): any)?, failure: tureen.Failure?): any|nil, tureen.Error
---@overload fun(url: string, success: (fun(value: any): any)?, failure: tureen.Failure?): any|nil, tureen.Error
function force.anyrest(url, binary, noAuth, request, success, failure) end

--- Lists a user's files, one page at a time.
---@param userId string?
---@param page integer?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(userId: string?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.ownedFilesList(userId, page, success, failure) end

--- Lists the files of a user's groups.
---@param userId string?
---@param page integer?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(userId: string?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.filesInUsersGroups(userId, page, success, failure) end

--- Lists the files that are shared with a user.
---@param userId string?
---@param page integer?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(userId: string?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.filesSharedWithUser(userId, page, success, failure) end

--- Reads the details of a file.
---@param fileId string
---@param version string?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(fileId: string, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.fileDetails(fileId, version, success, failure) end

--- Reads the details of several files.
---@param fileIds string[]
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.batchFileDetails(fileIds, success, failure) end

--- Lists who a file is shared with.
---@param fileId string
---@param page integer?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(fileId: string, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.fileShares(fileId, page, success, failure) end

--- Shares a file.
---@param fileId string
---@param entityId string
---@param shareType string
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.addFileShare(fileId, entityId, shareType, success, failure) end

--- Stops sharing a file.
---@param shareId string
---@param success (fun(value: "OK"): any)?
---@param failure tureen.Failure?
---@return "OK"|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.deleteFileShare(shareId, success, failure) end

--- Lists the user's notifications, the newest first.
---@param size integer?
---@param before string?  a time in ISO 8601
---@param after string?  a time in ISO 8601
---@param success (fun(value: {notifications: table[]}): any)?
---@param failure tureen.Failure?
---@return {notifications: table[]}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(size: integer?, before: string?, success: (fun(value: {notifications: table[]}): any)?, failure: tureen.Failure?): {notifications: table[]}|nil, tureen.Error
---@overload fun(size: integer?, success: (fun(value: {notifications: table[]}): any)?, failure: tureen.Failure?): {notifications: table[]}|nil, tureen.Error
---@overload fun(success: (fun(value: {notifications: table[]}): any)?, failure: tureen.Failure?): {notifications: table[]}|nil, tureen.Error
function force.notifications(size, before, after, success, failure) end

--- Reads one notification.
---@param notificationId string
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.notification(notificationId, success, failure) end

--- Counts unseen and unread notifications.
---@param success (fun(value: {hasUnseen: boolean, unseenCount: integer, unreadCount: integer}): any)?
---@param failure tureen.Failure?
---@return {hasUnseen: boolean, unseenCount: integer, unreadCount: integer}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.notificationsStatus(success, failure) end

--- Lists the types of notifications.
---@param success (fun(value: {notificationTypes: table[]}): any)?
---@param failure tureen.Failure?
---@return {notificationTypes: table[]}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.notificationTypes(success, failure) end

--- Marks a notification as read or seen and returns it.
---@param notificationId string
---@param data table  {read}, {seen} or both
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.updateNotification(notificationId, data, success, failure) end

--- Marks several notifications and returns them.
---@param data table  {notificationIds} or {before}, and {read}, {seen} or both
---@param success (fun(value: {notifications: table[]}): any)?
---@param failure tureen.Failure?
---@return {notifications: table[]}|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.updateNotifications(data, success, failure) end

--- Runs an action that a notification offers.
---@param notificationId string
---@param action string
---@param success (fun(value: any): any)?
---@param failure tureen.Failure?
---@return any|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.notificationAction(notificationId, action, success, failure) end

--- Makes a cache of records on a soup; `init` registers the soup.
---@param soupName tureen.SoupName
---@param indexSpecs tureen.SoupIndexSpec[]?
---@param keyField string?  default "Id"
---@param isGlobalStore boolean?
---@param storeName string?
---@return tureen.force.StoreCache
function force.StoreCache(soupName, indexSpecs, keyField, isGlobalStore, storeName) end

--- Makes an object that reads and caches metadata of a type.
---@param sobjectType string
---@param cache tureen.force.StoreCache?
---@param cacheMode string?
---@return tureen.force.SObjectType
function force.SObjectType(sobjectType, cache, cacheMode) end

--- Reads, writes or deletes a record in the cache.
---@param method tureen.force.Method
---@param id string?
---@param attributes table?
---@param fieldlist (string[]|string)?
---@param cache tureen.force.StoreCache
---@param localAction boolean?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(method: tureen.force.Method, id: string?, attributes: table?, fieldlist: (string[]|string)?, cache: tureen.force.StoreCache, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.syncRemoteObjectWithCache(method, id, attributes, fieldlist, cache, localAction, success, failure) end

--- Reads, writes or deletes a record on the server.
---@param method tureen.force.Method
---@param sobjectType string
---@param id string?
---@param attributes table?
---@param fieldlist (string[]|string)?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, attributes: table?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.syncSObjectWithServer(method, sobjectType, id, attributes, fieldlist, success, failure) end

--- Reads, writes or deletes a record through an Apex REST resource.
---@param method tureen.force.Method
---@param path string
---@param id string?
---@param idField string
---@param attributes table?
---@param fieldlist (string[]|string)?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(method: tureen.force.Method, path: string, id: string?, idField: string, attributes: table?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, path: string, id: string?, idField: string, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.syncApexRestObjectWithServer(method, path, id, idField, attributes, fieldlist, success, failure) end

--- Reads, writes or deletes a record in the cache, on the server or both, by the cache mode.
---@param method tureen.force.Method
---@param id string?
---@param attributes table?
---@param fieldlist (string[]|string)?
---@param cache tureen.force.StoreCache?
---@param cacheMode string?
---@param info {wasReadFromCache: boolean?, overwrite: boolean?}?
---@param syncWithServer function
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.syncRemoteObject(method, id, attributes, fieldlist, cache, cacheMode, info, syncWithServer, success, failure) end

--- Does the same as syncRemoteObject for a record of an org object.
---@param method tureen.force.Method
---@param sobjectType string
---@param id string?
---@param attributes table?
---@param fieldlist (string[]|string)?
---@param cache tureen.force.StoreCache?
---@param cacheMode string?
---@param info {wasReadFromCache: boolean?, overwrite: boolean?}?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, attributes: table?, fieldlist: (string[]|string)?, cache: tureen.force.StoreCache?, cacheMode: string?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, attributes: table?, fieldlist: (string[]|string)?, cache: tureen.force.StoreCache?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, attributes: table?, fieldlist: (string[]|string)?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, attributes: table?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.syncSObject(method, sobjectType, id, attributes, fieldlist, cache, cacheMode, info, success, failure) end

--- Does the same as syncRemoteObject, after a check for changes on the server; the merge mode says whether a change is
--- an error or is merged.
---@param method tureen.force.Method
---@param id string?
---@param attributes table?
---@param fieldlist (string[]|string)?
---@param cache tureen.force.StoreCache?
---@param cacheMode string?
---@param cacheForOriginals tureen.force.StoreCache?
---@param mergeMode string?
---@param syncWithServer function
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.syncRemoteObjectDetectConflict(method, id, attributes, fieldlist, cache, cacheMode, cacheForOriginals, mergeMode, syncWithServer, success, failure) end

--- Does the same as syncRemoteObjectDetectConflict for a record of an org object.
---@param method tureen.force.Method
---@param sobjectType string
---@param id string?
---@param attributes table?
---@param fieldlist (string[]|string)?
---@param cache tureen.force.StoreCache?
---@param cacheMode string?
---@param cacheForOriginals tureen.force.StoreCache?
---@param mergeMode string?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, attributes: table?, fieldlist: (string[]|string)?, cache: tureen.force.StoreCache?, cacheMode: string?, cacheForOriginals: tureen.force.StoreCache?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, attributes: table?, fieldlist: (string[]|string)?, cache: tureen.force.StoreCache?, cacheMode: string?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, attributes: table?, fieldlist: (string[]|string)?, cache: tureen.force.StoreCache?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, attributes: table?, fieldlist: (string[]|string)?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, attributes: table?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, id: string?, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
---@overload fun(method: tureen.force.Method, sobjectType: string, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function force.syncSObjectDetectConflict(method, sobjectType, id, attributes, fieldlist, cache, cacheMode, cacheForOriginals, mergeMode, success, failure) end

--- Fetches the records of a SOQL query or a SOSL search, or the recent ones.
---@param config {type: "soql"|"sosl"|"mru", query: string?, sobjectType: string?, fieldlist: string[]?}
---@param success (fun(value: tureen.force.Records): any)?
---@param failure tureen.Failure?
---@return tureen.force.Records|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.fetchSObjectsFromServer(config, success, failure) end

--- Fetches records from an Apex REST resource.
---@param config {apexRestPath: string, params: table?}
---@param success (fun(value: tureen.force.Records): any)?
---@param failure tureen.Failure?
---@return tureen.force.Records|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function force.fetchApexRestObjectsFromServer(config, success, failure) end

--- Fetches records from the server and saves them in the cache, or reads them from the cache.
---@param config table  as for fetchSObjectsFromServer, or {type = "cache", cacheQuery}
---@param cache tureen.force.StoreCache?
---@param cacheForOriginals tureen.force.StoreCache?
---@param mergeMode string?
---@param success (fun(value: tureen.force.Records): any)?
---@param failure tureen.Failure?
---@return tureen.force.Records|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(config: table, cache: tureen.force.StoreCache?, cacheForOriginals: tureen.force.StoreCache?, success: (fun(value: tureen.force.Records): any)?, failure: tureen.Failure?): tureen.force.Records|nil, tureen.Error
---@overload fun(config: table, cache: tureen.force.StoreCache?, success: (fun(value: tureen.force.Records): any)?, failure: tureen.Failure?): tureen.force.Records|nil, tureen.Error
---@overload fun(config: table, success: (fun(value: tureen.force.Records): any)?, failure: tureen.Failure?): tureen.force.Records|nil, tureen.Error
function force.fetchSObjects(config, cache, cacheForOriginals, mergeMode, success, failure) end

--- Fetches records with one of two functions, by the cache mode, and saves those from the server. Both functions run in
--- a task.
---@param fetchFromServer function
---@param fetchFromCache function?
---@param cacheMode string?
---@param cache tureen.force.StoreCache?
---@param cacheForOriginals tureen.force.StoreCache?
---@param mergeMode string?
---@param success (fun(found: tureen.force.Records): any)?
---@param failure tureen.Failure?
---@return tureen.force.Records|nil found  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(fetchFromServer: function, fetchFromCache: function?, cacheMode: string?, cache: tureen.force.StoreCache?, cacheForOriginals: tureen.force.StoreCache?, success: (fun(found: tureen.force.Records): any)?, failure: tureen.Failure?): tureen.force.Records|nil, tureen.Error
---@overload fun(fetchFromServer: function, fetchFromCache: function?, cacheMode: string?, cache: tureen.force.StoreCache?, success: (fun(found: tureen.force.Records): any)?, failure: tureen.Failure?): tureen.force.Records|nil, tureen.Error
---@overload fun(fetchFromServer: function, fetchFromCache: function?, cacheMode: string?, success: (fun(found: tureen.force.Records): any)?, failure: tureen.Failure?): tureen.force.Records|nil, tureen.Error
---@overload fun(fetchFromServer: function, fetchFromCache: function?, success: (fun(found: tureen.force.Records): any)?, failure: tureen.Failure?): tureen.force.Records|nil, tureen.Error
---@overload fun(fetchFromServer: function, success: (fun(found: tureen.force.Records): any)?, failure: tureen.Failure?): tureen.force.Records|nil, tureen.Error
function force.fetchRemoteObjects(fetchFromServer, fetchFromCache, cacheMode, cache, cacheForOriginals, mergeMode, success, failure) end

--- Registers the soup and returns its name.
---@param success (fun(soupName: string): any)?
---@param failure tureen.Failure?
---@return string|nil soupName  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function StoreCache:init(success, failure) end

--- Reads a record; null if there is none, or if it lacks one of the fields.
---@param key string
---@param fieldlist (string[]|string)?
---@param success (fun(value: table): any)?  tureen.null if the record is missing or lacks a field
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: tureen.force.StoreCache, key: string, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function StoreCache:retrieve(key, fieldlist, success, failure) end

--- Saves a record, merged with the stored one, and returns it as stored.
---@param record table
---@param mergeMode string?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: tureen.force.StoreCache, record: table, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function StoreCache:save(record, mergeMode, success, failure) end

--- Saves several records and returns them as stored.
---@param records table[]
---@param mergeMode string?
---@param success (fun(value: table[]): any)?
---@param failure tureen.Failure?
---@return table[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: tureen.force.StoreCache, records: table[], success: (fun(value: table[]): any)?, failure: tureen.Failure?): table[]|nil, tureen.Error
function StoreCache:saveAll(records, mergeMode, success, failure) end

--- Removes a record.
---@param key string
---@param success (fun(value: any): any)?
---@param failure tureen.Failure?
---@return any|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function StoreCache:remove(key, success, failure) end

--- Runs a query.
---@param querySpec tureen.QuerySpec
---@param success (fun(value: tureen.force.Records): any)?
---@param failure tureen.Failure?
---@return tureen.force.Records|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function StoreCache:find(querySpec, success, failure) end

--- Makes an id for a record that the server does not know yet.
---@return string
function StoreCache:makeLocalId() end

--- Returns whether an id is a local one.
---@param id any
---@return boolean
function StoreCache:isLocalId(id) end

--- Returns a copy of the record with all local flags.
---@param record table
---@return table
function StoreCache:addLocalFields(record) end

--- Returns whether getMore would find more records.
---@return boolean
function Records:hasMore() end

--- Fetches the next records; an empty list at the end.
---@param success (fun(value: table[]): any)?
---@param failure tureen.Failure?
---@return table[]|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function Records:getMore(success, failure) end

--- Ends the fetch; hasMore then returns false.
---@param success (fun(value: any): any)?
---@param failure tureen.Failure?
---@return any|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function Records:closeCursor(success, failure) end

--- Reads the fields, child relationships and so on.
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function SObjectType:describe(success, failure) end

--- Reads the short description and the recent records.
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function SObjectType:getMetadata(success, failure) end

--- Reads the layout of a record type; the master's by default.
---@param recordTypeId string?
---@param success (fun(value: table): any)?
---@param failure tureen.Failure?
---@return table|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: tureen.force.SObjectType, success: (fun(value: table): any)?, failure: tureen.Failure?): table|nil, tureen.Error
function SObjectType:describeLayout(recordTypeId, success, failure) end

--- Forgets the metadata and removes it from the cache.
---@param success (fun(value: any): any)?
---@param failure tureen.Failure?
---@return any|nil value  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function SObjectType:reset(success, failure) end

--- Makes a class with its own settings: sobjectType, fieldlist, cache, cacheForOriginals, cacheMode, mergeMode,
--- idAttribute, or functions.
---@generic T
---@param self T
---@param settings table
---@return T
function RemoteObject:extend(settings) end

--- Returns an attribute; nil if it is not known.
---@param name string
---@return any
function RemoteObject:get(name) end

--- Sets one attribute, or all of a table.
---@generic T
---@param self T
---@param name string|table
---@param value any
---@return T
function RemoteObject:set(name, value) end

--- Returns whether the record has no id yet.
---@return boolean
function RemoteObject:isNew() end

--- Reads the record into the object and returns the object.
---@generic T
---@param self T
---@param options table?
---@param success (fun(record: T): any)?
---@param failure tureen.Failure?
---@return T|nil record  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: T, success: (fun(record: T): any)?, failure: tureen.Failure?): T|nil, tureen.Error
function RemoteObject:fetch(options, success, failure) end

--- Sets the attributes, saves the record and returns the object.
---@generic T
---@param self T
---@param attributes table?
---@param options table?
---@param success (fun(record: T): any)?
---@param failure tureen.Failure?
---@return T|nil record  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: T, attributes: table?, success: (fun(record: T): any)?, failure: tureen.Failure?): T|nil, tureen.Error
---@overload fun(self: T, success: (fun(record: T): any)?, failure: tureen.Failure?): T|nil, tureen.Error
function RemoteObject:save(attributes, options, success, failure) end

--- Deletes the record; false if it is new.
---@param options table?
---@param success (fun(result: boolean|lightuserdata): any)?
---@param failure tureen.Failure?
---@return boolean|lightuserdata|nil result  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: tureen.force.RemoteObject, success: (fun(result: boolean|lightuserdata): any)?, failure: tureen.Failure?): boolean|lightuserdata|nil, tureen.Error
function RemoteObject:destroy(options, success, failure) end

--- Removes an attribute.
---@generic T
---@param self T
---@param name string
---@return T
function RemoteObject:unset(name) end

--- Returns a copy of the attributes.
---@return table
function RemoteObject:toTable() end

--- Makes a class with its own settings: model, config, cache, cacheForOriginals, cacheMode, mergeMode, or functions.
---@generic T
---@param self T
---@param settings table
---@return T
function RemoteObjectCollection:extend(settings) end

--- Appends a record, or makes one of its attributes and appends that.
---@param record table
---@return tureen.force.RemoteObject
function RemoteObjectCollection:add(record) end

--- Removes a record and returns whether it was there.
---@param record tureen.force.RemoteObject
---@return boolean
function RemoteObjectCollection:remove(record) end

--- Returns the record with this id, or nil.
---@param id any
---@return tureen.force.RemoteObject?
function RemoteObjectCollection:get(id) end

--- Makes a record of fetched attributes.
---@param attributes table
---@return tureen.force.RemoteObject
function RemoteObjectCollection:parse(attributes) end

--- Replaces all records.
---@generic T
---@param self T
---@param records table[]?
---@return T
function RemoteObjectCollection:reset(records) end

--- Fetches the records, replaces the old ones and returns the collection.
---@generic T
---@param self T
---@param options table?
---@param success (fun(collection: T): any)?
---@param failure tureen.Failure?
---@return T|nil collection  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(self: T, success: (fun(collection: T): any)?, failure: tureen.Failure?): T|nil, tureen.Error
function RemoteObjectCollection:fetch(options, success, failure) end

--- Returns whether getMore would find more records.
---@return boolean
function RemoteObjectCollection:hasMore() end

--- Fetches the next records, appends them and returns their attributes.
---@param success (fun(records: table[]): any)?
---@param failure tureen.Failure?
---@return table[]|nil records  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function RemoteObjectCollection:getMore(success, failure) end

--- Ends the fetch; hasMore then returns false.
---@param success (fun(null: lightuserdata): any)?
---@param failure tureen.Failure?
---@return lightuserdata|nil null  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function RemoteObjectCollection:closeCursor(success, failure) end

--- The settings of a list.
---@class tureen.optimistic.Settings
---@field sobjectType string
---@field records table[]  each with an Id
---@field cache tureen.force.StoreCache?  where a record is marked until the server has answered
---@field on_change fun(list: tureen.optimistic.List)?  after each change of `rows`
---@field on_failure fun(text: string, err: tureen.Error, record: table)?  `text` is the message for the person

--- The list.
---@class tureen.optimistic.List
---@field rows table[]  the rows that the list shows now
---@field pending integer  how many deletions have not been answered
local List = {}

--- A list whose rows disappear as soon as they are deleted, and return if the server refuses.
---@class tureen.optimistic
---@field DEFAULT_MESSAGE string  the text that `message` returns if the server gave none
local optimistic = {}

--- Makes a list of the records.
---@param settings tureen.optimistic.Settings
---@return tureen.optimistic.List
function optimistic.list(settings) end

--- Classifies a failure: noResponse, no answer came; emptyResponse, the answer has no body; undecodable, the body does
--- not have the requested form; refused, the server gave a reason.
---@param err any
---@return "noResponse"|"emptyResponse"|"undecodable"|"refused"
function optimistic.kind(err) end

--- Returns the server's first message, else DEFAULT_MESSAGE.
---@param err any
---@return string
function optimistic.message(err) end

--- Returns what a dialogue shows for a failure: a title by its kind, the message, and the reason: the server's own
--- text, else a sentence about the kind.
---@param err any
---@return {kind: string, title: string, message: string, reason: string}
function optimistic.describe(err) end

--- Removes a row at once and deletes its record in the background. Returns false if the record is being deleted
--- already, or the row does not exist.
---@param position integer  the row's index, counted from 1
---@param success (fun())?
---@param failure tureen.Failure?
---@return boolean
function List:delete(position, success, failure) end

--- Removes the row of the record with this id, as `delete` does.
---@param id string
---@param success (fun())?
---@param failure tureen.Failure?
---@return boolean
function List:delete_id(id, success, failure) end

return force
