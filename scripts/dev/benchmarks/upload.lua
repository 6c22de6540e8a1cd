-- The upload of a soup of dirty contacts by collections of 200.
--
-- usage: upload.lua prepare | send. `prepare` brings the contacts and changes every one; `send` uploads them and prints
-- `name value` lines.
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

local function send()
  local from = clock.now()
  local options = { fieldlist = { "Title", "Department" }, mergeMode = "OVERWRITE" }
  local sync = tools.check(tureen.await(mobilesync.syncUp, { type = "collection" }, "contacts", options))
  tools.report("upload_seconds", clock.now() - from)
  tools.report("upload_requests", sync.requests)
  tools.report("upload_succeeded", sync.succeeded)
end

local work = { prepare = prepare, send = send }
tools.run(assert(work[...], "usage: upload.lua prepare | send"))
