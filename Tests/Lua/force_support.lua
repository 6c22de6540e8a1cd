--- What the suites of `tureen.force` share: fresh caches, and records on the sandbox org.
local tureen = require "tureen"
local harness = require "harness"
local force = require "tureen.force"

local M = {}

--- An empty cache of its own.
function M.cache(name, specs)
  local cache = force.StoreCache(name, specs)
  assert(tureen.await(tureen.smartstore.removeSoup, cache.config, name))
  assert(cache:init())
  return cache
end

--- Nil with an error of this code, from a call that has been made: `fails(code, call(...))`; the error.
function M.fails(code, value, err)
  if value ~= nil then error("it succeeded, wanted " .. code, 2) end
  harness.same(err.code, code, tostring(err.message))
  return err
end

--- The fields of a record and nothing else, for comparing.
function M.pick(record, ...)
  local result = {}
  for _, field in ipairs { ... } do result[field] = record[field] end
  return result
end

--- Creates an account on the server; its id.
function M.account(fields)
  return assert(force.create("Account", fields)).id
end

--- An account as the server has it now; null when it is gone.
function M.on_server(id, fields)
  local record, err = force.retrieve("Account", id, fields)
  if record == nil and err.status == 404 then return tureen.null end
  return assert(record, err)
end

return M
