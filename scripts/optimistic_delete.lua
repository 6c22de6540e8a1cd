-- Optimistic deletion: rows of a list disappear at once, while the requests run in the background. If the server
-- refuses one, the row returns to its place, with the server's reason.
--
--   tureen run scripts/optimistic_delete.lua          uses a sandbox org that is started for it
--
-- The list has ten contacts. The script deletes the second one, and the fifth, which still has a case and must stay.
local tureen = require "tureen"
local force = require "tureen.force"
local optimistic = require "tureen.optimistic"

local function show(title, list)
  local names = {}
  for i, contact in ipairs(list.rows) do names[i] = contact.Name end
  print(("%-8s %d rows: %s"):format(title, #names, table.concat(names, ", ")))
end

--- Prints the message for the user: a title for the kind of failure, and the server's reason.
local function alert(_, err, contact)
  local failure = optimistic.describe(err)
  print(("alert    %s: %s (%s)"):format(contact.Name, failure.title, failure.reason))
end

tureen.main(function()
  local found = assert(force.query("SELECT Name, Id FROM Contact ORDER BY Name, Id LIMIT 10"))
  local fifth = assert(found.records[5], "the org has fewer than five contacts")
  assert(force.create("Case", { ContactId = fifth.Id, Subject = "Still open" }))

  local list = optimistic.list { sobjectType = "Contact", records = found.records, on_failure = alert }
  show("before", list)
  list:delete(5)
  list:delete(2)
  show("at once", list)
  while list.pending > 0 do tureen.sleep(10) end
  show("after", list)
end)
