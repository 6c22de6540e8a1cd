--- What the suites of `tureen.parse` share: classes of their own, and rows on the pretend Parse server.
local tureen = require "tureen"
local harness = require "harness"
local parse = require "tureen.parse"

local M = {}

--- A class that no other test uses, without objects.
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

--- An empty soup of link rows.
function M.link_soup(name)
  assert(tureen.await(tureen.smartstore.removeSoup, name))
  assert(tureen.await(tureen.smartstore.registerSoup, name, {
    { path = "linkKey", type = "string" }, { path = "ownerId", type = "string" }, { path = "__local__", type = "string" },
  }))
end

--- Nil with an error of this code, from a call that has been made: `fails(code, call(...))`; the error.
function M.fails(code, value, err)
  if value ~= nil then error("it succeeded, wanted " .. code, 2) end
  harness.same(err.code, code, tostring(err.message))
  return err
end

--- One field of each object, in order, with blanks between.
function M.list(objects, field)
  local values = {}
  for i, object in ipairs(objects) do values[i] = tostring(object:get(field)) end
  return table.concat(values, " ")
end

--- The entries of a soup.
function M.entries(soup)
  local spec = tureen.smartstore.buildSmartQuerySpec(("SELECT {%s:_soup} FROM {%s}"):format(soup, soup), 100)
  local list = {}
  local cursor = assert(tureen.await(tureen.smartstore.runSmartQuery, spec))
  for i, row in ipairs(cursor.currentPageOrderedEntries) do list[i] = row[1] end
  return list
end

return M
