--- Sends requests to the org's REST API with its session.
local core = ...
local arguments = core.import "arguments"
local calls = core.import "calls"
local nearest = core.import "nearest"

---@class tureen.network
local M = {}

local SERVICE = "com.salesforce.network"

---@class tureen.RequestOptions
---@field endPoint string?       the part before the path, such as "/services/data"
---@field path string            the rest of the path, or a full https:// URL
---@field method string?         default GET
---@field queryParams table|string|nil  for GET, DELETE, HEAD and with `body` the query, else the JSON body
---@field body table|string|nil  the body: a table as JSON, a string as it is
---@field headerParams table?
---@field fileParams table?      {part = {fileUrl, fileMimeType?, fileName?}}: the body becomes multipart
---@field returnBinary boolean?  success gets {encodedBody, contentType}; `tureen.network.bytes` decodes it
---@field doesNotRequireAuthentication boolean?  sends no token
---@field connection string?     a connection of connections.json instead of the org
---@field cache "default"|"revalidate"|"reload"|"bypass"|"offline"|nil  how to use the connection's response cache
---@field returnResponse boolean?  success gets {status, headers, body}; for a connection also {url, cache, stale, age}
---@field expects "any"|"json"|"nothing"|"jsonOrNothing"|nil  the body of a valid response; others fail the call

local KEYS = {
  endPoint = "string", path = "string", method = "string", headerParams = "table", fileParams = "table",
  returnBinary = "boolean", doesNotRequireAuthentication = "boolean", expects = "string",
  connection = "string", cache = "string", returnResponse = "boolean",
}
local ORDER = {
  "endPoint", "path", "method", "headerParams", "fileParams", "returnBinary", "doesNotRequireAuthentication", "expects",
  "connection", "cache", "returnResponse",
}

-- What other libraries call the keys.
local MEANT = {
  url = "path", params = "queryParams", query = "queryParams", parameters = "queryParams", data = "body", json = "body",
  payload = "body", headers = "headerParams", files = "fileParams", binary = "returnBinary",
}

-- Values that are a table or a string.
local CONTENTS = { queryParams = true, body = true }

local NAMES = table.move(ORDER, 1, #ORDER, 3, { "queryParams", "body" })

local function check(position, prefix, args)
  for _, key in ipairs(ORDER) do
    local value = args[key]
    if value == core.null then
      value = nil
      args[key] = nil
    end
    if value ~= nil and type(value) ~= KEYS[key] then
      arguments.wrong("sendRequest", position[key] or 1, prefix .. key, "a " .. KEYS[key], value)
    end
  end
  if args.path == nil then arguments.wrong("sendRequest", position.path or 1, prefix .. "path", "a string", nil) end
  for _, key in ipairs { "queryParams", "body" } do
    local value = args[key]
    if value ~= nil and value ~= core.null and type(value) ~= "table" and type(value) ~= "string" then
      arguments.wrong("sendRequest", position[key] or 1, prefix .. key, "a table or a string", value)
    end
  end
end

local function check_callback(position, name, value)
  if value ~= nil and value ~= core.null and type(value) ~= "function" then
    arguments.wrong("sendRequest", position, name, "a function", value)
  end
  return value ~= core.null and value or nil
end

local function from_options(options)
  local args = {}
  for key, value in pairs(options) do
    if KEYS[key] == nil and not CONTENTS[key] then
      core.raise("invalidArguments", ("sendRequest: argument 1 'options' has the unknown key '%s'%s")
        :format(tostring(key), nearest.hint(key, NAMES, MEANT)))
    end
    args[key] = value
  end
  check({}, "options.", args)
  return args
end

-- The argument positions of the Mobile SDK.
local POSITIONS = {
  endPoint = 1, path = 2, method = 5, queryParams = 6, headerParams = 7, fileParams = 8, returnBinary = 9,
  doesNotRequireAuthentication = 10,
}

local function from_positions(given)
  local args = {}
  for key, position in pairs(POSITIONS) do args[key] = given[position] end
  check(POSITIONS, "", args)
  return args
end

local function start(success, failure, ...)
  local given = table.pack(...)
  if type(given[1]) == "table" then
    return calls.send(success, failure, SERVICE, "pgSendRequest", from_options(given[1]), "sendRequest")
  end
  -- An awaited call has no callbacks in the middle.
  table.move(given, 3, given.n, 5)
  given[3], given[4] = nil, nil
  return calls.send(success, failure, SERVICE, "pgSendRequest", from_positions(given), "sendRequest")
end

-- sendRequest(options, success, error), or with the Mobile SDK's positions:
-- sendRequest(endPoint, path, success, error, method, queryParams, headerParams, fileParams, returnBinary, noAuth)
--- Sends a request. Success gets JSON as a table, other text as a string, "OK" for an empty body.
function M.sendRequest(...)
  local given = table.pack(...)
  if type(given[1]) == "table" then
    local success, failure = check_callback(2, "success", given[2]), check_callback(3, "error", given[3])
    return calls.send(success, failure, SERVICE, "pgSendRequest", from_options(given[1]), "sendRequest")
  end
  local success, failure = check_callback(3, "success", given[3]), check_callback(4, "error", given[4])
  return calls.send(success, failure, SERVICE, "pgSendRequest", from_positions(given), "sendRequest")
end
arguments.starters[M.sendRequest] = { start = start, is_sync = false }

--- Returns the bytes of a binary result.
---@param result {encodedBody: string, contentType: string}
---@return string
function M.bytes(result)
  if type(result) ~= "table" or type(result.encodedBody) ~= "string" then
    core.raise("invalidArguments", "bytes: argument 1 'result' must be a result of sendRequest with returnBinary")
  end
  return core.from_base64(result.encodedBody)
end

return M
