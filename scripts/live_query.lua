-- A live query: the script is notified of every commit that changes the result, its own or that of a sync.
--
--   tureen run scripts/live_query.lua
--
-- userstore.json in the same folder defines the soup, usersyncs.json the sync that fills it.
local tureen = require "tureen"
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local QUERY = smartstore.buildSmartQuerySpec([[
  SELECT {contacts:LastName}, count(*) FROM {contacts}
  WHERE {contacts:LastName} LIKE 'S%' GROUP BY 1 ORDER BY 2 DESC, 1]], 3)

local function wait_for(fn, ...)
  local value, err = tureen.await(fn, ...)
  if value == nil then error(err, 0) end
  return value
end

local times, top = 0, nil

--- Shows the three most frequent names that begin with S.
local function show()
  local rows, names = wait_for(smartstore.runSmartQuery, QUERY).currentPageOrderedEntries, {}
  for i, row in ipairs(rows) do names[i] = ("%s (%d)"):format(row[1], row[2]) end
  print(("%-8s %s"):format("list", #names > 0 and table.concat(names, ", ") or "empty"))
  times, top = times + 1, rows[1] and rows[1][1]
end

--- Runs `change` and waits until the list has been shown again.
local function expect_change(title, change)
  local before = times
  print(("%-8s %s"):format("now", title))
  local result = change()
  while times == before do tureen.sleep(5) end
  return result
end

local function main()
  show()
  if not top then
    wait_for(mobilesync.reSync, "contactsDown")
    show()
  end
  -- The observer is closed when this function ends. Commits in quick succession are combined to one call.
  local _ <close> = smartstore.observe(QUERY, function() tureen.async(show) end,
    function(err) print("no longer watched: " .. tostring(err)) end)

  local added = expect_change("one more of the first name", function()
    return wait_for(smartstore.upsertSoupEntries, "contacts", { { Id = "local_live", LastName = top } })
  end)
  print(("%-8s a contact whose name begins with another letter: not reported"):format("now"))
  local other = wait_for(smartstore.upsertSoupEntries, "contacts", { { Id = "local_other", LastName = "Quiet" } })
  expect_change("both are removed again", function()
    return wait_for(smartstore.removeFromSoup, "contacts", { added[1]._soupEntryId, other[1]._soupEntryId })
  end)
end

tureen.configure { config = (arg and arg[0] or ""):match("^(.*)/[^/]*$") or "." }
tureen.main(main)
