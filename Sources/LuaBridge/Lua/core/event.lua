--- Events: a `document` like that of web pages, and the short forms `on`, `once`, `off`.
local core = ...
local guard = core.import "guard"

---@class tureen.Event
---@field type string
---@field detail any

---@class tureen.document
local M = {}

--- name -> list of {fn, kind = "document" | "on" | "once", gone = boolean}, in the order they were added.
local listeners = {}

--- Set by the calls module. Runs a function at the next poll.
M.defer = nil

local function check(caller, name, fn)
  if type(name) ~= "string" then
    core.raise("invalidArguments",
      ("%s: argument 1 'type' must be a string, got %s"):format(caller, type(name)))
  end
  if type(fn) ~= "function" then
    core.raise("invalidArguments",
      ("%s: argument 2 'listener' must be a function, got %s"):format(caller, type(fn)))
  end
end

local function find(name, fn, is_document)
  for i, entry in ipairs(listeners[name] or {}) do
    if entry.fn == fn and (entry.kind == "document") == is_document then return i, entry end
  end
end

--- Removes a listener. Copies the list, so that an event which is being delivered keeps its own.
local function remove(name, position)
  local rest = table.move(listeners[name], 1, position - 1, 1, {})
  listeners[name][position].gone = true
  listeners[name] = table.move(listeners[name], position + 1, #listeners[name], position, rest)
end

local function add(name, fn, kind)
  local entry = { fn = fn, kind = kind, gone = false }
  local list = table.move(listeners[name] or {}, 1, #(listeners[name] or {}), 1, {})
  list[#list + 1] = entry
  listeners[name] = list
  return entry
end

local function deliver(name, entry, detail)
  if entry.gone then return end
  if entry.kind == "document" then
    guard.invoke(entry.fn, { type = name, detail = detail })
    return
  end
  if entry.kind == "once" then
    local position = find(name, entry.fn, false)
    if position then remove(name, position) end
  end
  guard.invoke(entry.fn, detail)
end

--- Calls a new listener of `deviceready`, which has always happened already.
local function tell_late(name, entry)
  if name == "deviceready" and M.defer then M.defer(deliver, name, entry, core.null) end
end

--- Calls `listener` with `{type, detail}` at every event of this type. Adding a listener twice has no effect.
---@param name string
---@param listener fun(event: tureen.Event)
function M.addEventListener(name, listener)
  check("addEventListener", name, listener)
  if find(name, listener, true) then return end
  tell_late(name, add(name, listener, "document"))
end

---@param name string
---@param listener fun(event: tureen.Event)
function M.removeEventListener(name, listener)
  check("removeEventListener", name, listener)
  local position = find(name, listener, true)
  if position then remove(name, position) end
end

--- Calls `listener` with the detail of every event of this type.
---@param name string
---@param listener fun(detail: any)
function M.on(name, listener)
  check("on", name, listener)
  tell_late(name, add(name, listener, "on"))
end

--- Calls `listener` with the detail of the next event of this type.
---@param name string
---@param listener fun(detail: any)
function M.once(name, listener)
  check("once", name, listener)
  tell_late(name, add(name, listener, "once"))
end

--- Removes a listener that `on` or `once` added.
---@param name string
---@param listener fun(detail: any)
function M.off(name, listener)
  check("off", name, listener)
  local position = find(name, listener, false)
  if position then remove(name, position) end
end

local no_listeners = {}

--- Returns the listeners of an event as they are now, for `emit`. The list does not change later.
function M.listening(name) return listeners[name] or no_listeners end

--- Calls the listeners in the order in which they were added, except those that were removed meanwhile. Errors are reported and
--- do not affect other listeners.
---@param audience table?  from `listening`; the current listeners when left out
function M.emit(name, detail, audience)
  for _, entry in ipairs(audience or M.listening(name)) do
    deliver(name, entry, detail)
  end
end

-- Pairs of events that report a state; the second is the initial state. Only changes are delivered.
local states = { offline = "online", online = "online", pause = "resume", resume = "resume" }
local standing = { online = "online", resume = "resume" }

--- Delivers an event of the host.
function M.tell(name, detail)
  local about = states[name]
  if about then
    if standing[about] == name then return end
    standing[about] = name
  end
  M.emit(name, detail)
end

--- Reports whether there is a network. Emits `online` or `offline` if that is a change.
---@param isOnline boolean
function M.setOnline(isOnline)
  if type(isOnline) ~= "boolean" then
    core.raise("invalidArguments",
      ("setOnline: argument 1 'isOnline' must be a boolean, got %s"):format(type(isOnline)))
  end
  if M.defer then M.defer(M.tell, isOnline and "online" or "offline", core.null) end
end

guard.announce = function(err, traceback)
  M.emit("uncaughtError", { error = err, traceback = traceback })
end

return M
