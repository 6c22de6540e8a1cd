-- A script in luv's loop: the loop runs what it likes, and polls when tureen's descriptor becomes readable.
local uv = require "luv"
local tureen = require "tureen"

local ticks, sync_ended = 0, false
local timer, watch = uv.new_timer(), uv.new_poll(tureen.fd())

local function stop_when_done()
  if not (sync_ended and ticks > 0 and tureen.pending() == 0) then return end
  watch:close()
  timer:close()
end

watch:start("r", function(err)
  assert(not err, err)
  tureen.poll(0)
  stop_when_done()
end)
timer:start(1, 1, function()
  ticks = ticks + 1
  stop_when_done()
end)

tureen.async(function()
  local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync
  assert(tureen.await(smartstore.registerSoup, "people", { { path = "Id", type = "string" } }))
  assert(tureen.await(smartstore.upsertSoupEntries, "people", { { Id = "mine" } }))
  local target = { type = "soql", query = "SELECT Id, LastName FROM Contact" }
  local sync = assert(tureen.await(mobilesync.syncDown, target, "people", { mergeMode = "OVERWRITE" }))
  print(sync.status, sync.totalSize, ticks > 0)
  sync_ended = true
end)

uv.run()
