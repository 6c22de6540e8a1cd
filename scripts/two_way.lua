-- Contacts that change offline and on the server at the same time. Changes of different fields are merged; if both
-- sides changed the same field, a function decides, or the conflict is recorded until a person resolves it.
--
--   tureen run scripts/two_way.lua          uses a sandbox org that is started for it
--
-- The soup is named twoWay; run the script again and it continues with the stored records. An entry with an unresolved
-- conflict keeps the local edit and stays dirty, so nothing is lost on either side.
local tureen = require "tureen"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync
-- Changes records on the server as another client. Works only with the sandbox org embedded in `tureen run`.
local sandbox = require "tureen.sandbox"

local SOUP, DOWN, UP = "twoWay", "twoWayDown", "twoWayUp"
local TARGET = {
  type = "soql",
  query = "SELECT Id, LastName, Title, Phone, Email FROM Contact WHERE LastName < 'C' ORDER BY LastModifiedDate",
}

local function say(topic, text, ...)
  print(("%-9s %s"):format(topic, text:format(...)))
end

--- Waits for a result. If the call fails, the script ends with its error.
local function wait_for(fn, ...)
  local value, err = tureen.await(fn, ...)
  if value == nil then error(err, 0) end
  return value
end

--- Resolves fields that both sides changed: the server's title wins, both phone numbers are kept, all other conflicts
--- stay open. So do deletions: to return a record would undo them, and conflict.server is null if it was deleted there.
mobilesync.registerResolver("contactResolver", function(conflict)
  if conflict.kind ~= "changed" then return "skip" end
  local record = conflict.merged
  for _, field in ipairs(conflict.fields) do
    if field == "Title" then
      record.Title = conflict.server.Title
    elseif field == "Phone" then
      local theirs = tureen.valueOr(conflict.server.Phone, "none")
      record.Phone = theirs .. " / " .. tureen.valueOr(conflict["local"].Phone, "none")
    else
      return "skip"
    end
  end
  return record
end)

--- Reports the unresolved conflicts while the sync runs.
tureen.document.addEventListener("syncConflict", function(event)
  local conflict = event.detail
  local here, server, base = conflict["local"], tureen.valueOr(conflict.server, {}), tureen.valueOr(conflict.base, {})
  if conflict.kind ~= "changed" then return say("conflict", "%s: %s", here.LastName, conflict.kind) end
  say("conflict", "%s: %s here, %s on the server, %s before (field %s)", here.LastName, here.Email, server.Email,
    base.Email, table.concat(conflict.fields, ", "))
end)

--- Runs a saved sync by its name. The first time it creates the sync.
local function sync(name, create, ...)
  if not wait_for(mobilesync.hasSyncWithName, name) then wait_for(create, ...) end
  local state = wait_for(mobilesync.reSync, name)
  say(state.type == "syncUp" and "up" or "down", "%d of %d: %d sent, %d merged, %d in conflict",
    math.max(state.succeeded, state.stored), state.totalSize, state.succeeded, state.merged, state.conflicting)
  return state
end

local function sync_down()
  local options = { mergeMode = "MERGE", resolver = "contactResolver" }
  return sync(DOWN, mobilesync.createSyncDown, TARGET, SOUP, options, DOWN)
end

local function sync_up()
  local options = { fieldlist = { "Title", "Phone", "Email" }, mergeMode = "MERGE", resolver = "contactResolver" }
  return sync(UP, mobilesync.createSyncUp, {}, SOUP, options, UP)
end

--- Returns clean contacts, sorted by id.
local function contacts(count)
  local spec = smartstore.buildSmartQuerySpec(
    "SELECT {twoWay:_soup} FROM {twoWay} WHERE {twoWay:__local__} = 'false' ORDER BY {twoWay:Id}", count)
  local found = {}
  for i, row in ipairs(wait_for(smartstore.runSmartQuery, spec).currentPageOrderedEntries) do found[i] = row[1] end
  return found
end

local function edit(contact, changes)
  wait_for(mobilesync.markUpdated, SOUP, contact, changes)
end

--- Resolves the remaining conflict as a person would: with the local address and the server's other changes.
local function decide()
  for _, conflict in ipairs(wait_for(mobilesync.getConflicts, { soupName = SOUP })) do
    local entry = wait_for(mobilesync.resolveConflict,
      { soupName = SOUP, entryId = conflict.entryId, resolution = "local" })
    say("decided", "%s keeps %s", entry.LastName, entry.Email)
  end
end

local function main()
  local specs = {}
  for i, path in ipairs { "Id", "LastName", "__local__" } do specs[i] = { path = path, type = "string" } end
  specs[4] = { path = "__sync_id__", type = "integer" }
  wait_for(smartstore.registerSoup, SOUP, specs)
  sync_down()

  local first, second, third, fourth = table.unpack(contacts(4))
  local run = os.time() * 1000 + math.random(0, 999) -- different in every run, even within one second
  edit(first, { Phone = "100-" .. run })
  edit(second, { Title = "Doctor " .. run })
  edit(third, { Phone = "300-" .. run })
  edit(fourth, { Email = ("here%d@mail.example"):format(run) })
  say("here", "four contacts edited, offline")
  wait_for(sandbox.update, "Contact", first.Id, { Email = ("first%d@mail.example"):format(run) })
  wait_for(sandbox.update, "Contact", second.Id, { Title = "Head nurse " .. run })
  wait_for(sandbox.update, "Contact", third.Id, { Phone = "333-" .. run })
  wait_for(sandbox.update, "Contact", fourth.Id, { Email = ("there%d@mail.example"):format(run) })
  say("server", "a colleague edited the same four")

  sync_up()
  decide()
  sync_up()
  sync_down()
  local left = #wait_for(mobilesync.getConflicts, { soupName = SOUP })
  say("done", "%d conflicts left; both sides are equal: %s", left, tostring(left == 0))
end

tureen.main(main)
