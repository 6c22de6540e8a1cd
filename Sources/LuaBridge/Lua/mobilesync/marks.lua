--- Marks entries as created, updated or deleted for the next sync up.
---
--- Each function stores the entry with its flags and returns it as stored. A sync up selects entries by these flags:
--- `__local__` is true if one of `__locally_created__`, `__locally_updated__` and `__locally_deleted__` is.
local core = ...
local arguments = core.import "arguments"
local calls = core.import "calls"
local local_ids = core.import "local_ids"

local M = {}

local SERVICE = "com.salesforce.smartstore"
local FLAGS = { "__locally_created__", "__locally_updated__", "__locally_deleted__" }
local DEFAULT_ID_FIELD = "Id"

local SOUP, ENTRY = { "soupName", "string" }, { "entry", "entry" }

--- Copies an entry, which may be a lazy record, and applies changes.
local function copy(entry, changes)
  local result = {}
  for key, value in pairs(entry) do result[key] = value end
  for key, value in pairs(changes or {}) do result[key] = value end
  return result
end

--- Sets all flags of the entry: those in `flags`, and the others to their current value, or false if they are missing.
local function marked(entry, flags)
  entry.__local__ = false
  for _, flag in ipairs(FLAGS) do
    if flags[flag] ~= nil then entry[flag] = flags[flag] end
    entry[flag] = entry[flag] == true
    entry.__local__ = entry.__local__ or entry[flag]
  end
  return entry
end

local function store(success, failure, config, soup, entry, caller)
  config.soupName, config.entries, config.externalIdPath = soup, core.array { entry }, "_soupEntryId"
  local function stored(entries) return success(entries[1]) end
  return calls.exec(success and stored, failure, SERVICE, "pgUpsertSoupEntries", config, nil, caller)
end

-- newRecord([config,] soupName, sobjectType, fields, [idField,] ...): a new entry that the next sync up creates on the server.
-- If `fields` has no id, it gets a local one in `idField` (default "Id")
M.newRecord = arguments.define {
  name = "newRecord", has_store = true,
  params = { SOUP, { "sobjectType", "string" }, { "fields", "table" }, { "idField", "string", optional = true } },
  send = function(success, failure, config, values, caller)
    local soup, kind, entry, id_field = values[1], values[2], copy(values[3]), values[4] or DEFAULT_ID_FIELD
    local id = entry[id_field]
    if id == nil or id == core.null then entry[id_field] = local_ids.make() end
    entry.attributes = copy(type(entry.attributes) == "table" and entry.attributes or {}, { type = kind })
    marked(entry, { __locally_created__ = true, __locally_updated__ = false, __locally_deleted__ = false })
    return store(success, failure, config, soup, entry, caller)
  end,
}

--- Defines `M[name]`, which stores an entry of the soup with other flags, and with other fields if `with_changes` is true.
local function define(name, flags, with_changes)
  local params = { SOUP, ENTRY, with_changes and { "changes", "table", optional = true } or nil }
  M[name] = arguments.define {
    name = name, has_store = true, params = params,
    send = function(success, failure, config, values, caller)
      local entry = marked(copy(values[2], values[3]), flags)
      if not math.tointeger(entry._soupEntryId) then
        core.raise("invalidArguments",
          ("%s: argument 'entry' has no _soupEntryId; give an entry as it was read from the soup"):format(name))
      end
      return store(success, failure, config, values[1], entry, caller)
    end,
  }
end

-- markUpdated([config,] soupName, entry, [changes,] ...): the entry with the changes, which the next sync up sends
define("markUpdated", { __locally_updated__ = true }, true)
-- markDeleted([config,] soupName, entry, ...): the entry, which the next sync up deletes on the server and in the soup; a locally
-- created entry is only removed from the soup
define("markDeleted", { __locally_deleted__ = true })
-- unmark([config,] soupName, entry, ...): undoes markUpdated and markDeleted without changing fields. A locally created entry is
-- still created by the next sync up
define("unmark", { __locally_updated__ = false, __locally_deleted__ = false })

return M
