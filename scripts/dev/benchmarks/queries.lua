-- Looks entries up by Id, one after the other, while contacts are synced into their soup: seconds from asking to the
-- callback.
--
-- usage: queries.lua NAME. Syncs into an empty soup, or again into a full one. Prints lines `name value` that begin
-- with NAME.
local tureen = require "tureen"
local clock = require "benchclock"
local tools = require "benchtools"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local NAME, SYNC = assert(..., "usage: queries.lua NAME"), "benchmark"
local PAUSE = 2 -- ms between two look-ups

--- Ids of entries that are there; none before the first page.
local function stored_ids()
  local ids = {}
  local spec = smartstore.buildSmartQuerySpec("SELECT {contacts:Id} FROM {contacts} LIMIT 2000", 2000)
  for _, row in ipairs(tools.check(tureen.await(smartstore.runSmartQuery, spec)).currentPageOrderedEntries) do
    ids[#ids + 1] = row[1]
  end
  return ids
end

--- Seconds of one look-up.
local function look_up(id)
  local spec = smartstore.buildExactQuerySpec("Id", id, 1)
  local from = clock.now()
  local cursor = tools.check(tureen.await(smartstore.querySoup, "contacts", spec))
  local took = clock.now() - from
  if #cursor.currentPageOrderedEntries ~= 1 then error("no entry has the Id " .. id, 0) end
  smartstore.closeCursor(cursor)
  return took
end

local ended
local function told(sync) ended = sync.status ~= "RUNNING" and sync.status or nil end

local function sync()
  local is_known = tools.check(tureen.await(mobilesync.getSyncStatus, SYNC)) ~= tureen.null
  if is_known then return mobilesync.reSync(SYNC, told, tools.failed) end
  tools.check(tureen.await(smartstore.registerSoup, "contacts", tools.specs))
  mobilesync.syncDown(tools.target, "contacts", { mergeMode = "OVERWRITE" }, SYNC, told, tools.failed)
end

tools.run(function()
  sync()
  local ids, seconds = {}, {}
  while not ended do
    if #ids == 0 then ids = stored_ids() end
    if #ids > 0 then seconds[#seconds + 1] = look_up(ids[#seconds * 7919 % #ids + 1]) end
    tureen.sleep(PAUSE)
  end
  if ended ~= "DONE" then error("the sync ended " .. ended, 0) end
  if #seconds == 0 then error("the sync was over before anything was looked up", 0) end
  tools.report_times(NAME, seconds)
end)
