--- Tests wrong arguments for all public functions in bridge-spec/functions: each is refused by name, and nothing stays pending.
---
--- `bridge_spec` is a global: {functions = the JSON texts of bridge-spec/functions}.
local tureen = require "tureen"
local harness = require "harness"
local kinds = require "spec_types"

local tests = {}
local modules = {}
for _, text in ipairs(bridge_spec.functions) do -- luacheck: ignore 113
  local module = assert(tureen.json.decode(text))
  modules[module.module] = module
end

local function module_value(module) return require(module.require[1]) end

local function find(module, name)
  local value = module_value(module)
  if name == "" then return value end
  for part in name:gmatch("[^.]+") do value = value[part] end
  return value
end

--- An object of each class that a script can create.
local force = require "tureen.force"
local optimistic = require "tureen.optimistic"
local makers = {
  ["tureen.Task"] = function()
    return tureen.async(function() end)
  end,
  ["tureen.Timer"] = function()
    local timer = tureen.after(0, function() end)
    timer:cancel()
    return timer
  end,
  ["tureen.Observer"] = function()
    local observer = tureen.smartstore.observe("fail", function() end, function() end)
    observer:close()
    return observer
  end,
  ["tureen.force.StoreCache"] = function() return force.StoreCache("cache") end,
  ["tureen.force.SObjectType"] = function() return force.SObjectType("Contact") end,
  ["tureen.force.RemoteObject"] = function() return force.RemoteObject({}) end,
  ["tureen.force.RemoteObjectCollection"] = function() return force.RemoteObjectCollection({}) end,
  ["tureen.optimistic.List"] = function()
    return optimistic.list { sobjectType = "Contact", records = { { Id = "a" }, { Id = "b" } } }
  end,
}

--- A good value for each parameter while another one is wrong: by name, otherwise by type.
local good_by_name = {
  method = "read", cacheMode = "SERVER_ONLY", level = "info", fetchMode = "CACHE_ONLY", url = "/services/data",
  cursor = { cursorId = 1, currentPageIndex = 1, totalPages = 3, pageSize = 10 }, path = "Id",
  config = { type = "soql", query = "SELECT Id FROM Contact" }, request = { path = "/x" },
  settings = { sobjectType = "Contact", records = tureen.array() }, ms = 1, cache = force.StoreCache("cache"),
  cacheForOriginals = force.StoreCache("originals"),
  southwest = { __type = "GeoPoint", latitude = 1, longitude = 2 },
}
local function good(module, parameter, is_first_of_store)
  if module.module == "promiser" then return ({ object = { f = print }, method = "f", name = "x" })[parameter.name] end
  if parameter.name == "observer" then return makers["tureen.Observer"]() end
  if parameter.name == "record" and module.module == "force" then return { Id = "a" } end
  if parameter.optional and not is_first_of_store then return tureen.null end
  local value = good_by_name[parameter.name]
  if value ~= nil and kinds.accepts(parameter.type, value) then return value end
  return kinds.sample(parameter.type)
end

--- Creates wrong values, by their description: among them tables that cannot be converted to JSON.
local cyclic = {}
cyclic.list = { cyclic }
local deep = {}
for _ = 1, 5000 do deep = { deep } end
local values = {
  { "nil", nil }, { "null", tureen.null }, { "boolean", true }, { "integer", 7 }, { "NaN", 0 / 0 },
  { "infinity", math.huge }, { "minus infinity", -math.huge }, { "fraction", 1.5 }, { "huge integer", math.maxinteger },
  { "negative", -1 }, { "string", "text" }, { "empty string", "" }, { "bytes", "\xff\0\xfe" },
  { "long string", ("x"):rep(300000) }, { "function", function() end }, { "userdata", io.stdout },
  { "thread", coroutine.create(print) }, { "empty table", {} }, { "array", { "a", "b" } }, { "cyclic table", cyclic },
  { "holes", { 1, nil, 3, [7] = 1 } }, { "keys", { a = 1, [true] = 2, [{}] = 3 } }, { "mixed keys", { 1, 2, a = 3 } },
  { "deep table", deep }, { "function inside", { a = { function() end } } }, { "userdata inside", { a = { b = io.stdout } } },
  { "NaN inside", { a = 0 / 0 } }, { "raising table", setmetatable({}, {
    __index = function() error("looked into") end, __len = function() error("counted") end,
    __pairs = function() error("walked") end, __eq = function() error("compared") end,
  }) },
}

--- Calls the function inside a task, because it may wait.
---@return boolean raised, any err
local function call(fn, arguments)
  local ok, err, ended = true, nil, false
  tureen.async(function()
    ok, err = pcall(fn, table.unpack(arguments, 1, arguments.n))
    ended = true
  end)
  -- A started call may need an org, which does not exist; every call is answered nevertheless.
  tureen.run()
  return ended and not ok, err
end

--- Expects a misuse error that names the function and the parameter.
local function check_refusal(name, position, parameter, err, what)
  if what == "raising table" and tostring(err):find("looked into") then return end
  local message = type(err) == "table" and err.message or tostring(err)
  local about = ("%s, parameter '%s' as %s: %s"):format(name, parameter, what, message)
  if type(err) ~= "table" or err.domain ~= "bridge" or err.code ~= "invalidArguments" then
    error("no misuse error from " .. about, 0)
  end
  -- Errors about values that JSON does not have contain the path; rules about words and several parameters name the parameter.
  local wanted = ("%s: argument %d '%s"):format(name, position, parameter)
  local short = ("%s: '%s"):format(name, parameter)
  -- A parameter that may be a store config must not be nil.
  local config = ("%s: argument 1 must not be"):format(name)
  local function begins(with) return message:sub(1, #with) == with end
  local path = ("%s: args."):format(name)
  if not (begins(wanted) or begins(short) or begins(path) or (position == 1 and begins(config))) then
    error("wanted '" .. wanted .. "' from " .. about, 0)
  end
end

--- Calls `visit` for each function with: a function to call, its first arguments, the module, the name, the parameters.
local function each_function(visit)
  for _, module in pairs(modules) do
    for name, spec in pairs(module.functions or {}) do
      local fn = find(module, name)
      visit(module, name == "" and module.module or name:match("[^.]+$"), spec, function() return fn, {} end)
    end
    for class, kind in pairs(module.classes or {}) do
      for name, spec in pairs(kind.methods or {}) do
        if makers[class] then
          visit(module, name, spec, function()
            local object = makers[class]()
            return object[name], { object }
          end)
        end
      end
    end
  end
end

--- Returns the parameters in positional order; those of `exec` begin with its callbacks.
local function parameters_of(module, spec)
  local list = {}
  for i, parameter in ipairs(spec.parameters or {}) do list[i] = parameter end
  if module.module == "tureen" and list[1] and list[1].name == "service" then
    table.insert(list, 1, { name = "error", type = "function", optional = true })
    table.insert(list, 1, { name = "success", type = "function", optional = true })
  end
  return list
end

local function arguments_with(module, spec, parameters, first, wrong_at, value)
  local arguments = { n = #first, table.unpack(first) }
  for i, parameter in ipairs(parameters) do
    if parameter.name == "..." then break end
    arguments.n = arguments.n + 1
    if i == wrong_at then
      arguments[arguments.n] = value
    else
      arguments[arguments.n] = good(module, parameter, spec.store and i == 1)
    end
  end
  return arguments
end

local calls_made = 0

--- Returns whether a call with good values would wait for long or write to the terminal.
local function is_long_or_loud(module, parameter)
  return parameter.name == "ms" or parameter.name == "timeoutMs" or module.module == "logger"
end

local function try_function(module, name, spec, make)
  local parameters = parameters_of(module, spec)
  for position, parameter in ipairs(parameters) do
    if parameter.name == "..." then break end
    for _, entry in ipairs(values) do
      local what, value = entry[1], entry[2]
      local is_fine = kinds.accepts(parameter.type, value)
        or (parameter.optional and (value == nil or value == tureen.null))
        or kinds.is_other_form(name, spec, parameter, value)
      local fn, first = make()
      local arguments = arguments_with(module, spec, parameters, first, position, value)
      local raised, err
      if not (is_fine and is_long_or_loud(module, parameter)) then raised, err = call(fn, arguments) end
      calls_made = calls_made + 1
      if not is_fine then
        if not raised then error(("%s takes %s for '%s'"):format(name, what, parameter.name), 0) end
        check_refusal(name, position, parameter.name, err, what)
      elseif raised and (type(err) ~= "table" or not err.domain) and what ~= "raising table" then
        error(("%s, %s for '%s', fails on its own: %s"):format(name, what, parameter.name, tostring(err)), 0)
      end
    end
    local is_needed = not parameter.optional and not kinds.accepts(parameter.type, nil)
    if is_needed and not kinds.is_other_form(name, spec, parameter, nil) then
      -- Omit this argument and the following ones.
      local fn, first = make()
      local arguments = arguments_with(module, spec, parameters, first)
      arguments.n = #first + position - 1
      for i = arguments.n + 1, #arguments do arguments[i] = nil end
      local raised, err = call(fn, arguments)
      if not raised then error(("%s goes without its '%s'"):format(name, parameter.name), 0) end
      check_refusal(name, position, parameter.name, err, "missing")
    end
  end
end

function tests.test_wrong_arguments_to_every_function_are_refused_by_name()
  local mistakes = {}
  -- The results of good calls do not matter: the suite's host answers with the arguments.
  tureen.onerror = function() end
  each_function(function(...)
    local ok, err = pcall(try_function, ...)
    if not ok then mistakes[#mistakes + 1] = tostring(err) end
    tureen.run()
  end)
  table.sort(mistakes)
  if #mistakes > 0 then error(#mistakes .. " mistakes:\n" .. table.concat(mistakes, "\n"), 0) end
  assert(calls_made > 5000, "only " .. calls_made .. " calls were made")
end

--- Tests that wrong arguments leave no memory and no pending calls behind.
function tests.test_wrong_arguments_leave_nothing_behind()
  local refusals = {
    function() tureen.smartstore.registerSoup("s", { cyclic }) end,
    function() tureen.smartstore.upsertSoupEntries("s", { { a = print } }) end,
    function() tureen.smartstore.querySoup("s", { queryType = 0 / 0 }) end,
    function() tureen.exec(print, print, "s", "a", { deep }) end,
    function() tureen.keyvalue.put("s", "k", {}) end,
    function() tureen.mobilesync.syncDown(cyclic, "s", {}) end,
    function() tureen.network.sendRequest { path = "/x", queryParams = { a = io.stdout } } end,
  }
  local function round(times)
    for _ = 1, times do
      for _, refusal in ipairs(refusals) do assert(not pcall(refusal)) end
    end
    collectgarbage()
    collectgarbage()
    return collectgarbage("count")
  end
  round(200)
  local before = round(200)
  local after = round(2000)
  harness.same(tureen.pending(), 0)
  assert(after < before + 32, ("%g KB before, %g KB after"):format(before, after))
end

function tests.test_every_function_of_the_spec_is_there()
  for _, module in pairs(modules) do
    for _, name in ipairs(module.require) do assert(require(name) == module_value(module), name) end
    for name in pairs(module.functions or {}) do
      local fn = find(module, name)
      local is_class = type(fn) == "table" and (getmetatable(fn) or {}).__call
      assert(type(fn) == "function" or is_class, ("%s has no function '%s'"):format(module.module, name))
    end
    for class, kind in pairs(module.classes or {}) do
      for name in pairs(makers[class] and kind.methods or {}) do
        assert(type(makers[class]()[name]) == "function", ("%s has no method '%s'"):format(class, name))
      end
    end
  end
end

function tests.test_every_module_is_a_field_of_tureen()
  local found = 0
  for _, module in pairs(modules) do
    for _, name in ipairs(module.require) do
      local field = name:match "^tureen%.(%a+)$"
      -- tureen.exec is the raw call; the module of the same name has the plug-in version.
      if field and field ~= "exec" then
        assert(tureen[field] == require(name), "tureen." .. field)
        assert(modules.tureen.fields[field], "functions/tureen.json lacks " .. field)
        found = found + 1
      end
    end
  end
  assert(found > 12, found)
end

function tests.test_every_client_has_the_functions_that_answer()
  local module = modules.smartstore
  for _, name in ipairs(module.client.require) do
    for key, spec in pairs(module.functions) do
      assert(not spec.answer or type(require(name)[key]) == "function", ("%s has no function '%s'"):format(name, key))
    end
  end
  for _, name in ipairs(modules.force.client.require) do assert(require(name) == force.client, name) end
end

function tests.test_every_public_function_is_in_the_spec()
  for _, module in pairs(modules) do
    local value = module_value(module)
    for name, member in pairs(type(value) == "table" and value or {}) do
      local is_known = module.functions[name] or (module.fields or {})[name] or name:find("^_") or name:find("^has_")
        or kinds.is_internal(module.module, name)
      assert(type(member) ~= "function" or is_known, ("%s.%s is not in the spec"):format(module.module, name))
    end
  end
end

harness.run(tests)
