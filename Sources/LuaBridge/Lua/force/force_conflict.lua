--- Detects whether another client has changed a record before it is changed on the server.
---
--- A second cache, `cacheForOriginals`, holds the last known server version of each record. Both sides are compared with it.
local core = ...
local call = core.import "force_call"
local modes = core.import "force_modes"
local sync = core.import "force_sync"

local M = {}

local given, copy = call.given, call.copy
local CACHE_MODE, MERGE_MODE = modes.CACHE_MODE, modes.MERGE_MODE

--- Returns whether a value is one of those that the native SDK does not distinguish: nil, null, "", 0 and false.
local function is_nothing(value)
  return not given(value) or value == "" or value == 0 or value == false
end

--- Returns whether two values are equal to the native SDK: 1 equals "1", and tables are compared by content.
local function is_same(a, b)
  if is_nothing(a) or is_nothing(b) then return is_nothing(a) and is_nothing(b) end
  if type(a) == "table" and type(b) == "table" then
    for key, value in pairs(a) do if not is_same(value, b[key]) then return false end end
    for key, value in pairs(b) do if a[key] == nil and not is_nothing(value) then return false end end
    return true
  end
  if type(a) == "number" and type(b) == "string" then b = tonumber(b) end
  if type(a) == "string" and type(b) == "number" then a = tonumber(a) end
  return a == b
end

--- Returns the fields of the list for which `test` is true, in the list's order.
local function fields_where(fieldlist, test)
  local result = core.array()
  for _, field in ipairs(fieldlist) do
    if test(field) then result[#result + 1] = field end
  end
  return result
end

--- Returns the fields that each side has changed since `base`. A field that is missing in `yours` is unchanged.
local function changes(base, theirs, yours, fieldlist)
  local is_remote, is_local = {}, {}
  for _, field in ipairs(fieldlist) do
    is_remote[field] = not is_same(base[field], theirs[field])
    is_local[field] = yours[field] ~= nil and not is_same(base[field], yours[field])
  end
  return {
    remoteChanges = fields_where(fieldlist, function(field) return is_remote[field] end),
    localChanges = fields_where(fieldlist, function(field) return is_local[field] end),
    conflictingChanges = fields_where(fieldlist, function(field)
      return is_remote[field] and is_local[field] and not is_same(yours[field], theirs[field])
    end),
  }
end

local function must_fail(mode, found)
  if mode == MERGE_MODE.MERGE_FAIL_IF_CHANGED then return #found.remoteChanges > 0 end
  return mode == MERGE_MODE.MERGE_FAIL_IF_CONFLICT and #found.conflictingChanges > 0
end

--- Returns the attributes including the changes that were made only on the server.
local function with_theirs(attributes, theirs, found)
  local result, is_conflicting = copy(attributes), {}
  for _, field in ipairs(found.conflictingChanges) do is_conflicting[field] = true end
  for _, field in ipairs(found.remoteChanges) do
    if not is_conflicting[field] then result[field] = theirs[field] end
  end
  return result
end

--- Returns the attributes to send, or nil and the conflict.
local function compare(id, attributes, fieldlist, originals, mode, sync_with_server)
  local base, err = originals:retrieve(id)
  if base == nil then return nil, err end
  if base == core.null then return attributes end
  local theirs
  theirs, err = sync_with_server("read", id, nil, fieldlist)
  if theirs == nil then return nil, err end
  if theirs == core.null then return attributes end
  local yours = copy(attributes)
  local found = changes(base, theirs, yours, fieldlist or {})
  if must_fail(mode, found) then
    found.base, found.theirs, found.yours = base, theirs, yours
    return nil, call.new_error("conflict", ("the record %s was changed on the server"):format(id), found)
  end
  return with_theirs(attributes, theirs, found)
end

--- Updates the originals to the server's current version.
local function keep_original(method, id, data, originals, cache_mode, info)
  if cache_mode == CACHE_MODE.CACHE_ONLY then return true end
  if method == "delete" then
    local removed, err = originals:remove(id)
    return removed ~= nil, err
  end
  if data.__local__ == true or (cache_mode == CACHE_MODE.CACHE_FIRST and info.wasReadFromCache) then return true end
  local key = originals.keyField
  local record = copy(data)
  record._soupEntryId = nil
  if not given(record[key]) then record[key] = id end
  local saved, err = originals:save(record)
  return saved ~= nil, err
end

--- Implements syncRemoteObjectDetectConflict; the arguments are already checked.
function M.run(method, id, attributes, fieldlist, cache, cache_mode, originals, merge_mode, info, sync_with_server)
  info = info or {}
  if not originals then
    return sync.run(method, id, attributes, fieldlist, cache, cache_mode, info, sync_with_server)
  end
  local is_change = method == "update" or method == "delete"
  local is_checked = is_change and given(merge_mode) and merge_mode ~= MERGE_MODE.OVERWRITE
    and cache_mode ~= CACHE_MODE.CACHE_ONLY and not originals:isLocalId(id)
  local err
  if is_checked then
    attributes, err = compare(id, attributes, fieldlist, originals, merge_mode, sync_with_server)
    if attributes == nil and err ~= nil then return nil, err end
  end
  local data
  data, err = sync.run(method, id, attributes, fieldlist, cache, cache_mode, info, sync_with_server)
  if data == nil then return nil, err end
  if data == core.null and method ~= "delete" then return data end
  local kept
  kept, err = keep_original(method, id, data, originals, cache_mode, info)
  if not kept then return nil, err end
  return data
end

function M.check(caller, method, id, cache, cache_mode, merge_mode)
  modes.check_method(caller, method)
  modes.check_merge_mode(caller, merge_mode)
  sync.check_run(caller, method, id, cache, cache_mode)
end

local P = sync.params
local ORIGINALS = { "cacheForOriginals", "cache", optional = true }
local MERGE_MODE_PARAM = { "mergeMode", "string", optional = true }

-- syncRemoteObjectDetectConflict(method, id, attributes, fieldlist, cache, cacheMode, cacheForOriginals, mergeMode,
-- syncWithServer): the record; null after a delete. If the merge mode does not allow the changes of others, the error has the
-- code `conflict` and {base, theirs, yours, remoteChanges, localChanges, conflictingChanges}, and nothing is written
M.syncRemoteObjectDetectConflict = call.define {
  name = "syncRemoteObjectDetectConflict",
  params = {
    P.method, P.id, P.attributes, P.fieldlist, P.cache, P.cache_mode, ORIGINALS, MERGE_MODE_PARAM,
    { "syncWithServer", "callable" },
  },
  check = function(method, id, _, _, cache, cache_mode, _, merge_mode)
    M.check("syncRemoteObjectDetectConflict", method, id, cache, cache_mode, merge_mode)
  end,
  body = function(method, id, attributes, fieldlist, cache, cache_mode, originals, merge_mode, server)
    return M.run(method, id, attributes, fieldlist, cache, cache_mode, originals, merge_mode, nil, server)
  end,
}

-- syncSObjectDetectConflict(method, sobjectType, id, attributes, fieldlist, cache, cacheMode, cacheForOriginals, mergeMode): like
-- syncRemoteObjectDetectConflict, for a record of a type
M.syncSObjectDetectConflict = call.define {
  name = "syncSObjectDetectConflict",
  params = {
    P.method, P.type, P.id, P.attributes, P.fieldlist, P.cache, P.cache_mode, ORIGINALS, MERGE_MODE_PARAM,
  },
  check = function(method, _, id, _, _, cache, cache_mode, _, merge_mode)
    M.check("syncSObjectDetectConflict", method, id, cache, cache_mode, merge_mode)
  end,
  body = function(method, kind, id, attributes, fieldlist, cache, cache_mode, originals, merge_mode)
    local server = sync.sobject_server(kind)
    return M.run(method, id, sync.typed(kind, attributes), fieldlist, cache, cache_mode, originals, merge_mode, nil, server)
  end,
}

return M
