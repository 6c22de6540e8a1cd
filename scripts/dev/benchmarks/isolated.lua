-- The script's part of `bench --isolated`, which times it: runs in the process of the command and in one of its own.
--
-- usage: isolated.lua start | fill | calls COUNT IN_FLIGHT | pages COUNT | lazy COUNT
local tureen = require "tureen"
local smartstore = tureen.smartstore
local what, count, in_flight = arg[1], math.tointeger(tonumber(arg[2] or 0)), math.tointeger(tonumber(arg[3] or 1))
local RECORDS, SOUP = 2000, "records"

--- Makes `count` calls, so many under way at once; `begin` makes one and calls its argument at the end.
local function repeatedly(begin)
  local begun, ended = 0, 0
  local function callback()
    ended = ended + 1
    if begun < count then
      begun = begun + 1
      begin(callback)
    end
  end
  for _ = 1, math.min(in_flight, count) do
    begun = begun + 1
    begin(callback)
  end
  assert(tureen.run())
  assert(ended == count)
end

local function fill()
  assert(tureen.await(smartstore.registerSoup, SOUP, { { path = "Id", type = "string" } }))
  local entries = tureen.array()
  for i = 1, RECORDS do
    entries[i] = {
      Id = ("003Dn%010dAAA"):format(i), FirstName = "Ada " .. i, LastName = "Lovelace", Email = i .. "@example.com",
      Phone = "+44 20 7946 0" .. i % 1000, Title = "Countess", Description = ("text "):rep(20), IsDeleted = false,
      attributes = { type = "Contact", url = "/services/data/v62.0/sobjects/Contact/" .. i },
      LastModifiedDate = "2026-01-01T00:00:00.000+0000", Score = i / 7,
    }
  end
  assert(tureen.await(smartstore.upsertSoupEntries, SOUP, entries))
end

local function pages(is_lazy)
  local spec = smartstore.buildAllQuerySpec("Id", "ascending", RECORDS)
  spec.lazy = is_lazy
  repeatedly(function(callback)
    smartstore.querySoup(SOUP, spec, function(cursor)
      assert(#cursor.currentPageOrderedEntries == RECORDS)
      smartstore.closeCursor(cursor, callback, error)
    end, error)
  end)
end

if what == "fill" then tureen.main(fill)
elseif what == "calls" then
  local args = { feature = "BENCH" }
  repeatedly(function(callback)
    tureen.exec(callback, error, "com.salesforce.sdkinfo", "registerAppFeature", args)
  end)
elseif what == "pages" then pages(false)
elseif what == "lazy" then pages(true)
else assert(what == "start") end
