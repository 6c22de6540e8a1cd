--- Splits and builds URLs.
local core = ...
local call = core.import "force_call"

local M = {}

--- Percent-encodes a text as one piece of a path or a query.
---@param text any
---@return string
function M.encode(text)
  return (tostring(text):gsub("[^%w%-%._~]", function(byte) return ("%%%02X"):format(byte:byte()) end))
end

local function decode(text)
  return (text:gsub("+", " "):gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end

--- Encodes parameters as a query string that begins with "?"; "" without parameters.
---@param params table?
function M.query(params)
  local names, parts = {}, {}
  for name, value in pairs(params or {}) do
    if value ~= core.null then names[#names + 1] = name end
  end
  table.sort(names)
  for i, name in ipairs(names) do parts[i] = M.encode(name) .. "=" .. M.encode(params[name]) end
  return #parts > 0 and "?" .. table.concat(parts, "&") or ""
end

--- Splits a URL into `{protocol, host, hostname, port, path, params, hash}`. Returns nil if it is not a URL. `port` may be nil;
--- `path` is "" for "/"; the values of `params` are decoded.
---@param url string
function M.parseUrl(url)
  if type(url) ~= "string" then call.misuse("parseUrl: argument 1 'url' must be a string, got %s", type(url)) end
  local protocol, host, rest = url:match("^(%a[%w+.-]*:)//([^/?#]+)(.*)$")
  if not protocol then return nil end
  local path, query, hash = rest:match("^([^?#]*)%??([^#]*)(.*)$")
  local hostname, port = host:match("^(.-):(%d+)$")
  local params = {}
  for pair in query:gmatch("[^&]+") do
    local name, value = pair:match("^([^=]*)=?(.*)$")
    params[decode(name)] = decode(value)
  end
  return {
    protocol = protocol, host = host, hostname = hostname or host, port = port, path = path == "/" and "" or path,
    params = params, hash = hash,
  }
end

--- Splits a path into `{endPoint, path}`. A path that has an end point or is a full URL stays unchanged.
---@param endPoint string?
---@param path string
function M.computeEndPointIfMissing(endPoint, path)
  if type(path) ~= "string" then
    call.misuse("computeEndPointIfMissing: argument 2 'path' must be a string, got %s", type(path))
  end
  if call.given(endPoint) and type(endPoint) ~= "string" then
    call.misuse("computeEndPointIfMissing: argument 1 'endPoint' must be a string, got %s", type(endPoint))
  end
  if call.given(endPoint) then return { endPoint = endPoint, path = path } end
  if path:find("^https://") then return { endPoint = "", path = path } end
  local head, tail = path:match("^(/[^/]+/[^/?]+)(.*)$")
  if not head then return { endPoint = "", path = path } end
  return { endPoint = head, path = tail == "" and "/" or tail }
end

--- Returns a path that begins with `prefix`, which is added if it is missing.
function M.with_prefix(prefix, path)
  if path:sub(1, 1) ~= "/" then path = "/" .. path end
  if path:sub(1, #prefix) == prefix then return path end
  return prefix .. path
end

return M
