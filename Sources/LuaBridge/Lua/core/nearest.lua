--- Finds the name that a mistyped word most likely stands for, for the checks that Lua makes itself. The rules are those of the
--- Swift side: letter case, then the fewest edits, if those are few for the word's length.
local M = {}

-- Bytes of a word that may be a mistyped name.
local LONGEST = 100

--- Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn one text into the other.
local function edits(a, b)
  local before, last = {}, {}
  for j = 0, #b do last[j] = j end
  for i = 1, #a do
    local row = { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      local count = math.min(row[j - 1] + 1, last[j] + 1, last[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        count = math.min(count, before[j - 2] + 1)
      end
      row[j] = count
    end
    before, last = last, row
  end
  return last[#b]
end

local function find(word, names)
  if type(word) ~= "string" or word == "" or #word > LONGEST then return nil end
  word = word:lower()
  local best, fewest
  for _, name in ipairs(names) do
    local count = edits(word, name:lower())
    if not fewest or count < fewest then best, fewest = name, count end
  end
  return fewest and fewest <= math.min(3, math.max(1, #word // 3)) and best or nil
end

--- Returns "; did you mean 'x'?", or the list of all names if none is near. It is appended to the message of an error.
---@param word any         what a script wrote
---@param names string[]
---@param meant table<string, string>?  what other libraries call the names
---@return string
function M.hint(word, names, meant)
  local name = meant and meant[word] or find(word, names)
  return name and ("; did you mean '%s'?"):format(name) or "; known: " .. table.concat(names, ", ")
end

return M
