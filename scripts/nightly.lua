-- For cron or a CI job: uploads local edits, fetches changes, and reports the outcome with its exit status.
--
--   tureen run --quiet scripts/nightly.lua [--ghosts] [SYNC...]
--
-- usersyncs.json in the same folder defines the syncs. Without arguments both of them run, the sync up first.
-- --ghosts also removes records that no longer exist on the server. Runs may overlap: if a sync is running, the other
-- run skips it.
--
--   0   success                     2   success, but the server refused records, or they changed on both sides
--   1   a sync failed for good      75  the org was unreachable or busy, or another run was syncing: try again later
local tureen = require "tureen"
local mobilesync = tureen.mobilesync

local DONE, FAILED, REFUSED, TRY_AGAIN = 0, 1, 2, 75

--- Returns the worse of two statuses.
local function worse(a, b)
  local rank = { [DONE] = 0, [REFUSED] = 1, [TRY_AGAIN] = 2, [FAILED] = 3 }
  return rank[b] > rank[a] and b or a
end

local as_json = os.getenv "TUREEN_LOG_FORMAT" == "json"

--- Prints a log line: a name, a word, and figures as key=value; with TUREEN_LOG_FORMAT=json an object, as the command
--- does.
local function log(name, word, figures)
  if as_json then
    local level = word == "FAILED" and "error" or "info"
    local now = os.date "!%Y-%m-%dT%H:%M:%SZ"
    local line = { time = now, level = level, label = "nightly", message = word, sync = name }
    for key, value in pairs(figures) do line[key] = type(value) == "number" and value or tostring(value) end
    print(tureen.json.encode(line))
    return
  end
  local parts = {}
  for _, key in ipairs { "total", "up", "failed", "conflicting", "removed", "error" } do
    if figures[key] ~= nil then parts[#parts + 1] = ("%s=%s"):format(key, tostring(figures[key])) end
  end
  print(("%s %-14s %-7s %s"):format(os.date("!%Y-%m-%dT%H:%M:%SZ"), name, word, table.concat(parts, " ")))
end

local function status_of(err)
  if err.retryable or err.code == "runningElsewhere" or err.code == "alreadyRunning" then return TRY_AGAIN end
  return FAILED
end

local function run_sync(name)
  local sync, err = tureen.await(mobilesync.reSync, name)
  if not sync then
    log(name, "FAILED", { error = err })
    return status_of(err)
  end
  if sync.type == "syncDown" then
    log(name, sync.status, { total = sync.totalSize })
    return DONE
  end
  log(name, sync.status, { up = sync.succeeded, failed = sync.failed, conflicting = sync.conflicting })
  return sync.failed + sync.conflicting > 0 and REFUSED or DONE
end

local function clean_ghosts(name)
  local removed, err = tureen.await(mobilesync.cleanResyncGhosts, name)
  log(name, removed and "CLEAN" or "FAILED", { removed = removed, error = err })
  return removed and DONE or status_of(err)
end

--- Returns the named syncs and their states, syncs up before syncs down, each kind in the given order.
local function find(names)
  local up, down = {}, {}
  for _, name in ipairs(names) do
    local state, err = tureen.await(mobilesync.getSyncStatus, name)
    if state == nil then error(err, 0) end
    if state == tureen.null then
      error(("there is no sync named '%s'; is usersyncs.json beside this script?"):format(name), 0)
    end
    table.insert(state.type == "syncUp" and up or down, name)
  end
  return up, down
end

local function main(names, wants_ghosts)
  local up, down = find(names)
  local status = DONE
  for _, name in ipairs(up) do status = worse(status, run_sync(name)) end
  for _, name in ipairs(down) do
    status = worse(status, run_sync(name))
    if wants_ghosts and status ~= TRY_AGAIN then status = worse(status, clean_ghosts(name)) end
  end
  return status
end

local names, wants_ghosts = {}, false
for _, argument in ipairs(arg) do
  if argument == "--ghosts" then wants_ghosts = true else names[#names + 1] = argument end
end
if #names == 0 then names = { "contactsDown", "contactsUp" } end

-- `tureen run` finds the configuration files in the script's folder by itself; stock Lua needs this setting.
tureen.configure { config = (arg[0] or ""):match("^(.*)/[^/]*$") or "." }
tureen.main(main, names, wants_ghosts) -- what main returns is the exit status
