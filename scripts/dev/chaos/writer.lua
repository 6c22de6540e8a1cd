-- Adds and edits records of the store until its file named `stop` exists, and prints what certainly was stored.
--
--   tureen run writer.lua SEED PAUSE_MS STOP
local tureen = require "tureen"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync
local seed, pause_ms, stop = tonumber(arg[1]), tonumber(arg[2]), arg[3]
local KINDS = {
  { soup = "contacts", type = "Contact", name = "LastName", phone = "Phone" },
  { soup = "accounts", type = "Account", name = "Name", phone = "Phone" },
}
math.randomseed(seed)

local function say(...)
  print(table.concat({ ... }, "\t"))
  io.stdout:flush()
end

local function is_stopped()
  local file = io.open(stop)
  if file then file:close() end
  return file ~= nil
end

-- The number makes names and values unique.
local function add(kind, number)
  local name, phone = ("here-%d-%d"):format(seed, number), ("%d-0"):format(number)
  local entry = tureen.await(mobilesync.newRecord, kind.soup, kind.type, { [kind.name] = name, [kind.phone] = phone })
  say(entry and "added" or "maybe", kind.type, name, phone)
end

local function edit(kind, number)
  local spec = { queryType = "like", indexPath = kind.name, likeKey = ("here-%d-%%"):format(seed), pageSize = 200 }
  local found = tureen.await(smartstore.querySoup, kind.soup, spec)
  local entries = found and found.currentPageOrderedEntries or {}
  if #entries == 0 then return end
  local entry, phone = entries[math.random(#entries)], ("%d-1"):format(number)
  -- Told before, because this process may be killed between the edit and the answer.
  say("perhaps", kind.type, entry[kind.name], phone)
  local edited = tureen.await(mobilesync.markUpdated, kind.soup, entry, { [kind.phone] = phone })
  if edited then say("edited", kind.type, entry[kind.name], phone) end
end

tureen.main(function()
  local number = 0
  while not is_stopped() do
    number = number + 1
    local kind = KINDS[math.random(#KINDS)];
    (math.random() < 0.7 and add or edit)(kind, number)
    tureen.sleep(pause_ms)
  end
end)
