--- Builds and runs queries of a class.
---
---   local books = Book:query(parse.greaterThan("year", 1960)):include("isbn"):order("-year"):limit(20):find()
local core = ...
local arguments = core.import "arguments"
local call = core.import "force_call"
local conditions = core.import "parse_conditions"
local modes = core.import "force_modes"
local parse_call = core.import "parse_call"
local soups = core.import "parse_soups"

local given, misuse = call.given, call.misuse
local CACHE_MODE = modes.CACHE_MODE

---@class tureen.parse.Query
local Query = call.class "parse.Query"

function Query:new(class, registry)
  self.class, self.registry, self.conditions = class, registry, {}
end

--- Returns the names as a list; nil if there are none.
local function names(value)
  if not given(value) then return nil end
  if type(value) ~= "string" and type(value) ~= "table" then
    misuse("names of columns must be strings or an array of them, got %s", type(value))
  end
  return arguments.fieldlist(value)
end

local function listed(...)
  local first = ...
  if type(first) == "table" then return names(first) end
  return names(table.concat({ ... }, ","))
end

--- Adds conditions, all of which must hold.
function Query:where(...)
  for i, one in ipairs { ... } do
    if not conditions.is_condition(one) then
      misuse("where: argument %d must be a condition, such as equalTo(...), got %s", i, type(one))
    end
    self.conditions[#self.conditions + 1] = one
  end
  return self
end

--- Includes the objects that pointer columns point to.
function Query:include(...)
  self.included = listed(...)
  return self
end

--- Sorts by columns; a leading "-" means descending order.
function Query:order(...)
  self.ordered = listed(...)
  return self
end

--- Fetches only these columns.
function Query:select(...)
  self.selected = listed(...)
  return self
end

for name, field in pairs { limit = "limited", skip = "skipped" } do
  Query[name] = function(self, number)
    number = math.tointeger(number)
    if not number or number < 0 then misuse("%s: argument 1 must be an integer, 0 or more", name) end
    self[field] = number
    return self
  end
end

local function request(self)
  return {
    className = self.class.className, where = conditions.joined(self.conditions), order = self.ordered, keys = self.selected,
    include = self.included, limit = self.limited, skip = self.skipped,
  }
end

--- Runs the query on the soups.
local function ask_soup(self, args)
  args.places = soups.places(self.registry.classes)
  local config = soups.config_of(self.class)
  args.isGlobalStore, args.storeName = config.isGlobalStore, config.storeName
  return parse_call.wait("findInSoup", args)
end

local function ask_server(self, args)
  args.connection = self.registry.connection_of(self.class)
  return parse_call.wait("find", args)
end

local function mode_of(self, options)
  local mode = options and options.cacheMode
  if not given(mode) then mode = self.class.cacheMode end
  return given(mode) and mode or CACHE_MODE.SERVER_ONLY
end

--- Runs the query on the server or the soups, depending on the mode. `more`: additional arguments; `is_all`: fetch all matches.
local function rows(self, options, more, is_all)
  local mode = mode_of(self, options)
  local function args(name, value)
    local result = request(self)
    for key, element in pairs(more or {}) do result[key] = element end
    if is_all then result[name] = value end
    return result
  end
  if mode == CACHE_MODE.CACHE_ONLY or mode == CACHE_MODE.CACHE_FIRST then
    local found, err = ask_soup(self, args("limit", math.maxinteger))
    if not found then return nil, err end
    local is_there = #found.results > 0 or (found.count or 0) > 0
    if mode == CACHE_MODE.CACHE_ONLY or is_there then return found end
  end
  local found, err = ask_server(self, args("all", true))
  if not found then return nil, err end
  if mode ~= CACHE_MODE.SERVER_ONLY then
    local part = self.selected and "known" or nil
    local stored, problem = soups.store_rows(self.class, found.results, self.registry.class, part)
    if not stored then return nil, problem end
  end
  return found
end

local function objects(self, found)
  local list = core.array()
  for i, row in ipairs(found.results) do list[i] = self.registry.object_of(self.class, row) end
  return list
end

local function check(caller, self, options)
  modes.check_cache_mode(caller, options and options.cacheMode)
  local mode = mode_of(self, options)
  if mode ~= CACHE_MODE.SERVER_ONLY and not rawget(self.class, "soup") then
    misuse("%s: cacheMode %s needs 'soup' in the settings of class %s", caller, mode, self.class.className)
  end
end

local OPTIONS = { "options", "table", optional = true }

local function method(name, body)
  Query[name] = call.define {
    name = name, is_method = true, params = { OPTIONS }, body = body,
    check = function(self, options) check(name, self, options) end,
  }
end

-- query:find(options?): the objects, 100 unless a limit is set; options: cacheMode
method("find", function(self, options)
  local found, err = rows(self, options)
  if not found then return nil, err end
  return objects(self, found)
end)

-- query:findAll(options?): all matches, without a limit
method("findAll", function(self, options)
  local found, err = rows(self, options, nil, true)
  if not found then return nil, err end
  return objects(self, found)
end)

-- query:first(options?): the first object or null
method("first", function(self, options)
  local found, err = rows(self, options, { limit = 1 })
  if not found then return nil, err end
  return objects(self, found)[1] or core.null
end)

-- query:count(options?): the number of matches
method("count", function(self, options)
  local found, err = rows(self, options, { limit = 0, count = true })
  if not found then return nil, err end
  return found.count
end)

return { Query = Query, names = names }
