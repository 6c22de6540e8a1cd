--- The React Native variant of `tureen.mobilesync`: every call starts with a store config, and a sync calls its callbacks only
--- once, at its end.
---
--- It calls `success(sync)` if the sync is DONE or has reached its `maxPages`; `error(err)` if it FAILED, cannot start or was
--- STOPPED, with the code `stopped`. Every change still emits a `sync` event.
local core = ...
local async = core.import "async"
local calls = core.import "calls"
local stores = core.import "react_stores"

--- Returns the success callback for the bridge, which passes on only the end of the sync.
local function at_end(success, failure)
  local place = not failure and core.where() or nil
  return function(sync)
    local has_ended_well = sync.status == "DONE" or sync.status == "STOPPED" and sync.hasMore
    if has_ended_well and success then return success(sync) end
    if has_ended_well or sync.status ~= "STOPPED" then return end
    local err = async.stopped(sync)
    if failure then return failure(err) end
    calls.unhandled(err, place)
  end
end

---@class tureen.react_mobilesync: tureen.mobilesync
return stores.with_config(core.import "mobilesync", function(spec)
  if not spec.is_sync then return spec end
  local send = spec.send
  spec.is_sync = false
  spec.send = function(success, failure, ...) return send(at_end(success, failure), failure, ...) end
  return spec
end)
