--- Named key-value stores in the same file as the soups. Keys are texts, values are any bytes.
---
--- Every function takes an optional store config first, which selects the file (see `tureen.smartstore`). `name` is the
--- name of the key-value store, 1 to 96 letters, digits and `_`; a store is created by its first value. The last two
--- arguments are `success` and `error`.
local core = ...
local arguments = core.import "arguments"
local calls = core.import "calls"

---@class tureen.keyvalue
local M = {}

local SERVICE = "tureen.keyvalue"
local define, action = arguments.define, arguments.action

local NAME, KEY = { "name", "string" }, { "key", "string" }

--- Defines `M[name]`, which calls one action with the keys `keys`.
local function simple(name, wire_name, params, keys)
  M[name] = define { name = name, has_store = true, params = params, send = action(SERVICE, wire_name, keys) }
end

-- remove([config,] name, key, ...): true if there was such a key
simple("remove", "kvRemove", { NAME, KEY }, { "name", "key" })
-- contains([config,] name, key, ...): a boolean
simple("contains", "kvContains", { NAME, KEY }, { "name", "key" })
-- count([config,] name, ...): the number of keys
simple("count", "kvCount", { NAME }, { "name" })
-- clear([config,] name, ...): "OK"; removes the store with its keys
simple("clear", "kvClear", { NAME }, { "name" })
-- keys([config,] name, [pattern,] ...): the keys, sorted; `*` in a pattern matches any text
simple("keys", "kvKeys", { NAME, { "pattern", "string", optional = true } }, { "name", "pattern" })
-- stores([config,] ...): the names of the stores that are not empty, sorted
simple("stores", "kvStores", {}, {})

-- put([config,] name, key, value, ...): "OK"; value is a string of any bytes
M.put = define {
  name = "put", has_store = true, params = { NAME, KEY, { "value", "string" } },
  send = function(success, failure, config, values, caller)
    local value = values[3]
    config.name, config.key = values[1], values[2]
    -- JSON can only contain text; other bytes are sent as Base64.
    if utf8.len(value) then
      config.value = value
    else
      config.value, config.isBase64 = core.to_base64(value), true
    end
    return calls.send(success, failure, SERVICE, "kvPut", config, caller)
  end,
}

-- get([config,] name, key, ...): the value, a string; tureen.null if there is none
M.get = define {
  name = "get", has_store = true, params = { NAME, KEY },
  send = function(success, failure, config, values, caller)
    config.name, config.key = values[1], values[2]
    local function found(payload)
      if payload == core.null then return success(payload) end
      success(payload.isBase64 and core.from_base64(payload.value) or payload.value)
    end
    return calls.send(success and found, failure, SERVICE, "kvGet", config, caller)
  end,
}

return M
