-- Formats values for the prompt of `tureen repl`: lists of records as tables, everything else as short Lua.
local tureen = require "tureen"

local M = {
  width = 80,    -- the columns of the terminal
  color = false, -- true if it supports colors
  asked = "",    -- the statement whose result is shown
}

local MAX_ROWS, MAX_KEYS, MAX_DEPTH, MAX_CELL = 30, 24, 4, 40

--- Adds a color code if colors are enabled.
function M.paint(code, text)
  return M.color and ("\27[%sm%s\27[0m"):format(code, text) or text
end

local function length(text) return utf8.len(text) or #text end

--- Shortens a text to `limit` characters.
function M.shorten(text, limit)
  if length(text) <= limit then return text end
  local stop = utf8.offset(text, limit) or limit
  return text:sub(1, stop - 1) .. "…"
end

local ESCAPES = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\""] = "\\\"", ["\\"] = "\\\\" }

-- Patterns for the UTF-8 of non-ASCII control characters and of marks that change the writing direction.
local COMMANDS = { "\xC2[\x80-\x9F]", "\xD8\x9C", "\xE2\x80[\x8E\x8F\xA8-\xAE]", "\xE2\x81[\xA6-\xA9]" }

--- Escapes characters that control a terminal. Keeps line breaks and tabs.
function M.escaped(text)
  if utf8.len(text) == nil then text = text:gsub("[\128-\255]", function(c) return ("\\x%02X"):format(c:byte()) end) end
  for _, command in ipairs(COMMANDS) do
    text = text:gsub(command, function(c) return ("\\u{%X}"):format(utf8.codepoint(c)) end)
  end
  return (text:gsub("[^\n\t\32-\126\128-\255]", function(c) return ESCAPES[c] or ("\\x%02X"):format(c:byte()) end))
end

--- Escapes a text for a single line.
function M.printable(text)
  return (M.escaped(text):gsub("[\n\t]", ESCAPES))
end

local function quoted(text)
  return '"' .. M.printable((text:gsub('["\\]', "\\%0"))) .. '"'
end

local function meta_of(value)
  local meta = getmetatable(value)
  return type(meta) == "table" and meta or {}
end

--- Returns true for an error of the bridge: `{domain, code, message, ...}`.
function M.is_error(value)
  return type(value) == "table" and meta_of(value).__tostring ~= nil and value.domain ~= nil
end

--- Returns true for lists, lazy records and plain tables; all other values are scalars.
local function has_members(value)
  if type(value) == "table" and type(getmetatable(value)) == "string" then return false end
  if type(value) == "table" then return not M.is_error(value) and not meta_of(value).__tostring end
  return type(value) == "userdata" and value ~= tureen.null and meta_of(value).__pairs ~= nil
end

--- Formats a value without members on one line.
function M.scalar(value)
  if value == tureen.null then return "null" end
  if type(value) == "string" then return quoted(value) end
  if M.is_error(value) then
    return M.printable(("%s (%s/%s)"):format(tostring(value), tostring(value.domain), tostring(value.code)))
  end
  return M.printable(tostring(value))
end

--- Returns the keys in a stable order: indices, Id, other names alphabetically, the store's own members last.
local function members(value)
  local keys = {}
  for key in pairs(value) do keys[#keys + 1] = key end
  local function rank(key)
    if math.type(key) == "integer" then return 0 end
    if key == "Id" then return 1 end
    if type(key) == "string" and key:find("^_") then return 4 end
    return key == "attributes" and 3 or 2
  end
  table.sort(keys, function(a, b)
    local ra, rb = rank(a), rank(b)
    if ra ~= rb then return ra < rb end
    if ra == 0 then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys
end

local function is_sequence(value)
  if type(value) ~= "table" then return false end
  if next(value) == nil then return tureen.json.encode(value) == "[]" end
  return rawget(value, 1) ~= nil
end

local function key_text(key)
  if type(key) == "string" and key:find("^[%a_][%w_]*$") then return key end
  return "[" .. M.scalar(key) .. "]"
end

--- Formats a value on one line: `{ Id = "003…", Tags = { "a", "b" } }`.
function M.inline(value, depth, seen)
  if not has_members(value) then return M.scalar(value) end
  if seen[value] then return "{ … again }" end
  if depth >= MAX_DEPTH then return "{ … }" end
  seen[value] = true
  local parts, list = {}, is_sequence(value)
  for i, key in ipairs(members(value)) do
    if i > MAX_KEYS then
      parts[#parts + 1] = "…"
      break
    end
    local text = M.inline(value[key], depth + 1, seen)
    parts[#parts + 1] = list and math.type(key) == "integer" and text or (key_text(key) .. " = " .. text)
  end
  seen[value] = nil
  if #parts == 0 then return list and "{} (a list)" or "{}" end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

--- Formats a value on one line if it fits, else with one member per line.
local function block(value, indent, depth)
  local text = M.inline(value, depth, {})
  if not has_members(value) or length(text) + #indent <= M.width or depth >= MAX_DEPTH then return text end
  local lines, keys, list = { "{" }, members(value), is_sequence(value)
  for i, key in ipairs(keys) do
    if i > MAX_KEYS then
      lines[#lines + 1] = ("%s  … %d more"):format(indent, #keys - MAX_KEYS)
      break
    end
    local name = list and math.type(key) == "integer" and "" or (key_text(key) .. " = ")
    local element = block(value[key], indent .. "  ", depth + 1)
    if not element:find("\n", 1, true) then element = M.shorten(element, math.max(20, M.width - #indent - #name - 3)) end
    lines[#lines + 1] = indent .. "  " .. name .. element .. ","
  end
  lines[#lines + 1] = indent .. "}"
  return table.concat(lines, "\n")
end

--- Returns true for a list of records, which are tables or lazy records with names as keys.
local function is_records(value)
  if type(value) ~= "table" or #value == 0 then return false end
  for _, record in ipairs(value) do
    if not has_members(record) or is_sequence(record) then return false end
  end
  return true
end

local function cell(value)
  if type(value) == "string" then return M.printable(value) end
  return M.inline(value, MAX_DEPTH - 1, {})
end

--- Returns the fields of a query spec that the statement gets from a variable: what it sorts by, and what it compares.
local function fields_of_spec(name)
  local spec, fields = rawget(_G, name), {}
  if type(spec) ~= "table" or type(rawget(spec, "queryType")) ~= "string" then return fields end
  for _, key in ipairs { "orderPath", "indexPath" } do
    local path = rawget(spec, key)
    if type(path) == "string" then fields[#fields + 1] = path:match "^[^.]+" end
  end
  return fields
end

--- Returns the position of each name in the statement. Columns for mentioned fields come first, in that order.
local function places_in_statement()
  local places = {}
  for place, name in M.asked:gmatch("()([%a_][%w_]*)") do
    places[name] = places[name] or place
    for _, field in ipairs(fields_of_spec(name)) do places[field] = places[field] or place end
  end
  return places
end

--- Returns the columns for records, those that the statement mentions first. Omits `attributes` and the store's time stamp
--- unless they are mentioned, and shows local flags only if one of them is set.
local function columns_of(records)
  local all = {}
  for _, record in ipairs(records) do
    for key in pairs(record) do all[key] = all[key] or (record[key] ~= false and record[key] ~= tureen.null) end
  end
  local columns, places, order = {}, places_in_statement(), {}
  for _, key in ipairs(members(all)) do
    local is_own = type(key) == "string" and key:find("^__")
    local is_noise = key == "attributes" or key == "_soupLastModifiedDate"
    if places[key] or not is_noise and (all[key] or not is_own) then columns[#columns + 1] = key end
  end
  for i, key in ipairs(columns) do order[key] = places[key] or #M.asked + i end
  table.sort(columns, function(a, b) return order[a] < order[b] end)
  return columns
end

local function pad(text, size, is_right)
  local space = (" "):rep(size - length(text))
  return is_right and space .. text or text .. space
end

--- Formats records as a table with one line per record, as wide as the terminal allows.
local function records_text(records)
  local columns, shown, used, left_out = columns_of(records), {}, 0, {}
  local count = math.min(#records, MAX_ROWS)
  for _, key in ipairs(columns) do
    local column = { key = key, title = M.shorten(cell(key), MAX_CELL), cells = {}, is_right = true }
    column.size = length(column.title)
    for i = 1, count do
      local value = records[i][key]
      column.cells[i] = value == nil and "" or M.shorten(cell(value), MAX_CELL)
      column.size = math.max(column.size, length(column.cells[i]))
      column.is_right = column.is_right and (value == nil or type(value) == "number")
    end
    if #shown > 0 and used + column.size + 2 > M.width then
      left_out[#left_out + 1] = column.title
    else
      shown[#shown + 1] = column
      used = used + column.size + 2
    end
  end
  local lines, titles = {}, {}
  for i, column in ipairs(shown) do titles[i] = pad(column.title, column.size, column.is_right) end
  lines[1] = M.paint("1", (table.concat(titles, "  "):gsub(" +$", "")))
  for i = 1, count do
    local row = {}
    for j, column in ipairs(shown) do row[j] = pad(column.cells[i], column.size, column.is_right) end
    lines[#lines + 1] = (table.concat(row, "  "):gsub(" +$", ""))
  end
  if #records > count then lines[#lines + 1] = ("… %d more"):format(#records - count) end
  if #left_out > 0 then
    lines[#lines + 1] = M.paint("2", M.shorten(("+ %d fields: %s"):format(#left_out, table.concat(left_out, ", ")), M.width))
  end
  return table.concat(lines, "\n")
end

--- Formats any value, on several lines if needed.
function M.text_of(value)
  -- A call that is not awaited hides its metatable behind a name, and has no members.
  if type(value) == "table" and type(getmetatable(value)) == "string" then return M.scalar(value) end
  if is_records(value) then return records_text(value) end
  if type(value) == "table" and value.currentPageOrderedEntries and value.cursorId then
    return ("%s\npage %d of %d, %d entries"):format(M.text_of(value.currentPageOrderedEntries),
      value.currentPageIndex + 1, math.max(1, value.totalPages), value.totalEntries)
  end
  return block(value, "", 0)
end

return M
