--- Provides requests as in the React Native SDK: the functions of `tureen.force.client`, and those with another signature.
local core = ...
local call = core.import "force_call"
local client = core.import "force_notifications"
local network = core.import "network"
local arguments = core.import "arguments"

---@class tureen.react_net: tureen.force.client
local M = { sendRequest = network.sendRequest }

--- Sets the version of the REST API, such as "v66.0", for the whole of `tureen.force`.
---@param version string
function M.setApiVersion(version)
  if type(version) ~= "string" then arguments.wrong("setApiVersion", 1, "version", "a string", version) end
  client.set_api_version("setApiVersion", version)
end

---@return string
function M.getApiVersion() return client.apiVersion end

-- update(sobjectType, id, fields, ...): "OK"
M.update = call.define {
  name = "update", params = { { "sobjectType", "string" }, { "id", "string" }, { "fields", "table" } },
  body = function(kind, id, fields)
    local data = call.copy(fields)
    data.Id = id
    return client.update(kind, data)
  end,
}

return setmetatable(M, { __index = client })
