--- Shared functions of the suites for `tureen.force`: new caches, and records of the sandbox org.
local tureen = require "tureen"
local harness = require "harness"
local force = require "tureen.force"

local M = {}

--- Returns a new, empty cache.
function M.cache(name, specs)
  local cache = force.StoreCache(name, specs)
  assert(tureen.await(tureen.smartstore.removeSoup, cache.config, name))
  assert(cache:init())
  return cache
end

--- Expects that a call returned nil and an error of this code, `fails(code, call(...))`, and returns the error.
function M.fails(code, value, err)
  if value ~= nil then error("it succeeded, wanted " .. code, 2) end
  harness.same(err.code, code, tostring(err.message))
  return err
end

--- Returns only these fields of a record, for comparing.
function M.pick(record, ...)
  local result = {}
  for _, field in ipairs { ... } do result[field] = record[field] end
  return result
end

--- Creates an account on the server and returns its id.
function M.account(fields)
  return assert(force.create("Account", fields)).id
end

--- Returns the server's version of an account; null if it is deleted.
function M.on_server(id, fields)
  local record, err = force.retrieve("Account", id, fields)
  if record == nil and err.status == 404 then return tureen.null end
  return assert(record, err)
end

return M
