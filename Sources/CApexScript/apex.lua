-- Runs a file of Apex REST code in its own Lua state: once to collect its routes, then once for
-- each request. The program answers these actions of the service `tureen.apex`:
--   begin   {}                              -> {name, source}; for a request also {route, method, path, request}
--   routes  {routes = {{method, path}}}     after a run without a request
--   answer  {status, body | bytes, headers} the handler's result; an error describes what is wrong with it
--   query {soql}, create {type, fields}, update {type, id, fields}, delete {type, id}
--                                           access to the org's records
local tureen = require "tureen"

local METHODS = { get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE" }

--- Sends an action and waits for its result; raises an error if it fails.
local function call(action, arguments, caller)
  local is_done, value, err
  tureen.exec(function(result) is_done, value = true, result end, function(failure) is_done, err = true, failure end,
    "tureen.apex", action, arguments, nil, caller)
  while not is_done do tureen.poll(60000) end
  if err then error(err, 0) end
  return value
end

--- Raises an error unless argument `position` of `caller` has the expected type; the error refers
--- to the file's line.
local function check(caller, position, name, value, expected)
  if type(value) == expected then return end
  error(("%s: argument %d '%s' must be a %s, got %s"):format(caller, position, name, expected, type(value)), 3)
end

-- Bytes above 0x7f are carried as the characters U+0080 to U+00FF, so that any body is valid UTF-8.
local text_of, byte_of = {}, {}
for byte = 0x80, 0xff do
  text_of[string.char(byte)], byte_of[utf8.char(byte)] = utf8.char(byte), string.char(byte)
end

-- The library of the file

local apex = {}
local routes, has_loaded = {}, false

local function check_path(caller, path)
  check(caller, 1, "path", path, "string")
  local names = {}
  if not path:find("^/") or path:find("[%s?#]") or path:find("//", 1, true) or path:find("./$") then
    error(("%s: the path '%s' must look like /visits/:name"):format(caller, path), 3)
  end
  for name in path:gmatch("/:([^/]*)") do
    if not name:find("^[%a_][%w_]*$") then
      error(("%s: ':%s' in the path '%s' is not a name"):format(caller, name, path), 3)
    end
    if names[name] then error(("%s: ':%s' is in the path '%s' twice"):format(caller, name, path), 3) end
    names[name] = true
  end
end

for name, method in pairs(METHODS) do
  local caller = "apex." .. name
  --- Registers `handler(request, org)` for this method of a path; a segment with a colon matches
  --- any text.
  apex[name] = function(path, handler)
    check_path(caller, path)
    check(caller, 2, "handler", handler, "function")
    if has_loaded then error(caller .. ": a handler cannot register another one; do it when the file is loaded", 2) end
    for _, route in ipairs(routes) do
      if route.method == method and route.path:gsub(":[^/]*", ":"):lower() == path:gsub(":[^/]*", ":"):lower() then
        error(("%s: %s %s is registered already"):format(caller, method, route.path), 2)
      end
    end
    routes[#routes + 1] = { method = method, path = path, handler = handler }
  end
end

--- Ends the request with an error: its changes are undone, and the client gets the status, code and
--- message.
function apex.error(status, code, message)
  if math.type(status) ~= "integer" or status < 400 or status > 599 then
    error("apex.error: argument 1 'status' must be an integer from 400 to 599", 2)
  end
  check("apex.error", 2, "errorCode", code, "string")
  check("apex.error", 3, "message", message, "string")
  if #code > 60 or not code:find("^[%u][%u%d_]*$") then
    error(("apex.error: argument 2 'errorCode' must look like NOT_FOUND, got '%s'"):format(code), 2)
  end
  error(setmetatable({ domain = "apex", code = code, reason = tostring(status), message = message },
    { __tostring = function(err) return err.message end }), 0)
end

local quoted = { ["\\"] = "\\\\", ["'"] = "\\'", ["\n"] = "\\n", ["\r"] = "\\r" }

--- Returns a text as a SOQL literal with quotes.
function apex.quote(text)
  check("apex.quote", 1, "text", text, "string")
  return "'" .. text:gsub("[\\'\n\r]", quoted) .. "'"
end

-- Arguments of a handler

local org = {}

--- Returns the records of a SOQL statement; for SELECT COUNT() their number.
function org.query(soql)
  check("org.query", 1, "soql", soql, "string")
  return call("query", { soql = soql }, "org.query")
end

--- Creates a record and returns its id.
function org.create(object, fields)
  check("org.create", 1, "type", object, "string")
  check("org.create", 2, "fields", fields, "table")
  return call("create", { type = object, fields = fields }, "org.create")
end

function org.update(object, id, fields)
  check("org.update", 1, "type", object, "string")
  check("org.update", 2, "id", id, "string")
  check("org.update", 3, "fields", fields, "table")
  call("update", { type = object, id = id, fields = fields }, "org.update")
end

function org.delete(object, id)
  check("org.delete", 1, "type", object, "string")
  check("org.delete", 2, "id", id, "string")
  call("delete", { type = object, id = id }, "org.delete")
end

local Request = {}
Request.__index = Request

--- Returns the body as JSON. If it is not valid JSON, the request ends with 400 JSON_PARSER_ERROR.
function Request:json()
  local value, problem = tureen.json.decode(self.body)
  if value == nil then apex.error(400, "JSON_PARSER_ERROR", tostring(problem)) end
  return value
end

-- Responses

--- Converts a handler's results to the action `answer`: `status, body, headers`, or `body, headers`
--- for 200.
local function answer_of(label, ...)
  local count = select("#", ...)
  local status, body, headers = ...
  if type(status) ~= "number" then
    if count > 2 then
      error(("%s returned a %s first; it must be a status, an integer"):format(label, type(status)), 0)
    end
    status, body, headers = 200, ...
  elseif math.type(status) ~= "integer" then
    error(("%s returned the status %s; it must be an integer"):format(label, status), 0)
  end
  if count > 3 then error(("%s returned %d values; it may return status, body, headers"):format(label, count), 0) end
  if headers ~= nil and type(headers) ~= "table" then
    error(("%s returned a %s as headers; they must be a table"):format(label, type(headers)), 0)
  end
  local answer, has_type = { status = status, headers = {} }, false
  for name, value in pairs(headers or {}) do
    if type(name) ~= "string" or (type(value) ~= "string" and type(value) ~= "number") then
      error(("%s returned a header '%s' of type %s; names and values must be strings")
        :format(label, tostring(name), type(value)), 0)
    end
    answer.headers[name] = tostring(value)
    has_type = has_type or name:lower() == "content-type"
  end
  if has_type and type(body) == "string" then
    answer.bytes = body:gsub("[\x80-\xff]", text_of)
  else
    answer.body = body
  end
  return answer
end

-- Load the file, then run the handler of the request

local begun = call("begin", {}, "apex")
local chunk, problem = load(begun.source, begun.name, "t")
if chunk == nil then error(problem, 0) end
chunk(apex)
has_loaded = true

if begun.request == nil then
  local list = tureen.array {}
  for i, route in ipairs(routes) do list[i] = { method = route.method, path = route.path } end
  call("routes", { routes = list }, "apex")
else
  local route, request = routes[begun.route], setmetatable(begun.request, Request)
  local method, path = begun.method, begun.path
  if route == nil or route.method ~= method or route.path ~= path then
    error(("the file has not registered %s %s this time; it must register the same handlers at each start")
      :format(method, path), 0)
  end
  local label = method .. " " .. path
  if request.bytes then
    request.body = request.bytes:gsub("[\xc2\xc3][\x80-\xbf]", byte_of)
    request.bytes = nil
  end
  call("answer", answer_of(label, route.handler(request, org)), label)
end
