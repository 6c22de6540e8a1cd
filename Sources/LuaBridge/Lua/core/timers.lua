--- Timers: functions that are called after some time.
local core = ...

local M = {}

-- A binary heap by {at, order}; its first element is the next timer that is due.
local heap, order = {}, 0

---@class tureen.Timer
local Timer = {}
Timer.__index = Timer
Timer.__name = "tureen.Timer"

local function is_before(a, b)
  if a.at ~= b.at then return a.at < b.at end
  return a.order < b.order
end

local function place(timer, position)
  heap[position], timer.position = timer, position
end

local function rise(timer, position)
  while position > 1 do
    local parent = heap[position // 2]
    if not is_before(timer, parent) then break end
    place(parent, position)
    position = position // 2
  end
  place(timer, position)
end

local function sink(timer, position)
  while true do
    local child = position * 2
    if child > #heap then break end
    if child < #heap and is_before(heap[child + 1], heap[child]) then child = child + 1 end
    if not is_before(heap[child], timer) then break end
    place(heap[child], position)
    position = child
  end
  place(timer, position)
end

local function remove(timer)
  local position, last = timer.position, heap[#heap]
  heap[#heap], timer.position = nil, nil
  if last == timer then return end
  rise(last, position)
  sink(last, last.position)
end

local function set_alarm()
  core.alarm(heap[1] and heap[1].at or nil)
end

--- Calls `fn` once, from a poll, after `ms` milliseconds.
---@param ms number
---@param fn fun()
---@return tureen.Timer
function M.after(ms, fn)
  order = order + 1
  local timer = setmetatable({ at = core.now() + math.ceil(math.min(ms, 1e15)), order = order, fn = fn }, Timer)
  heap[#heap + 1] = timer
  rise(timer, #heap)
  if heap[1] == timer then set_alarm() end
  return timer
end

--- Cancels the timer. Does nothing if it has already fired.
function Timer:cancel()
  self.fn = nil
  if self.position == nil then return end
  local was_next = heap[1] == self
  remove(self)
  if was_next then set_alarm() end
end

--- Returns the number of waiting timers.
function M.count() return #heap end

--- Removes and returns the timers that are due, the earliest first.
---@return tureen.Timer[]
function M.take_due()
  local due = {}
  if heap[1] == nil then return due end
  local now = core.now()
  while heap[1] and heap[1].at <= now do
    due[#due + 1] = heap[1]
    remove(heap[1])
  end
  set_alarm()
  return due
end

return M
