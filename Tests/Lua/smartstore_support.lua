--- Shared functions of the suites on real stores: calls that must succeed or fail, and common entries.
local tureen = require "tureen"
local harness = require "harness"
local smartstore = tureen.smartstore

local M = {}

--- Calls `smartstore[name](...)`, waits, and returns the answer; an error fails the test.
function M.ok(name, ...)
  local value, err = tureen.await(smartstore[name], ...)
  if value == nil then error(name .. " failed: " .. tostring(err), 2) end
  return value
end

--- Calls `smartstore[name](...)`, which must fail with this store error, and returns the error.
function M.fails(code, name, ...)
  local value, err = tureen.await(smartstore[name], ...)
  if value ~= nil then error(("%s succeeded, wanted %s"):format(name, code), 2) end
  harness.same(err.domain .. "/" .. err.code, code, name .. " (" .. tostring(err.message) .. ")")
  if err.message == "" then error(name .. ": an error without words", 2) end
  return err
end

--- Creates an empty soup with these specs, given as alternating paths and types.
function M.soup(name, ...)
  M.ok("removeSoup", name)
  local specs, words = {}, { ... }
  for i = 1, #words, 2 do specs[#specs + 1] = { path = words[i], type = words[i + 1] } end
  harness.same(M.ok("registerSoup", name, specs), name)
  return name
end

--- Creates a soup of three contacts with indexes on Name and Id.
function M.stuff(name)
  M.soup(name, "Name", "string", "Id", "string")
  M.ok("upsertSoupEntries", name, {
    { Name = "Todd Stellanova", Id = "00300A", attributes = { type = "Contact", url = "/foo/Contact/00300A" } },
    { Name = "Pro Bono Bonobo", Id = "00300B", attributes = { type = "Contact", url = "/foo/Contact/00300B" } },
    { Name = "Robot", Id = "00300C", attributes = { type = "Contact", url = "/foo/Contact/00300C" } },
  })
  return name
end

--- Returns `count` contacts with numbers in their names, starting at `first`.
function M.generated(count, first)
  local entries = {}
  for i = first or 0, (first or 0) + count - 1 do
    local number = ("%04d"):format(i)
    entries[#entries + 1] = {
      Name = "Todd Stellanova" .. number, Id = "003" .. number,
      attributes = { type = "Contact", url = "/foo/Contact/" .. number },
    }
  end
  return entries
end

--- Returns one field of each entry of a list.
function M.field(entries, name)
  local values = tureen.array {}
  for i, entry in ipairs(entries) do values[i] = entry[name] end
  return values
end

--- Returns the entries, or rows, on the first page of a query and closes the cursor.
function M.found(soup, spec)
  local cursor
  if spec.queryType == "smart" then cursor = M.ok("runSmartQuery", spec) else cursor = M.ok("querySoup", soup, spec) end
  harness.same(M.ok("closeCursor", cursor), "OK")
  return cursor.currentPageOrderedEntries
end

--- Returns the rows of smart SQL, at most 100.
function M.rows(smart_sql) return M.found(nil, smartstore.buildSmartQuerySpec(smart_sql, 100)) end

--- Returns all names in a soup, sorted.
function M.names(soup)
  return M.field(M.found(soup, smartstore.buildAllQuerySpec("Name", "ascending", 1000)), "Name")
end

return M
