--- Plug-ins of scripts, and calls of any service by its name.
---
--- An action is a function `(args, success, error, progress, call)`. For each call it runs as a task, from `poll`, and may
--- `await`. It answers once: by calling `success(value)` or `error(err)`, now or later, or by returning a value, or nil and an
--- error. Raising an error answers the call, too. An action that takes at most `args` cannot answer later: if it returns nothing,
--- its answer is null.
local core = ...
local guard = core.import "guard"
local event = core.import "event"
local calls = core.import "calls"
local async = core.import "async"
local arguments = core.import "arguments"
local unawaited = core.import "unawaited"

local M = {}

-- Kinds of answers, as in tureen.h.
local RESULT, ERROR, PROGRESS = 1, 2, 3

local plugins = {} -- number -> {service = string, actions = table, takes_callbacks = table<string, boolean>}
local open = {}    -- call id -> the task that handles it; its `call` is the tureen.PluginCall

--- A registered plug-in.
---@class tureen.Plugin
---@field service string
local Plugin = {}
Plugin.__index = Plugin
Plugin.__name = "tureen.Plugin"

--- Removes the plug-in. Calls that it has received stay open until it answers them. May be called twice.
function Plugin:unregister()
  if self.number and core.unplug(self.number) then plugins[self.number] = nil end
  self.number = nil
end

--- Converts a plug-in's error to the object that the caller gets.
local function as_error(err, service)
  if type(err) == "table" and not core.is_array(err) and rawget(err, 1) == nil then return err end
  local message = (err == nil or err == core.null) and "the plug-in gave no reason" or guard.text(err)
  return { domain = service, code = "failed", message = message }
end

--- Sends an answer. If the value has no JSON form, the call ends with an error that says so, and this function raises.
---@return boolean taken  false if the call was already answered or cancelled
local function send(id, kind, value, name)
  if value == nil then value = core.null end
  local ok, taken = pcall(core.answer, id, kind, value, name)
  if kind ~= PROGRESS then open[id] = nil end
  if ok then return taken end
  if kind ~= PROGRESS then
    local message = type(taken) == "table" and taken.message or guard.text(taken)
    core.answer(id, ERROR, { domain = "bridge", code = "invalidArguments", message = "the plug-in's answer: " .. message }, name)
  end
  error(taken, 0)
end

local function send_error(id, err, service)
  return send(id, ERROR, as_error(err, service), "error")
end

--- Returns the error of a call that its caller has cancelled.
local function cancelled_error()
  return calls.new_error("cancelled", "the call was cancelled")
end

local calls_of_scripts = {}

--- Answers with the results of an action. If it returned nothing, its callbacks answer, now or later; an action that did not take
--- them has answered null.
function calls_of_scripts.ended(task, value, err)
  local call = task.call
  local id = call.id
  if open[id] ~= task then return end
  if value ~= nil then
    guard.invoke(send, id, RESULT, value, "success")
  elseif err ~= nil then
    pcall(send_error, id, err, task.service) -- a raised error may have no JSON form; `send` reports that to the caller
  elseif call.cancelled and call.oncancel == nil then
    send_error(id, cancelled_error(), task.service)
  elseif not task.takes_callbacks then
    send(id, RESULT, core.null, "success")
  end
end

--- Runs the action of a call.
local function perform(id, plugin, action, args)
  local service, call = plugin.service, { id = id, action = action, cancelled = false }
  local task = async.create(plugin.actions[action], calls_of_scripts)
  task.call, task.service = call, service
  task.takes_callbacks = plugin.takes_callbacks[action]
  open[id] = task
  local function success(value) return send(id, RESULT, value, "success") end
  local function failure(err) return send_error(id, err, service) end
  local function progress(value) return send(id, PROGRESS, value, "progress") end
  async.start(task, args, success, failure, progress, call)
end

--- Delivers a call to its plug-in.
calls.on_call = function(id, number, action, args)
  local plugin = plugins[number]
  if plugin == nil then
    core.answer(id, ERROR, calls.new_error("unknownService", "the plug-in was unregistered before it got the call"), "error")
  elseif plugin.actions[action] == nil then
    local message = ("unknown action '%s' of service '%s'"):format(action, plugin.service)
    core.answer(id, ERROR, calls.new_error("unknownAction", message), "error")
  else
    perform(id, plugin, action, args)
  end
end

--- Notifies a plug-in that the caller has cancelled a call: sets `call.cancelled`, calls `call.oncancel`, and ends the action's
--- `await` with an error of code `cancelled`.
calls.on_call_over = function(id)
  local task = open[id]
  if task == nil then return end
  local call = task.call
  call.cancelled = true
  guard.invoke(call.oncancel, call)
  if task.state == "running" then return task:cancel() end
  if open[id] == task and call.oncancel == nil then send_error(id, cancelled_error(), task.service) end
end

--- Registers a service. Scripts and programs of this host call it like Tureen's own, until the state is closed.
---
--- Raises if the name is taken or not in reverse-DNS form such as `com.acme.printer`. With a spec in the form of
--- bridge-spec/actions, calls with invalid arguments fail before they reach the action.
---@param name string
---@param actions table<string, function>
---@param spec table?  {actions = {name = {arguments = ...}}}
---@return tureen.Plugin
function M.register(name, actions, spec)
  if type(name) ~= "string" then arguments.wrong("plugin", 1, "name", "a string", name) end
  if type(actions) ~= "table" or core.is_array(actions) then
    arguments.wrong("plugin", 2, "actions", "a table of functions", actions)
  end
  if spec == core.null then spec = nil end
  if spec ~= nil and (type(spec) ~= "table" or core.is_array(spec)) then arguments.wrong("plugin", 3, "spec", "a table", spec) end
  local own, takes_callbacks = {}, {}
  for action, fn in next, actions do
    if type(action) ~= "string" or type(fn) ~= "function" then
      core.raise("invalidArguments", ("plugin: argument 2 'actions' must contain functions by name, got %s under %s")
        :format(arguments.type_name(fn), type(action) == "string" and ("'%s'"):format(action) or arguments.type_name(action)))
    end
    own[action], takes_callbacks[action] = fn, core.parameters(fn) > 1
  end
  local number, err = core.plug(name, spec)
  if number == nil then core.raise("invalidArguments", "plugin: " .. err.message) end
  plugins[number] = { service = name, actions = own, takes_callbacks = takes_callbacks }
  return setmetatable({ service = name, number = number }, Plugin)
end

local ANSWERS_OFTEN = { syncDown = true, syncUp = true, reSync = true, refresh = true, more = true }

local function check_callback(action, position, name, value)
  if value == nil or value == core.null then return nil end
  if type(value) ~= "function" then arguments.wrong(action, position, name, "a function", value) end
  return value
end

--- Returns a function that calls one action: `(args?, success?, error?, progress?)`.
local function caller(service, action)
  local function send_call(success, failure, args, progress)
    if args == core.null then args = nil end
    if args ~= nil and type(args) ~= "table" then arguments.wrong(action, 1, "args", "a table", args) end
    local id = calls.exec(success, failure, service, action, args, nil, action)
    if progress then calls.on_progress(id, progress) end
    return unawaited.of(id, action)
  end
  local function call(args, ...)
    local success, failure, progress = ...
    local at = 2
    if type(args) == "function" then
      args, success, failure, progress, at = nil, args, success, failure, 1
    end
    return send_call(check_callback(action, at, "success", success), check_callback(action, at + 1, "error", failure), args,
      check_callback(action, at + 2, "progress", progress))
  end
  local is_sync = service == "com.salesforce.mobilesync" and ANSWERS_OFTEN[action] == true
  arguments.starters[call] = {
    is_sync = is_sync,
    start = function(success, failure, args, progress)
      return send_call(success, failure, args, check_callback(action, 2, "progress", progress))
    end,
  }
  return call
end

--- Returns a service by its full name. Each of its fields is a function that calls the action of that name.
---
--- `service.print({ pages = 2 }, success, error, progress)`; `await(service.print, { pages = 2 }, progress)`. An unknown service
--- or action is reported by the call.
---@param name string
---@return tureen.Service
function M.service(name)
  if type(name) ~= "string" then arguments.wrong("service", 1, "name", "a string", name) end
  return setmetatable({}, {
    __index = function(self, action)
      if type(action) ~= "string" then return nil end
      local fn = caller(name, action)
      rawset(self, action, fn)
      return fn
    end,
  })
end

--- Emits an event to the listeners of this script at the next poll. The name has reverse-DNS form, like that of a plug-in.
---@param name string
---@param detail any
function M.emit(name, detail)
  if type(name) ~= "string" then arguments.wrong("emit", 1, "name", "a string", name) end
  local is_valid = not ("." .. name .. "."):find("%.%.") and not name:find("[^%w_.]") and name:find(".", 1, true)
  if not is_valid or name:find("^com%.salesforce%.") or name:find("^tureen%.") then
    core.raise("invalidArguments",
      ("emit: argument 1 'name' must be a reverse-DNS name such as com.acme.printer.jammed, got '%s'"):format(name))
  end
  if detail == nil then detail = core.null end
  calls.defer(event.emit, name, detail)
end

return M
