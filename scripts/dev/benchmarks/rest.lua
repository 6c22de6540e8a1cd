-- A first load of the contacts, or a re-sync, through one kind of target; or the requests of such a re-sync alone.
-- Prints how it ended.
-- arguments: soql|rest|parse, first|again|requests, and but for soql the server's URL, records a page and records in
-- all.
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

if kind == "parse" then
  tureen.configure { connections = {
    bench = { kind = "parse", serverURL = url .. "/parse", applicationId = "bench", restAPIKey = "bench" },
  } }
  target = { type = "parse", connection = "bench", className = "Contact", pageSize = tonumber(size) }
  for _, spec in ipairs(tools.specs) do
    if spec.path == "Id" then spec.path = "objectId" end
    if spec.path == "LastModifiedDate" then spec.path = "updatedAt" end
  end
end

-- Asks for every page of the list with the tag that it has.
local function ask_for_pages(check)
  local function page(offset, tag)
    return check(tureen.await(tureen.network.sendRequest, {
      connection = "bench", path = ("/list?offset=%d&size=%s&count=%s"):format(offset, size, count),
      headerParams = tag and { ["If-None-Match"] = ('"%s-%d"'):format(tag, offset) }, returnResponse = true,
    }))
  end
  local tag = page(0).headers.etag:match '"(%d+)%-0"'
  for offset = 0, count - 1, size do assert(page(offset, tag).status == 304) end
  print("DONE", 0)
end

tools.run(function()
  local check = tools.check
  if phase == "requests" then return ask_for_pages(check) end
  local sync
  if phase == "first" then
    check(tureen.await(tureen.smartstore.registerSoup, "contacts", tools.specs))
    sync = check(tureen.await(tureen.mobilesync.syncDown, target, "contacts", { mergeMode = "OVERWRITE" }, "benchmark"))
  else
    sync = check(tureen.await(tureen.mobilesync.reSync, "benchmark"))
  end
  print(sync.status, sync.fetched, sync.pages, sync.bytes)
end)
