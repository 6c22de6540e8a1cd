local tureen = require "tureen"
local harness = require "harness"
local force = require "tureen.force"
local optimistic = require "tureen.optimistic"
local support = require "force_support"

local case, same = harness.case, harness.same
local tests = {}

local function names(list)
  local result = {}
  for i, row in ipairs(list.rows) do result[i] = row.Name end
  return table.concat(result)
end

--- Returns a list of five rows. `answer(id)` answers its requests: nil means that the record is deleted, a table is the error.
local function list_of(answer, settings)
  settings = settings or {}
  settings.sobjectType, settings.records = "Contact", {}
  for name in ("ABCDE"):gmatch "." do table.insert(settings.records, { Id = name, Name = name }) end
  force.init { requestHandler = function(request)
    local err = answer(request.path:match "[^/]+$")
    if err then return nil, err end
    return "OK"
  end }
  return optimistic.list(settings)
end

--- Waits until all deletions are answered.
local function settle(list)
  while list.pending > 0 do tureen.sleep(1) end
  force.init()
end

--- Returns functions that hold requests: the request calls `wait(id)`, the test releases it with `answer(id)`.
local function gates()
  local waiting = {}
  local function wait(id) tureen.await(function(success) waiting[id] = success end) end
  local function answer(id)
    while not waiting[id] do tureen.sleep(0) end
    waiting[id]()
  end
  return wait, answer
end

local REFUSED = { status = 400, errors = { { message = "has cases", errorCode = "DELETE_FAILED" }, { message = "no" } } }

tests.test_row_is_gone_at_once_and_stays_gone = case(function()
  local changes = 0
  local list = list_of(function() end, { on_change = function() changes = changes + 1 end })
  same(list:delete(2), true)
  same({ names(list), list.pending, changes }, { "ACDE", 1, 1 })
  settle(list)
  same({ names(list), changes }, { "ACDE", 1 })
end)

tests.test_refused_row_is_back_where_it_was_with_the_first_message = case(function()
  local told
  local list = list_of(function() return REFUSED end, { on_failure = function(text, err, record)
    told = { text, err.status, record.Name }
  end })
  list:delete(3)
  same(names(list), "ABDE")
  settle(list)
  same({ names(list), told }, { "ABCDE", { "has cases", 400, "C" } })
end)

tests.test_failures_without_a_message_get_the_default_text = case(function()
  local cases = {
    { { code = "noResponse" }, "noResponse" }, { { status = 500, body = "" }, "emptyResponse" },
    { { status = 500 }, "emptyResponse" }, { { status = 502, body = "<html>" }, "undecodable" },
    { { status = 400, body = {}, errors = { { errorCode = "X" } } }, "refused" },
  }
  for _, row in ipairs(cases) do
    local told
    local list = list_of(function() return row[1] end, { on_failure = function(text, err)
      told = { text, optimistic.kind(err) }
    end })
    list:delete(1)
    settle(list)
    same({ names(list), told }, { "ABCDE", { "Failed to delete item", row[2] } })
  end
end)

tests.test_page_of_a_gateway_deletes_nothing = case(function()
  local cache = support.cache "fo_gateway"
  assert(cache:saveAll { { Id = "A", Name = "A" } })
  local told = {}
  local errors = {
    { status = 404, body = "<html>not here</html>", errors = tureen.array() }, { status = 200, code = "invalidBody", body = "" },
    { code = "badAnswer", body = "{}" },
  }
  for _, err in ipairs(errors) do
    local list = list_of(function() return err end, { cache = cache, on_failure = function(_, failure)
      told[#told + 1] = optimistic.describe(failure).kind
    end })
    list:delete(1)
    settle(list)
    same({ names(list), cache:retrieve("A").__local__ }, { "ABCDE", false })
  end
  same(told, { "undecodable", "emptyResponse", "undecodable" })
end)

tests.test_each_kind_of_failure_has_its_title_and_reason = case(function()
  local refused = optimistic.describe(REFUSED)
  same(refused, { kind = "refused", title = "Not deleted", message = "has cases", reason = "has cases" })
  local seen = {}
  for _, err in ipairs { { code = "noResponse" }, { status = 200, body = "" }, { status = 200, body = "<html>" } } do
    local described = optimistic.describe(err)
    same(described.message, "Failed to delete item")
    same(seen[described.title] or seen[described.reason], nil)
    seen[described.title], seen[described.reason] = true, true
  end
end)

tests.test_failure_that_nobody_takes_is_reported = case(function()
  local list = list_of(function() return REFUSED end)
  local reported
  local before = tureen.onerror
  tureen.onerror = function(err, traceback) reported = { err.status, traceback:find("called at", 1, true) ~= nil } end
  list:delete(1)
  settle(list)
  tureen.onerror = before
  same({ names(list), reported }, { "ABCDE", { 400, true } })
end)

tests.test_first_of_two_fails_after_the_second_succeeded = case(function()
  local wait, answer = gates()
  local list = list_of(function(id)
    wait(id)
    if id == "B" then return REFUSED end
  end, { on_failure = function() end })
  list:delete(2)
  list:delete(2)
  same({ names(list), list.pending }, { "ADE", 2 })
  answer "C"
  while list.pending > 1 do tureen.sleep(0) end
  answer "B"
  settle(list)
  same(names(list), "ABDE")
end)

tests.test_several_rows_come_back_in_their_old_order = case(function()
  local wait, answer = gates()
  local list = list_of(function(id)
    wait(id)
    return REFUSED
  end, { on_failure = function() end })
  for _, id in ipairs { "E", "B", "C" } do list:delete_id(id) end
  same(names(list), "AD")
  for left, id in ipairs { "C", "E", "B" } do
    answer(id)
    while list.pending > 3 - left do tureen.sleep(0) end
  end
  settle(list)
  same(names(list), "ABCDE")
end)

tests.test_second_delete_of_a_record_is_refused_and_404_is_success = case(function()
  local list = list_of(function() return { status = 404, errors = { { message = "gone", errorCode = "NOT_FOUND" } } } end)
  same({ list:delete_id "B", list:delete_id "B", list:delete(9) }, { true, false, false })
  settle(list)
  same(names(list), "ACDE")
end)

tests.test_record_is_marked_in_the_cache_until_the_answer = case(function()
  local cache = support.cache "fo_cache"
  assert(cache:saveAll { { Id = "A", Name = "A" }, { Id = "B", Name = "B" } })
  local seen = {}
  local list = list_of(function(id)
    seen[id] = cache:retrieve(id).__locally_deleted__
    if id == "B" then return REFUSED end
  end, { cache = cache, on_failure = function() end })
  list:delete(1)
  list:delete(1)
  settle(list)
  same(seen, { A = true, B = true })
  same({ cache:retrieve "A" == tureen.null, cache:retrieve("B").__local__ }, { true, false })
end)

tests.test_delete_on_the_server_with_callbacks = case(function()
  local contact = assert(force.create("Contact", { LastName = "Gone" })).id
  local list = optimistic.list {
    sobjectType = "Contact", records = { { Id = contact, Name = "x" }, { Id = "003000000000000AAA", Name = "y" } },
  }
  list:delete(1, harness.expect(), harness.never())
  settle(list)
  same({ names(list), #force.query("SELECT Id FROM Contact WHERE LastName = 'Gone'").records }, { "y", 0 })
end)

harness.run(tests)
