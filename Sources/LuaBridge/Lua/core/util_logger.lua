--- Log lines on stderr, and URLs without their secrets.
local core = ...
local arguments = core.import "arguments"
local guard = core.import "guard"

---@class tureen.logger
local M = {}

-- Each level includes the levels before it.
local LEVELS = { error = 1, warn = 2, info = 3, debug = 4 }
local level = "info"

--- Sets the log level: "error", "warn", "info" (the default) or "debug".
---@param name "error"|"warn"|"info"|"debug"
function M.setLogLevel(name)
  if not LEVELS[name] then
    core.raise("invalidArguments",
      ("setLogLevel: argument 1 'level' must be error, warn, info or debug, got '%s'"):format(tostring(name)))
  end
  level = name
end

---@return "error"|"warn"|"info"|"debug"
function M.getLogLevel() return level end

--- Writes a line if its level is enabled.
---@param name "error"|"warn"|"info"|"debug"
---@param message any
function M.log(name, message)
  if not LEVELS[name] then
    core.raise("invalidArguments",
      ("log: argument 1 'level' must be error, warn, info or debug, got '%s'"):format(tostring(name)))
  end
  if LEVELS[name] <= LEVELS[level] then core.log(name .. ": " .. guard.text(message)) end
end

--- Writes a line of level info.
---@param message any
function M.logToConsole(message) M.log("info", message) end

--- Writes a line of level error.
---@param message any
function M.logError(message) M.log("error", message) end

--- Returns the URL with `[redacted]` in place of the values of the named parameters in its query and fragment. Names are compared
--- ignoring case.
---@param url string
---@param names string|string[]
---@return string
function M.sanitizeUrlParamsForLogging(url, names)
  if type(url) ~= "string" then
    core.raise("invalidArguments",
      ("sanitizeUrlParamsForLogging: argument 1 'url' must be a string, got %s"):format(type(url)))
  end
  if type(names) == "string" then names = { names } end
  local expected = "a string or an array of strings"
  if not arguments.is_list(names) then arguments.wrong("sanitizeUrlParamsForLogging", 2, "names", expected, names) end
  local is_secret = {}
  for i, name in ipairs(names) do
    if type(name) ~= "string" then
      arguments.wrong("sanitizeUrlParamsForLogging", 2, ("names[%d]"):format(i), "a string", name)
    end
    is_secret[name:lower()] = true
  end
  return (url:gsub("([?&#])([^=&#?]*)=([^&#]*)", function(mark, name, value)
    return mark .. name .. "=" .. (is_secret[name:lower()] and "[redacted]" or value)
  end))
end

return M
