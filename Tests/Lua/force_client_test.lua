local tureen = require "tureen"
local harness = require "harness"
local force = require "tureen.force"
local support = require "force_support"

local case, same = harness.case, harness.same
local tests = {}

function tests.test_parse_url_gives_all_parts()
  local function parts(url) return force.parseUrl(url) end
  local plain = { protocol = "https:", host = "server.com", hostname = "server.com", path = "", params = {}, hash = "" }
  local function wanted(changes)
    local result = {}
    for key, value in pairs(plain) do result[key] = value end
    for key, value in pairs(changes) do result[key] = value end
    return result
  end
  local cases = {
    ["https://server.com"] = {},
    ["https://server.com/"] = {},
    ["https://server.com:1234"] = { host = "server.com:1234", port = "1234" },
    ["https://server.com/a/b"] = { path = "/a/b" },
    ["https://server.com#top"] = { hash = "#top" },
    ["https://server.com?a=b&c=%20d"] = { params = { a = "b", c = " d" } },
    ["https://server.com:1234/a/b?a=b&c=%20d#top"] = {
      host = "server.com:1234", port = "1234", path = "/a/b", params = { a = "b", c = " d" }, hash = "#top",
    },
    ["https://server.com/services/data/v66.0/query?q=SELECT%20Id%20FROM%20Account%20WHERE%20Id%20%3D%20'001'"] = {
      path = "/services/data/v66.0/query", params = { q = "SELECT Id FROM Account WHERE Id = '001'" },
    },
  }
  for url, changes in pairs(cases) do same(parts(url), wanted(changes), url) end
  same(parts("server.com/path"), nil)
end

function tests.test_end_point_is_the_first_two_pieces_unless_given()
  local cases = {
    { nil, "/services/data", "/services/data", "/" }, { nil, "/services/apex/abc", "/services/apex", "/abc" },
    { "/services/data", "/versions", "/services/data", "/versions" }, { nil, "/one", "", "/one" },
    { nil, "https://example.com/a/b", "", "https://example.com/a/b" },
  }
  for _, row in ipairs(cases) do
    same(force.computeEndPointIfMissing(row[1], row[2]), { endPoint = row[3], path = row[4] }, row[2])
  end
end

--- Returns the request that a function sends.
local function sent(name, ...)
  local request
  force.init { apiVersion = "v60.0", requestHandler = function(given)
    request = given
    return nil, { code = "notAnswered" }
  end }
  local given = table.pack(...)
  tureen.async(function() same(select(2, force[name](table.unpack(given, 1, given.n))).code, "notAnswered") end)
  force.init { apiVersion = "v66.0" }
  return request
end

--- Compares a function's request with a method, and with a path that includes the query and, after a space, the body.
local function expect_sent(method, wanted, name, ...)
  local request = sent(name, ...)
  local text = request.path
  for key, value in pairs(request.params or {}) do text = ("%s?%s=%s"):format(text, key, value) end
  local path, data = wanted:match("^(%S+) ?(.*)$")
  same({ request.method, text }, { method, path }, name)
  if data == "" then same(request.data, nil, name) else same(request.data, tureen.json.decode(data), name) end
end

function tests.test_every_function_sends_its_request()
  local root = "/services/data/v60.0"
  local fields = { Name = "x", Id = "001", id = "y", attributes = {} }
  local records = tureen.array { { Id = "1" } }
  local cases = {
    { "GET", "/services/data/", "versions" }, { "GET", root, "resources" }, { "GET", root .. "/limits", "limits" },
    { "GET", root .. "/sobjects", "describeGlobal" }, { "GET", root .. "/sobjects/T", "metadata", "T" },
    { "GET", root .. "/sobjects/T/describe", "describe", "T" },
    { "GET", root .. "/sobjects/T/describe", "getPickListValues", "T" },
    { "GET", root .. "/sobjects/T/describe/layouts/", "describeLayout", "T" },
    { "GET", root .. "/sobjects/T/describe/layouts/012", "describeLayout", "T", "012" },
    { "GET", root .. "/query?q=a", "query", "a" }, { "GET", root .. "/queryAll?q=a", "queryAll", "a" },
    { "GET", root .. "/search?q=a", "search", "a" }, { "GET", "/x/01g-2?a=b=c", "queryMore", "https://h.com:1/x/01g-2?a=b=c" },
    { "GET", "/x/01g-2", "queryMore", "/x/01g-2" }, { "GET", root .. "/sobjects/T/a%2Fb", "retrieve", "T", "a/b" },
    { "GET", root .. "/sobjects/T/1?fields=A,B", "retrieve", "T", "1", { "A", "B" } },
    { "GET", root .. "/sobjects/T/1?fields=A,B", "retrieve", "T", "1", "A, B" },
    { "GET", root .. "/sobjects/T/1?fields=A,B", "retrieve", "T", "1", { "A", "attributes", "B" } },
    { "POST", root .. '/sobjects/T/ {"Name":"x"}', "create", "T", { Name = "x" } },
    { "PATCH", root .. '/sobjects/T/001 {"Name":"x"}', "update", "T", fields },
    { "PATCH", root .. '/sobjects/T/F/e%201 {"Name":"x"}', "upsert", "T", "F", "e 1", { Name = "x" } },
    { "POST", root .. '/sobjects/T/F/ {"Name":"x"}', "upsert", "T", "F", nil, { Name = "x" } },
    { "POST", root .. '/sobjects/T/F/ {"Name":"x"}', "upsert", "T", "F", "", { Name = "x" } },
    { "DELETE", root .. "/sobjects/T/1", "del", "T", "1" },
    { "GET", root .. "/sobjects/Attachment/1/Body", "getAttachment", "1" },
    { "POST", root .. '/composite/sobjects {"allOrNone":true,"records":[{"Id":"1"}]}',
      "collectionCreate", true, records },
    { "PATCH", root .. '/composite/sobjects {"allOrNone":false,"records":[{"Id":"1"}]}', "collectionUpdate", false, records },
    { "PATCH", root .. '/composite/sobjects/T/F {"allOrNone":true,"records":[{"Id":"1"}]}', "collectionUpsert", true, "T", "F",
      records },
    { "POST", root .. '/composite/sobjects/T {"fields":["A"],"ids":["1"]}', "collectionRetrieve", "T",
      tureen.array { "1" }, tureen.array { "A" } },
    { "DELETE", root .. "/composite/sobjects?allOrNone=true&ids=1%2C2", "collectionDelete", true, { "1", "2" } },
    { "GET", root .. "/connect/briefcase/priming-records?relayToken=t", "primingRecords", "t" },
    { "POST", root .. '/composite/batch {"batchRequests":[{"Id":"1"}],"haltOnError":false}', "batch", records },
    { "GET", "/own/x", "apexrest", "/own/x" }, { "GET", "/services/apexrest/x", "apexrest", { path = "x" } },
    { "PATCH", '/services/apexrest/x {"a":1}', "apexrest",
      { path = "/services/apexrest/x", method = "PATCH", data = { a = 1 } } },
    { "GET", root .. "/chatter/feeds?a=1", "chatter", { path = "/feeds", params = { a = 1 } } },
    { "GET", "https://example.com/", "anyrest", "https://example.com/" },
  }
  for _, row in ipairs(cases) do expect_sent(row[1], row[2], table.unpack(row, 3, 7)) end
  same(fields.Id, "001", "the caller's record")
end

function tests.test_files_paths_with_user_page_and_version()
  local files = "/connect/files/"
  local cases = {
    { files .. "users/me", "ownedFilesList" }, { files .. "users/me", "ownedFilesList", "me" },
    { files .. "users/u1", "ownedFilesList", "u1" }, { files .. "users/me?page=1", "ownedFilesList", nil, 1 },
    { files .. "users/u1?page=0", "ownedFilesList", "u1", 0 },
    { files .. "users/me/filter/groups", "filesInUsersGroups" },
    { files .. "users/u1/filter/groups?page=3", "filesInUsersGroups", "u1", 3 },
    { files .. "users/me/filter/sharedwithme", "filesSharedWithUser" },
    { files .. "users/u1/filter/sharedwithme?page=2", "filesSharedWithUser", "u1", 2 },
    { files .. "f", "fileDetails", "f" }, { files .. "f?versionNumber=2", "fileDetails", "f", "2" },
    { files .. "batch/a", "batchFileDetails", { "a" } }, { files .. "batch/a,b,c", "batchFileDetails", { "a", "b", "c" } },
    { files .. "f/file-shares", "fileShares", "f" }, { files .. "f/file-shares?page=2", "fileShares", "f", 2 },
  }
  for _, row in ipairs(cases) do expect_sent("GET", "/services/data/v60.0" .. row[1], table.unpack(row, 2, 5)) end
end

function tests.test_file_shares_are_added_and_deleted()
  local added = sent("addFileShare", "f", "e", "V")
  same({ added.method, added.path }, { "POST", "/services/data/v60.0/sobjects/ContentDocumentLink/" })
  same(added.data, { ContentDocumentId = "f", LinkedEntityId = "e", ShareType = "V" })
  local deleted = sent("deleteFileShare", "s")
  same({ deleted.method, deleted.path, deleted.data == nil },
    { "DELETE", "/services/data/v60.0/sobjects/ContentDocumentLink/s", true })
end

function tests.test_notifications_paths_and_bodies()
  local root = "/services/data/v60.0/connect/notifications"
  local cases = {
    { "GET", root, "notifications" }, { "GET", root .. "?size=5", "notifications", 5 },
    { "GET", root .. "?before=b", "notifications", nil, "b" }, { "GET", root .. "?after=a", "notifications", nil, nil, "a" },
    { "GET", root .. "/n%201", "notification", "n 1" }, { "GET", root .. "/status", "notificationsStatus" },
    { "GET", root .. "/types", "notificationTypes" },
    { "PATCH", root .. '/n {"read":true}', "updateNotification", "n", { read = true } },
    { "PATCH", root .. ' {"notificationIds":["n"],"seen":true}', "updateNotifications",
      { notificationIds = tureen.array { "n" }, seen = true } },
    { "POST", root .. "/n/actions/approve", "notificationAction", "n", "approve" },
  }
  for _, row in ipairs(cases) do expect_sent(row[1], row[2], table.unpack(row, 3, 6)) end
end

tests.test_notifications_are_listed_and_marked = case(function()
  local status = assert(force.notificationsStatus())
  same({ status.hasUnseen, status.unseenCount, status.unreadCount }, { false, 0, 0 })
  same(#assert(force.notifications(5)).notifications, 0)
  same(#assert(force.notificationTypes()).notificationTypes, 0)
  same(#assert(force.updateNotifications { before = "2026-01-01T00:00:00.000Z", seen = true }).notifications, 0)
  same(support.fails("httpStatus", force.notification("none")).status, 404)
  same(support.fails("httpStatus", force.updateNotifications { seen = true }).status, 400)
end)

--- Creates a new file with this text and returns its path.
local function local_file(text)
  local path = os.tmpname()
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end

tests.test_files_go_up_come_down_are_shared_and_deleted = case(function()
  local send = tureen.network.sendRequest
  for _, community in ipairs { "", "/communities/0DB000000000001" } do
    local root = "/services/data/v66.0/connect" .. community .. "/files"
    local path = local_file("one\0two")
    local file = assert(tureen.await(send, {
      path = root .. "/users/me", method = "POST", queryParams = { title = "A note" },
      fileParams = { fileData = { fileUrl = path, fileName = "note.bin", fileMimeType = "application/octet-stream" } },
    }))
    os.remove(path)
    same({ file.title, file.contentSize }, { "A note", 7 })
    same(tureen.network.bytes(assert(tureen.await(send, { path = root .. "/" .. file.id .. "/content", returnBinary = true }))),
      "one\0two")
    same(assert(force.fileDetails(file.id)).title, "A note")
    local batch = assert(force.batchFileDetails { file.id, "069000000000000AAA" }).results
    same({ batch[1].statusCode, batch[1].result.id, batch[2].statusCode }, { 200, file.id, 404 })
    local other = assert(force.query("SELECT Id FROM User WHERE Username LIKE 'otto@%'")).records[1].Id
    local share = assert(force.addFileShare(file.id, other, "V")).id
    same(#assert(force.fileShares(file.id)).shares, 2)
    same(force.deleteFileShare(share), "OK")
    same(#assert(force.fileShares(file.id)).shares, 1)
    same(force.del("ContentDocument", file.id), "OK")
    same(support.fails("httpStatus", force.fileDetails(file.id)).status, 404)
  end
end)

tests.test_records_live_through_the_functions = case(function()
  same(force.versions()[1].version ~= nil, true)
  same(force.describe("Account").keyPrefix, "001")
  local id = assert(force.create("Account", { Name = "Acme & Söhne", Phone = "1" })).id
  same(force.update("Account", { Id = id, Phone = "2" }), "OK")
  same(force.retrieve("Account", id, { "Name", "Phone" }).Phone, "2")
  local found = assert(force.query("SELECT Id, Name FROM Account WHERE Name = 'Acme & Söhne'"))
  same({ found.totalSize, found.records[1].Id }, { 1, id })
  same(force.del("Account", id), "OK")
  local err = support.fails("httpStatus", force.del("Account", id))
  same({ err.status, type(err.errors) }, { 404, "table" })
  local described = force.Error(err)
  same({ described.type, described.status, described.details[1].errorCode ~= nil }, { "RestError", 404, true })
end)

tests.test_query_more_goes_on_from_an_address = case(function()
  local first = assert(force.request {
    path = force.client.path_of("query"), params = { q = "SELECT Id FROM Contact" },
    headerParams = { ["Sforce-Query-Options"] = "batchSize=200" },
  })
  same({ #first.records, first.done }, { 200, false })
  local second = assert(force.queryMore("https://elsewhere.example" .. first.nextRecordsUrl))
  same({ #second.records > 0, second.totalSize == first.totalSize }, { true, true })
end)

tests.test_collections_answer_for_each_record = case(function()
  local made = assert(force.collectionCreate(false, {
    { attributes = { type = "Account" }, Name = "One" }, { attributes = { type = "Account" }, Bogus = 1 },
  }))
  same({ made[1].success, made[2].success }, { true, false })
  local got = assert(force.collectionRetrieve("Account", { made[1].id, "001000000000000AAA" }, { "Name" }))
  same({ got[1].Name, got[2] == tureen.null }, { "One", true })
  same(force.collectionDelete(true, { made[1].id })[1].success, true)
end)

tests.test_batch_goes_on_or_halts_at_a_failure = case(function()
  local function ask(halt)
    local answer = assert(force.batch({
      { method = "POST", url = "v66.0/sobjects/Account", richInput = { Name = "Batch" } },
      { method = "POST", url = "v66.0/sobjects/Account", richInput = { Bogus = 1 } },
      { method = "GET", url = "v66.0/query?q=SELECT+Id+FROM+Account+LIMIT+1" },
    }, halt))
    return { answer.hasErrors, answer.results[1].statusCode, answer.results[2].statusCode, answer.results[3].statusCode }
  end
  same(ask(true), { true, 201, 400, 412 })
  same(ask(false), { true, 201, 400, 200 })
end)

tests.test_composite_with_references_all_or_none = case(function()
  local function ask(all_or_none, bad)
    local root, statuses = "/services/data/v66.0/sobjects/", {}
    local answer = assert(force.composite(all_or_none, {
      { method = "POST", url = root .. "Account", referenceId = "a", body = { Name = "Composite" } },
      { method = "POST", url = root .. "Contact", referenceId = "c", body = { LastName = "x", AccountId = "@{a.id}" } },
      { method = "POST", url = root .. "Contact", referenceId = "d", body = { [bad and "Bogus" or "LastName"] = "y" } },
    }))
    for i, response in ipairs(answer.compositeResponse) do statuses[i] = response.httpStatusCode end
    return statuses
  end
  same(ask(true, false), { 201, 201, 201 })
  same(ask(true, true), { 400, 400, 400 })
  same(ask(false, true), { 201, 201, 400 })
end)

tests.test_tree_links_the_children = case(function()
  local answer = assert(force.tree("Account", { {
    attributes = { type = "Account", referenceId = "a" }, Name = "Tree",
    Contacts = { records = tureen.array {
      { attributes = { type = "Contact", referenceId = "c1" }, LastName = "One" },
      { attributes = { type = "Contact", referenceId = "c2" }, LastName = "Two" },
    } },
  } }))
  same({ answer.hasErrors, #answer.results }, { false, 3 })
  local soql = ("SELECT Id FROM Contact WHERE AccountId = '%s'"):format(answer.results[1].id)
  same(force.query(soql).totalSize, 2)
end)

tests.test_upsert_creates_then_updates = case(function()
  local id = assert(force.create("Account", { Name = "Upsert" })).id
  same(force.upsert("Account", "Id", id, { Name = "Again" }) ~= nil, true)
  same(force.retrieve("Account", id, "Name").Name, "Again")
  local made = assert(force.upsert("Account", "Id", nil, { Name = "New" }))
  same({ #made.id, made.success }, { 18, true })
end)

tests.test_update_of_what_was_changed_since_fails = case(function()
  local id = assert(force.create("Account", { Name = "First" })).id
  local long_ago = { ["If-Unmodified-Since"] = "Sat, 01 Jan 2000 00:00:00 GMT" }
  local err = support.fails("httpStatus", force.update("Account", { Id = id, Name = "Second" }, long_ago))
  same({ err.status, force.retrieve("Account", id, "Name").Name }, { 412, "First" })
end)

tests.test_info_has_versions_services_and_defaults = case(function()
  local info = assert(tureen.await(tureen.sdkinfo.getInfo))
  same({ info.sdkVersion, type(info.appName), type(info.appVersion) }, { "14.0.0", "string", "string" })
  local services = {}
  for _, name in ipairs(info.forcePluginsAvailable) do services[name] = true end
  for _, name in ipairs { "mobilesync", "network", "oauth", "sdkinfo", "sfaccountmanager", "smartstore" } do
    same(services["com.salesforce." .. name], true, name)
  end
  local boot = info.bootConfig
  same({ boot.isLocal, boot.shouldAuthenticate, boot.startPage, boot.errorPage },
    { true, true, "index.html", "error.html" })
end)

tests.test_protected_resource_without_session_fails_with_its_errors = case(function()
  local limits = tureen.network
  local _, err = tureen.await(limits.sendRequest,
    { path = "/services/data/v66.0/limits", doesNotRequireAuthentication = true })
  same({ err.status, err.errors[1].errorCode }, { 401, "INVALID_SESSION_ID" })
  same(#force.versions() > 0, true)
end)

tests.test_misuse_names_the_function_and_the_argument = case(function()
  harness.raises("describe: argument 1 'sobjectType' must be a string, got nil", force.describe)
  harness.raises("create: argument 2 'data' must be a table, got string", force.create, "Account", "x")
  harness.raises("update: argument 2 'data.Id' must be a string, got nil", force.update, "Account", { Name = "x" })
  harness.raises("chatter: You must specify a path for the request", force.chatter, {})
  harness.raises("init: 'apiVersion' must look like v66.0, got 66", force.init, { apiVersion = "66" })
end)

tests.test_error_kinds_always_have_a_type = case(function()
  same(force.Error("text"), { type = "Error", message = "text" })
  local cache = force.StoreCache "fe_nowhere"
  local _, err = cache:retrieve "1"
  same(force.Error(err).type, "StoreError")
  _, err = tureen.await(tureen.network.sendRequest, { path = "https://127.0.0.1:1/", doesNotRequireAuthentication = true })
  same(force.Error(err).type, "NetworkError")
end)

harness.run(tests)
