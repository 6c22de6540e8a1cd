---@meta tureen.force
-- Definitions for editors (LuaCATS) of the record library. Never loaded by a script.
--
-- Every function that asks the server or a store takes `success` and `error` behind its arguments, is awaited with
-- `tureen.await(fn, ...)`, or is called inside a task: there it waits and returns what is noted here, or nil and an error.

---@class tureen.force
---@field client tureen.force       the REST functions alone
---@field CACHE_MODE {CACHE_ONLY: string, CACHE_FIRST: string, SERVER_ONLY: string, SERVER_FIRST: string}
---@field MERGE_MODE table<string, string>           OVERWRITE, MERGE_ACCEPT_YOURS, MERGE_FAIL_IF_CONFLICT, MERGE_FAIL_IF_CHANGED
---@field MERGE_MODE_DOWNLOAD table<string, string>  OVERWRITE, MERGE_ACCEPT_THEIRS, LEAVE_IF_CHANGED
local force = {}

--- Sets the API version, or what answers requests in place of the network, for tests.
---@param options {apiVersion: string?, requestHandler: (fun(request: table): any, any)?}?
function force.init(options) end
---@param err any
---@return {type: "RestError"|"ConflictError"|"NetworkError"|"StoreError"|"Error", message: string, details: table[]?}
function force.Error(err) end
---@param url string
---@return {protocol: string, host: string, hostname: string, port: string?, path: string, params: table, hash: string}?
function force.parseUrl(url) end
---@param endPoint string?
---@param path string
---@return {endPoint: string, path: string}
function force.computeEndPointIfMissing(endPoint, path) end

---@return table[]
function force.versions() end
---@return table
function force.resources() end
---@return table
function force.limits() end
---@return table
function force.describeGlobal() end
---@param sobjectType string
---@return table
function force.metadata(sobjectType) end
---@param sobjectType string
---@return table
function force.describe(sobjectType) end
---@param sobjectType string
---@return table
function force.getPickListValues(sobjectType) end
---@param sobjectType string
---@param recordTypeId string?
---@return table
function force.describeLayout(sobjectType, recordTypeId) end
---@param soql string
---@return {totalSize: integer, done: boolean, records: table[], nextRecordsUrl: string?}
function force.query(soql) end
---@param soql string
---@return {totalSize: integer, done: boolean, records: table[], nextRecordsUrl: string?}
function force.queryAll(soql) end
---@param url string  a nextRecordsUrl
---@return {totalSize: integer, done: boolean, records: table[], nextRecordsUrl: string?}
function force.queryMore(url) end
---@param sosl string
---@return {searchRecords: table[]}
function force.search(sosl) end
---@param sobjectType string
---@param id string
---@param fields string|string[]|nil
---@return table
function force.retrieve(sobjectType, id, fields) end
---@param sobjectType string
---@param data table
---@return {id: string, success: boolean, errors: table[]}
function force.create(sobjectType, data) end
---@param sobjectType string
---@param data table    with Id
---@param headers table?
---@return "OK"
function force.update(sobjectType, data, headers) end
---@param sobjectType string
---@param externalIdField string
---@param externalId string?  nil creates
---@param data table
---@return {id: string, success: boolean, created: boolean}
function force.upsert(sobjectType, externalIdField, externalId, data) end
---@param sobjectType string
---@param id string
---@return "OK"
function force.del(sobjectType, id) end
---@param id string
---@return {encodedBody: string, contentType: string}
function force.getAttachment(id) end
---@param allOrNone boolean
---@param records table[]
---@return table[]
function force.collectionCreate(allOrNone, records) end
---@param allOrNone boolean
---@param records table[]
---@return table[]
function force.collectionUpdate(allOrNone, records) end
---@param allOrNone boolean
---@param sobjectType string
---@param externalIdField string
---@param records table[]
---@return table[]
function force.collectionUpsert(allOrNone, sobjectType, externalIdField, records) end
---@param sobjectType string
---@param ids string[]
---@param fields string[]
---@return table[]
function force.collectionRetrieve(sobjectType, ids, fields) end
---@param allOrNone boolean
---@param ids string[]
---@return table[]
function force.collectionDelete(allOrNone, ids) end
---@param requests {method: string, url: string, richInput: table?}[]
---@param haltOnError boolean?
---@return {hasErrors: boolean, results: table[]}
function force.batch(requests, haltOnError) end
---@param allOrNone boolean
---@param requests {method: string, url: string, referenceId: string, body: table?}[]
---@return {compositeResponse: table[]}
function force.composite(allOrNone, requests) end
---@param sobjectType string
---@param records table[]
---@return {hasErrors: boolean, results: table[]}
function force.tree(sobjectType, records) end
---@param relayToken string?
---@param changedAfterTimestamp string?
---@return table
function force.primingRecords(relayToken, changedAfterTimestamp) end
---@param request string|{path: string, method: string?, params: table?, data: table?, headerParams: table?}
---@return any
function force.apexrest(request) end
---@param request {path: string, method: string?, params: table?, data: table?}
---@return any
function force.chatter(request) end
---@param request {path: string, method: string?, params: table?, data: table?, headerParams: table?, binary: boolean?}
---@return any
function force.request(request) end
---@param url string
---@param binary boolean?
---@param noAuth boolean?
---@param request table?
---@return any
function force.anyrest(url, binary, noAuth, request) end

---@param userId string?
---@param page integer?
---@return table
function force.ownedFilesList(userId, page) end
---@param userId string?
---@param page integer?
---@return table
function force.filesInUsersGroups(userId, page) end
---@param userId string?
---@param page integer?
---@return table
function force.filesSharedWithUser(userId, page) end
---@param fileId string
---@param version string?
---@return table
function force.fileDetails(fileId, version) end
---@param fileIds string[]
---@return table
function force.batchFileDetails(fileIds) end
---@param fileId string
---@param page integer?
---@return table
function force.fileShares(fileId, page) end
---@param fileId string
---@param entityId string
---@param shareType string
---@return table
function force.addFileShare(fileId, entityId, shareType) end
---@param shareId string
---@return "OK"
function force.deleteFileShare(shareId) end

---@class tureen.force.StoreCache
local StoreCache = {}
---@param soupName string
---@param indexSpecs tureen.SoupIndexSpec[]?
---@param keyField string?        "Id" when left out
---@param isGlobalStore boolean?
---@param storeName string?
---@return tureen.force.StoreCache
function force.StoreCache(soupName, indexSpecs, keyField, isGlobalStore, storeName) end
---@return string
function StoreCache:init() end
---@param key string
---@param fieldlist string[]?
---@return table  null when it is not there, or lacks a field
function StoreCache:retrieve(key, fieldlist) end
---@param record table
---@param mergeMode string?
---@return table
function StoreCache:save(record, mergeMode) end
---@param records table[]
---@param mergeMode string?
---@return table[]
function StoreCache:saveAll(records, mergeMode) end
---@param key string
function StoreCache:remove(key) end
---@param querySpec tureen.QuerySpec
---@return tureen.force.Records
function StoreCache:find(querySpec) end
---@return string
function StoreCache:makeLocalId() end
---@param id any
---@return boolean
function StoreCache:isLocalId(id) end
---@param record table
---@return table
function StoreCache:addLocalFields(record) end

---@class tureen.force.Records
---@field records table[]
---@field totalSize integer?  of what came from the server
local Records = {}
---@return boolean
function Records:hasMore() end
---@return table[]
function Records:getMore() end
function Records:closeCursor() end

---@class tureen.force.SObjectType
local SObjectType = {}
---@param sobjectType string
---@param cache tureen.force.StoreCache?
---@param cacheMode string?
---@return tureen.force.SObjectType
function force.SObjectType(sobjectType, cache, cacheMode) end
---@return table
function SObjectType:describe() end
---@return table
function SObjectType:getMetadata() end
---@param recordTypeId string?
---@return table
function SObjectType:describeLayout(recordTypeId) end
function SObjectType:reset() end

---@alias tureen.force.Method "create"|"read"|"update"|"delete"

---@param method tureen.force.Method
---@param id string?
---@param attributes table?
---@param fieldlist string[]?
---@param cache tureen.force.StoreCache
---@param localAction boolean?
---@return table
function force.syncRemoteObjectWithCache(method, id, attributes, fieldlist, cache, localAction) end
---@param method tureen.force.Method
---@param sobjectType string
---@param id string?
---@param attributes table?
---@param fieldlist string[]?
---@return table
function force.syncSObjectWithServer(method, sobjectType, id, attributes, fieldlist) end
---@param method tureen.force.Method
---@param path string
---@param id string?
---@param idField string
---@param attributes table?
---@param fieldlist string[]?
---@return table
function force.syncApexRestObjectWithServer(method, path, id, idField, attributes, fieldlist) end
---@param method tureen.force.Method
---@param id string?
---@param attributes table?
---@param fieldlist string[]?
---@param cache tureen.force.StoreCache?
---@param cacheMode string?
---@param info {wasReadFromCache: boolean?, overwrite: boolean?}?
---@param syncWithServer function
---@return table
function force.syncRemoteObject(method, id, attributes, fieldlist, cache, cacheMode, info, syncWithServer) end
---@param method tureen.force.Method
---@param sobjectType string
---@param id string?
---@param attributes table?
---@param fieldlist string[]?
---@param cache tureen.force.StoreCache?
---@param cacheMode string?
---@param info {wasReadFromCache: boolean?, overwrite: boolean?}?
---@return table
function force.syncSObject(method, sobjectType, id, attributes, fieldlist, cache, cacheMode, info) end
---@param method tureen.force.Method
---@param id string?
---@param attributes table?
---@param fieldlist string[]?
---@param cache tureen.force.StoreCache?
---@param cacheMode string?
---@param cacheForOriginals tureen.force.StoreCache?
---@param mergeMode string?
---@param syncWithServer function
---@return table
function force.syncRemoteObjectDetectConflict(method, id, attributes, fieldlist, cache, cacheMode, cacheForOriginals,
  mergeMode, syncWithServer) end
---@param method tureen.force.Method
---@param sobjectType string
---@param id string?
---@param attributes table?
---@param fieldlist string[]?
---@param cache tureen.force.StoreCache?
---@param cacheMode string?
---@param cacheForOriginals tureen.force.StoreCache?
---@param mergeMode string?
---@return table
function force.syncSObjectDetectConflict(method, sobjectType, id, attributes, fieldlist, cache, cacheMode,
  cacheForOriginals, mergeMode) end
---@param config {type: "soql"|"sosl"|"mru", query: string?, sobjectType: string?, fieldlist: string[]?}
---@return tureen.force.Records
function force.fetchSObjectsFromServer(config) end
---@param config {apexRestPath: string, params: table?}
---@return tureen.force.Records
function force.fetchApexRestObjectsFromServer(config) end
---@param config table  as for fetchSObjectsFromServer, or {type = "cache", cacheQuery}
---@param cache tureen.force.StoreCache?
---@param cacheForOriginals tureen.force.StoreCache?
---@param mergeMode string?
---@return tureen.force.Records
function force.fetchSObjects(config, cache, cacheForOriginals, mergeMode) end

---@class tureen.force.RemoteObject
---@field id string?
---@field attributes table
local RemoteObject = {}
---@param settings table
function RemoteObject:extend(settings) end
---@param name string
---@return any
function RemoteObject:get(name) end
---@param name string|table
---@param value any
function RemoteObject:set(name, value) end
---@return boolean
function RemoteObject:isNew() end
---@param options table?
function RemoteObject:fetch(options) end
---@param attributes table?
---@param options table?
function RemoteObject:save(attributes, options) end
---@param options table?
function RemoteObject:destroy(options) end

return force
