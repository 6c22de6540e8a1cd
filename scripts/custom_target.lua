-- A custom sync target: a text file with one line of JSON per task serves as the server. The sync engine calls the
-- functions below; it handles merging, dirty records, ghosts and progress itself.
--
--   tureen run scripts/custom_target.lua [FILE]
--
-- A real target would use a ticket system or a database; its functions may `await` tureen.network.sendRequest.
local tureen = require "tureen"
local smartstore, mobilesync, json = tureen.smartstore, tureen.mobilesync, tureen.json

local FILE = arg and arg[1] or os.tmpname()

local newest = 0 -- the largest number that was an id: none is given twice

--- Reads the tasks in the file, by id.
local function read()
  local tasks = {}
  for line in io.lines(FILE) do
    local task = assert(json.decode(line))
    tasks[task.Id] = task
    newest = math.max(newest, math.tointeger(tonumber(task.Id:match("%d+"))) or 0)
  end
  return tasks
end

local function write(tasks)
  local lines = {}
  for _, task in pairs(tasks) do lines[#lines + 1] = json.encode(task) end
  table.sort(lines)
  local file <close> = assert(io.open(FILE, "w"))
  file:write(table.concat(lines, "\n"), #lines > 0 and "\n" or "")
end

local function sorted(tasks)
  local list = tureen.array()
  for _, task in pairs(tasks) do list[#list + 1] = task end
  table.sort(list, function(a, b) return a.Id < b.Id end)
  return list
end

--- Copies the fields of a sync up into a task.
local function apply(task, fields)
  for name, value in pairs(fields) do task[name] = value end
  return task
end

local PAGE = 2

mobilesync.registerTarget("tasks", {
  -- Use pages of two records to show paging.
  startFetch = function()
    local all = sorted(read())
    return { table.unpack(all, 1, PAGE) }, { totalSize = #all, more = #all > PAGE and PAGE or nil }
  end,
  continueFetch = function(_, from)
    local all = sorted(read())
    local to = from + PAGE
    return { table.unpack(all, from + 1, to) }, { totalSize = #all, more = #all > to and to or nil }
  end,
  -- Return the ids that still exist; the others are ghosts.
  remoteIds = function(_, ids)
    local tasks, there = read(), tureen.array()
    for _, id in ipairs(ids) do
      if tasks[id] then there[#there + 1] = id end
    end
    return there
  end,
  createOnServer = function(_, _, fields)
    if type(fields.Subject) ~= "string" then return nil, "a task needs a Subject" end
    local tasks = read()
    newest = newest + 1
    local id = ("T%d"):format(newest)
    tasks[id] = apply({ Id = id }, fields)
    write(tasks)
    return id
  end,
  updateOnServer = function(_, record, fields)
    local tasks = read()
    if not tasks[record.Id] then return 404 end
    apply(tasks[record.Id], fields)
    write(tasks)
    return true
  end,
  deleteOnServer = function(_, record)
    local tasks = read()
    tasks[record.Id] = nil
    write(tasks)
    return true
  end,
  -- Local changes are always newer than the file.
  isNewerThanServer = function() return true end,
})

local TARGET = { type = "custom", luaImpl = "tasks" }
local FIELDS = { "Subject", "Done" }

local function wait_for(fn, ...)
  local value, err = tureen.await(fn, ...)
  if value == nil then error(err, 0) end
  return value
end

local function main()
  write {
    T1 = { Id = "T1", Subject = "Call Ada", Done = false }, T2 = { Id = "T2", Subject = "Ship it", Done = false },
    T3 = { Id = "T3", Subject = "Old news", Done = true },
  }
  wait_for(smartstore.registerSoup, "tasks", {
    { path = "Id", type = "string" }, { path = "__local__", type = "string" },
    { path = "__sync_id__", type = "integer" },
  })
  local down = wait_for(mobilesync.syncDown, TARGET, "tasks", { mergeMode = "LEAVE_IF_CHANGED" })
  print(("down   %d tasks"):format(down.totalSize))

  local query = smartstore.buildAllQuerySpec("Id", "ascending", 10)
  local tasks = wait_for(smartstore.querySoup, "tasks", query).currentPageOrderedEntries
  wait_for(mobilesync.markUpdated, "tasks", tasks[1], { Done = true })
  wait_for(mobilesync.markDeleted, "tasks", tasks[3])
  wait_for(mobilesync.newRecord, "tasks", "Task", { Subject = "Write home", Done = false })
  wait_for(mobilesync.newRecord, "tasks", "Task", { Done = false }) -- the target refuses this one
  local up = wait_for(mobilesync.syncUp, TARGET, "tasks", { fieldlist = FIELDS })
  print(("up     %d sent, %d refused"):format(up.succeeded, up.failed))
  for _, task in ipairs(sorted(read())) do
    print(("file   %s %s %s"):format(task.Id, task.Done and "[x]" or "[ ]", task.Subject))
  end

  local left = read()
  left.T2 = nil -- deleted on the server meanwhile
  write(left)
  print(("ghosts %d removed"):format(wait_for(mobilesync.cleanResyncGhosts, down._soupEntryId)))
  if not (arg and arg[1]) then os.remove(FILE) end
end

tureen.main(main)
