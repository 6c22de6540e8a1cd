--- The raw bridge: `exec` sends a call, `poll` and `run` deliver the results.
local core = ...
local guard = core.import "guard"
local event = core.import "event"
local timers = core.import "timers"
local unawaited = core.import "unawaited"

---@class tureen.Error
---@field domain string      the part that failed: "bridge", "store", "sync", "network"...
---@field code string        stable; scripts may switch on it
---@field message string     text for people
---@field retryable boolean  true if the same call may succeed later
---@field source string?     "service:action"
---@field traceback string?  of the coroutine that awaited it

local M = {}

-- Kinds of messages, as in tureen_bridge.h.
local RESULT, ERROR, UPDATE, END, FAIL, REQUEST, EVENT = 1, 2, 3, 4, 5, 6, 8
local PROGRESS, CALL, CALL_OVER = 9, 10, 11
local is_sync_message = { [UPDATE] = true, [END] = true, [FAIL] = true }
-- The store of calls that name none. The native side has the same constant.
local DEFAULT_STORE = "defaultStore"

local lazy = {}                      -- id -> true: the script wants the result's entries as lazy records
local calls, live = {}, 0            -- id -> {success, error, service, action, is_global, store_name}; their number
local deferred, first, last = {}, 1, 0 -- functions to run at the next poll
local latest = 0                     -- the id of the newest call
local polling = false

--- Returns an error of the domain `bridge`.
---@return tureen.Error
function M.new_error(code, message, extra)
  local err = { domain = "bridge", code = code, message = message, retryable = false }
  for key, value in pairs(extra or {}) do err[key] = value end
  return setmetatable(err, core.error_type)
end

--- Runs `fn(...)` at the next poll, never inside the caller.
function M.defer(fn, ...)
  last = last + 1
  deferred[last] = table.pack(fn, ...)
  core.wake()
end
event.defer = M.defer

local function unanswered()
  return live + (last - first + 1) + core.guest_calls()
end

--- Returns the number of pending calls and timers.
function M.pending()
  return unanswered() + timers.count()
end

--- Returns the id of the newest call. Ids only increase.
function M.last_id()
  return latest
end

--- Cancels a call: a sync stops at its next page, a request is aborted. The call still gets an answer. Does nothing if it has
--- been answered.
---@param id integer|tureen.Call?  the result of `exec` or of the function that made the call; no effect if nil
function M.cancel(id)
  id = unawaited.id(id)
  if id == nil or id == core.null then return end
  if math.type(id) ~= "integer" then
    core.raise("invalidArguments", ("cancel: argument 1 'id' must be an integer, got %s"):format(type(id)))
  end
  if calls[id] then
    calls[id].is_given_up = true
    core.cancel(id)
  end
end

local function check_callback(position, name, fn)
  if fn ~= nil and fn ~= core.null and type(fn) ~= "function" then
    core.raise("invalidArguments",
      ("exec: argument %d '%s' must be a function, got %s"):format(position, name, type(fn)))
  end
  if fn ~= core.null then return fn end
end

local function check_string(position, name, value)
  if type(value) ~= "string" then
    core.raise("invalidArguments",
      ("exec: argument %d '%s' must be a string, got %s"):format(position, name, type(value)))
  end
end

--- Returns the object with an action's arguments. Also accepts the plug-ins' form, a list that starts with their version.
local function unwrap(args)
  if args == nil or args == core.null then return {} end
  if type(args) ~= "table" then
    core.raise("invalidArguments", ("exec: argument 5 'args' must be a table, got %s"):format(type(args)))
  end
  if rawget(args, 1) == nil and not core.is_array(args) then return args end
  local at = 1
  local head = rawget(args, 1)
  if type(head) == "string" and head:find("pluginSDKVersion", 1, true) == 1 then at = 2 end
  local object = rawget(args, at)
  if object == nil or object == core.null then return {} end
  if type(object) ~= "table" then
    core.raise("invalidArguments", ("exec: argument 5 'args[%d]' must be a table, got %s"):format(at, type(object)))
  end
  return object
end

--- Returns true if the script wants lazy records: `lazy = true` among the arguments or in the query spec.
local function wants_records(args)
  local spec = rawget(args, "querySpec")
  return rawget(args, "lazy") == true or (type(spec) == "table" and rawget(spec, "lazy") == true)
end

--- Reports the failure of a call without an error callback. `place` is where the call was made.
---@param place string?
function M.unhandled(err, place)
  if core.interrupted() then return end
  local source = type(err) == "table" and err.source
  guard.report(err, ("in %s, called%s without an error callback"):format(source or "a call", place and " at " .. place or ""))
end

--- Passes an error to `failure` at the next poll, or reports it if there is no `failure`.
---@param failure function?
function M.refuse(failure, err)
  if failure then return M.defer(failure, err) end
  M.defer(M.unhandled, err, core.where())
end

local function fail(call, err)
  if type(err) == "table" then err.source = call.service .. ":" .. call.action end
  if call.error then return guard.invoke(call.error, err) end
  if not (call.is_background or call.is_given_up) then M.unhandled(err, call.place) end
end

--- Sends a call. `success(payload)` or `error(err)` runs at a later poll, exactly once; for a sync, `success(sync)` runs at
--- every change, and `error(err)` at most once and last. Without an error callback a failure is an uncaught error and passed to
--- `tureen.onerror`, unless the script has cancelled the call.
---@param success fun(payload: any)?
---@param err_callback fun(err: tureen.Error)?
---@param service string  such as "com.salesforce.smartstore"
---@param action string   such as "pgSoupExists"
---@param args table?     the action's arguments
---@param is_background boolean?  true: the call does not count as pending
---@param caller string?  the function to name in errors about arguments; default `exec`
---@return integer? id  for `cancel`; nil if the call was refused, which is reported to `error`
function M.exec(success, err_callback, service, action, args, is_background, caller)
  success = check_callback(1, "success", success)
  err_callback = check_callback(2, "error", err_callback)
  check_string(3, "service", service)
  check_string(4, "action", action)
  args = unwrap(args)
  local store_name = rawget(args, "storeName")
  local call = {
    success = success,
    error = err_callback,
    service = service, action = action,
    is_global = rawget(args, "isGlobalStore") == true,
    store_name = type(store_name) == "string" and store_name or DEFAULT_STORE,
    is_background = is_background == true,
    place = not (err_callback or is_background) and core.where() or nil,
  }
  local is_lazy = wants_records(args)
  local id, refusal = core.call(service, action, args, caller or "exec", is_lazy)
  if id then
    if is_lazy then lazy[id] = true end
    calls[id], latest = call, id
    if not call.is_background then live = live + 1 end
  else
    M.defer(fail, call, refusal)
  end
  return id
end

--- Sends a call like `exec`, for a function of a module.
---@param caller string  the function's name
---@return tureen.Call?  nil if the call was refused
function M.send(success, err_callback, service, action, args, caller)
  return unawaited.of(M.exec(success, err_callback, service, action, args, nil, caller), caller)
end

--- Calls `fn` with each progress of a plug-in's call, or with the latest one if several arrive between two polls.
---@param id integer?  the id of a call that was just made; nil, for a refused call, does nothing
function M.on_progress(id, fn)
  if id and calls[id] then calls[id].progress = fn end
end

--- Emits the `sync` event with the state and its store.
local function emit_sync(call, state, audience)
  audience = audience or event.listening("sync")
  if type(state) ~= "table" or #audience == 0 then return end
  local detail = {}
  for key, value in pairs(state) do detail[key] = value end
  detail.isGlobalStore = call.is_global
  detail.storeName = call.store_name
  event.emit("sync", detail, audience)
end

--- Set by the module for custom targets. Called with the number of a native request, and the request.
M.on_request = nil

--- Set by the module for plug-ins. Called with the id of a call, the plug-in's number, the action and its arguments.
M.on_call = nil

--- Set by the module for plug-ins. Called with the id of a call that its caller has cancelled.
M.on_call_over = nil

--- Delivers an event of the host. If the host waits for the listeners, it is notified after they have run.
local function deliver_event(payload)
  event.tell(payload.event, payload.detail)
  if payload.request then
    M.exec(nil, nil, "tureen.script", "answer", { request = payload.request }, true)
  end
end

local function dispatch(kind, id, payload, plugin, action)
  if kind == EVENT then return deliver_event(payload) end
  if kind == REQUEST then return guard.invoke(M.on_request, id, payload) end
  if kind == CALL then return guard.invoke(M.on_call, id, plugin, action, payload) end
  if kind == CALL_OVER then return guard.invoke(M.on_call_over, id) end
  local call = calls[id]
  if call == nil then return end
  if kind == PROGRESS then return guard.invoke(call.progress, payload) end
  if kind ~= UPDATE then
    calls[id], lazy[id] = nil, nil
    if not call.is_background then live = live - 1 end
  end
  -- The callback of the end may continue a script that waits for the next run: a listener that it adds must not get this end.
  -- One that the callback of the start adds belongs to this run.
  local audience = kind ~= UPDATE and event.listening("sync") or nil
  if kind == ERROR or kind == FAIL then
    fail(call, payload)
  elseif kind == RESULT or kind == UPDATE or kind == END then
    guard.invoke(call.success, payload)
  end
  if is_sync_message[kind] and not call.is_background then
    emit_sync(call, kind == FAIL and payload.sync or payload, audience)
  end
end

--- Delivers the messages that are waiting now. Messages that arrive meanwhile wait for the next poll.
local function deliver_batch()
  local delivered = 0
  local waiting, stop = core.waiting(), last
  while first <= stop do
    local job = deferred[first]
    deferred[first] = nil
    first = first + 1
    guard.invoke(table.unpack(job, 1, job.n))
    delivered = delivered + 1
  end
  for _, timer in ipairs(timers.take_due()) do
    guard.invoke(timer.fn)
    delivered = delivered + 1
  end
  for _ = 1, waiting do
    local kind, id, payload, plugin, action = core.take(lazy)
    if kind == nil then break end
    dispatch(kind, id, payload, plugin, action)
    delivered = delivered + 1
  end
  return delivered
end

local function deliver(caller)
  if polling then
    core.raise("invalidArguments", caller .. ": must not be called from a callback that poll is running")
  end
  local task = M.task -- callbacks do not belong to the task that polls
  polling, M.task = true, nil
  local ok, delivered = pcall(core.on_main, deliver_batch)
  polling, M.task = false, task
  if not ok then error(delivered, 0) end
  return delivered
end

local function interruption()
  return M.new_error("interrupted", "interrupted")
end

--- Returns true if `run` has something to wait for. After an interrupt timers do not count.
local function has_more()
  if core.interrupted() then return unanswered() > 0 end
  return M.pending() > 0
end

--- Set by the module for tasks. Called when nothing is pending; may start new calls.
M.on_idle = nil

--- Set by the module for tasks: the task that is running, also while it has resumed other coroutines.
M.task = nil

--- Runs the waiting callbacks on the main state. Waits at most `timeout_ms` for the first one.
---@param timeout_ms number?  milliseconds; default 0
---@return integer delivered
function M.poll(timeout_ms)
  if timeout_ms == nil then timeout_ms = 0 end
  if math.type(timeout_ms) == nil or timeout_ms < 0 or timeout_ms ~= timeout_ms then
    core.raise("invalidArguments", ("poll: argument 1 'timeoutMs' must be a number, 0 or more, got %s")
      :format(type(timeout_ms) == "number" and tostring(timeout_ms) or type(timeout_ms)))
  end
  if core.interrupted() and unanswered() == 0 and not polling then error(interruption(), 0) end
  if not polling then core.wait(timeout_ms) end
  return deliver("poll")
end

--- Polls until nothing is pending. A task that still waits then is reported to `tureen.onerror` with its traceback and an error
--- of code `stillWaiting`, unless it waits for an event.
---@param begin function?  called first, after the check that polling is allowed here
---@param caller string?  the name of this function in errors
---@return boolean ok  false if an error reached the default `tureen.onerror` or the run was interrupted
---@return any err      that error
function M.run(begin, caller)
  if polling then deliver(caller or "run") end
  if begin then begin() end
  repeat
    while has_more() do
      core.wait(-1)
      deliver("run")
    end
    if not core.interrupted() then M.on_idle() end
  until not has_more()
  local failure = guard.take_failure()
  if failure then return false, failure.err end
  if core.interrupted() then return false, interruption() end
  return true
end

return M
