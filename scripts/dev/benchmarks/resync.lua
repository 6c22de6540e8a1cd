-- A re-sync of the sync that bench.lua made, and nothing else. Prints how it ended and how many records it brought.
local tureen = require "tureen"
local tools = require "benchtools"

tools.run(function()
  local sync = tools.check(tureen.await(tureen.mobilesync.reSync, "benchmark"))
  print(sync.status, sync.totalSize)
end)
