--- Checks Lua values against LuaCATS types, as far as a call checks them, and provides a sample value for each type.
local tureen = require "tureen"

local M = {}

--- Returns the alternatives of a union outside of brackets.
local function alternatives(text)
  local list, depth, start, quoted = {}, 0, 1, false
  for i = 1, #text do
    local c = text:sub(i, i)
    if c == '"' then
      quoted = not quoted
    elseif quoted then -- luacheck: ignore 542
    elseif c:find("[({%[<]") then
      depth = depth + 1
    elseif c:find("[)}%]>]") then
      depth = depth - 1
    elseif c == "|" and depth == 0 then
      list[#list + 1] = text:sub(start, i - 1)
      start = i + 1
    end
  end
  list[#list + 1] = text:sub(start)
  return list
end

--- Returns the words of `"a"|"b"`; nil for other types.
function M.words(text)
  local words = {}
  for _, part in ipairs(alternatives(text)) do
    local word = part:match('^"(.*)"$')
    if not word then return nil end
    words[#words + 1] = word
  end
  return words
end

local ALIASES = { ["tureen.logger.Level"] = '"error"|"warn"|"info"|"debug"' }
local METHODS = '"create"|"read"|"update"|"delete"'
ALIASES["tureen.force.Method"] = METHODS
local CALLABLE = { ["tureen.Success"] = true, ["tureen.Failure"] = true }
-- Objects that are recognized by their class, not by their members.
local CLASSES = {
  ["tureen.Task"] = true, ["tureen.Observer"] = true, ["tureen.Call"] = true,
  ["tureen.force.StoreCache"] = true, ["tureen.force.RemoteObject"] = true,
}

local function is_table(value) return type(value) == "table" end

local function is_array(value)
  local is_marked = is_table(value) and getmetatable(value) == getmetatable(tureen.array())
  return is_marked or is_table(value) and (rawget(value, 1) ~= nil or next(value) == nil)
end

--- Returns whether a single alternative accepts a value.
local function accepts_one(text, value)
  text = text:gsub("%?$", "")
  if text == "any" then return true end
  if text == "nil" then return value == nil end
  if text == "lightuserdata" then return value == tureen.null end
  if text == "integer" then return type(value) == "number" and math.tointeger(value) ~= nil end
  -- Any number, including negative ones.
  if text == "tureen.parse.Signed" then return type(value) == "number" and value == value end
  if text == "number" then return type(value) == "number" and value >= 0 and value == value end
  if text == "string" or text == "boolean" then return type(value) == text end
  if text == "function" or text:find("^%(?fun%(") or CALLABLE[text] then return type(value) == "function" end
  if text:find("^%(.*%)$") then return M.accepts(text:sub(2, -2), value) end
  local element = text:match("^(.*)%[%]$")
  if element then
    if not is_array(value) then return false end
    for i = 1, rawlen(value) do
      if not M.accepts(element:gsub("^%((.*)%)$", "%1"), rawget(value, i)) then return false end
    end
    return true
  end
  if CLASSES[text] then return is_table(value) and (getmetatable(value) or {}).__name == text end
  if text == "tureen.Cursor" then return is_table(value) and rawget(value, "cursorId") ~= nil end
  -- An object: a call may or may not check its required members.
  return is_table(value)
end

--- Returns whether a value may be of a type. The members of tables are not checked here, but by the function that uses them.
function M.accepts(text, value)
  text = ALIASES[text] or text
  -- The function that uses the word checks which words are allowed.
  if M.words(text) then return type(value) == "string" end
  for _, part in ipairs(alternatives(text)) do
    if accepts_one(part, value) then return true end
  end
  return false
end

--- Returns a sample value of a type.
function M.sample(text)
  text = ALIASES[text] or text
  local words = M.words(text)
  if words then return words[1] end
  local first = alternatives(text)[1]
  if first == "any" or first == "string" then return "x" end
  if first == "integer" or first == "number" or first == "tureen.parse.Signed" then return 1 end
  if first == "boolean" then return true end
  if first:find("%[%]$") then return tureen.array() end
  if first == "function" or first:find("^%(?fun%(") or CALLABLE[first] then return function() end end
  return {}
end

--- Returns whether a value is an accepted form of the parameter that the spec does not describe.
---@param spec table  the function's spec
---@param parameter table
function M.is_other_form(name, spec, parameter, value)
  -- The first argument may be a store config: a boolean or a table.
  if spec.store and type(value) == "boolean" then return true end
  -- If an optional parameter is omitted, a callback takes its position.
  if parameter.optional and spec.answer and type(value) == "function" then return true end
  if name:find("yncUp$") and parameter.name == "target" and type(value) == "string" then return true end
  -- The positional form of the native SDK: endPoint, path, ...
  if name == "sendRequest" and parameter.name == "options" then return type(value) ~= "table" end
  -- A falsy argument of a builder keeps its default.
  if name:find("^build") and (not value or value == 0 or value == "" or value == tureen.null) then return true end
  return false
end

local INTERNAL = { document = { defer = true, emit = true, listening = true, tell = true } }

--- Returns whether a module's function is internal.
function M.is_internal(module, name) return (INTERNAL[module] or {})[name] ~= nil end

return M
