-- What the benchmarks' scripts share: the contacts and their soup, and figures. common.sh has it found.
local tureen = require "tureen"

local M = {}

M.target = {
  type = "soql",
  query = "SELECT Id, FirstName, LastName, Email, Phone, Title, Department, MailingStreet, AccountId, Score__c, "
    .. "DoNotCall, LastModifiedDate FROM Contact",
}

M.specs = {
  { path = "Id", type = "string" }, { path = "LastName", type = "string" }, { path = "AccountId", type = "string" },
  { path = "__local__", type = "string" }, { path = "__sync_id__", type = "integer" },
}

--- What an awaited call gave, or its error raised: a benchmark has nobody to hand one to.
function M.check(value, err)
  if value == nil then error(err, 0) end
  return value
end

--- An error callback that raises.
function M.failed(err) error(err, 0) end

--- Runs `fn` as a task until it has ended.
function M.run(fn)
  tureen.async(fn)
  assert(tureen.run())
end

--- Prints a line `name value`, which the table is made from.
function M.report(name, value) print(("%s %.4f"):format(name, value)) end

--- Reports how long things took, given in seconds: their count, and median, 99th percentile and longest in ms.
function M.report_times(name, seconds)
  table.sort(seconds)
  local function at(share) return seconds[math.max(1, math.ceil(#seconds * share))] * 1000 end
  M.report(name .. "_count", #seconds)
  M.report(name .. "_median", at(0.5))
  M.report(name .. "_p99", at(0.99))
  M.report(name .. "_longest", at(1))
end

return M
