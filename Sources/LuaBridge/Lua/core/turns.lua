--- Queues work by what it is about: two tasks that use one thing take turns, in the order in which they came.
local core = ...
local async = core.import "async"
local calls = core.import "calls"

local M = {}

--- Returns what turns are taken for.
---@return table
function M.place() return { jobs = {} } end

--- Lets the next job go that is now the first everywhere. It goes on at the next poll, after the running code.
local function advance(job)
  job.ahead = job.ahead - 1
  if job.ahead == 0 and job.go then calls.defer(job.go, true) end
end

local function leave(job)
  for _, place in ipairs(job.places) do
    for i, other in ipairs(place.jobs) do
      if other == job then
        table.remove(place.jobs, i)
        if i == 1 and place.jobs[1] then advance(place.jobs[1]) end
        break
      end
    end
  end
end

local function enter(places)
  local job = setmetatable({ places = places, ahead = 0 }, { __close = leave })
  for _, place in ipairs(places) do
    if #place.jobs > 0 then job.ahead = job.ahead + 1 end
    place.jobs[#place.jobs + 1] = job
  end
  return job
end

--- Runs `body(...)` when all earlier jobs at these places have ended. The places must differ from one another.
---@return any ...  the results of `body`; nil and an error if the task is cancelled while it waits
function M.take(caller, places, body, ...)
  local job <close> = enter(places)
  if job.ahead > 0 then
    local is_first, err = async.wait(caller, function(settle) job.go = settle end)
    if not is_first then return nil, err end
  end
  return body(...)
end

return M
