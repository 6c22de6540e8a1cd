-- Edits records of an org, a JSON collection and a Parse server by the tasks of two processes while both sync.
-- Arguments: URL setup | URL edit NAME COUNT SEED | URL finish; the URL is that of the collection.
local tureen = require "tureen"
local smartstore, mobilesync, async, await = tureen.smartstore, tureen.mobilesync, tureen.async, tureen.await
local url, what, me, count, seed = arg[1], arg[2], arg[3], tonumber(arg[4]), tonumber(arg[5])
local RECORDS, TASKS = 12, 5

local org_fields = { "Title", "Department", "Phone", "MobilePhone", "HomePhone", "Fax", "MailingCity", "MailingStreet",
  "OtherCity", "OtherStreet" }
local fields, item = { "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10" }, { url = "/items/{id}" }
local write = { url = item.url, fields = { "name", table.unpack(fields) } }

-- Each has a field for each task.
local services = {
  { soup = "contacts", id = "Id", name = "LastName", fields = org_fields,
    down = { type = "soql",
      query = ("SELECT Id, LastName, %s, LastModifiedDate FROM Contact"):format(table.concat(org_fields, ", ")) },
    fieldlist = { "LastName", table.unpack(org_fields) } },
  { soup = "items", id = "id", name = "name", fields = fields,
    down = { type = "rest", connection = "api", url = "/items", modificationDateField = "updated_at",
      incremental = { mode = "full" }, up = { read = item, update = write, delete = item, precondition = "ifMatch",
        create = { url = "/items", fields = write.fields } } } },
  { soup = "things", id = "objectId", name = "name", fields = fields, fieldlist = write.fields,
    down = { type = "parse", className = "Thing" } },
}

local function connect()
  local parse = assert(await(tureen.sandbox.parse))
  tureen.configure { connections = { api = { baseURL = url }, default = {
    kind = "parse", serverURL = parse.url, applicationId = parse.applicationId, restAPIKey = parse.restAPIKey } } }
end

local function rows(sql)
  return assert(await(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(sql, 1000))).currentPageOrderedEntries
end

local function entries(service)
  local found, soup = {}, service.soup
  local sql = ("SELECT {%s:_soup} FROM {%s} ORDER BY {%s:_soupEntryId}"):format(soup, soup, soup)
  for i, row in ipairs(rows(sql)) do found[i] = row[1] end
  return found
end

--- Runs a sync that the other process may be running, too.
local function sync(name)
  while true do
    local done, err = await(mobilesync.reSync, name)
    if done or err.code ~= "runningElsewhere" then return done or err.sync or error(err) end
    tureen.sleep(5)
  end
end

local function both(service)
  local up = sync(service.soup .. "Up")
  return up, sync(service.soup .. "Down")
end

local function setup()
  for _, service in ipairs(services) do
    local soup, specs = service.soup, { { path = "__sync_id__", type = "integer" } }
    for _, path in ipairs { service.id, service.name, "__local__" } do
      specs[#specs + 1] = { path = path, type = "string" }
    end
    assert(await(smartstore.registerSoup, soup, specs))
    local up = service.soup == "contacts" and {} or service.down
    assert(await(mobilesync.createSyncDown, service.down, soup, { mergeMode = "LEAVE_IF_CHANGED" }, soup .. "Down"))
    assert(await(mobilesync.createSyncUp, up, soup,
      { mergeMode = "MERGE", fieldlist = service.fieldlist }, soup .. "Up"))
    for n = 1, RECORDS do
      local record = { [service.id] = "local_" .. n, [service.name] = ("%s %d"):format(soup, n), __local__ = true,
        __locally_created__ = true, attributes = soup == "contacts" and { type = "Contact" } or nil }
      for _, field in ipairs(service.fields) do record[field] = "0" end
      assert(await(smartstore.upsertSoupEntries, soup, { record }))
    end
    local first, second = both(service)
    print(soup, first.status, first.succeeded, second.status, #entries(service))
  end
end

-- Edits of the task's own field, through copies that were read before any sync, or in place.
local function editor(number, old)
  local place = number + (me == "b" and TASKS or 0)
  for n = 1, count do
    local service = services[math.random(#services)]
    local entry, field = old[service.soup][math.random(RECORDS)], service.fields[place]
    local value = ("%s.%d.%d"):format(me, number, n)
    if math.random(2) == 1 then
      assert(await(mobilesync.markUpdated, service.soup, entry, { [field] = value }))
    else
      assert(await(smartstore.patchSoupEntries, service.soup, {
        { entryId = entry._soupEntryId, set = { [field] = value }, flags = { __locally_updated__ = true } } }))
    end
    print("wrote", service.soup, entry[service.name], field, value)
  end
end

local function edit()
  math.randomseed(seed)
  local old, tasks, isOver = {}, {}, false
  for _, service in ipairs(services) do old[service.soup] = entries(service) end
  local syncs = async(function()
    while not isOver do for _, service in ipairs(services) do both(service) end end
  end)
  for number = 1, TASKS do tasks[number] = async(editor, number, old) end
  for _, task in ipairs(tasks) do await(task) end
  isOver = true
  await(syncs)
end

local function on_server(service)
  if service.soup == "contacts" then
    return assert(await(tureen.force.query, service.down.query)).records
  end
  local answer = assert(await(tureen.network.sendRequest, service.soup == "items"
    and { connection = "api", path = "/items" } or { connection = "default", path = "/classes/Thing?limit=1000" }))
  return answer.results or answer
end

local function finish()
  for _, service in ipairs(services) do
    local up, down
    for _ = 1, 50 do
      up, down = both(service)
      if up.status == "DONE" and up.failed == 0 and up.inDoubt == 0 then break end
      tureen.sleep(100)
    end
    local dirty = #rows(("SELECT 1 FROM {%s} WHERE {%s:__local__} = 'true'"):format(service.soup, service.soup))
    local conflicts = #assert(await(mobilesync.getConflicts, { soupName = service.soup }))
    print("end", service.soup, up.status, down.status, dirty, conflicts)
    for where, list in pairs { there = on_server(service), here = entries(service) } do
      for _, record in ipairs(list) do
        for _, field in ipairs(service.fields) do
          print(where, service.soup, record[service.name], field, record[field])
        end
      end
    end
  end
end

tureen.main(function()
  connect()
  local steps = { setup = setup, edit = edit, finish = finish }
  steps[what]()
end)
