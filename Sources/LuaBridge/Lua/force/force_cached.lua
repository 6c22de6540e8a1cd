--- Keeps answers of the server in a cache of `tureen.force`, beside edits that are made while a request is in flight.
local core = ...
local async = core.import "async"
local call = core.import "force_call"
local smartstore = core.import "smartstore"
local storecache = core.import "force_storecache"

local M = {}

local copy = call.copy

--- Returns the version of a record in the cache; nil if the cache has no such record; nil and an error if the store fails.
function M.version(cache, id)
  if id == nil or not storecache.is_own(cache) then return nil end
  local edited, err = storecache.patch(cache, { { externalId = id, ifExists = true } })
  if not edited then return nil, err end
  return edited[1] ~= core.null and edited[1].version or nil
end

--- Returns what the server has after a change: the members that were sent, and those that it answered with other values.
local function known_members(data, sent)
  local result = {}
  for key, value in pairs(copy(data)) do
    local is_own = key:find "^__.*__$" or key:find "^_soup"
    local is_known = sent.names[key] ~= nil or key == "attributes" or not rawequal(value, sent.attributes[key])
    if is_known and not is_own then result[key] = value end
  end
  return result
end

--- Writes the values that the server accepted into the cache. Members that were edited since they were sent stay marked.
---@param id string    the record's id on the server
---@param sent {id: string?, version: integer?, attributes: table, names: table}  the id and the version in the cache by then,
---  all attributes, and those that were sent, by name
function M.confirm(cache, id, data, sent)
  local known, record = known_members(data, sent), copy(data)
  known[cache.keyField], record[cache.keyField] = id, id
  for _, flag in ipairs(storecache.FLAGS) do record[flag] = nil end
  local patch = {
    externalId = sent.id or id, confirmed = known, sentVersion = sent.version or 0, flags = {}, ifExists = true,
  }
  local edited, err = storecache.patch(cache, { patch })
  if not edited then return nil, err end
  if edited[1] ~= core.null then return edited[1].entry end
  patch.externalId, patch.create = id, cache:addLocalFields(record)
  edited, err = storecache.patch(cache, { patch })
  if not edited then return nil, err end
  return edited[1].entry
end

--- Saves changed members of a record for the next sync up; other members of the cache's record stay as they are by then.
---@param record table  the whole record with its flags, for a cache without it
---@param changed table<string, any>  the names of the changed members
function M.update(cache, record, changed)
  local members, flags = {}, {}
  for key, value in pairs(record) do
    if changed[key] ~= nil or key == "attributes" then members[key] = value end
  end
  for _, flag in ipairs(storecache.FLAGS) do
    flags[flag] = record[flag]
    members[flag] = nil
  end
  local patch = { externalId = record[cache.keyField], set = members, flags = flags, create = cache:addLocalFields(record) }
  local edited, err = storecache.patch(cache, { patch })
  if not edited then return nil, err end
  return edited[1].entry
end

--- Stores the server's record. Local changes that are not sent yet stay, unless `overwrite` is true.
function M.read(cache, id, data, overwrite)
  local record = copy(data)
  record[cache.keyField] = id
  local merged, err = async.await(smartstore.mergeServerRecords, cache.config, cache.soupName, { record },
    overwrite and "OVERWRITE" or "MERGE", { externalIdPath = cache.keyField, partial = true })
  if not merged then return nil, err end
  local result = copy(merged[1].entry)
  for key, value in pairs(record) do
    if result[key] == nil then result[key] = value end
  end
  return result
end

return M
