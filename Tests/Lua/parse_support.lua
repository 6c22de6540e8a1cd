--- Shared functions of the suites for `tureen.parse`: new classes, and rows of the sandbox Parse server.
local tureen = require "tureen"
local harness = require "harness"
local parse = require "tureen.parse"

local M = {}

--- Returns a class that no other test uses, without objects.
function M.class(name, settings)
  local class = parse.class(name, settings)
  if settings and settings.soup then
    assert(tureen.await(tureen.smartstore.removeSoup, settings.soup))
    assert(tureen.await(tureen.smartstore.registerSoup, settings.soup, {
      { path = "objectId", type = "string" }, { path = "__local__", type = "string" },
    }))
  end
  return class
end

--- Creates an empty soup of link rows.
function M.link_soup(name)
  assert(tureen.await(tureen.smartstore.removeSoup, name))
  assert(tureen.await(tureen.smartstore.registerSoup, name, {
    { path = "linkKey", type = "string" }, { path = "ownerId", type = "string" }, { path = "__local__", type = "string" },
  }))
end

--- Expects that a call returned nil and an error of this code, `fails(code, call(...))`, and returns the error.
function M.fails(code, value, err)
  if value ~= nil then error("it succeeded, wanted " .. code, 2) end
  harness.same(err.code, code, tostring(err.message))
  return err
end

--- Returns one field of each object, in order, joined by spaces.
function M.list(objects, field)
  local values = {}
  for i, object in ipairs(objects) do values[i] = tostring(object:get(field)) end
  return table.concat(values, " ")
end

--- Returns the entries of a soup.
function M.entries(soup)
  local spec = tureen.smartstore.buildSmartQuerySpec(("SELECT {%s:_soup} FROM {%s}"):format(soup, soup), 100)
  local list = {}
  local cursor = assert(tureen.await(tureen.smartstore.runSmartQuery, spec))
  for i, row in ipairs(cursor.currentPageOrderedEntries) do list[i] = row[1] end
  return list
end

return M
