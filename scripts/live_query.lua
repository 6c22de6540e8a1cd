-- A query whose result is always right: the script hears of every commit that changes the result, its own or a sync's.
--
--   tureen run scripts/live_query.lua
--
-- Beside it, userstore.json says what the soup looks like and usersyncs.json how it is filled.
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

--- The three most frequent names with S.
local function show()
  local rows, names = wait_for(smartstore.runSmartQuery, QUERY).currentPageOrderedEntries, {}
  for i, row in ipairs(rows) do names[i] = ("%s (%d)"):format(row[1], row[2]) end
  print(("%-8s %s"):format("list", #names > 0 and table.concat(names, ", ") or "empty"))
  times, top = times + 1, rows[1] and rows[1][1]
end

--- Runs `change`, and waits until the list was shown again.
local function expect_news(title, change)
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
  -- The observer is closed when this function ends. Several commits that come fast are one call.
  local _ <close> = smartstore.observe(QUERY, function() tureen.async(show) end,
    function(err) print("not watched any more: " .. tostring(err)) end)

  local added = expect_news("one more of the first name", function()
    return wait_for(smartstore.upsertSoupEntries, "contacts", { { Id = "local_live", LastName = top } })
  end)
  print(("%-8s a contact whose name begins with another letter: nothing to hear"):format("now"))
  local other = wait_for(smartstore.upsertSoupEntries, "contacts", { { Id = "local_other", LastName = "Quiet" } })
  expect_news("both are removed again", function()
    return wait_for(smartstore.removeFromSoup, "contacts", { added[1]._soupEntryId, other[1]._soupEntryId })
  end)
end

tureen.configure { config = (arg and arg[0] or ""):match("^(.*)/[^/]*$") or "." }
tureen.main(main)
