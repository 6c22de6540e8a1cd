--- Uses a soup as a cache of records: finds records by key, merges them into the stored ones, and marks local changes. A save is
--- one call of the store, so nothing is written between a read and a write.
local core = ...
local call = core.import "force_call"
local arguments = core.import "arguments"
local async = core.import "async"
local local_ids = core.import "local_ids"
local smartstore = core.import "smartstore"

local await, given, copy, misuse = async.await, call.given, call.copy, call.misuse

---@class tureen.force.StoreCache
---@field soupName string
---@field keyField string
---@field config tureen.StoreConfig
local StoreCache = call.class "StoreCache"

local MERGE_MODE_DOWNLOAD = {
  OVERWRITE = "OVERWRITE", MERGE_ACCEPT_THEIRS = "MERGE_ACCEPT_THEIRS", LEAVE_IF_CHANGED = "LEAVE_IF_CHANGED",
}
local FLAGS = { "__locally_created__", "__locally_updated__", "__locally_deleted__" }
local PAGE_SIZE = 10 -- the model's, for look-ups by key

--- Creates a cache in a soup, which `init` registers.
---@param soup_name string
---@param index_specs tureen.SoupIndexSpec[]?  in addition to those of the key and of `__local__`
---@param key_field string?  by default "Id"
---@param is_global_store boolean?
---@param store_name string?
function StoreCache:new(soup_name, index_specs, key_field, is_global_store, store_name)
  if type(soup_name) ~= "string" or soup_name == "" then misuse("StoreCache: argument 1 'soupName' must be a string") end
  if given(index_specs) and not arguments.is_list(index_specs) then
    arguments.wrong("StoreCache", 2, "indexSpecs", "an array of tables", index_specs)
  end
  for i, spec in ipairs(given(index_specs) and index_specs or {}) do
    if type(spec) ~= "table" then
      arguments.wrong("StoreCache", 2, ("indexSpecs[%d]"):format(i), "a table", spec)
    end
  end
  if given(key_field) and type(key_field) ~= "string" then misuse("StoreCache: argument 3 'keyField' must be a string") end
  if given(is_global_store) and type(is_global_store) ~= "boolean" then
    arguments.wrong("StoreCache", 4, "isGlobalStore", "a boolean", is_global_store)
  end
  if given(store_name) and type(store_name) ~= "string" then
    arguments.wrong("StoreCache", 5, "storeName", "a string", store_name)
  end
  self.soupName = soup_name
  self.additionalIndexSpecs = given(index_specs) and index_specs or {}
  self.keyField = given(key_field) and key_field or "Id"
  self.config = { isGlobalStore = is_global_store == true, storeName = given(store_name) and store_name or nil }
end

local function method(name, params, body, check)
  StoreCache[name] = call.define { name = name, is_method = true, params = params, check = check, body = body }
end

local RECORD, KEY = { "record", "table" }, { "key", "string" }
local FIELDLIST = { "fieldlist", "fieldlist", optional = true }
local MERGE_MODE = { "mergeMode", "string", optional = true }

-- cache:init(): the soup's name; registers the soup
method("init", {}, function(self)
  local specs = { { path = self.keyField, type = "string" }, { path = "__local__", type = "string" } }
  local known = { [self.keyField] = true, __local__ = true }
  for _, spec in ipairs(self.additionalIndexSpecs) do
    if not known[spec.path] then
      known[spec.path] = true
      specs[#specs + 1] = spec
    end
  end
  return await(smartstore.registerSoup, self.config, self.soupName, specs)
end)

--- Returns whether a record has a value, possibly null, at a dotted path.
local function has_path(record, path)
  local value = record
  for name in path:gmatch("[^.]+") do
    if type(value) ~= "table" or value[name] == nil then return false end
    value = value[name]
  end
  return true
end

--- Returns the record with this key, or null; nil and an error if the store fails.
local function find_one(self, key)
  local spec = smartstore.buildExactQuerySpec(self.keyField, key, PAGE_SIZE)
  local cursor, err = await(smartstore.querySoup, self.config, self.soupName, spec)
  if not cursor then return nil, err end
  await(smartstore.closeCursor, self.config, cursor)
  local found = cursor.currentPageOrderedEntries
  return #found == 1 and found[1] or core.null
end

-- cache:retrieve(key, fieldlist?): the record; null if there is none or it lacks one of the fields (dotted paths)
method("retrieve", { KEY, FIELDLIST }, function(self, key, fieldlist)
  local record, err = find_one(self, key)
  if record == nil then return nil, err end
  if record == core.null then return record end
  for _, path in ipairs(fieldlist or {}) do
    if not has_path(record, path) then return core.null end
  end
  return record
end)

--- Returns a copy of the record with all three local flags, by default false, and `__local__`, true if one of them is true.
---@param record table
---@return table
function StoreCache:addLocalFields(record) -- luacheck: ignore 212
  if type(record) ~= "table" then misuse("addLocalFields: argument 1 'record' must be a table, got %s", type(record)) end
  local result = copy(record)
  result.__local__ = false
  for _, flag in ipairs(FLAGS) do
    result[flag] = result[flag] == true
    result.__local__ = result.__local__ or result[flag]
  end
  return result
end

local function check_mode(caller, mode)
  if mode ~= nil and not MERGE_MODE_DOWNLOAD[mode] then
    misuse("%s: 'mergeMode' must be OVERWRITE, MERGE_ACCEPT_THEIRS or LEAVE_IF_CHANGED, got '%s'", caller, mode)
  end
end

local function check_keys(self, records, mode)
  check_mode("saveAll", mode)
  if mode == MERGE_MODE_DOWNLOAD.OVERWRITE then return end
  for _, record in ipairs(records) do
    if not given(record[self.keyField]) then misuse("Can't merge without %s", self.keyField) end
  end
end

--- Returns the flags that a record names.
local function flags_of(record)
  local flags = {}
  for _, flag in ipairs(FLAGS) do
    if record[flag] ~= nil then flags[flag] = record[flag] == true end
  end
  return flags
end

--- Applies patches to the records with these keys, all in one transaction. Returns {entryId, version, outcome, entry} for each.
---@param cache tureen.force.StoreCache
local function patch(cache, patches)
  if #patches == 0 then return core.array() end
  return await(smartstore.patchSoupEntries, cache.config, cache.soupName, patches, cache.keyField)
end

local function entries_of(edited)
  local entries = core.array()
  for i, one in ipairs(edited) do entries[i] = one.entry end
  return entries
end

local function save_all(self, records, mode)
  if #records == 0 then return core.array() end
  if mode == MERGE_MODE_DOWNLOAD.OVERWRITE then
    local entries = core.array()
    for i, record in ipairs(records) do entries[i] = self:addLocalFields(record) end
    return await(smartstore.upsertSoupEntriesWithExternalId, self.config, self.soupName, entries, self.keyField)
  end
  local patches, keeps_changed = core.array(), mode == MERGE_MODE_DOWNLOAD.LEAVE_IF_CHANGED
  for i, record in ipairs(records) do
    local members = copy(record)
    for _, flag in ipairs(FLAGS) do members[flag] = nil end
    members.__local__ = nil
    patches[i] = {
      externalId = record[self.keyField], set = members, flags = flags_of(record), create = self:addLocalFields(record),
      ifClean = keeps_changed,
    }
  end
  local edited, err = patch(self, patches)
  if not edited then return nil, err end
  return entries_of(edited)
end

--- Returns whether a cache is one of this module, whose records can be patched; else it is a script's own.
local function is_own(cache) return cache.save == StoreCache.save end

-- cache:save(record, mergeMode?): the record as stored. MERGE_ACCEPT_THEIRS, the default, merges it over the stored record;
-- OVERWRITE replaces the stored record; LEAVE_IF_CHANGED keeps a stored record with local changes
method("save", { RECORD, MERGE_MODE }, function(self, record, mode)
  local saved, err = save_all(self, { record }, mode)
  if not saved then return nil, err end
  return saved[1]
end, function(self, record, mode)
  check_mode("save", mode)
  check_keys(self, { record }, mode)
end)

-- cache:saveAll(records, mergeMode?): the records as stored, in the given order; saves several records like save
method("saveAll", { { "records", "tables" }, MERGE_MODE }, save_all, check_keys)

-- cache:remove(key): null, even if there is no such record
method("remove", { KEY }, function(self, key)
  local record, err = find_one(self, key)
  if record == nil then return nil, err end
  if record == core.null then return record end
  local done
  done, err = await(smartstore.removeFromSoup, self.config, self.soupName, { record._soupEntryId })
  if not done then return nil, err end
  return core.null
end)

--- Returns a new id for a record that the server does not know yet.
---@return string
function StoreCache:makeLocalId() return local_ids.make() end -- luacheck: ignore 212

--- Returns whether an id was made locally.
---@return boolean
function StoreCache:isLocalId(id) return local_ids.is_local(id) end -- luacheck: ignore 212

-- MARK: results

---@class tureen.force.Found  the records of a query that were fetched so far
---@field records table[]
local Found = call.class "Found"

function Found:new(cache, cursor, is_smart)
  self.cache, self.cursor, self.is_smart = cache, cursor, is_smart
  self.records = self:take()
end

--- Returns the records of the cursor's page. The rows of a smart query have one column.
function Found:take()
  local records = core.array()
  for i, entry in ipairs(self.cursor.currentPageOrderedEntries) do records[i] = self.is_smart and entry[1] or entry end
  return records
end

--- Closes the cursor if the page is the last one.
function Found:release()
  if self.cursor.currentPageIndex + 1 >= self.cursor.totalPages then self:closeCursor() end
end

--- Returns whether `getMore` will find records.
---@return boolean
function Found:hasMore()
  return self.cursor ~= nil and self.cursor.currentPageIndex + 1 < self.cursor.totalPages
end

-- found:closeCursor(): null; getMore then finds nothing
Found.closeCursor = call.define {
  name = "closeCursor", is_method = true, params = {},
  body = function(self)
    local cursor = self.cursor
    self.cursor = nil
    if cursor then
      local done, err = await(smartstore.closeCursor, self.cache.config, cursor)
      if not done then return nil, err end
    end
    return core.null
  end,
}

-- found:getMore(): the next records, which are also added to `records`; an empty list at the end
Found.getMore = call.define {
  name = "getMore", is_method = true, params = {},
  body = function(self)
    if not self:hasMore() then return core.array() end
    local cursor, err = await(smartstore.moveCursorToNextPage, self.cache.config, self.cursor)
    if not cursor then return nil, err end
    self.cursor = cursor
    local records = self:take()
    call.append(self.records, records)
    self:release()
    return records
  end,
}

-- cache:find(querySpec): the result with `records`, `hasMore()`, `getMore()` and `closeCursor()`. A smart query must select
-- exactly one column, {soup:_soup}
method("find", { { "querySpec", "table" } }, function(self, spec)
  local cursor, err
  local is_smart = spec.queryType == "smart"
  if is_smart then
    cursor, err = await(smartstore.runSmartQuery, self.config, spec)
  else
    cursor, err = await(smartstore.querySoup, self.config, self.soupName, spec)
  end
  if not cursor then return nil, err end
  local found = Found(self, cursor, is_smart)
  found:release()
  return found
end)

return {
  StoreCache = StoreCache, MERGE_MODE_DOWNLOAD = MERGE_MODE_DOWNLOAD, check_mode = check_mode,
  FLAGS = FLAGS, patch = patch, is_own = is_own,
}
