--- Which Lua values a LuaCATS type stands for, as far as a call can tell; and a value for each.
local tureen = require "tureen"

local M = {}

--- The alternatives of a union, outside of all brackets.
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

--- The words of `"a"|"b"`; nil when the type is another.
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
-- Objects that are known by their class, whatever a table has in it.
local CLASSES = {
  ["tureen.Task"] = true, ["tureen.Observer"] = true, ["tureen.force.StoreCache"] = true, ["tureen.force.RemoteObject"] = true,
}

local function is_table(value) return type(value) == "table" end

local function is_array(value)
  local is_marked = is_table(value) and getmetatable(value) == getmetatable(tureen.array())
  return is_marked or is_table(value) and (rawget(value, 1) ~= nil or next(value) == nil)
end

--- Whether a single alternative stands for a value.
local function accepts_one(text, value)
  text = text:gsub("%?$", "")
  if text == "any" then return true end
  if text == "nil" then return value == nil end
  if text == "lightuserdata" then return value == tureen.null end
  if text == "integer" then return type(value) == "number" and math.tointeger(value) ~= nil end
  -- A number of which less than 0 is as good as more.
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
  -- An object: which members it needs, a call may tell or not.
  return is_table(value)
end

--- Whether a value is of a type. For tables that is a may-be: what is in them is looked at where they go.
function M.accepts(text, value)
  text = ALIASES[text] or text
  -- Which words there are, whoever acts on them says.
  if M.words(text) then return type(value) == "string" end
  for _, part in ipairs(alternatives(text)) do
    if accepts_one(part, value) then return true end
  end
  return false
end

--- A value of a type.
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

--- Other forms of arguments than the one the spec describes: what may stand in the place of a parameter.
---@param spec table  the function's
---@param parameter table
function M.is_other_form(name, spec, parameter, value)
  -- In front a store config may stand: a boolean, or a table that says which.
  if spec.store and type(value) == "boolean" then return true end
  -- What may be left out: then the callbacks stand there.
  if parameter.optional and spec.answer and type(value) == "function" then return true end
  if name:find("yncUp$") and parameter.name == "target" and type(value) == "string" then return true end
  -- The model's positions: endPoint, path, ...
  if name == "sendRequest" and parameter.name == "options" then return type(value) ~= "table" end
  -- A falsy argument of a builder keeps its default.
  if name:find("^build") and (not value or value == 0 or value == "" or value == tureen.null) then return true end
  return false
end

local INTERNAL = { document = { defer = true, emit = true, tell = true } }

--- What a module has for its own parts.
function M.is_internal(module, name) return (INTERNAL[module] or {})[name] ~= nil end

return M
