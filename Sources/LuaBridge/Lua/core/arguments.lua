--- Implements the calling conventions of the Mobile SDK's plug-ins: a leading store config, optional arguments, trailing
--- callbacks.
local core = ...
local calls = core.import "calls"
local nearest = core.import "nearest"

local M = {}

--- function -> {start = function(success, error, ...), is_sync = boolean}: how `await` calls the function.
M.starters = setmetatable({}, { __mode = "k" })

--- function -> the spec passed to `define`, for modules that derive another function from it.
M.specs = setmetatable({}, { __mode = "k" })

--- Returns the type of a value as error messages name it.
function M.type_name(value)
  if value == core.null then return "null" end
  if core.is_array(value) then return "array" end
  return type(value)
end

--- Raises an error such as "registerSoup: argument 2 'indexSpecs' must be an array of tables, got string".
function M.wrong(caller, position, name, expected, value)
  core.raise("invalidArguments", ("%s: argument %d '%s' must be %s, got %s")
    :format(caller, position, name, expected, M.type_name(value)))
end

--- Adds the members of a table that a script gave to the arguments of an action. All of them: the action refuses names
--- that it does not know.
---@param config table
---@param given table?
function M.add_members(caller, config, given)
  for key, value in pairs(given or {}) do
    if type(key) ~= "string" then
      core.raise("invalidArguments", ("%s: a table with names is expected, got [%s]"):format(caller, tostring(key)))
    end
    config[key] = value
  end
end

local function is_list(value)
  if type(value) ~= "table" then return false end
  return core.is_array(value) or rawget(value, 1) ~= nil or next(value) == nil
end

local function is_string(value) return type(value) == "string" end
local function is_table(value) return type(value) == "table" and not core.is_array(value) end
local function is_object(value) return is_table(value) or core.is_record(value) end
local function to_integer(value) return type(value) == "number" and math.tointeger(value) or nil end
local function is_integer(value) return to_integer(value) ~= nil end

--- Returns true for field names: an array, or a string with commas.
local function is_fieldlist(value)
  if type(value) ~= "string" then return is_list(value) end
  return not ("," .. value .. ","):find(",%s*,")
end

--- Converts field names to a list. Omits `attributes`, which every record has but no request can select.
---@param value string[]|string
---@return string[]
function M.fieldlist(value)
  local list = core.array()
  if type(value) == "string" then
    for name in value:gmatch "[^,]+" do list[#list + 1] = name:match "^%s*(.-)%s*$" end
    value, list = list, core.array()
  end
  for _, name in ipairs(value) do
    if name ~= "attributes" then list[#list + 1] = name end
  end
  return list
end

local function is_boolean(value) return type(value) == "boolean" end

local function is_cursor(value)
  return is_table(value) and value.cursorId ~= nil and is_integer(value.currentPageIndex)
end

local function is_cache(value)
  return is_table(value) and type(value.retrieve) == "function" and type(value.save) == "function"
end

local function is_ids_or_spec(value)
  return is_list(value) or (is_table(value) and rawget(value, "queryType") ~= nil)
end

local function is_soup_or_spec(value)
  return is_string(value) or (is_table(value) and rawget(value, "queryType") ~= nil)
end

--- kind -> {its name in messages, test, test of an element, name of an element}
local kinds = {
  string = { "a string", is_string },
  integer = { "an integer", is_integer },
  boolean = { "a boolean", is_boolean },
  table = { "a table", is_table },
  any = { "a value", function(value) return value ~= nil end },
  callable = { "a function", function(value) return type(value) == "function" end },
  cursor = { "a cursor", is_cursor },
  cache = { "a cache", is_cache },
  tables = { "an array of tables", is_list, is_object, "a table" },
  entry = { "an entry of the soup", is_object },
  fieldlist = { "an array of strings or a string with commas", is_fieldlist, is_string, "a string", convert = M.fieldlist },
  strings = { "an array of strings", is_list, is_string, "a string" },
  integers = { "an array of integers", is_list, is_integer, "an integer" },
  soup_or_spec = { "a soup name or a query spec", is_soup_or_spec },
  ids_or_spec = { "an array of entry ids or a query spec", is_ids_or_spec },
  entry_or_record_id = {
    "an entry id or a record id", function(value) return is_string(value) or is_integer(value) end,
  },
  id_or_name = { "a sync id or a sync name", function(value) return is_string(value) or is_integer(value) end },
}

--- Checks a value and returns it in the form to send; nil for an optional one that is nil or null.
local function check(caller, position, param, value)
  local name, kind, is_optional = param[1], kinds[param[2]], param.optional
  if is_optional and (value == nil or value == core.null) then return nil end
  local expected, test, element_test, element_name = table.unpack(kind, 1, 4)
  if not test(value) then M.wrong(caller, position, name, expected, value) end
  if element_test and type(value) == "table" then
    for i, element in ipairs(value) do
      if not element_test(element) then
        M.wrong(caller, position, ("%s[%d]"):format(name, i), element_name, element)
      end
    end
    if #value == 0 and not core.is_array(value) then return core.array() end
  end
  if kind.convert then return kind.convert(value) end
  if param[2] == "integer" then return to_integer(value) end
  return value
end

local CONFIG_KEYS = { isGlobalStore = true, storeName = true }
local CONFIG_NAMES = { "isGlobalStore", "storeName" }

local function config_from_table(caller, value)
  for key in next, value do
    if not CONFIG_KEYS[key] then
      core.raise("invalidArguments", ("%s: argument 1 'storeConfig' has the unknown key '%s'%s")
        :format(caller, tostring(key), nearest.hint(key, CONFIG_NAMES)))
    end
  end
  local is_global, name = rawget(value, "isGlobalStore"), rawget(value, "storeName")
  if is_global == nil or is_global == core.null then is_global = false end
  if name == core.null then name = nil end
  if type(is_global) ~= "boolean" then M.wrong(caller, 1, "storeConfig.isGlobalStore", "a boolean", is_global) end
  if name ~= nil and type(name) ~= "string" then M.wrong(caller, 1, "storeConfig.storeName", "a string", name) end
  return { isGlobalStore = is_global, storeName = name }
end

--- Reads the store config of a call. The second result is the number of arguments that it takes (0 or 1).
local function read_config(caller, given, is_needed)
  local value = given[1]
  if given.n == 0 and not is_needed then return { isGlobalStore = false }, 0 end
  if value == nil or value == core.null then
    core.raise("invalidArguments", ("%s: argument 1 must not be %s; %s"):format(caller, value == nil and "nil" or "null",
      is_needed and "pass a store config" or "omit the store config or pass one"))
  end
  if type(value) == "boolean" then return { isGlobalStore = value }, 1 end
  if type(value) == "table" then
    local is_config = rawget(value, "isGlobalStore") ~= nil or rawget(value, "storeName") ~= nil
    if is_config then return config_from_table(caller, value), 1 end
  end
  if is_needed then M.wrong(caller, 1, "storeConfig", "a boolean or {isGlobalStore = boolean, storeName = string?}", value) end
  return { isGlobalStore = false }, 0
end

--- Returns the position of the first callback: the first function, else the position after the last parameter.
local function callbacks_at(given, shift, params)
  local count = #params
  for i = shift + 1, math.min(given.n, shift + count) do
    if type(given[i]) == "function" and params[i - shift][2] ~= "callable" then return i end
  end
  return shift + count + 1
end

local function check_callback(caller, position, name, value)
  if value == nil or value == core.null then return nil end
  if type(value) ~= "function" then M.wrong(caller, position, name, "a function", value) end
  return value
end

--- Checks the arguments before position `stop` against the parameters. Returns the values in order, nil for missing ones.
local function read_parameters(spec, given, shift, stop)
  local values = {}
  for i, param in ipairs(spec.params) do
    local position = shift + i
    local shown = spec.is_method and i or position
    local value
    if position < stop then value = given[position] end
    if value == nil and position >= stop and position <= given.n and not param.optional then
      M.wrong(spec.name, shown, param[1], kinds[param[2]][1], given[position])
    end
    values[i] = check(spec.name, shown, param, value)
  end
  return values
end

--- Creates a function with the plug-ins' calling conventions from `spec`:
---   name          the function's name
---   params        a list of {name, kind, optional = boolean}
---   has_store     true: the first argument may be a store config
---   needs_config  true: the first argument must be a store config
---   is_method     true: it is called as object:name(...); the object takes the config's place
---   is_sync       true: it calls success several times
---   callback      the first callback's name if it is not `success`
---   insert(given, at)  inserts omitted arguments; `at` is the position of the first one
---   send(success, error, config, values, name)  gets the checked arguments; the function returns its result
function M.define(spec)
  local count = #spec.params
  local function read(given)
    local config, shift = {}, 0
    if spec.is_method then
      config, shift = given[1], 1
      if type(config) ~= "table" then
        core.raise("invalidArguments", ("%s: call it as a method, object:%s(...)"):format(spec.name, spec.name))
      end
    end
    if spec.has_store then config, shift = read_config(spec.name, given, spec.needs_config) end
    if spec.insert then spec.insert(given, shift + 1) end
    return config, shift
  end
  local function start(success, failure, ...)
    local given = table.pack(...)
    local config, shift = read(given)
    return spec.send(success, failure, config, read_parameters(spec, given, shift, shift + count + 1), spec.name)
  end
  local function call(...)
    local given = table.pack(...)
    local config, shift = read(given)
    local at = callbacks_at(given, shift, spec.params)
    local values = read_parameters(spec, given, shift, at)
    local success = check_callback(spec.name, at, spec.callback or "success", given[at])
    local failure = check_callback(spec.name, at + 1, "error", given[at + 1])
    return spec.send(success, failure, config, values, spec.name)
  end
  M.starters[call], M.specs[call] = { start = start, is_sync = spec.is_sync or false }, spec
  return call
end

--- Returns a `send` function for the common case: one action with the store's keys and `keys`, in the order of the parameters.
function M.action(service, action, keys)
  return function(success, failure, config, values, caller)
    local args = config
    for i, key in ipairs(keys) do args[key] = values[i] end
    return calls.send(success, failure, service, action, args, caller)
  end
end

--- Defines `module[name]`, which applies the configuration files to the user's stores, or to the global ones.
---@param module table
---@param is_global boolean
function M.define_set_up(module, name, service, action, is_global)
  module[name] = M.define {
    name = name, params = {},
    send = function(success, failure, _, _, caller)
      return calls.send(success, failure, service, action, { isGlobalStore = is_global }, caller)
    end,
  }
end

M.is_list = is_list

return M
