--- Changes made on the embedded sandbox org, behind the store's back: for trying out, for samples and for tests.
--- Works where the program around the script has such an org, as `tureen run` does; elsewhere every call fails with
--- `unknownService`.
local core = ...
local arguments = core.import "arguments"

---@class tureen.sandbox
local M = {}

local SERVICE = "tureen.sandbox"

local function define(name, params)
  local keys = {}
  for i, param in ipairs(params) do keys[i] = param[1] end
  return arguments.define { name = name, params = params, send = arguments.action(SERVICE, name, keys) }
end

-- create(type, fields, success, error): the new record's id
M.create = define("create", { { "type", "string" }, { "fields", "table" } })

-- update(type, id, fields, success, error): "OK"
M.update = define("update", { { "type", "string" }, { "id", "string" }, { "fields", "table" } })

-- delete(type, id, success, error): "OK"
M.delete = define("delete", { { "type", "string" }, { "id", "string" } })

-- query(soql, success, error): the records
M.query = define("query", { { "soql", "string" } })

return M
