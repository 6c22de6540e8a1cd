--- Builds query specs. Arguments that are falsy in the Mobile SDK (nil, null, false, 0, "") use the default.
local core = ...

---@class tureen.QuerySpec
---@field queryType "exact"|"range"|"like"|"match"|"smart"
---@field indexPath string?
---@field matchKey any
---@field likeKey string?
---@field beginKey any
---@field endKey any
---@field smartSql string?
---@field orderPath string?
---@field order "ascending"|"descending"
---@field pageSize integer
---@field selectPaths string[]?

local M = {}

local DEFAULT_PAGE_SIZE = 10 -- that of the plug-ins

local function given(value)
  if value == nil or value == core.null or value == false or value == 0 or value == "" then return nil end
  return value
end

--- Converts a key: null means no key, but 0, false and "" are keys.
local function key(value)
  if value ~= core.null then return value end
end

local EXPECTED = {
  string = function(value) return type(value) == "string" end,
  integer = function(value) return type(value) == "number" and math.tointeger(value) ~= nil end,
  array = function(value)
    if type(value) ~= "table" then return false end
    for i, path in pairs(value) do
      if math.type(i) ~= "integer" or type(path) ~= "string" then return false end
    end
    return true
  end,
}
local ARTICLES = { string = "a string", integer = "an integer", array = "an array of strings" }

--- Checks the arguments of a builder. `parameters` lists {name, type} in the order of the call; a missing type allows any value.
local function check(caller, parameters, ...)
  for i, parameter in ipairs(parameters) do
    local value = given((select(i, ...)))
    local kind = parameter[2]
    if value ~= nil and kind and not EXPECTED[kind](value) then
      core.raise("invalidArguments", ("%s: argument %d '%s' must be %s, got %s"):format(
        caller, i, parameter[1], ARTICLES[kind], type(value)))
    end
  end
end

local PATH, ORDER, PAGE_SIZE = { "path", "string" }, { "order", "string" }, { "pageSize", "integer" }
local ORDER_PATH, SELECT_PATHS, ANY_KEY = { "orderPath", "string" }, { "selectPaths", "array" }, { "key" }

local function spec(query_type, path, order, page_size, order_path, select_paths)
  return {
    queryType = query_type,
    indexPath = given(path),
    orderPath = given(order_path) or given(path),
    order = given(order) or "ascending",
    pageSize = given(page_size) or DEFAULT_PAGE_SIZE,
    selectPaths = given(select_paths),
  }
end

--- Builds a query for all entries of a soup, ordered by `path`.
---@return tureen.QuerySpec
function M.buildAllQuerySpec(path, order, pageSize, selectPaths)
  check("buildAllQuerySpec", { PATH, ORDER, PAGE_SIZE, SELECT_PATHS }, path, order, pageSize, selectPaths)
  return spec("range", path, order, pageSize, nil, selectPaths)
end

--- Builds a query for entries whose `path` equals `matchKey`. Note that the page size comes before the order.
---@return tureen.QuerySpec
function M.buildExactQuerySpec(path, matchKey, pageSize, order, orderPath, selectPaths)
  check("buildExactQuerySpec", { PATH, ANY_KEY, PAGE_SIZE, ORDER, ORDER_PATH, SELECT_PATHS },
    path, matchKey, pageSize, order, orderPath, selectPaths)
  local result = spec("exact", path, order, pageSize, orderPath, selectPaths)
  result.matchKey = key(matchKey)
  return result
end

--- Builds a query for entries whose `path` is between the keys, inclusive. A missing key is not a bound.
---@return tureen.QuerySpec
function M.buildRangeQuerySpec(path, beginKey, endKey, order, pageSize, orderPath, selectPaths)
  check("buildRangeQuerySpec", { PATH, ANY_KEY, ANY_KEY, ORDER, PAGE_SIZE, ORDER_PATH, SELECT_PATHS },
    path, beginKey, endKey, order, pageSize, orderPath, selectPaths)
  local result = spec("range", path, order, pageSize, orderPath, selectPaths)
  result.beginKey, result.endKey = key(beginKey), key(endKey)
  return result
end

--- Builds a query for entries whose `path` is like `likeKey`, with the wildcards `%` and `_`.
---@return tureen.QuerySpec
function M.buildLikeQuerySpec(path, likeKey, order, pageSize, orderPath, selectPaths)
  check("buildLikeQuerySpec", { PATH, { "likeKey", "string" },
    ORDER, PAGE_SIZE, ORDER_PATH, SELECT_PATHS }, path, likeKey, order, pageSize, orderPath, selectPaths)
  local result = spec("like", path, order, pageSize, orderPath, selectPaths)
  result.likeKey = key(likeKey)
  return result
end

--- Builds a query for entries that match a full-text expression in `path`, or in any path if `path` is nil.
---@return tureen.QuerySpec
function M.buildMatchQuerySpec(path, matchKey, order, pageSize, orderPath, selectPaths)
  check("buildMatchQuerySpec", { PATH, ANY_KEY, ORDER, PAGE_SIZE, ORDER_PATH, SELECT_PATHS },
    path, matchKey, order, pageSize, orderPath, selectPaths)
  local result = spec("match", path, order, pageSize, orderPath, selectPaths)
  result.matchKey = key(matchKey)
  return result
end

--- Blanks outside ASCII, which also separate words.
local WIDE_BLANKS = {
  "\u{85}", "\u{A0}", "\u{1680}", "\u{2000}", "\u{2001}", "\u{2002}", "\u{2003}", "\u{2004}", "\u{2005}", "\u{2006}",
  "\u{2007}", "\u{2008}", "\u{2009}", "\u{200A}", "\u{2028}", "\u{2029}", "\u{202F}", "\u{205F}", "\u{3000}",
}

--- Converts words that a person has typed to a key for a match query: all of them must occur, and none is an operator.
---@param words string
---@return string key  empty if there are no words; the query refuses such a key
function M.quoteMatch(words)
  if type(words) ~= "string" then
    core.raise("invalidArguments", ("quoteMatch: argument 1 'words' must be a string, got %s"):format(
      words == core.null and "null" or type(words)))
  end
  for _, blank in ipairs(WIDE_BLANKS) do words = words:gsub(blank, " ") end
  local quoted = {}
  for word in words:gmatch("[^%s\0]+") do quoted[#quoted + 1] = '"' .. word:gsub('"', '""') .. '"' end
  return table.concat(quoted, " ")
end

--- Builds a query for the rows of a smart SQL statement.
---@return tureen.QuerySpec
function M.buildSmartQuerySpec(smartSql, pageSize)
  check("buildSmartQuerySpec", { { "smartSql", "string" }, PAGE_SIZE }, smartSql, pageSize)
  return { queryType = "smart", smartSql = key(smartSql), pageSize = given(pageSize) or DEFAULT_PAGE_SIZE }
end

return M
