-- How long news takes from the commit to the script's callback, while the script waits in `poll`: of entries that are
-- written one at a time, to an observer of their soup; and of a sync's pages, to its callback.
--
-- Needs the module commits, preloaded. The pages should come slower than they are written. Prints `name value` lines.
local tureen = require "tureen"
local clock = require "benchclock"
local commits = require "commits"
local tools = require "benchtools"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local WRITES, SYNCS = 500, 3

--- Polls until `is_done()`.
local function poll_until(is_done)
  while not is_done() do tureen.poll(1000) end
end

local function observe()
  local ready, seconds = false, {}
  smartstore.registerSoup("notes", { { path = "Id", type = "string" } }, function() ready = true end, tools.failed)
  poll_until(function() return ready end)
  local observer = smartstore.observe("notes", function()
    seconds[#seconds + 1] = clock.now() - commits.last()
  end, tools.failed)
  for n = 1, WRITES do
    local answered = false
    local note = { Id = "n" .. n, text = "a note" }
    smartstore.upsertSoupEntries("notes", { note }, function() answered = true end, tools.failed)
    poll_until(function() return answered and #seconds == n end)
  end
  observer:close()
  assert(tureen.run())
  tools.report_times("observed", seconds)
end

local function sync_pages()
  local seconds, ready = {}, false
  smartstore.registerSoup("contacts", tools.specs, function() ready = true end, tools.failed)
  poll_until(function() return ready end)
  for n = 1, SYNCS do
    local ended
    local function told(sync)
      if sync.progress > 0 then seconds[#seconds + 1] = clock.now() - commits.last() end
      if sync.status ~= "RUNNING" then ended = sync.status end
    end
    if n == 1 then
      mobilesync.syncDown(tools.target, "contacts", { mergeMode = "OVERWRITE" }, "benchmark", told, tools.failed)
    else
      mobilesync.reSync("benchmark", told, tools.failed)
    end
    poll_until(function() return ended end)
    if ended ~= "DONE" then error("the sync ended " .. ended, 0) end
  end
  tools.report_times("synced", seconds)
end

observe()
sync_pages()
