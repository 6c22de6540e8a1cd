local tureen = require "tureen"
local harness = require "harness"
local force = require "tureen.force"
local support = require "force_support"

local case, cache_of, same, pick = harness.case, support.cache, harness.same, support.pick
local MODE = force.CACHE_MODE
local tests = {}

--- Returns the flags of a record: local, created, updated, deleted.
local function flags(record)
  return { record.__local__, record.__locally_created__, record.__locally_updated__, record.__locally_deleted__ }
end
local CLEAN = { false, false, false, false }

tests.test_cache_create_is_clean_or_local = case(function()
  local cache, attributes = cache_of "fs_create", { Name = "Bond", City = "London" }
  local saved = assert(force.syncRemoteObjectWithCache("create", "1", attributes, nil, cache))
  same({ saved.Id, saved.Name, flags(saved) }, { "1", "Bond", CLEAN })
  saved = assert(force.syncRemoteObjectWithCache("create", nil, attributes, { "Name" }, cache, true))
  same({ cache:isLocalId(saved.Id), saved.City == nil, flags(saved) }, { true, true, { true, true, false, false } })
  same(attributes, { Name = "Bond", City = "London" }, "the caller's attributes")
end)

tests.test_cache_read_wants_the_fields = case(function()
  local cache = cache_of "fs_read"
  assert(cache:save { Id = "1", Name = "Bond" })
  same(force.syncRemoteObjectWithCache("read", "1", nil, { "Name" }, cache).Name, "Bond")
  same(force.syncRemoteObjectWithCache("read", "1", nil, nil, cache).Name, "Bond")
  same(force.syncRemoteObjectWithCache("read", "1", nil, { "City" }, cache), tureen.null)
  same(force.syncRemoteObjectWithCache("read", "2", nil, nil, cache), tureen.null)
end)

tests.test_cache_update_marks_what_is_local = case(function()
  local cache = cache_of "fs_update"
  local made = assert(force.syncRemoteObjectWithCache("create", nil, { Name = "Bond" }, nil, cache, true))
  local saved = assert(force.syncRemoteObjectWithCache("update", made.Id, { Name = "B", X = 1 }, { "Name" }, cache, true))
  same({ saved.Name, saved.X == nil, flags(saved) }, { "B", true, { true, true, true, false } })
  saved = assert(force.syncRemoteObjectWithCache("update", "1", { Name = "C" }, nil, cache))
  same({ saved.Name, flags(saved) }, { "C", CLEAN })
end)

tests.test_cache_delete_removes_or_marks = case(function()
  local cache = cache_of "fs_delete"
  assert(cache:saveAll { { Id = "1", Name = "a" }, { Id = "2", Name = "b" }, { Id = "local_1" } })
  same(force.syncRemoteObjectWithCache("delete", "1", nil, nil, cache), tureen.null)
  same(cache:retrieve("1"), tureen.null)
  same(force.syncRemoteObjectWithCache("delete", "2", nil, nil, cache, true), tureen.null)
  local marked = cache:retrieve("2")
  same({ marked.Name, flags(marked) }, { "b", { true, false, false, true } })
  same(force.syncRemoteObjectWithCache("delete", "local_1", nil, nil, cache, true), tureen.null)
  same(cache:retrieve("local_1"), tureen.null)
  same(force.syncRemoteObjectWithCache("delete", "9", nil, nil, cache), tureen.null)
end)

tests.test_server_create_read_update_delete = case(function()
  local attributes = { Name = "Server", Phone = "1", __local__ = true }
  local made = assert(force.syncSObjectWithServer("create", "Account", nil, attributes, { "Name", "Phone" }))
  same({ made.Name, #made.Id, attributes.Id == nil }, { "Server", 18, true })
  same(force.syncSObjectWithServer("read", "Account", made.Id, nil, { "Id", "Name", "Phone" }).Phone, "1")
  same(force.syncSObjectWithServer("update", "Account", made.Id,
    { Id = made.Id, Phone = "2", Name = "no" }, { "Phone" }).Phone, "2")
  same(pick(support.on_server(made.Id, { "Name", "Phone" }), "Name", "Phone"), { Name = "Server", Phone = "2" })
  same(force.syncSObjectWithServer("delete", "Account", made.Id), tureen.null)
  same(support.on_server(made.Id), tureen.null)
  same(support.fails("httpStatus", force.syncSObjectWithServer("delete", "Account", made.Id)).status, 404)
end)

local function sync(method, id, attributes, fieldlist, cache, mode, info)
  return force.syncSObject(method, "Account", id, attributes, fieldlist, cache, mode, info)
end

tests.test_create_in_every_mode = case(function()
  local cache, fields = cache_of "fs_modes_create", { "Name" }
  local made = assert(sync("create", nil, { Name = "A" }, fields, cache, MODE.SERVER_ONLY))
  same({ cache:retrieve(made.Id) == tureen.null, support.on_server(made.Id).Name }, { true, "A" })
  made = assert(sync("create", nil, { Name = "B" }, fields, cache, MODE.SERVER_FIRST))
  same({ cache:retrieve(made.Id).Name, support.on_server(made.Id).Name, flags(made) }, { "B", "B", CLEAN })
  made = assert(sync("create", nil, { Name = "C" }, fields, cache, MODE.CACHE_ONLY))
  same({ cache:isLocalId(made.Id), cache:retrieve(made.Id).Name, flags(made) }, { true, "C", { true, true, false, false } })
  local id = made.Id
  made = assert(sync("update", id, made, fields, cache, MODE.SERVER_FIRST))
  same({ cache:isLocalId(made.Id), cache:retrieve(id) == tureen.null, cache:retrieve(made.Id).Name, flags(made) },
    { false, true, "C", CLEAN })
  same(support.on_server(made.Id).Name, "C")
end)

tests.test_read_in_every_mode = case(function()
  local cache, info = cache_of "fs_modes_read", {}
  local id = support.account { Name = "Server", Phone = "1" }
  assert(cache:save { Id = id, Name = "Cached" })
  same(sync("read", id, nil, { "Name", "Phone" }, cache, MODE.CACHE_ONLY, info).Name, "Cached")
  same(info.wasReadFromCache, true)
  same(sync("read", id, nil, { "Name" }, cache, MODE.SERVER_ONLY, info).Name, "Server")
  same({ info.wasReadFromCache, cache:retrieve(id).Name }, { false, "Cached" })
  same(sync("read", id, nil, { "Name" }, cache, MODE.CACHE_FIRST, info).Name, "Cached")
  same(info.wasReadFromCache, true)
  same(sync("read", id, nil, { "Name", "Phone" }, cache, MODE.CACHE_FIRST, info).Phone, "1")
  same({ info.wasReadFromCache, cache:retrieve(id).Name }, { false, "Server" })
  assert(cache:save { Id = id, Name = "Old" })
  same(sync("read", id, nil, { "Name" }, cache, nil).Name, "Server")
  same(cache:retrieve(id).Name, "Server")
end)

tests.test_read_keeps_changes_not_sent_unless_asked_to_overwrite = case(function()
  local cache = cache_of "fs_dirty"
  local id = support.account { Name = "Server", Phone = "1" }
  assert(sync("update", id, { Name = "Mine" }, { "Name" }, cache, MODE.CACHE_ONLY))
  local read = assert(sync("read", id, nil, { "Name", "Phone" }, cache, MODE.SERVER_FIRST))
  same({ read.Name, read.Phone, flags(read) }, { "Mine", "1", { true, false, true, false } })
  read = assert(sync("read", id, nil, { "Name" }, cache, MODE.SERVER_FIRST, { overwrite = true }))
  same({ read.Name, flags(read) }, { "Server", CLEAN })
end)

tests.test_update_and_delete_in_every_mode = case(function()
  local cache, fields = cache_of "fs_modes_update", { "Name" }
  local id = support.account { Name = "A" }
  assert(sync("update", id, { Name = "B", Website = "w" }, fields, cache, MODE.CACHE_ONLY))
  local row = cache:retrieve(id)
  same({ row.Name, row.Website == nil, flags(row) }, { "B", true, { true, false, true, false } })
  same(support.on_server(id).Name, "A")
  assert(sync("update", id, { Name = "C" }, fields, cache, MODE.SERVER_ONLY))
  same({ support.on_server(id).Name, cache:retrieve(id).Name }, { "C", "B" })
  assert(sync("update", id, { Name = "D" }, fields, cache, MODE.SERVER_FIRST))
  same({ support.on_server(id).Name, cache:retrieve(id).Name, flags(cache:retrieve(id)) }, { "D", "D", CLEAN })
  same(sync("delete", id, nil, nil, cache, MODE.CACHE_ONLY), tureen.null)
  same({ cache:retrieve(id).__locally_deleted__, support.on_server(id).Name }, { true, "D" })
  same(sync("delete", id, nil, nil, cache, MODE.SERVER_FIRST), tureen.null)
  same({ cache:retrieve(id), support.on_server(id) }, { tureen.null, tureen.null })
  id = support.account { Name = "E" }
  assert(cache:save { Id = id })
  same(sync("delete", id, nil, nil, cache, MODE.SERVER_ONLY), tureen.null)
  same({ cache:retrieve(id).Id, support.on_server(id) == tureen.null }, { id, true })
end)

tests.test_misuse_of_modes_raises = case(function()
  local cache = cache_of "fs_misuse"
  harness.raises("Can't update with cacheMode cache-first", sync, "update", "1", {}, nil, cache, MODE.CACHE_FIRST)
  harness.raises("Can't read on server for a locally created record", sync, "read", "local_1", nil, nil, cache)
  harness.raises("Can't delete on server for a locally created record", sync, "delete", "local_1", nil, nil, cache,
    MODE.SERVER_FIRST)
  harness.raises("syncSObject: 'method' must be create, read, update or delete, got 'patch'", sync, "patch", "1")
  harness.raises("syncSObject: 'cacheMode' must be one of cache-first, cache-only, server-first, server-only, got 'x'",
    sync, "read", "1", nil, nil, cache, "x")
end)

tests.test_own_server_function_takes_the_servers_place = case(function()
  local cache, seen = cache_of "fs_own", nil
  local record = assert(force.syncRemoteObject("read", "7", nil, { "Name" }, cache, MODE.SERVER_FIRST, nil,
    function(method, id, _, fieldlist)
      seen = { method, id, fieldlist[1] }
      tureen.sleep(1)
      return { Id = id, Name = "Own" }
    end))
  same({ seen, record.Name, cache:retrieve("7").Name }, { { "read", "7", "Name" }, "Own", "Own" })
end)

tests.test_apex_rest_create_read_update_delete_and_list = case(function()
  local requests = {}
  force.init { requestHandler = function(request)
    requests[#requests + 1] = request.method .. " " .. request.path
    if request.path:find "/list" then
      return { totalSize = 3, records = tureen.array { { Id = "1" }, { Id = "2" }, { Id = "3" } } }
    end
    return request.method == "POST" and { id = "a7" } or request.method == "GET" and { id = "a7", name = "x" } or "OK"
  end }
  local function apex(method, id, attributes, fieldlist)
    return force.syncApexRestObjectWithServer(method, "/simple", id, "id", attributes, fieldlist)
  end
  same(apex("create", nil, { name = "x", id = "no" }, { "name" }).id, "a7")
  same(apex("read", "a7", nil, { "id", "name" }).name, "x")
  same(apex("update", "a7", { name = "y" }, { "name" }).name, "y")
  same(apex("delete", "a7"), tureen.null)
  local found = assert(force.fetchApexRestObjectsFromServer { apexRestPath = "/simple/list", params = { q = "x" } })
  force.init()
  same({ found.totalSize, #found.records, found:hasMore() }, { 3, 3, false })
  local root = "/services/apexrest/simple"
  same(requests, { "POST " .. root, "GET " .. root .. "/a7", "PATCH " .. root .. "/a7", "DELETE " .. root .. "/a7",
    "GET " .. root .. "/list" })
end)

harness.run(tests)
