--- Controls the embedded sandbox org, for experiments, samples and tests: changes by another client, faults, the org's clock, the
--- log of requests.
---
--- Works only if the program embeds such an org, as `tureen run` does; otherwise every call fails with `unknownService`. The last
--- two arguments are `success` and `error`.
local core = ...
local arguments = core.import "arguments"
local calls = core.import "calls"

---@class tureen.sandbox
local M = {}

local SERVICE = "tureen.sandbox"

local TYPE, ID, FIELDS = { "type", "string" }, { "id", "string" }, { "fields", "table" }
local AFTER = { "after", "table", optional = true }

--- Defines `M[name]`, whose parameters are the action's arguments.
local function define(name, params)
  local keys = {}
  for i, param in ipairs(params) do keys[i] = param[1] end
  M[name] = arguments.define { name = name, params = params, send = arguments.action(SERVICE, name, keys) }
end

--- Defines `M[name]` with one table that contains the action's arguments.
local function define_table(name, param, is_optional)
  M[name] = arguments.define {
    name = name,
    params = { { param, "table", optional = is_optional } },
    send = function(success, failure, _, values, caller)
      return calls.send(success, failure, SERVICE, name, values[1] or {}, caller)
    end,
  }
end

-- create(type, fields, [after,] ...): the new record's id; "OK" if it becomes visible later
define("create", { TYPE, FIELDS, AFTER })
-- update(type, id, fields, [after,] ...): "OK"
define("update", { TYPE, ID, FIELDS, AFTER })
-- delete(type, id, [after,] ...): "OK"
define("delete", { TYPE, ID, AFTER })
-- query(soql, ...): the records; for SELECT COUNT() their number
define("query", { { "soql", "string" } })

-- snapshot([name,] ...): "OK"; keeps a copy of the org's data in memory
define("snapshot", { { "name", "string", optional = true } })
-- restore([name,] ...): "OK"; restores the data of the snapshot
define("restore", { { "name", "string", optional = true } })
-- reset([seed,] ...): "OK"; the org is like new; the Parse server is empty, or has its initial data if `seed` is true
define("reset", { { "seed", "boolean", optional = true } })

-- addFault(rule, ...): its id; {rules = {...}} adds several and returns a list
define_table("addFault", "rule")
-- removeFault(id, ...): true if there was such a rule
define("removeFault", { { "id", "integer" } })
-- faults(...): {seed, rules}, each rule with id, matched and fired
define("faults", {})
-- clearFaults(...): "OK"
define("clearFaults", {})
-- resetFaults([seed,] ...): "OK"; resets the counts and the random numbers
define("resetFaults", { { "seed", "integer", optional = true } })
-- faultKinds(...): all kinds with their parameters
define("faultKinds", {})

-- requests([filter,] ...): the requests to the org, oldest first; filter: since, method, path, fault
define_table("requests", "filter", true)
-- clearRequests(...): "OK"
define("clearRequests", {})
-- clock([change,] ...): {now, text, held}; change: hold, advance, set
define_table("clock", "change", true)

-- forge([settings,] ...): the settings of the forge next to the org, its url and tokens; settings: those to change
define_table("forge", "settings", true)
-- parse([settings,] ...): the settings of the Parse server next to the org, its url, application id and keys
define_table("parse", "settings", true)

-- expireSessions(...): "OK"; expires every access token
define("expireSessions", {})
-- expireLocators(...): "OK"; expires every open query locator
define("expireLocators", {})
-- revokeToken(token, ...): "OK"
define("revokeToken", { { "token", "string" } })

-- migrate([change,] ...): {instanceUrl}; change: old, the behavior of the old instance: refused, urlNotReset, closed
define_table("migrate", "change", true)
-- refreshOrg(...): {organizationId}; changes the org's id and removes tokens and approvals
define("refreshOrg", {})
-- redirectTokens([change,] ...): {to}; change: to ("secondPort" or an origin; omitted: no redirect), status
define_table("redirectTokens", "change", true)
-- restrictAddress(change, ...): "OK"; change: user, client, restricted
define_table("restrictAddress", "change")
-- signIns([filter,] ...): each with time, user, client, grant, result, oldest first; filter: since
define_table("signIns", "filter", true)

return M
