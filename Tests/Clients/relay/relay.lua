-- Lends the bridge to another program: JSON lines in from a socket, `tureen.exec`, answers and `sync` events out.
--
--   tureen run Tests/Clients/relay/relay.lua [PORT]      prints the port it listens on; serves one client at a time
--
-- in   {"id": 1, "service": "com.salesforce.smartstore", "action": "pgSoupExists", "args": [{"soupName": "c"}]}
-- out  {"id": 1, "ok": true, "value": false}    {"event": "sync", "detail": {...}}
local socket, tureen = require "socket", require "tureen"

local server = assert(socket.bind("127.0.0.1", tonumber(arg and arg[1]) or 0))
server:settimeout(0)
print("relay on port " .. select(2, server:getsockname()))
io.stdout:flush()

-- A plug-in of this program's own, as native containers have them beside those of the SDK.
tureen.plugin("com.acme.echo", {
  echo = function(args, success) success(args) end,
  later = function(args, success, failure) tureen.sdkinfo.getInfo(function() success(args) end, failure) end,
  refuse = function(args, _, failure)
    failure { domain = "com.acme.echo", code = "refused", message = args.reason, retryable = false }
  end,
})

local client, partial, outgoing = nil, "", ""
-- What `socket.select` can wait for beside its own sockets.
local bridge = { getfd = tureen.fd, dirty = function() return false end }

local function send(message)
  if client then outgoing = outgoing .. tureen.json.encode(message) .. "\n" end
end

--- What the plug-ins' network failures are: a text that holds JSON.
local function network_failure(err)
  if not err.status then return tureen.json.encode { error = err.message } end
  local response = { statusCode = err.status, headers = err.headers, body = err.errors or err.body }
  return tureen.json.encode { response = response }
end

--- Answers once, as the hybrid containers do: of a sync only its start; the rest are events.
local function answer(id, ok)
  local asker = client
  return function(value)
    if not ok and value.domain == "network" then value = network_failure(value) end
    if asker == client and id then send { id = id, ok = ok, value = value } end
    id = nil
  end
end

local function take(line)
  local call, problem = tureen.json.decode(line)
  if type(call) ~= "table" then return send { ok = false, value = problem or "a call must be an object" } end
  local fail = answer(call.id, false)
  local ok, raised = pcall(tureen.exec, answer(call.id, true), fail, call.service, call.action, call.args)
  if not ok then fail(raised) end
end

local function leave() client, partial, outgoing = client:close() and nil, "", "" end

local function read()
  local text, problem, rest = client:receive(65536)
  partial = partial .. (text or rest or "")
  for line in partial:gmatch("([^\n]*)\n") do take(line) end
  partial = partial:match("[^\n]*$")
  if problem == "closed" then leave() end
end

local function write()
  local last, _, partly = client:send(outgoing)
  outgoing = outgoing:sub((last or partly) + 1)
end

tureen.on("sync", function(detail) send { event = "sync", detail = detail } end)
while true do
  local readable, writable = socket.select({ server, bridge, client }, { outgoing ~= "" and client or nil })
  if readable[server] and not client then
    client = server:accept()
    if client then client:settimeout(0) end
  end
  if readable[client] then read() end
  tureen.poll(0)
  if client and writable[client] then write() end
end
