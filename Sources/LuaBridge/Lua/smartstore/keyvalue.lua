--- Small things kept beside the soups: values of any bytes under any key, in stores with names, in the same file.
---
--- Every function takes an optional store config first (see `tureen.smartstore`): which file. `name` is the key-value
--- store's own name, 1 to 96 letters, digits and `_`; a store begins to exist with its first value. The last two
--- arguments are `success` and `error`.
local core = ...
local arguments = core.import "arguments"
local calls = core.import "calls"

---@class tureen.keyvalue
local M = {}

local SERVICE = "tureen.keyvalue"
local define, action = arguments.define, arguments.action

local NAME, KEY = { "name", "string" }, { "key", "string" }

--- Defines `M[name]`: a call of one action whose keys are `keys`.
local function simple(name, wire_name, params, keys)
  M[name] = define { name = name, has_store = true, params = params, send = action(SERVICE, wire_name, keys) }
end

-- remove([config,] name, key, ...): whether there was such a key
simple("remove", "kvRemove", { NAME, KEY }, { "name", "key" })
-- contains([config,] name, key, ...): a boolean
simple("contains", "kvContains", { NAME, KEY }, { "name", "key" })
-- count([config,] name, ...): how many keys there are
simple("count", "kvCount", { NAME }, { "name" })
-- clear([config,] name, ...): "OK"; the store with its keys is gone
simple("clear", "kvClear", { NAME }, { "name" })
-- keys([config,] name, [pattern,] ...): the keys, sorted; in a pattern `*` stands for any text
simple("keys", "kvKeys", { NAME, { "pattern", "string", optional = true } }, { "name", "pattern" })
-- stores([config,] ...): the names of the stores that hold something, sorted
simple("stores", "kvStores", {}, {})

-- put([config,] name, key, value, ...): "OK"; value is a string of any bytes
M.put = define {
  name = "put", has_store = true, params = { NAME, KEY, { "value", "string" } },
  send = function(success, failure, config, values, caller)
    local value = values[3]
    config.name, config.key = values[1], values[2]
    -- JSON carries text; other bytes travel as base64.
    if utf8.len(value) then
      config.value = value
    else
      config.value, config.isBase64 = core.to_base64(value), true
    end
    return calls.exec(success, failure, SERVICE, "kvPut", config, nil, caller)
  end,
}

-- get([config,] name, key, ...): the value, a string; tureen.null when there is none
M.get = define {
  name = "get", has_store = true, params = { NAME, KEY },
  send = function(success, failure, config, values, caller)
    config.name, config.key = values[1], values[2]
    local function found(payload)
      if payload == core.null then return success(payload) end
      success(payload.isBase64 and core.from_base64(payload.value) or payload.value)
    end
    return calls.exec(success and found, failure, SERVICE, "kvGet", config, nil, caller)
  end,
}

return M
