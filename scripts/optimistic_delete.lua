-- A list of contacts whose rows disappear at once when they are deleted, while the requests run in the background.
-- What the server refuses comes back to its place, with the server's reason.
--
--   tureen run scripts/optimistic_delete.lua          talks to the sandbox org that is started for it
--
-- The list is of ten contacts; the second one is deleted, and the fifth, which still has a case and must stay.
local tureen = require "tureen"
local force = require "tureen.force"
local optimistic = require "tureen.optimistic"

local function show(title, list)
  local names = {}
  for i, contact in ipairs(list.rows) do names[i] = contact.Name end
  print(("%-8s %d rows: %s"):format(title, #names, table.concat(names, ", ")))
end

--- What a person would be told: a title by the kind of the failure, and the server's reason.
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
