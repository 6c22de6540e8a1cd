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
local NEW = { __local__ = true, __locally_created__ = true, __locally_updated__ = false, __locally_deleted__ = false }
local DEFAULT_ID_FIELD = "Id"

local SOUP, ENTRY = { "soupName", "string" }, { "entry", "entry" }

--- Copies an entry, which may be a lazy record, and applies changes.
local function copy(entry, changes)
  local result = {}
  for key, value in pairs(entry) do result[key] = value end
  for key, value in pairs(changes or {}) do result[key] = value end
  return result
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
    config.soupName, config.entries, config.externalIdPath = soup, core.array { copy(entry, NEW) }, "_soupEntryId"
    local function stored(entries) return success(entries[1]) end
    return calls.send(success and stored, failure, SERVICE, "pgUpsertSoupEntries", config, caller)
  end,
}

--- Defines `M[name]`, which sets flags of an entry in the soup, and with `with_changes` also fields.
---
--- The entry is edited as it is stored by then. Values that a sync or another edit has written since the script read it stay.
local function define(name, flags, with_changes)
  local params = { SOUP, ENTRY, with_changes and { "changes", "table", optional = true } or nil }
  M[name] = arguments.define {
    name = name, has_store = true, params = params,
    send = function(success, failure, config, values, caller)
      local soup, entry, changes = values[1], values[2], values[3]
      local patch = { entryId = math.tointeger(entry._soupEntryId), flags = flags, set = changes }
      if not patch.entryId then
        core.raise("invalidArguments",
          ("%s: argument 'entry' has no _soupEntryId; give an entry as it was read from the soup"):format(name))
      end
      -- Without changes, they are what differs in the entry from what was read.
      if with_changes and not changes and not core.is_record(entry) then patch.copy = copy(entry) end
      config.soupName, config.patches = soup, core.array { patch }
      local function edited(results) return success(results[1].entry) end
      return calls.send(success and edited, failure, SERVICE, "patchSoupEntries", config, caller)
    end,
  }
end

-- markUpdated([config,] soupName, entry, [changes,] ...): the entry with the changes, which the next sync up sends. Without
-- changes, the members that the script has set in its entry are the changes
define("markUpdated", { __locally_updated__ = true }, true)
-- markDeleted([config,] soupName, entry, ...): the entry, which the next sync up deletes on the server and in the soup; a locally
-- created entry is only removed from the soup
define("markDeleted", { __locally_deleted__ = true })
-- unmark([config,] soupName, entry, ...): undoes markUpdated and markDeleted without changing fields. A locally created entry is
-- still created by the next sync up
define("unmark", { __locally_updated__ = false, __locally_deleted__ = false })

return M
