-- Contacts, offline and back: sync them down, look at some, edit six, sync those up, and fetch what others changed.
--
--   tureen run scripts/contacts.lua          talks to the sandbox org that is started for it
--   lua5.4 scripts/contacts.lua              with LUA_CPATH set, talks to a running `tureen sandbox`
--
-- Beside it, userstore.json says what the soup looks like and usersyncs.json which syncs there are. Run it again: it
-- goes on from what is stored.
local tureen = require "tureen"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local SOUP, DOWN, UP = "contacts", "contactsDown", "contactsUp"

-- Works only where the host has the sandbox org inside it: changes made on the server, behind the store's back.
local sandbox = require "tureen.sandbox"

--- Waits for an answer; a failed call ends the script with its error.
local function wait_for(fn, ...)
  local value, err = tureen.await(fn, ...)
  if value == nil then error(err, 0) end
  return value
end

--- 5000 -> "5,000"
local function number(value)
  local digits = ("%d"):format(value):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (digits:gsub("^,", ""))
end

local function say(topic, text, ...)
  print(("%-10s %s"):format(topic, text:format(...)))
end

--- The rows of a smart SQL statement, at most `count`.
local function rows(sql, count)
  return wait_for(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(sql, count)).currentPageOrderedEntries
end

local function count_entries()
  return rows("SELECT count(*) FROM {contacts}", 1)[1][1]
end

--- The contact's display name; the first name may be missing.
local function name_of(contact)
  local first = contact.FirstName
  return (first and first ~= tureen.null) and (first .. " " .. contact.LastName) or contact.LastName
end

--- The first time everything, later only what is new or changed on the server.
local function sync_down()
  local before = wait_for(mobilesync.getSyncStatus, DOWN)
  if before == tureen.null then error(("no sync named %s; is usersyncs.json beside this script?"):format(DOWN), 0) end
  local after = wait_for(mobilesync.reSync, DOWN)
  if before.maxTimeStamp < 0 then
    say("down", "%s contacts down", number(after.totalSize))
  else
    local since = os.date("!%Y-%m-%d %H:%M:%S UTC", before.startTime // 1000)
    say("down", "%s changed on the server since %s; %s contacts are here", number(after.totalSize), since,
      number(count_entries()))
  end
end

local function show_some()
  local sample = rows([[
    SELECT {contacts:FirstName}, {contacts:LastName}, {contacts:Title} FROM {contacts}
    WHERE {contacts:LastName} >= 'M' ORDER BY {contacts:LastName}, {contacts:FirstName}]], 3)
  say("for one", "the first of those from M on:")
  for _, row in ipairs(sample) do
    print(("%-10s   %s %s, %s"):format("", table.unpack(row)))
  end
  for _, row in ipairs(rows([[
    SELECT {contacts:Department}, count(*) FROM {contacts} GROUP BY 1 ORDER BY 2 DESC]], 1)) do
    say("", "largest department: %s, %s people", row[1], number(row[2]))
  end
end

--- A contact made on this machine: the server gives it its Id when it is synced up.
local function new_contact(first_name, account)
  return wait_for(mobilesync.newRecord, SOUP, "Contact", {
    FirstName = first_name, LastName = "Offline", Title = "Created offline", AccountId = account,
    Email = first_name:lower() .. "@mail.example",
  })
end

--- Creates two contacts, updates three and deletes one, in the store only. Returns one that was left alone.
local function edit_offline()
  local found = rows([[
    SELECT {contacts:_soup} FROM {contacts} WHERE {contacts:__local__} = 'false' AND {contacts:LastName} <> 'Offline'
    ORDER BY {contacts:LastName}, {contacts:Id}]], 5)
  if #found < 5 then error("there are too few contacts to work on", 0) end
  new_contact("Nora", found[1][1].AccountId)
  new_contact("Emil", found[2][1].AccountId)
  for i = 1, 3 do
    wait_for(mobilesync.markUpdated, SOUP, found[i][1], { Title = "Edited offline at " .. os.date("!%H:%M:%S") })
  end
  wait_for(mobilesync.markDeleted, SOUP, found[4][1])
  say("offline", "2 created, 3 updated, 1 deleted, all in the store only")
  return found[5][1]
end

local function dirty_counts()
  return table.unpack(rows([[
    SELECT coalesce(sum(json_extract({contacts:_soup}, '$.__locally_created__')), 0),
           coalesce(sum(json_extract({contacts:_soup}, '$.__locally_updated__')), 0),
           coalesce(sum(json_extract({contacts:_soup}, '$.__locally_deleted__')), 0)
    FROM {contacts} WHERE {contacts:__local__} = 'true']], 1)[1])
end

local function sync_up()
  local created, updated, deleted = dirty_counts()
  local sync = wait_for(mobilesync.reSync, UP)
  say("up", "%s up (%d created, %d updated, %d deleted)", number(sync.succeeded), created, updated, deleted)
  if sync.failed + sync.conflicting > 0 then
    say("", "%d refused, %d changed on both sides: they stay as they are here", sync.failed, sync.conflicting)
  end
end

--- What a colleague might do meanwhile.
local function change_on_server(contact)
  local title = "Promoted at " .. os.date("!%H:%M:%S")
  local _, err = tureen.await(sandbox.update, "Contact", contact.Id, { Title = title })
  if err and err.code == "unknownService" then
    say("server", "not touched: only `tureen run` with its own sandbox org lets a script do that")
    return
  end
  if err then error(err, 0) end
  say("server", "%s is now: %s", name_of(contact), title)
end

local function sync_again(contact)
  local sync = wait_for(mobilesync.reSync, DOWN)
  local here = rows(("SELECT {contacts:Title} FROM {contacts} WHERE {contacts:_soupEntryId} = %d")
    :format(contact._soupEntryId), 1)[1]
  say("again", "%s re-synced; in the store %s is: %s", number(sync.totalSize), name_of(contact), here and here[1])
end

local function main()
  sync_down()
  show_some()
  local left_alone = edit_offline()
  sync_up()
  change_on_server(left_alone)
  sync_again(left_alone)
  say("done", "%s contacts in the store; run it again and it goes on from here", number(count_entries()))
end

-- `tureen run` looks for the configuration files beside the script anyway, stock Lua where it is told to.
tureen.configure { config = (arg and arg[0] or ""):match("^(.*)/[^/]*$") or "." }
tureen.main(main)
