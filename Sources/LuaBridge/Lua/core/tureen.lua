--- The module `tureen`: the functions that every script needs, and the other modules.
local core = ...
local guard = core.import "guard"
local event = core.import "event"
local calls = core.import "calls"
local async = core.import "async"
local combine = core.import "combine"

---@class tureen
---@field onerror (fun(err: any, traceback: string))?  gets uncaught errors; nil: they go to stderr, and the run fails
local M = {
  null = core.null,
  valueOr = core.value_or,
  describeNull = core.describe_null,
  array = core.array,
  json = { encode = core.encode, decode = core.decode },
  exec = calls.exec,
  poll = calls.poll,
  run = async.run,
  main = async.main,
  pending = calls.pending,
  async = async.async,
  await = async.await,
  all = combine.all,
  race = combine.race,
  timeout = combine.timeout,
  sleep = combine.sleep,
  after = combine.after,
  waitEvent = combine.wait_event,
  cancel = calls.cancel,
  on = event.on,
  once = event.once,
  off = event.off,
  document = event,
  smartstore = core.import "smartstore",
  mobilesync = core.import "mobilesync",
  keyvalue = core.import "keyvalue",
  network = core.import "network",
  sdkinfo = core.import "sdkinfo",
}

--- Returns a descriptor that is readable while `poll` has something to deliver. Do not read from it or close it.
---@return integer
function M.fd()
  return core.fd()
end

--- Sets the home, the org and other options before the first use. Raises if a setting is unknown or invalid, or comes too late.
---@param options table
function M.configure(options)
  if type(options) ~= "table" then
    core.raise("invalidArguments",
      ("configure: argument 1 'options' must be a table, got %s"):format(type(options)))
  end
  local ok, err = core.configure(options)
  if not ok then error(err, 2) end
end

-- Functions whose module is loaded on first use.
for name, member in pairs { plugin = "register", service = "service", emit = "emit" } do
  M[name] = function(...) return core.import("plugin")[member](...) end
end

-- Modules that are loaded on first use.
local later = {
  force = "force", optimistic = "optimistic", oauth = "oauth", sfaccountmanager = "sfaccountmanager",
  accounts = "sfaccountmanager", sandbox = "sandbox", event = "util_event", logger = "util_logger", promiser = "promiser",
  bootstrap = "util_bootstrap", asset = "asset", parse = "parse", host = "host",
}

-- `tureen.onerror` is stored in the guard module.
return setmetatable(M, {
  __index = function(_, key)
    if key == "onerror" then return guard.onerror end
    if later[key] then return core.import(later[key]) end
  end,
  __newindex = function(table, key, value)
    if key ~= "onerror" then return rawset(table, key, value) end
    if value ~= nil and type(value) ~= "function" then
      core.raise("invalidArguments", ("tureen.onerror must be a function, got %s"):format(type(value)))
    end
    guard.onerror = value
  end,
})
