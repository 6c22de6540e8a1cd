--- Syncs as React Native applications call them: a store config in front of every call, and one callback, at the end of a sync.
---
--- `success(sync)` when it is DONE, or has had its `maxPages`; `error(err)` when it FAILED, cannot start or was STOPPED, then
--- with the code `stopped`. Each change is a `sync` event all the same.
local core = ...
local async = core.import "async"
local calls = core.import "calls"
local stores = core.import "react_stores"

--- The success callback that the bridge gets: it passes on the end of the sync.
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
