-- The upload of a soup of dirty contacts: to an org by collections of 200, or record by record to a REST server, so
-- many requests at once.
--
-- usage: upload.lua prepare | send | send-rest URL REQUESTS. `prepare` brings the contacts and changes every one; the
-- others upload them and print `name value` lines.
local tureen = require "tureen"
local clock = require "benchclock"
local tools = require "benchtools"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local PAGE = 2000

local function change(entry)
  entry.Title, entry.Department = "Changed", "Benchmarks"
  entry.__local__, entry.__locally_updated__ = true, true
end

local function prepare()
  tools.check(tureen.await(smartstore.registerSoup, "contacts", tools.specs))
  local target = { type = "soql", query = "SELECT Id, LastName, Title, Department, LastModifiedDate FROM Contact" }
  tools.check(tureen.await(mobilesync.syncDown, target, "contacts", { mergeMode = "OVERWRITE" }, "down"))
  local cursor = tools.check(tureen.await(smartstore.querySoup, "contacts",
    smartstore.buildAllQuerySpec("Id", "ascending", PAGE)))
  for page = 0, cursor.totalPages - 1 do
    cursor = tools.check(tureen.await(smartstore.moveCursorToPageIndex, cursor, page))
    local entries = cursor.currentPageOrderedEntries
    for _, entry in ipairs(entries) do change(entry) end
    tools.check(tureen.await(smartstore.upsertSoupEntries, "contacts", entries))
  end
end

local function upload(target)
  local from = clock.now()
  local options = { fieldlist = { "Title", "Department" }, mergeMode = "OVERWRITE" }
  local sync = tools.check(tureen.await(mobilesync.syncUp, target, "contacts", options))
  tools.report("upload_seconds", clock.now() - from)
  tools.report("upload_requests", sync.requests)
  tools.report("upload_succeeded", sync.succeeded)
end

local function send() upload { type = "collection" } end

local function send_rest()
  tureen.configure { connections = { bench = { baseURL = arg[2], maxParallel = { writes = tonumber(arg[3]) } } } }
  upload {
    type = "rest", connection = "bench", url = "/records", idField = "Id", modificationDateField = "LastModifiedDate",
    up = { update = { url = "/records/{Id}", fields = { "Title", "Department" }, answer = "partial" } },
  }
end

local work = { prepare = prepare, send = send, ["send-rest"] = send_rest }
tools.run(assert(work[...], "usage: upload.lua prepare | send | send-rest URL REQUESTS"))
