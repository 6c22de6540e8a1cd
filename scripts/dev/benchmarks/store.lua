-- The host's part of `bench --store`: what a script pays for upserts, look-ups, pages and the load tests' shapes.
--
-- usage: store.lua ROWS HOME. Prints `name value` lines. HOME is the host's own.
-- Started by scripts/dev/bench; needs the modules benchclock and benchtexts, which that builds, and lua-cjson.
local tureen = require "tureen"
local clock = require "benchclock"
local cjson = require "cjson"
local texts = require "benchtexts"
local smartstore = tureen.smartstore

local rows, home = ...
local ROWS = math.tointeger(tonumber(rows)) or 100000
local BATCH, LOOKUPS, IN_FLIGHT = 1000, 20000, 200

local function report(name, format, value) print(name .. " " .. format:format(value)) end

local function check(value, err)
  if value == nil then error(err, 0) end
  return value
end

--- The same record as store.c writes: a contact as a sync leaves it in a soup.
local function record(n, round)
  local id = ("003%015d"):format(n)
  return {
    attributes = { type = "Contact", url = "/services/data/v66.0/sobjects/Contact/" .. id },
    Id = id, FirstName = "Maria", LastName = "Name" .. (n * 7 + round) % 997,
    Email = ("maria.%d@customer-example.com"):format(n), Phone = "(924) 555-8282", Title = "Account Executive",
    Department = "Engineering", MailingStreet = ("%d Baker Street"):format(n + round),
    AccountId = ("001%015d"):format(n % 500), Score__c = n % 1000 + 0.25, DoNotCall = false,
    LastModifiedDate = ("2026-01-01T00:00:%02d.000+0000"):format(n % 60),
    __local__ = false, __locally_created__ = false, __locally_updated__ = false, __locally_deleted__ = false,
    __sync_id__ = 1,
  }
end

--- CPU seconds of upserting all rows in batches; `position` gives the i-th row's number. Making the tables does not
--- count.
local function upsert_all(round, position)
  local spent = 0
  for first = 0, ROWS - 1, BATCH do
    local batch = {}
    for i = first, math.min(first + BATCH, ROWS) - 1 do batch[#batch + 1] = record(position(i), round) end
    local from = os.clock()
    check(tureen.await(smartstore.upsertSoupEntriesWithExternalId, "contacts", batch, "Id"))
    spent = spent + os.clock() - from
  end
  return spent
end

local function upserts()
  check(tureen.await(smartstore.registerSoup, "contacts", {
    { path = "Id", type = "string" }, { path = "LastName", type = "string" }, { path = "AccountId", type = "string" },
    { path = "__local__", type = "string" }, { path = "__sync_id__", type = "integer" },
  }))
  local function straight(i) return i + 1 end
  report("lua_new", "%.3f", upsert_all(0, straight))
  report("lua_again", "%.3f", upsert_all(1, straight))
  report("lua_random", "%.3f", upsert_all(2, function(i) return i * 7919 % ROWS + 1 end))
end

--- Answers a second, as many in flight as a script that does not wait for each would have. Cursors are closed, too.
local function lookups()
  local found, from = 0, clock.now()
  local function failed(err) error(err, 0) end
  local function got(cursor)
    found = found + #cursor.currentPageOrderedEntries
    smartstore.closeCursor(cursor)
  end
  for i = 1, LOOKUPS do
    local id = ("003%015d"):format(i * 7919 % ROWS + 1)
    smartstore.querySoup("contacts", smartstore.buildExactQuerySpec("Id", id, 1), got, failed)
    while tureen.pending() > IN_FLIGHT do tureen.poll(100) end
  end
  assert(tureen.run())
  if found ~= LOOKUPS then error("rows are missing: " .. found .. " of " .. LOOKUPS, 0) end
  report("lua_lookups", "%.0f", LOOKUPS / (clock.now() - from))
end

--- The least CPU seconds of so many runs.
local function least(work)
  local best = math.huge
  for _ = 1, 15 do
    collectgarbage()
    local from = os.clock()
    work()
    best = math.min(best, os.clock() - from)
  end
  return best
end

--- The file of the store that this script uses.
local function store_file()
  local found <close> = assert(io.popen(("find '%s' -name store.sqlite"):format(home)))
  return assert(found:read("l"), "there is no store")
end

--- One page of 2,000 entries, microseconds a record: its texts decoded by lua-cjson and by us; and with the query that
--- brings them: texts from SQLite's C API for lua-cjson, tables, and records of which two fields are read.
local function pages()
  local spec = smartstore.buildAllQuerySpec(nil, "ascending", 2000)
  local lazy = smartstore.buildAllQuerySpec(nil, "ascending", 2000)
  lazy.lazy = true
  local function entries(of)
    local page
    smartstore.querySoup("contacts", of, function(cursor)
      page = cursor.currentPageOrderedEntries
      smartstore.closeCursor(cursor)
    end)
    assert(tureen.run())
    return page
  end
  local page_of_texts <close> = texts.open(store_file(), "SELECT soup FROM TABLE_1 ORDER BY id LIMIT 2000")
  local page = page_of_texts()
  for i, entry in ipairs(entries(lazy)) do assert(entry:text() == page[i]) end
  local function a_record(name, seconds) report(name, "%.3f", seconds / #page * 1e6) end
  a_record("page_cjson", least(function() for i = 1, #page do cjson.decode(page[i]) end end))
  a_record("page_decode", least(function() for i = 1, #page do tureen.json.decode(page[i]) end end))
  a_record("page_texts", least(function() for _, text in ipairs(page_of_texts()) do cjson.decode(text) end end))
  a_record("page_tables", least(function() entries(spec) end))
  local read
  a_record("page_lazy", least(function()
    for _, entry in ipairs(entries(lazy)) do
      read = entry.LastName
      read = entry.Email
    end
  end))
  assert(read)
end

--- The shapes of the SDKs' load tests: 1,000 entries. Milliseconds of wall time to upsert them.
local function shapes()
  for _, kind in ipairs { "string", "json1" } do
    for _, indexes in ipairs { 1, 10 } do
      for _, fields in ipairs { 1, 10 } do
        for _, length in ipairs { 20, 1000 } do
          local soup, specs, batch = ("s_%s_%d_%d_%d"):format(kind, indexes, fields, length), {}, {}
          for i = 1, indexes do specs[i] = { path = "k" .. i - 1, type = kind } end
          check(tureen.await(smartstore.registerSoup, soup, specs))
          for i = 1, 1000 do
            batch[i] = {}
            for f = 0, fields - 1 do batch[i]["k" .. f] = ("v%d_%d_"):format(i, f) .. ("x"):rep(length - 10) end
          end
          local from = clock.now()
          check(tureen.await(smartstore.upsertSoupEntries, soup, batch))
          report(("shape_%s_%d_indexes_%d_fields_of_%d"):format(kind, indexes, fields, length), "%.1f",
            (clock.now() - from) * 1000)
          check(tureen.await(smartstore.removeSoup, soup))
        end
      end
    end
  end
end

tureen.async(function()
  upserts()
  shapes()
end)
assert(tureen.run())
lookups()
pages()
