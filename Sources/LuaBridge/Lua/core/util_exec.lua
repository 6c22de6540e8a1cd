--- `exec` with the plug-ins' version as the first argument, and the timing of calls.
local core = ...
local arguments = core.import "arguments"
local calls = core.import "calls"
local logger = core.import "util_logger"

---@class tureen.exec
---@field timing boolean  true: prints a line with the elapsed milliseconds on stderr for each answer
local M = { timing = false }

local latest = 0

--- Returns callbacks that print a line before they call the given ones.
local function timed(label, success, failure)
  local began = core.now()
  local function wrap(callback, outcome)
    return function(...)
      logger.logToConsole(("%s%s after %d ms"):format(label, outcome, core.now() - began))
      if callback then return callback(...) end
    end
  end
  return wrap(success, ""), wrap(failure, " failed")
end

--- Calls an action like the plug-ins' modules: `args` is a list that contains the action's object, or the object itself.
---@param pluginVersion string
---@param success fun(payload: any)?
---@param failure fun(err: tureen.Error)?
---@param service string
---@param action string
---@param args table?
---@return integer? id  for `tureen.cancel`
function M.exec(pluginVersion, success, failure, service, action, args)
  if type(pluginVersion) ~= "string" then
    core.raise("invalidArguments",
      ("exec: argument 1 'pluginVersion' must be a string, got %s"):format(type(pluginVersion)))
  end
  for position, name in ipairs { "success", "error" } do
    local callback = select(position, success, failure)
    if callback ~= nil and callback ~= core.null and type(callback) ~= "function" then
      arguments.wrong("exec", position + 1, name, "a function", callback)
    end
  end
  if type(service) ~= "string" then arguments.wrong("exec", 4, "service", "a string", service) end
  if type(action) ~= "string" then arguments.wrong("exec", 5, "action", "a string", action) end
  if args ~= nil and args ~= core.null and type(args) ~= "table" then arguments.wrong("exec", 6, "args", "a table", args) end
  local list = core.array { "pluginSDKVersion:" .. pluginVersion }
  if type(args) == "table" and (core.is_array(args) or args[1] ~= nil) then
    table.move(args, 1, #args, 2, list)
  else
    list[2] = args
  end
  if M.timing then
    latest = latest + 1
    success, failure = timed(("TIMING %s:%s:%d"):format(service, action, latest), success, failure)
  end
  return calls.exec(success, failure, service, action, list)
end

return setmetatable(M, { __call = function(_, ...) return M.exec(...) end })
