--- The home and the settings of this host.
local core = ...
local arguments = core.import "arguments"
local calls = core.import "calls"

---@class tureen.host
local M = {}

-- doctor({offline?, deep?, fix?}?, success, error): {checks = {{name, status, text, fix, details}, ...}, summary}
M.doctor = arguments.define {
  name = "doctor", params = { { "options", "table", optional = true } },
  send = function(success, failure, _, values, caller)
    return calls.send(success, failure, "tureen.host", "doctor", values[1] or {}, caller)
  end,
}

return M
