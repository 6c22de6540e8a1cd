-- Named syncs of the same contacts, each into a soup of its own, all at once: seconds until the last has ended.
--
-- usage: together.lua COUNT. Prints a line `together_COUNT seconds`.
local tureen = require "tureen"
local clock = require "benchclock"
local tools = require "benchtools"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local COUNT = assert(math.tointeger(tonumber((...))), "usage: together.lua COUNT")

--- Brings the contacts into the n-th soup.
local function sync_down(n)
  local options = { mergeMode = "OVERWRITE" }
  local sync = tools.check(tureen.await(mobilesync.syncDown, tools.target, "contacts" .. n, options, "sync" .. n))
  if sync.status ~= "DONE" then error("a sync ended " .. sync.status, 0) end
  return true
end

tools.run(function()
  local jobs = {}
  for n = 1, COUNT do
    tools.check(tureen.await(smartstore.registerSoup, "contacts" .. n, tools.specs))
    jobs[n] = function() return sync_down(n) end
  end
  local from = clock.now()
  tools.check(tureen.all(jobs))
  tools.report("together_" .. COUNT, clock.now() - from)
end)
