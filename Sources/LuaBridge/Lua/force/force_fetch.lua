--- Fetches lists of records: by a query or a search, the recent items, from an Apex REST resource, or from a cache.
local core = ...
local arguments = core.import "arguments"
local call = core.import "force_call"
local client = core.import "force_client"
local modes = core.import "force_modes"
local storecache = core.import "force_storecache"

local M = {}

local given = call.given
local CACHE_MODE = modes.CACHE_MODE

---@class tureen.force.Records  the result of a fetch
---@field records table[]      the records fetched so far
---@field totalSize integer?   the number of records that the server found
local Records = call.class "Records"

--- Creates the result. `next_page()` returns the next records and the function for the page after them; nil at the end.
function Records:new(records, total, next_page)
  self.records, self.totalSize, self.next_page = records, total, next_page
end

--- Returns whether `getMore` will find records.
---@return boolean
function Records:hasMore() return self.next_page ~= nil end

-- records:getMore(): the next records, which are also added to `records`; an empty list at the end
Records.getMore = call.define {
  name = "getMore", is_method = true, params = {},
  body = function(self)
    local take = self.next_page
    if not take then return core.array() end
    local records, following = take()
    if not records then return nil, following end
    self.next_page = following
    call.append(self.records, records)
    return records
  end,
}

-- records:closeCursor(): null; getMore then finds nothing
Records.closeCursor = call.define {
  name = "closeCursor", is_method = true, params = {},
  body = function(self)
    self.next_page = nil
    return core.null
  end,
}

--- Returns the function that fetches the page after an answer with `nextRecordsUrl`. `seen` contains the URLs of earlier pages.
local function following_page(answer, ask, seen)
  local address = answer.nextRecordsUrl
  if not given(address) and answer.done ~= false then return nil end
  if type(address) ~= "string" or address == "" then
    return function() return nil, call.new_error("badAnswer", "the answer is not done, but its 'nextRecordsUrl' is not text") end
  end
  seen = seen or {}
  return function()
    if seen[address] then
      return nil, call.new_error("badAnswer", ("the pages of the answer repeat: '%s' was fetched before"):format(address))
    end
    local page, err = ask(address)
    if not page then return nil, err end
    seen[address] = true
    return page.records, following_page(page, ask, seen)
  end
end

local from_server = {}

function from_server.soql(config)
  local answer, err = client.query(config.query)
  if not answer then return nil, err end
  return Records(answer.records, answer.totalSize, following_page(answer, client.queryMore))
end

function from_server.sosl(config)
  local answer, err = client.search(config.query)
  if not answer then return nil, err end
  return Records(answer.searchRecords, #answer.searchRecords)
end

local function quoted(text) return "'" .. text:gsub("[\\']", "\\%0") .. "'" end

function from_server.mru(config)
  local metadata, err = client.metadata(config.sobjectType)
  if not metadata then return nil, err end
  local recent = given(metadata.recentItems) and metadata.recentItems or core.array()
  if not given(config.fieldlist) or #recent == 0 then return Records(recent, #recent) end
  local ids = {}
  for i, item in ipairs(recent) do ids[i] = quoted(item.Id) end
  local order = given(config.orderBy) and " ORDER BY " .. config.orderBy or ""
  if order ~= "" and given(config.orderDirection) then order = order .. " " .. config.orderDirection end
  local fields = table.concat(arguments.fieldlist(config.fieldlist), ",")
  return from_server.soql {
    query = ("SELECT %s FROM %s WHERE Id IN (%s)%s"):format(fields, config.sobjectType, table.concat(ids, ","), order),
  }
end

local NEEDS = { soql = { "query" }, sosl = { "query" }, mru = { "sobjectType" } }

local function check_config(caller, config)
  local needs = NEEDS[config.type]
  if not needs then
    call.misuse("%s: 'config.type' must be soql, sosl or mru, got '%s'", caller, tostring(config.type))
  end
  for _, key in ipairs(needs) do
    if type(config[key]) ~= "string" then call.misuse("%s: 'config.%s' must be a string", caller, key) end
  end
end

local CONFIG = { "config", "table" }

-- fetchSObjectsFromServer(config): {records, totalSize, hasMore(), getMore(), closeCursor()}. config: {type = "soql" or "sosl",
-- query}, or for recently used records {type = "mru", sobjectType, fieldlist?, orderBy?, orderDirection?}
M.fetchSObjectsFromServer = call.define {
  name = "fetchSObjectsFromServer", params = { CONFIG },
  check = function(config) check_config("fetchSObjectsFromServer", config) end,
  body = function(config) return from_server[config.type](config) end,
}

-- fetchApexRestObjectsFromServer({apexRestPath, params}): like fetchSObjectsFromServer, from an Apex REST endpoint that answers
-- {totalSize, records, nextRecordsUrl}
M.fetchApexRestObjectsFromServer = call.define {
  name = "fetchApexRestObjectsFromServer", params = { CONFIG },
  check = function(config)
    if type(config.apexRestPath) ~= "string" then
      call.misuse("fetchApexRestObjectsFromServer: 'config.apexRestPath' must be a string")
    end
  end,
  body = function(config)
    local answer, err = client.apexrest { path = config.apexRestPath, params = config.params, expects = "json" }
    if not answer then return nil, err end
    if type(answer) ~= "table" or type(answer.records) ~= "table" then
      return nil, call.new_error("badAnswer", config.apexRestPath .. " must answer with {totalSize, records, nextRecordsUrl}")
    end
    return Records(answer.records, answer.totalSize, following_page(answer, client.queryMore))
  end,
}

--- Saves fetched records in the cache, and unchanged in the originals. Returns the records as stored in the cache.
local function keep(records, cache, originals, mode)
  local result = records
  for _, record in ipairs(records) do
    local key = (cache or originals).keyField
    if not given(record[key]) then return nil, call.new_error("missingKey", "Can't merge without " .. key) end
  end
  if cache then
    local saved, err = cache:saveAll(records, mode)
    if not saved then return nil, err end
    result = saved
  end
  if originals then
    local saved, err = originals:saveAll(records)
    if not saved then return nil, err end
  end
  return result
end

--- Returns the function that fetches and saves further pages.
local function kept_pages(take, cache, originals, mode)
  if not take then return nil end
  return function()
    local records, following = take()
    if not records then return nil, following end
    local kept, err = keep(records, cache, originals, mode)
    if not kept then return nil, err end
    return kept, kept_pages(following, cache, originals, mode)
  end
end

--- Implements fetchRemoteObjects; the arguments are already checked.
function M.run(from_server_now, from_cache, cache_mode, cache, originals, mode)
  if cache and cache_mode == CACHE_MODE.CACHE_ONLY then return from_cache() end
  local fetched, err = from_server_now()
  if not fetched then return nil, err end
  if not (cache or originals) then return fetched end
  local kept
  kept, err = keep(fetched.records, cache, originals, mode)
  if not kept then return nil, err end
  return Records(kept, fetched.totalSize, kept_pages(fetched.next_page, cache, originals, mode))
end

local CACHE, ORIGINALS = { "cache", "cache", optional = true }, { "cacheForOriginals", "cache", optional = true }
local MERGE = { "mergeMode", "string", optional = true }

-- fetchRemoteObjects(fetchFromServer, fetchFromCache, cacheMode, cache, cacheForOriginals, mergeMode): the result of one of the
-- two functions, which run in a task; records from the server are saved in the cache
M.fetchRemoteObjects = call.define {
  name = "fetchRemoteObjects",
  params = {
    { "fetchFromServer", "callable" }, { "fetchFromCache", "callable", optional = true },
    { "cacheMode", "string", optional = true }, CACHE, ORIGINALS, MERGE,
  },
  check = function(_, _, cache_mode, _, _, mode)
    modes.check_cache_mode("fetchRemoteObjects", cache_mode)
    storecache.check_mode("fetchRemoteObjects", mode)
  end,
  body = M.run,
}

-- fetchSObjects(config, cache, cacheForOriginals, mergeMode): {type = "cache", cacheQuery} reads the cache; any other config
-- fetches from the server and saves the records in the cache
M.fetchSObjects = call.define {
  name = "fetchSObjects", params = { CONFIG, CACHE, ORIGINALS, MERGE },
  check = function(config, cache, _, mode)
    storecache.check_mode("fetchSObjects", mode)
    if config.type ~= "cache" then return check_config("fetchSObjects", config) end
    if not cache or type(config.cacheQuery) ~= "table" then
      call.misuse("fetchSObjects: type cache needs a cache and 'config.cacheQuery', a query spec")
    end
  end,
  body = function(config, cache, originals, mode)
    local cache_mode = config.type == "cache" and CACHE_MODE.CACHE_ONLY or CACHE_MODE.SERVER_FIRST
    return M.run(function() return from_server[config.type](config) end,
      function() return cache:find(config.cacheQuery) end, cache_mode, cache, originals, mode)
  end,
}

M.Records = Records

return M
