--- The files that syncs of collections download for their rows, such as pictures: the key `assets` of targets of type "rest".
---
--- The functions take the callbacks `success` and `error` last, or wait if they are called without them inside a task.
local core = ...
local async = core.import "async"
local calls = core.import "calls"
local force_call = core.import "force_call"

---@class tureen.asset
local M = {}

local SERVICE = "tureen.asset"

---@class tureen.asset.Info
---@field path string         the path of the file; do not modify the file
---@field contentType string  the server's content type; "" if there was none
---@field bytes integer

local function ask(success, failure, url, connection)
  return calls.exec(success, failure, SERVICE, "path", { url = url, connection = connection })
end

local function define(name, of)
  M[name] = force_call.define {
    name = name, params = { { "url", "string" }, { "connection", "string", optional = true } },
    body = function(url, connection)
      local found, err = async.wait(name, function(settle)
        ask(settle, function(failure) settle(nil, failure) end, url, connection)
      end)
      if found == nil then return nil, err end
      if found == core.null then return nil end
      return of(found)
    end,
  }
end

-- path(url, [connection,] ...): the path of the file for the URL; nil (with callbacks tureen.null) if there is none
define("path", function(found) return found.path end)
-- info(url, [connection,] ...): {path, contentType, bytes}; nil (with callbacks tureen.null) if there is none
define("info", function(found) return found end)

return M
