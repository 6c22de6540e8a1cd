---@meta tureen.smartstore.client
-- Made by scripts/dev/spec from bridge-spec: change that, then run it.

--- The functions of tureen.smartstore for use inside a task: each waits and returns the value, or nil and an error.
---@class tureen.smartstore.Client
local client = {}

--- Creates a soup. An existing soup stays as it is.
---@param soupName tureen.SoupName
---@param indexSpecs tureen.SoupIndexSpec[]
---@return string|nil soupName  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, indexSpecs: tureen.SoupIndexSpec[]): string|nil, tureen.Error
function client.registerSoup(soupName, indexSpecs) end

--- Returns whether a soup exists.
---@param soupName tureen.SoupName
---@return boolean|nil exists  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName): boolean|nil, tureen.Error
function client.soupExists(soupName) end

--- Returns the index specs of a soup.
---@param soupName tureen.SoupName
---@return tureen.SoupIndexSpec[]|nil indexSpecs  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName): tureen.SoupIndexSpec[]|nil, tureen.Error
function client.getSoupIndexSpecs(soupName) end

--- Changes the index specs of a soup. Readers see either the old soup or the new one, even after a crash.
---@param soupName tureen.SoupName
---@param indexSpecs tureen.SoupIndexSpec[]
---@param reIndexData boolean?
---@return string|nil soupName  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, indexSpecs: tureen.SoupIndexSpec[], reIndexData: boolean?): string|nil, tureen.Error
function client.alterSoup(soupName, indexSpecs, reIndexData) end

--- Fills indexes from the entries. Time stamps and versions of the entries stay.
---@param soupName tureen.SoupName
---@param paths tureen.IndexPath[]
---@return string|nil soupName  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, paths: tureen.IndexPath[]): string|nil, tureen.Error
function client.reIndexSoup(soupName, paths) end

--- Removes a soup with its entries. Does nothing if it does not exist.
---@param soupName tureen.SoupName
---@return "OK"|nil ok  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName): "OK"|nil, tureen.Error
function client.removeSoup(soupName) end

--- Removes all entries of a soup.
---@param soupName tureen.SoupName
---@return "OK"|nil ok  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName): "OK"|nil, tureen.Error
function client.clearSoup(soupName) end

--- Inserts or updates entries, all of them or none. `upsertSoupEntriesWithExternalId` passes another path.
---@param soupName tureen.SoupName
---@param entries table[]
---@return table[]|nil entries  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entries: table[]): table[]|nil, tureen.Error
function client.upsertSoupEntries(soupName, entries) end

--- Inserts or updates entries, all of them or none. `upsertSoupEntriesWithExternalId` passes another path.
---@param soupName tureen.SoupName
---@param entries table[]
---@param externalIdPath tureen.IndexPath
---@return table[]|nil entries  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entries: table[], externalIdPath: tureen.IndexPath): table[]|nil, tureen.Error
function client.upsertSoupEntriesWithExternalId(soupName, entries, externalIdPath) end

--- Edits entries, all of them or none, each as it is stored when the edit is applied. A patch changes only the members
--- that it names.
---@param soupName tureen.SoupName
---@param patches tureen.EntryPatch[]
---@param externalIdPath tureen.IndexPath?
---@return (tureen.EditedEntry|lightuserdata)[]|nil edited  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, patches: tureen.EntryPatch[], externalIdPath: tureen.IndexPath?): (tureen.EditedEntry|lightuserdata)[]|nil, tureen.Error
function client.patchSoupEntries(soupName, patches, externalIdPath) end

--- Stores records that a script fetched from a server itself, all of them or none, as a page of a sync down does.
---@param soupName tureen.SoupName
---@param records table[]
---@param mode "OVERWRITE"|"LEAVE_IF_CHANGED"|"MERGE"
---@param options {externalIdPath: string?, modificationDateFieldName: string?, partial: boolean?, kept: string[]?, onlyKnown: boolean?}?
---@return (tureen.EditedEntry|lightuserdata)[]|nil merged  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, records: table[], mode: "OVERWRITE"|"LEAVE_IF_CHANGED"|"MERGE", options: {externalIdPath: string?, modificationDateFieldName: string?, partial: boolean?, kept: string[]?, onlyKnown: boolean?}?): (tureen.EditedEntry|lightuserdata)[]|nil, tureen.Error
function client.mergeServerRecords(soupName, records, mode, options) end

--- Returns entries by their ids. Missing entries are left out.
---@param soupName tureen.SoupName
---@param entryIds integer[]
---@return table[]|nil entries  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entryIds: integer[]): table[]|nil, tureen.Error
function client.retrieveSoupEntries(soupName, entryIds) end

--- Removes entries by their ids, or the entries on the first page of a query. One of the two arguments is required.
---@param soupName tureen.SoupName
---@param entryIdsOrQuerySpec integer[]|tureen.QuerySpec
---@return "OK"|nil ok  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, entryIdsOrQuerySpec: integer[]|tureen.QuerySpec): "OK"|nil, tureen.Error
function client.removeFromSoup(soupName, entryIdsOrQuerySpec) end

--- Opens a cursor on a query of one soup: exact, range, like or match.
---@param soupName tureen.SoupName
---@param querySpec tureen.QuerySpec
---@return tureen.Cursor|nil cursor  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, soupName: tureen.SoupName, querySpec: tureen.QuerySpec): tureen.Cursor|nil, tureen.Error
function client.querySoup(soupName, querySpec) end

--- Opens a cursor on a smart SQL statement.
---@param querySpec tureen.QuerySpec
---@return tureen.Cursor|nil cursor  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, querySpec: tureen.QuerySpec): tureen.Cursor|nil, tureen.Error
function client.runSmartQuery(querySpec) end

--- Returns how the store would run a smart SQL statement, and which soups it would read from the first entry to the
--- last, without running it.
---@param querySpec tureen.QuerySpec
---@return tureen.QueryPlan|nil plan  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, querySpec: tureen.QuerySpec): tureen.QueryPlan|nil, tureen.Error
function client.getQueryPlan(querySpec) end

--- Moves a cursor to another page. `moveCursorToNextPage` and `moveCursorToPreviousPage` call it too.
---@param cursor tureen.Cursor
---@param index integer
---@return tureen.Cursor|nil cursor  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor, index: integer): tureen.Cursor|nil, tureen.Error
function client.moveCursorToPageIndex(cursor, index) end

--- Moves the cursor to the next page; an error on the last one.
---@param cursor tureen.Cursor
---@return tureen.Cursor|nil cursor  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor): tureen.Cursor|nil, tureen.Error
function client.moveCursorToNextPage(cursor) end

--- Moves the cursor to the previous page; an error on the first one.
---@param cursor tureen.Cursor
---@return tureen.Cursor|nil cursor  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor): tureen.Cursor|nil, tureen.Error
function client.moveCursorToPreviousPage(cursor) end

--- Closes a cursor. Does nothing if it is closed.
---@param cursor tureen.Cursor
---@return "OK"|nil ok  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, cursor: tureen.Cursor): "OK"|nil, tureen.Error
function client.closeCursor(cursor) end

--- Closes an observer. Does nothing if it does not exist.
---@param observer tureen.Observer
---@return "OK"|nil ok  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig, observer: tureen.Observer): "OK"|nil, tureen.Error
function client.closeObserver(observer) end

--- Returns the size of the store on disk.
---@return integer|nil bytes  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig): integer|nil, tureen.Error
function client.getDatabaseSize() end

--- Removes a store with all its soups. Fails if another process has the store open.
---@return boolean|nil done  the value that success gets, inside a task
---@return tureen.Error err  nil on success
---@overload fun(storeConfig: boolean|tureen.StoreConfig): boolean|nil, tureen.Error
function client.removeStore() end

--- Registers the soups of userstore.json that are missing from the signed-in user's store. The first use of the store
--- does the same.
---@return string[]|nil soups  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function client.setupUserStoreFromDefaultConfig() end

--- Does the same with globalstore.json and the store that all users share.
---@return string[]|nil soups  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function client.setupGlobalStoreFromDefaultConfig() end

--- Lists the signed-in user's stores.
---@return tureen.StoreConfig[]|nil stores  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function client.getAllStores() end

--- Lists the shared stores.
---@return tureen.StoreConfig[]|nil stores  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function client.getAllGlobalStores() end

--- Removes the signed-in user's stores with all their soups.
---@return boolean|nil done  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function client.removeAllStores() end

--- Removes the shared stores with all their soups.
---@return boolean|nil done  the value that success gets, inside a task
---@return tureen.Error err  nil on success
function client.removeAllGlobalStores() end

--- Builds a query for all entries of a soup, ordered by a path.
---@param path tureen.IndexPath?
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param selectPaths tureen.IndexPath[]?
---@return tureen.QuerySpec
function client.buildAllQuerySpec(path, order, pageSize, selectPaths) end

--- Builds a query for entries whose path has this value. Note that the page size comes before the order.
---@param path tureen.IndexPath?
---@param matchKey any
---@param pageSize integer?
---@param order ("ascending"|"descending")?
---@param orderPath tureen.IndexPath?
---@param selectPaths tureen.IndexPath[]?
---@return tureen.QuerySpec
function client.buildExactQuerySpec(path, matchKey, pageSize, order, orderPath, selectPaths) end

--- Builds a query for entries between two values, both included; a missing value means no bound.
---@param path tureen.IndexPath?
---@param beginKey any
---@param endKey any
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param orderPath tureen.IndexPath?
---@param selectPaths tureen.IndexPath[]?
---@return tureen.QuerySpec
function client.buildRangeQuerySpec(path, beginKey, endKey, order, pageSize, orderPath, selectPaths) end

--- Builds a query for entries whose path matches a pattern with the wildcards % and _.
---@param path tureen.IndexPath?
---@param likeKey string?
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param orderPath tureen.IndexPath?
---@param selectPaths tureen.IndexPath[]?
---@return tureen.QuerySpec
function client.buildLikeQuerySpec(path, likeKey, order, pageSize, orderPath, selectPaths) end

--- Builds a full-text query of a path, or of all paths if it is nil.
---@param path tureen.IndexPath?
---@param matchKey any
---@param order ("ascending"|"descending")?
---@param pageSize integer?
---@param orderPath tureen.IndexPath?
---@param selectPaths tureen.IndexPath[]?
---@return tureen.QuerySpec
function client.buildMatchQuerySpec(path, matchKey, order, pageSize, orderPath, selectPaths) end

--- Builds a query from a smart SQL statement.
---@param smartSql string
---@param pageSize integer?
---@return tureen.QuerySpec
function client.buildSmartQuerySpec(smartSql, pageSize) end

--- Turns words that a person typed into a key for a match query: every word must occur, and none is read as an
--- operator.
---@param words string
---@return string key
function client.quoteMatch(words) end

return client
