-- The host's part of the benchmark: syncs contacts into a soup, and polls every 10 ms as a game or an editor would.
--
-- Prints one JSON line: how many records came, and how long the loop was held up at most, in ms beyond its 10.
-- Started by scripts/dev/bench; needs the module benchclock, which that builds.
local tureen = require "tureen"
local clock = require "benchclock"
local tools = require "benchtools"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local TICK = 0.010
local SYNC = "benchmark"
local outcome

local function work()
  local check = tools.check
  check(tureen.await(smartstore.registerSoup, "contacts", tools.specs))
  local known = check(tureen.await(mobilesync.getSyncStatus, SYNC))
  local sync
  if known == tureen.null then
    sync = check(tureen.await(mobilesync.syncDown, tools.target, "contacts", { mergeMode = "OVERWRITE" }, SYNC))
  else
    sync = check(tureen.await(mobilesync.reSync, SYNC))
  end
  local cursor = check(tureen.await(smartstore.runSmartQuery,
    smartstore.buildSmartQuerySpec("SELECT count(*) FROM {contacts}", 1)))
  outcome = { status = sync.status, total = sync.totalSize, entries = cursor.currentPageOrderedEntries[1][1] }
end

local longest, polls = 0, 0
local task = tureen.async(work)
local before = clock.now()
while task:status() == "running" do
  clock.sleep(TICK)
  tureen.poll(0)
  local now = clock.now()
  longest, polls = math.max(longest, now - before - TICK), polls + 1
  before = now
end
if not outcome then error("the sync did not end well", 0) end
outcome.polls, outcome.longestHoldMs = polls, math.floor(longest * 10000) / 10
print(tureen.json.encode(outcome))
