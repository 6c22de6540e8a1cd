-- The cost of a store's history: edits in one call and one by one, re-syncs without news, and a re-sync in which every
-- record is edited. TUREEN_HISTORY says how much is kept.
--
-- usage: history.lua LEVEL edits | resync. `edits` needs no server. Prints `name_LEVEL value` lines, in ms.
local tureen = require "tureen"
local clock = require "benchclock"
local tools = require "benchtools"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local level = arg[1]
local ENTRIES, AT_ONCE, SINGLE, RERUNS = 10000, 500, 2000, 200

local function timed(name, count, work)
  local from = clock.now()
  work()
  tools.report(name .. "_" .. level, (clock.now() - from) * 1000 / count)
end

local function entry(i, title)
  return {
    Id = ("003%015d"):format(i), LastName = "Name " .. i, Email = i .. "@mail.example", Phone = "(555) 0100",
    Title = title, Department = "Benchmarks", MailingStreet = "Some street " .. i, AccountId = "001", __local__ = false,
    __locally_created__ = false, __locally_updated__ = false, __locally_deleted__ = false,
  }
end

local function edited(saved, title)
  saved.Title, saved.__local__, saved.__locally_updated__ = title, true, true
  return saved
end

local function edits()
  tools.check(tureen.await(smartstore.registerSoup, "edits", tools.specs))
  local saved = {}
  for from = 1, ENTRIES, AT_ONCE do
    local page = {}
    for i = from, from + AT_ONCE - 1 do page[#page + 1] = entry(i, "before") end
    for _, one in ipairs(tools.check(tureen.await(smartstore.upsertSoupEntries, "edits", page))) do
      saved[#saved + 1] = one
    end
  end
  timed("history_many", 1, function()
    for from = 1, ENTRIES, AT_ONCE do
      local page = {}
      for i = from, from + AT_ONCE - 1 do page[#page + 1] = edited(saved[i], "after") end
      tools.check(tureen.await(smartstore.upsertSoupEntries, "edits", page))
    end
  end)
  timed("history_single", 1, function()
    for i = 1, SINGLE do
      tools.check(tureen.await(smartstore.upsertSoupEntries, "edits", { edited(saved[i], "again " .. i) }))
    end
  end)
end

local function resync()
  timed("history_nothing", RERUNS, function()
    for _ = 1, RERUNS do tools.check(tureen.await(mobilesync.reSync, "benchmark")) end
  end)
end

tools.run(assert(({ edits = edits, resync = resync })[arg[2]], "usage: history.lua LEVEL edits | resync"))
