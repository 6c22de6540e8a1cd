--- Reports the progress of syncs to a function.
local core = ...
local arguments = core.import "arguments"
local event = core.import "event"
local guard = core.import "guard"
local nearest = core.import "nearest"
local timers = core.import "timers"

local M = {}

-- The times of the bar of `tureen run`: milliseconds before the first report, and between two reports.
local GRACE_MS, INTERVAL_MS = 500, 200

--- Filters states like a progress bar: nothing for a run shorter than its grace time, the latest state at most five times a
--- second, the final state if anything was reported, and always a failure.
local function with_grace(fn)
  local run -- the current run: {began, latest, told_at, timer}
  local function tell()
    run.timer, run.told_at = nil, core.now()
    fn(run.latest)
  end
  local function forget()
    local ended = run
    if ended and ended.timer then ended.timer:cancel() end
    run = nil
    return ended
  end
  return function(state)
    if state.status == "RUNNING" then
      local grace = state.options and state.options.graceMs or GRACE_MS
      run = run or { began = core.now() }
      run.latest = state
      if run.timer then return end
      local due = run.told_at and run.told_at + INTERVAL_MS or run.began + grace
      local wait = due - core.now()
      if wait <= 0 then return tell() end
      run.timer = timers.after(wait, tell)
      return
    end
    local ended = forget()
    if ended and ended.told_at or state.status == "FAILED" then fn(state) end
  end, forget
end

local function check_options(options)
  for key in pairs(options or {}) do
    if key ~= "grace" then
      core.raise("invalidArguments", ("onProgress: unknown option '%s'%s"):format(tostring(key), nearest.hint(key, { "grace" })))
    end
  end
  local grace = options and options.grace
  if grace ~= nil and type(grace) ~= "boolean" then arguments.wrong("onProgress", 3, "options.grace", "a boolean", grace) end
  return grace
end

-- onProgress([config,] syncIdOrName, fn, [{grace = true}]): calls fn(state) at each change of the sync from now on; with grace
-- only if a progress bar would show it. Returns a function that removes the listener
M.on_progress = arguments.define {
  name = "onProgress", has_store = true,
  params = { { "syncIdOrName", "id_or_name" }, { "fn", "callable" }, { "options", "table", optional = true } },
  send = function(success, failure, config, values)
    if success or failure then arguments.wrong("onProgress", 3, "options", "a table", success or failure) end
    local which, fn, forget = values[1], values[2], nil
    local function tell(state) guard.invoke(fn, state) end
    if check_options(values[3]) then tell, forget = with_grace(tell) end
    local store = config.storeName or "defaultStore"
    local key = type(which) == "string" and "syncName" or "syncId"
    local function listener(state)
      if state[key] == which and state.isGlobalStore == config.isGlobalStore and state.storeName == store then tell(state) end
    end
    event.on("sync", listener)
    return function()
      event.off("sync", listener)
      if forget then forget() end
    end
  end,
}

return M
