--- Sync targets in Lua: the sync engine calls functions of the script.
---
--- A target `{type = "custom", luaImpl = "name"}` uses the functions registered under that name, else the module that `require`
--- finds. The functions get the target and may `await`; they are called on the script's thread, from `poll`:
---   startFetch(target, maxTimeStamp) -> records, {totalSize =, more =}   the first page; -1 requests all records
---   continueFetch(target, more) -> records, {totalSize =, more =}        the next page; without `more` it is the last one
---   remoteIds(target, localIds) -> ids                                   the ids on the server, to find ghosts
--- and for a sync up, all optional:
---   createOnServer(target, record, fields) -> id, date                   or nil and the reason of a refusal
---   updateOnServer(target, record, fields) -> true, date                 or false and the reason, or an HTTP status; `date` is
---                                                                        the record's new time stamp and optional
---   deleteOnServer(target, record) -> true                               or false and the reason, or an HTTP status; 404: gone
---   fetchLastModifiedDates(target, records) -> dates                     one time stamp each; false: deleted, nil: unknown
---   isNewerThanServer(target, record) -> boolean                         instead of comparing dates
---   fetchFromServer(target, records, fields) -> records                  the server's records; false: deleted, nil: unknown
---
--- A transformation, named by the key `transform` of a target of type "rest", computes members of each item:
---   transform(item) -> item                                              nil drops the item; an error flags it
--- It is the function registered under that name, or the function `name` of the module in `module.name`.
---
--- A resolver, named by `options.resolver` of a sync with mergeMode MERGE, resolves conflicts:
---   resolver(conflict) -> record                                         or "local", "server", "skip"; nil means "skip"
local core = ...
local guard = core.import "guard"
local calls = core.import "calls"
local async = core.import "async"
local arguments = core.import "arguments"

local M = {}

--- Why a name is not looked up among the modules.
local function unregistered(name)
  return ("nothing is registered as '%s', and a restricted script defined this sync: no module is loaded for it; "
    .. "register the code, or define the sync again in a script that is not restricted"):format(name)
end

--- Creates a registry of values that scripts register by name. Unregistered names are loaded with `require`.
---@param caller string  the function to name in errors
---@param kind {noun: string, parameter: string, type: "table"|"function", meaning: string}
---@return fun(name: string, value: any) register
---@return fun(name: string, if_registered: boolean?): any, string? find  or nil and a reason
local function registry(caller, kind)
  local registered = {}
  local function register(name, value)
    if type(name) ~= "string" then arguments.wrong(caller, 1, "name", "a string", name) end
    if value ~= nil and type(value) ~= kind.type then arguments.wrong(caller, 2, kind.parameter, kind.meaning, value) end
    registered[name] = value
  end
  local function find(name, if_registered)
    if registered[name] then return registered[name] end
    if if_registered then return nil, unregistered(name) end
    local ok, found = pcall(require, name)
    if not ok then
      return nil, ("no %s is registered under that name, and module '%s' cannot be loaded: %s"):format(
        kind.noun, name, guard.text(found))
    end
    if type(found) ~= kind.type then
      return nil, ("module '%s' must return %s, got %s"):format(name, kind.meaning, type(found))
    end
    return found
  end
  return register, find
end

local find_target, find_resolver

--- Registers the functions of a custom target by name; nil removes them.
---@type fun(name: string, implementation: table?)
M.register, find_target = registry("registerTarget",
  { noun = "target", parameter = "implementation", type = "table", meaning = "a table of functions" })

--- Registers a conflict resolver by name; nil removes it.
---@type fun(name: string, resolver: (fun(conflict: table): table|string|nil)?)
M.register_resolver, find_resolver = registry("registerResolver",
  { noun = "resolver", parameter = "resolver", type = "function", meaning = "a function" })

local registered_transforms = {}

--- Registers a transformation by name; nil removes it.
---@param name string
---@param fn (fun(item: table): table?)?
function M.register_transform(name, fn)
  if type(name) ~= "string" then arguments.wrong("registerTransform", 1, "name", "a string", name) end
  if fn ~= nil and type(fn) ~= "function" then arguments.wrong("registerTransform", 2, "transform", "a function", fn) end
  if not name:find "^.+%.[^.]+$" then
    core.raise("invalidArguments",
      ("registerTransform: argument 1 'name' must have the form module.name, as targets name it; got '%s'"):format(name))
  end
  registered_transforms[name] = fn
end

local function find_transform(name, if_registered)
  if registered_transforms[name] then return registered_transforms[name] end
  if if_registered then return nil, unregistered(name) end
  local module, member = name:match("^(.+)%.([^.]+)$")
  local ok, found = pcall(require, module)
  if not ok then
    return nil, ("nothing is registered as '%s', and module '%s' cannot be loaded: %s"):format(name, module, guard.text(found))
  end
  local fn = type(found) == "table" and found[member]
  if type(fn) ~= "function" then return nil, ("module '%s' has no function '%s'"):format(module, member) end
  return fn
end

--- Marks an empty table as a list, as the engine requires.
local function as_list(value)
  if #value == 0 and not core.is_array(value) then return core.array() end
  return value
end

--- Converts the results of a fetch for the engine; returns nil and a message if they have the wrong type.
local function page(name, records, info)
  if records == nil or records == core.null then return {} end
  if not arguments.is_list(records) then
    return nil, ("%s must return an array of records, got %s"):format(name, arguments.type_name(records))
  end
  if info ~= nil and type(info) ~= "table" then
    return nil, ("%s must return a table {totalSize, more} as its second value, got %s"):format(name, type(info))
  end
  info = info or {}
  local total = info.totalSize
  if total ~= nil and math.tointeger(total) == nil then
    return nil, ("%s: totalSize must be an integer, got %s"):format(name, arguments.type_name(total))
  end
  return { records = as_list(records), totalSize = total and math.tointeger(total), more = info.more }
end

-- The optional functions of a target for uploads. The engine uploads by itself if they are missing.
local UPLOADS = {
  "createOnServer", "updateOnServer", "deleteOnServer", "fetchLastModifiedDates", "isNewerThanServer", "fetchFromServer",
}

local function wrong(name, expected, value)
  return nil, ("%s must return %s, got %s"):format(name, expected, arguments.type_name(value))
end

--- Converts the reason of a failure to text.
local function reason(problem)
  if problem == nil or problem == core.null then return nil end
  if type(problem) == "table" and type(problem.message) == "string" then return problem.message end
  return guard.text(problem)
end

--- Returns the time stamp in a function's second result; nil if it is something else.
local function date_of(value) return type(value) == "string" and value or nil end

--- Converts a result, which is an HTTP status or a boolean, for the engine. The second result is a reason or the record's new
--- time stamp.
local function status(name, result, second)
  if result == true then return { status = 200, date = date_of(second) } end
  if math.type(result) == "integer" then
    if result >= 200 and result < 300 then return { status = result, date = date_of(second) } end
    return { status = result, reason = reason(second) }
  end
  if result == false or result == nil then return { status = 400, reason = reason(second) } end
  return wrong(name, "true, or false and a reason, or an HTTP status", result)
end

-- Calls each function and converts its results.
local performers = {
  startFetch = function(fn, target, given) return page("startFetch", fn(target, given.maxTimeStamp)) end,
  continueFetch = function(fn, target, given) return page("continueFetch", fn(target, given.more)) end,
  remoteIds = function(fn, target, given)
    local ids = fn(target, given.localIds)
    if not arguments.is_list(ids) then return wrong("remoteIds", "an array of ids", ids) end
    return { ids = as_list(ids) }
  end,
  createOnServer = function(fn, target, given)
    local id, problem = fn(target, given.record, given.fields)
    if id == nil or id == false or id == core.null then return { reason = reason(problem) } end
    local whole = math.tointeger(id)
    if type(id) == "number" and whole then id = tostring(whole) end
    -- The function has been called, so the engine must learn that the record may exist.
    if type(id) ~= "string" then return { id = false, idKind = arguments.type_name(id) } end
    return { id = id, date = date_of(problem) }
  end,
  updateOnServer = function(fn, target, given)
    return status("updateOnServer", fn(target, given.record, given.fields))
  end,
  deleteOnServer = function(fn, target, given) return status("deleteOnServer", fn(target, given.record)) end,
  fetchLastModifiedDates = function(fn, target, given)
    local found, dates = fn(target, given.records), core.array()
    if type(found) ~= "table" then return wrong("fetchLastModifiedDates", "an array of dates", found) end
    for i = 1, #given.records do
      local date = found[i]
      if date == nil then date = core.null end
      dates[i] = date
    end
    return { dates = dates }
  end,
  fetchFromServer = function(fn, target, given)
    local found, records = fn(target, given.records, given.fields), core.array()
    if type(found) ~= "table" then return wrong("fetchFromServer", "an array of records", found) end
    for i = 1, #given.records do
      local record = found[i]
      if record == nil then record = core.null end
      records[i] = record
    end
    return { records = records }
  end,
  isNewerThanServer = function(fn, target, given)
    local newer = fn(target, given.record)
    if type(newer) ~= "boolean" then return wrong("isNewerThanServer", "a boolean", newer) end
    return { newer = newer }
  end,
}

--- Calls a transformation for each item. A failure only affects its own item.
local function transform(fn, items)
  local answers = core.array()
  for i = 1, #items do
    local ok, made = pcall(fn, items[i])
    if not ok then
      answers[i] = { error = reason(made) or "unknown" }
    elseif made == nil or made == core.null then
      answers[i] = { record = core.null }
    elseif type(made) ~= "table" then
      answers[i] = { error = ("it must return a table or nil, got %s"):format(arguments.type_name(made)) }
    else
      answers[i] = { record = made }
    end
  end
  return { records = answers }
end

local RESOLUTIONS = { ["local"] = true, server = true, skip = true }

--- Converts a resolver's decision for the engine.
local function resolution(decided)
  if decided == nil or decided == core.null then return { resolution = "skip" } end
  if RESOLUTIONS[decided] then return { resolution = decided } end
  if type(decided) == "table" and not core.is_array(decided) and rawget(decided, 1) == nil then
    return { record = decided }
  end
  return wrong("it", 'a record, "local", "server", "skip" or nil', decided)
end

local function perform(request)
  local name = request["function"]
  if name == "resolveConflict" then
    local resolver, missing = find_resolver(request.implementation, request.ifRegistered)
    if not resolver then return nil, missing end
    return resolution(resolver(request.arguments))
  end
  if name == "transform" then
    local fn, missing = find_transform(request.implementation, request.ifRegistered)
    if not fn then return nil, missing end
    return transform(fn, request.arguments.records)
  end
  local implementation, problem = find_target(request.implementation, request.ifRegistered)
  if implementation == nil then return nil, problem end
  if name == "functions" then
    local names = core.array()
    for _, upload in ipairs(UPLOADS) do
      if type(implementation[upload]) == "function" then names[#names + 1] = upload end
    end
    return { functions = names }
  end
  local fn, performer = implementation[name], performers[name]
  if type(fn) ~= "function" or not performer then return nil, ("it has no function '%s'"):format(name) end
  return performer(fn, request.target, request.arguments)
end

local function answer(id, result, problem)
  local args = result or { error = reason(problem) or "unknown" }
  args.request = id
  calls.exec(nil, nil, "tureen.script", "answer", args, true)
end

--- Answers a request of the engine.
calls.on_request = function(id, request)
  local task = async.create(perform)
  async.when_ended(task, function(result, problem)
    local ok, raised = pcall(answer, id, result, problem)
    if not ok then answer(id, nil, "its answer cannot be sent: " .. reason(raised)) end
  end)
  async.start(task, request)
end

return M
