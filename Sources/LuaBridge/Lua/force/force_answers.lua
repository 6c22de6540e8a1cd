--- Checks the shapes of answers. A gateway or a portal may answer with status 200 and a page of its own, which must be an error.
---
--- Each shape has `expects`, which the network service checks (no body, JSON, or either), `is_right(answer)`, which checks the
--- value, and `wanted`, its name in messages.
local core = ...
local call = core.import "force_call"

local M = {}

local function is_object(value) return type(value) == "table" and not core.is_array(value) end
local function is_list(value) return type(value) == "table" and (core.is_array(value) or value[1] ~= nil) end
local function is_nothing(value) return value == "OK" or value == core.null end

local function kind(expects, wanted, is_right) return { expects = expects, wanted = wanted, is_right = is_right } end

--- Returns the shape of an object that has a list of this name.
local function with_list(name)
  return kind("json", ("an object with the list '%s'"):format(name), function(value)
    return is_object(value) and is_list(value[name])
  end)
end

local function is_created(value) return is_object(value) and type(value.id) == "string" and value.success ~= false end

M.any = kind("any", "anything", function() return true end)
M.object = kind("json", "an object", is_object)
M.list = kind("json", "a list", is_list)
M.nothing = kind("nothing", "no body, with status 204", is_nothing)
M.created = kind("json", "an object with the new record's id", is_created)
M.upserted = kind("jsonOrNothing", "no body, or an object with the record's id", function(value)
  return is_nothing(value) or is_created(value)
end)
M.records, M.search_records = with_list "records", with_list "searchRecords"
M.results, M.responses, M.sobjects = with_list "results", with_list "compositeResponse", with_list "sobjects"

--- Returns the answer; nil and an error if its shape is wrong.
---@param name string  the function that asked
---@param answer any
---@return any answer, tureen.Error? err
function M.checked(name, wanted, answer)
  if wanted.is_right(answer) then return answer end
  local is_json, shown = pcall(core.encode, answer)
  if type(answer) == "string" or not is_json then shown = tostring(answer) end
  return nil, call.new_error("badAnswer", ("%s: the server's answer is not %s"):format(name, wanted.wanted), { body = shown })
end

return M
