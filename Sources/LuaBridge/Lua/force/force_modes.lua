--- Defines the modes of caches and merges, and checks their use.
local core = ...
local call = core.import "force_call"

local M = {
  CACHE_MODE = {
    CACHE_ONLY = "cache-only", CACHE_FIRST = "cache-first", SERVER_ONLY = "server-only", SERVER_FIRST = "server-first",
  },
  MERGE_MODE = {
    OVERWRITE = "overwrite", MERGE_ACCEPT_YOURS = "merge-accept-yours",
    MERGE_FAIL_IF_CONFLICT = "merge-fail-if-conflict", MERGE_FAIL_IF_CHANGED = "merge-fail-if-changed",
  },
}

local METHODS = { create = true, read = true, update = true, delete = true }

--- Raises unless `value` is one of the values of `known`, nil or null.
local function check(caller, what, known, value)
  if not call.given(value) then return end
  local names = {}
  for _, name in pairs(known) do
    if name == value then return end
    names[#names + 1] = name
  end
  table.sort(names)
  call.misuse("%s: '%s' must be one of %s, got '%s'", caller, what, table.concat(names, ", "), tostring(value))
end

function M.check_cache_mode(caller, mode) check(caller, "cacheMode", M.CACHE_MODE, mode) end

function M.check_merge_mode(caller, mode) check(caller, "mergeMode", M.MERGE_MODE, mode) end

function M.check_method(caller, method)
  if not METHODS[method] then
    call.misuse("%s: 'method' must be create, read, update or delete, got '%s'", caller, tostring(method))
  end
end

--- Raises if a mode does not support a method on this record.
---@param cache tureen.force.StoreCache?
function M.check_use(method, id, cache, mode)
  if not cache then return end
  if mode == M.CACHE_MODE.CACHE_FIRST and method ~= "read" then
    call.misuse("Can't %s with cacheMode cache-first", method)
  end
  local is_server_first = mode == nil or mode == M.CACHE_MODE.SERVER_FIRST
  if is_server_first and (method == "read" or method == "delete") and cache:isLocalId(id) then
    call.misuse("Can't %s on server for a locally created record", method)
  end
end

return M
