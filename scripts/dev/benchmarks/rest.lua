-- A first load of the benchmark's contacts, or a re-sync, through one kind of target. Prints how it ended.
-- arguments: soql|rest, first|again, and for rest the server's URL, records a page and records in all.
local tureen = require "tureen"
local tools = require "benchtools"

local kind, phase, url, size, count = table.unpack(arg)
local target = tools.target
if kind == "rest" then
  tureen.configure { connections = { bench = { baseURL = url, } } }
  target = {
    type = "rest", connection = "bench", url = ("/list?offset=0&size=%s&count=%s"):format(size, count),
    idField = "Id", modificationDateField = "LastModifiedDate",
    paging = { style = "link" }, incremental = { mode = "etag" },
  }
end

tools.run(function()
  local check = tools.check
  local sync
  if phase == "first" then
    check(tureen.await(tureen.smartstore.registerSoup, "contacts", tools.specs))
    sync = check(tureen.await(tureen.mobilesync.syncDown, target, "contacts", { mergeMode = "OVERWRITE" }, "benchmark"))
  else
    sync = check(tureen.await(tureen.mobilesync.reSync, "benchmark"))
  end
  print(sync.status, sync.fetched, sync.pages, sync.bytes)
end)
