-- Runs a file of Apex REST code, in a state of its own: once to learn its routes, and once for each request. The program
-- answers these actions of the service `tureen.apex`:
--   begin   {}                              {name, source}, and for a request {route, method, path, request}
--   routes  {routes = {{method, path}}}     after the file has run without a request
--   answer  {status, body | bytes, headers} what the handler has returned; an error says what is wrong with it
--   query {soql}, create {type, fields}, update {type, id, fields}, delete {type, id}   the records of the org
local tureen = require "tureen"

local METHODS = { get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE" }

--- Sends an action and waits for its result. A failure is raised.
local function call(action, arguments, caller)
  local is_done, value, err
  tureen.exec(function(result) is_done, value = true, result end, function(failure) is_done, err = true, failure end,
    "tureen.apex", action, arguments, nil, caller)
  while not is_done do tureen.poll(60000) end
  if err then error(err, 0) end
  return value
end

--- Raises unless argument `position` of `caller` has the type; the error names the file's line.
local function check(caller, position, name, value, expected)
  if type(value) == expected then return end
  error(("%s: argument %d '%s' must be a %s, got %s"):format(caller, position, name, expected, type(value)), 3)
end

-- What is not UTF-8 travels as text all the same: each byte is the character of its number.
local text_of, byte_of = {}, {}
for byte = 0x80, 0xff do
  text_of[string.char(byte)], byte_of[utf8.char(byte)] = utf8.char(byte), string.char(byte)
end

-- The file's own functions

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
  --- Has `handler(request, org)` answer this method of a path; a segment with a colon takes any text.
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

--- Ends the request with an error: nothing that it wrote is kept, and the client gets the status, the code and the message.
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

--- A text as a literal of SOQL, with its quotes.
function apex.quote(text)
  check("apex.quote", 1, "text", text, "string")
  return "'" .. text:gsub("[\\'\n\r]", quoted) .. "'"
end

-- What a handler is given

local org = {}

--- The records of a statement; of SELECT COUNT() their number.
function org.query(soql)
  check("org.query", 1, "soql", soql, "string")
  return call("query", { soql = soql }, "org.query")
end

--- Creates a record; its id.
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

--- The body as JSON. A body that is not JSON ends the request with 400 JSON_PARSER_ERROR.
function Request:json()
  local value, problem = tureen.json.decode(self.body)
  if value == nil then apex.error(400, "JSON_PARSER_ERROR", tostring(problem)) end
  return value
end

-- Answers

--- What a handler returned, as the action `answer` takes it: `status, body, headers`, or `body, headers` for 200.
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

-- The file, and the handler of a request

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
