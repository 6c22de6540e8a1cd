-- Contacts offline: sync them down, list some, edit six, sync the edits up, and fetch the changes of other users.
--
--   tureen run scripts/contacts.lua          uses a sandbox org that is started for it
--   lua5.4 scripts/contacts.lua              with LUA_CPATH set, uses a running `tureen sandbox`
--
-- userstore.json in the same folder defines the soup, usersyncs.json the syncs. Run the script again: it continues with
-- the stored records.
local tureen = require "tureen"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local SOUP, DOWN, UP = "contacts", "contactsDown", "contactsUp"

-- Changes records on the server. Works only if the host embeds the sandbox org.
local sandbox = require "tureen.sandbox"

--- Waits for a result. If the call fails, the script ends with its error.
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

--- Returns at most `count` rows of a smart SQL statement.
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

--- Fetches all records the first time, and new and changed ones later.
local function sync_down()
  local before = wait_for(mobilesync.getSyncStatus, DOWN)
  if before == tureen.null then error(("no sync named %s; is usersyncs.json beside this script?"):format(DOWN), 0) end
  local after = wait_for(mobilesync.reSync, DOWN)
  if before.maxTimeStamp < 0 then
    say("down", "%s contacts down", number(after.totalSize))
  else
    local since = os.date("!%Y-%m-%d %H:%M:%S UTC", before.startTime // 1000)
    say("down", "%s changed on the server since %s; the store has %s contacts", number(after.totalSize), since,
      number(count_entries()))
  end
end

local function show_some()
  local sample = rows([[
    SELECT {contacts:FirstName}, {contacts:LastName}, {contacts:Title} FROM {contacts}
    WHERE {contacts:LastName} >= 'M' ORDER BY {contacts:LastName}, {contacts:FirstName}]], 3)
  say("for one", "the first three from M on:")
  for _, row in ipairs(sample) do
    print(("%-10s   %s %s, %s"):format("", table.unpack(row)))
  end
  for _, row in ipairs(rows([[
    SELECT {contacts:Department}, count(*) FROM {contacts} GROUP BY 1 ORDER BY 2 DESC]], 1)) do
    say("", "largest department: %s, %s people", row[1], number(row[2]))
  end
end

--- Returns a locally created contact. The server assigns its Id when it is synced up.
local function new_contact(first_name, account)
  return wait_for(mobilesync.newRecord, SOUP, "Contact", {
    FirstName = first_name, LastName = "Offline", Title = "Created offline", AccountId = account,
    Email = first_name:lower() .. "@mail.example",
  })
end

--- Creates two contacts, updates three and deletes one, in the store only. Returns an unchanged one.
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
    say("", "%d refused, %d changed on both sides: the store keeps the local versions", sync.failed, sync.conflicting)
  end
end

--- Changes a contact on the server, as another user might do.
local function change_on_server(contact)
  local title = "Promoted at " .. os.date("!%H:%M:%S")
  local _, err = tureen.await(sandbox.update, "Contact", contact.Id, { Title = title })
  if err and err.code == "unknownService" then
    say("server", "not changed: only `tureen run` with its own sandbox org lets a script do that")
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
  say("done", "%s contacts in the store; run the script again to continue from here", number(count_entries()))
end

-- `tureen run` finds the configuration files in the script's folder by itself; stock Lua needs this setting.
tureen.configure { config = (arg and arg[0] or ""):match("^(.*)/[^/]*$") or "." }
tureen.main(main)
