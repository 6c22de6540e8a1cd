--- A function of a module that is called without `await` returns the call, not its answer.
---
--- Lua takes any value but nil and false for true, so that the mistake shows only where the value is used. There it raises.
local core = ...

local M = {}

---@class tureen.Call  a call that was made but not awaited; for tureen.cancel
local Call = { __name = "tureen.Call", __unawaited = true, __metatable = "tureen.Call" }
local numbers = setmetatable({}, { __mode = "k" }) -- call -> its id
local names = setmetatable({}, { __mode = "k" })   -- call -> the function that made it

--- Returns the value for a call.
---@param id integer?  nil for a refused call, which has no value
---@param name string  the function that made it
---@return tureen.Call?
function M.of(id, name)
  if id == nil then return nil end
  local call = setmetatable({}, Call)
  numbers[call], names[call] = id, name
  return call
end

--- Returns the id of a call; any other value unchanged.
function M.id(value) return numbers[value] or value end

local function refuse(a, b)
  local call = numbers[a] and a or b
  core.raise("invalidArguments", ("%s was called without await: this is call %d, not its answer; "
    .. "write await(%s, ...) in a task, or pass a function that gets the answer"):format(names[call], numbers[call], names[call]))
end

for _, event in ipairs {
  "add", "sub", "mul", "div", "mod", "pow", "unm", "idiv", "band", "bor", "bxor", "bnot", "shl", "shr", "concat", "len", "lt",
  "le", "index", "newindex", "call", "pairs",
} do
  Call["__" .. event] = refuse
end

function Call.__tostring(call) return ("call %d, not awaited"):format(numbers[call]) end

return M
