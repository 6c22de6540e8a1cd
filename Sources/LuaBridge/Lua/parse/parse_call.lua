--- Calls the service `tureen.parse` from inside a task, and creates its errors.
local core = ...
local async = core.import "async"
local calls = core.import "calls"

local M = {}

local SERVICE = "tureen.parse"

--- Calls an action and returns its answer; nil and an error if it fails.
function M.wait(action, args)
  return async.wait(action, function(settle)
    calls.exec(settle, function(err) settle(nil, err) end, SERVICE, action, args, nil, action)
  end)
end

--- Creates an error of the domain `parse`.
function M.new_error(code, message, extra)
  local err = calls.new_error(code, message, { domain = "parse" })
  for key, value in pairs(extra or {}) do err[key] = value end
  return err
end

--- Creates the error of one object that was not saved, from the action's answer.
function M.save_error(answer)
  local err = M.new_error("notSaved", answer.message, { parseCode = answer.parseCode, isUnknown = answer.isUnknown })
  -- The whole request failed.
  for _, key in ipairs { "domain", "code", "retryable" } do
    if answer[key] ~= nil then err[key] = answer[key] end
  end
  return err
end

return M
