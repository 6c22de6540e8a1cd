--- Tests when callbacks run, how often, and how their errors are reported.
--- Syncs of the suite's host run through the steps in their target; those named "held" wait for `release`.
local tureen = require "tureen"
local harness = require "harness"
local same, raises, expect, never = harness.same, harness.raises, harness.expect, harness.never
local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync

local tests = {}

local function steps(...) return { steps = { ... } } end

--- Lets the held sync run these steps.
local function release(...) smartstore.reIndexSoup("release", { ... }) end

--- Waits until the store's queue is empty and all its answers are in the mailbox, because a call for all stores runs last.
local function settle()
  local done = false
  smartstore.getAllStores(function() done = true end)
  while not done do tureen.poll(1000) end
end

function tests.test_callbacks_never_run_inside_exec()
  local inside = true
  smartstore.soupExists("s", expect(function() same(inside, false) end))
  tureen.exec(never(), expect(function() same(inside, false) end), "no.service", "x", {})
  inside = false
end

function tests.test_callbacks_run_on_the_main_state()
  local co = coroutine.wrap(function()
    local done = false
    smartstore.soupExists("s", expect(function()
      local _, is_main = coroutine.running()
      same(is_main, true)
      done = true
    end))
    while not done do tureen.poll(1000) end
    return "finished"
  end)
  same(co(), "finished")
end

function tests.test_keys_of_the_models_libraries_are_taken()
  local spec = { name = "s", features = {} }
  tureen.exec(expect(), never(), "com.salesforce.smartstore", "pgRegisterSoup",
    { soupName = "s", indexes = { { path = "a", type = "string" } }, soupSpec = spec, isGlobalStore = false })
  -- The suite's host has no accounts, which it reports after checking the arguments.
  local function no_accounts(err) same(err.message, "this host has no accounts") end
  tureen.exec(never(), expect(no_accounts), "com.salesforce.sfaccountmanager", "switchToUser",
    { userId = "u", orgId = "o", username = "x", loginServer = "https://example.org" })
end

function tests.test_unknown_names_and_bad_arguments_fail()
  local function code(wanted, message)
    return never(), expect(function(err)
      same(err.domain .. "/" .. err.code, "bridge/" .. wanted)
      same(err.message, message)
      same(err.retryable, false)
      same(tostring(err), message)
    end)
  end
  local function exec(wanted, message, ...)
    local success, failure = code(wanted, message)
    tureen.exec(success, failure, ...)
  end
  local store = "com.salesforce.smartstore"
  exec("unknownService", "unknown service 'com.salesforce.smartstroe'; did you mean 'com.salesforce.smartstore'?",
    "com.salesforce.smartstroe", "z", {})
  exec("unknownService", "unknown service 'x.y'", "x.y", "z", {})
  exec("unknownAction", "unknown action 'querySoup' of service '" .. store .. "'; did you mean 'pgQuerySoup'?", store,
    "querySoup", {})
  exec("unknownAction", "unknown action 'reSnc' of service 'com.salesforce.mobilesync'; did you mean 'reSync'?",
    "com.salesforce.mobilesync", "reSnc", {})
  exec("invalidArguments", "argument 'soupName' is missing, expected a string", store, "pgSoupExists", {})
  exec("invalidArguments", "argument 'soupName' must be a string, got number", store, "pgSoupExists", { soupName = 1 })
  exec("invalidArguments", "argument 'isGlobalStore' must be a boolean, got string", store, "pgSoupExists",
    { soupName = "s", isGlobalStore = "x" })
  exec("invalidArguments", "argument 'indexes[2].type' is missing, expected a string", store, "pgRegisterSoup",
    { soupName = "s", indexes = { { path = "a", type = "string" }, { path = "b" } } })
  exec("invalidArguments", "argument 'storename' is not known here; did you mean 'storeName'?", store, "pgSoupExists",
    { soupName = "s", storename = "mine" })
  exec("invalidArguments", "argument 'colour' is not known here; known: isGlobalStore, storeName, soupName", store,
    "pgSoupExists", { soupName = "s", colour = "red" })
  exec("invalidArguments", "argument 'colour' is not known here; the action takes no arguments", store, "pgGetAllStores",
    { colour = "red" })
  exec("invalidArguments", "argument 'entryIds' is missing, expected it or 'querySpec'", store, "pgRemoveFromSoup",
    { soupName = "s" })
  exec("invalidArguments", "Neither syncId nor syncName were specified", "com.salesforce.mobilesync", "reSync",
    { syncId = tureen.null, syncName = tureen.null })
end

function tests.test_exec_takes_the_plugins_argument_list()
  local function check(echo) same(echo.arguments, { soupName = "s" }) end
  local service, action = "com.salesforce.smartstore", "pgSoupExists"
  tureen.exec(expect(check), never(), service, action, { "pluginSDKVersion:14.0.0", { soupName = "s" } })
  tureen.exec(expect(check), never(), service, action, { { soupName = "s" } })
  tureen.exec(expect(), never(), "com.salesforce.smartstore", "pgGetAllStores", { "pluginSDKVersion:14.0.0" })
  tureen.exec(expect(), never(), "com.salesforce.smartstore", "pgGetAllStores")
end

function tests.test_exec_misuse_raises()
  raises("exec: argument 1 'success' must be a function, got string", tureen.exec, "x", nil, "s", "a", {})
  raises("exec: argument 3 'service' must be a string, got nil", tureen.exec, nil, nil, nil, "a", {})
  raises("exec: argument 5 'args' must be a table, got number", tureen.exec, nil, nil, "s", "a", 3)
  raises("exec: args.x[2] is a function, which JSON cannot hold", tureen.exec, nil, nil, "s", "a", { x = { 1, print } })
  same(tureen.pending(), 0)
end

function tests.test_answers_of_a_store_come_in_call_order()
  local order = {}
  for i = 1, 50 do
    local function note() order[#order + 1] = i end
    if i % 3 == 0 then smartstore.soupExists("fail", nil, expect(note))
    else smartstore.soupExists("s", expect(note)) end
  end
  tureen.run()
  for i = 1, 50 do same(order[i], i) end
end

function tests.test_host_errors_reach_the_script_with_their_details()
  smartstore.soupExists("fail", never(), expect(function(err)
    same(err.domain .. "/" .. err.code, "store/noSuchSoup")
    same(err.retryable, true)
    same(err.hint, { "x" })
    same(err.source, "com.salesforce.smartstore:pgSoupExists")
    same(tostring(err), "no soup named 'fail'")
  end))
  smartstore.soupExists("garbage", never(), expect(function(err) same(err.code, "internal") end))
  smartstore.soupExists("unknown error", never(), expect(function(err) same(err.code, "internal") end))
end

function tests.test_callbacks_are_optional()
  smartstore.soupExists("s")
  smartstore.soupExists("s", nil, never())
  mobilesync.syncDown(steps("RUNNING", "DONE"), "s", {})
end

--- Runs `begin` and the calls that it starts; returns the uncaught errors with their tracebacks.
local function uncaught(begin)
  local reports = {}
  tureen.onerror = function(err, traceback) reports[#reports + 1] = { err = err, traceback = traceback } end
  begin()
  same(tureen.run(), true)
  return reports
end

function tests.test_failure_without_an_error_callback_is_reported_once()
  local line
  local reports = uncaught(function()
    line = debug.getinfo(1, "l").currentline + 1
    smartstore.soupExists("fail")
    smartstore.soupExists("fail", never(), nil)
    tureen.exec(nil, nil, "no.service", "x", {})
    mobilesync.syncUp("s", { fieldlist = { "Name" } }, "fails-after-start", function() end)
    smartstore.moveCursorToNextPage({ cursorId = 1, currentPageIndex = 0, totalPages = 1 }, never())
  end)
  local codes = {}
  for i, report in ipairs(reports) do codes[i] = report.err.code end
  table.sort(codes)
  same(codes, { "noSuchPage", "noSuchSoup", "noSuchSoup", "serverError", "unknownService" })
  local wanted = ("in com.salesforce.smartstore:pgSoupExists, called at %s:%d without an error callback"):format(
    debug.getinfo(1, "S").short_src, line)
  local found = false
  for _, report in ipairs(reports) do found = found or report.traceback == wanted end
  same(found, true, wanted)
end

function tests.test_failure_of_a_call_that_the_script_gave_up_is_no_error()
  local reports = uncaught(function()
    local id = smartstore.soupExists("fail")
    tureen.cancel(id)
  end)
  same(#reports, 0)
end

function tests.test_raising_callback_disturbs_nobody_and_is_reported_once()
  local reports, events = {}, {}
  tureen.onerror = function(err, traceback) reports[#reports + 1] = { err, traceback } end
  local function note(detail) events[#events + 1] = detail.error end
  tureen.on("uncaughtError", note)
  smartstore.soupExists("s", function() error("first", 0) end)
  smartstore.soupExists("s", function() error({ code = 2 }) end)
  smartstore.soupExists("fail", nil, function() error(nil) end)
  smartstore.soupExists("s", expect())
  same(tureen.run(), true)
  tureen.off("uncaughtError", note)
  same(#reports, 3)
  same(reports[1][1], "first")
  same(reports[1][2]:find("callbacks_test.lua", 1, true) ~= nil, true)
  same(reports[2][1].code, 2)
  same(events[1], "first")
end

function tests.test_callbacks_are_let_go_also_when_they_raise()
  tureen.onerror = function() end
  local kept = setmetatable({}, { __mode = "v" })
  do
    local big, other = {}, {}
    kept[1], kept[2] = big, other
    smartstore.soupExists("s", function() error(big) end, function() return other end)
  end
  tureen.run()
  collectgarbage()
  collectgarbage()
  same(kept[1], nil)
  same(kept[2], nil)
end

function tests.test_run_fails_once_after_a_default_report()
  same(tureen.run(), true)
  raises("tureen.onerror must be a function, got number", function() tureen.onerror = 1 end)
end

function tests.test_poll_inside_a_callback_is_misuse()
  smartstore.soupExists("s", expect(function()
    raises("poll: must not be called from a callback that poll is running", tureen.poll)
    raises("run: must not be called from a callback that poll is running", tureen.run)
  end))
end

function tests.test_poll_arguments()
  local message = "poll: argument 1 'timeoutMs' must be a number, 0 or more, got "
  raises(message .. "string", tureen.poll, "1")
  raises(message .. "-1", tureen.poll, -1)
  raises(message .. tostring(0 / 0), tureen.poll, 0 / 0)
  same(tureen.poll(), 0)
  same(tureen.poll(0.5), 0)
end

function tests.test_sync_success_at_every_change_and_an_event_after_each()
  local log = {}
  local function on_sync(event)
    same(event.type, "sync")
    log[#log + 1] = "event " .. event.detail.status .. " " .. event.detail.storeName
    same(event.detail.isGlobalStore, true)
  end
  tureen.document.addEventListener("sync", on_sync)
  mobilesync.syncDown({ isGlobalStore = true, storeName = "g" }, steps("RUNNING", "DONE:100"), "s", {}, "one",
    expect(function(state) log[#log + 1] = state.status .. " " .. state.progress end, 2), never())
  tureen.run()
  tureen.document.removeEventListener("sync", on_sync)
  same(log, { "RUNNING 0", "event RUNNING g", "DONE 100", "event DONE g" })
end

function tests.test_listener_that_the_callback_of_the_end_adds_gets_the_next_run_only()
  local seen, removed = {}, 0
  local function on_sync(event) seen[#seen + 1] = event.detail.name .. " " .. event.detail.status end
  local function on_removed() removed = removed + 1 end
  tureen.on("sync", on_removed)
  mobilesync.syncDown(steps("RUNNING", "DONE:100"), "s", {}, "first", expect(function(state)
    if state.status ~= "DONE" then return end
    tureen.document.addEventListener("sync", on_sync)
    tureen.off("sync", on_removed)
  end, 2), never())
  tureen.run()
  same(seen, {})
  same(removed, 1)
  mobilesync.syncDown(steps("RUNNING", "DONE:100"), "s", {}, "second", expect(nil, 2), never())
  tureen.run()
  tureen.document.removeEventListener("sync", on_sync)
  same(seen, { "second RUNNING", "second DONE" })
end

function tests.test_sync_progress_may_be_coalesced_but_start_and_end_are_not()
  local seen = {}
  mobilesync.syncDown(steps("RUNNING:0", "RUNNING:10", "RUNNING:20", "RUNNING:30", "DONE:100", "RUNNING:99"), "s", {},
    function(state)
      same(seen[#seen] == nil or seen[#seen] < state.progress, true)
      seen[#seen + 1] = state.progress
    end)
  settle()
  same(seen[1], 0)
  same(seen[#seen], 100)
end

function tests.test_progress_of_a_held_sync_is_delivered_as_it_comes()
  local seen = {}
  mobilesync.syncDown(steps(), "s", {}, "held", expect(function(state) seen[#seen + 1] = state.progress end, 4))
  settle()
  release("RUNNING:0")
  settle()
  release("RUNNING:50")
  settle()
  release("RUNNING:60")
  settle()
  same(seen, { 0, 50, 60 })
  same(tureen.pending(), 1)
  release("DONE:100")
end

function tests.test_failed_sync_calls_error_once_with_its_state()
  local statuses = {}
  local function note(detail) statuses[#statuses + 1] = detail.status end
  tureen.on("sync", note)
  mobilesync.syncUp("s", { fieldlist = { "Name" } }, "fails-after-start", expect(function(state)
    same(state.status, "RUNNING")
  end), expect(function(err)
    same(err.code, "serverError")
    same(err.source, "com.salesforce.mobilesync:syncUp")
    same(err.sync.status, "FAILED")
  end))
  tureen.run()
  tureen.off("sync", note)
  same(statuses, { "RUNNING", "FAILED" })
end

function tests.test_sync_that_cannot_start_calls_error_only()
  mobilesync.reSync("unknown", never(), expect(function(err) same(err.code, "noSuchSync") end))
  mobilesync.reSync("dropped", never(), expect(function(err) same(err.code, "abandoned") end))
end

function tests.test_listener_added_in_the_success_callback_sees_the_end()
  local statuses = {}
  local function listener(event)
    statuses[#statuses + 1] = event.detail.status
  end
  local added = false
  mobilesync.syncDown(steps("RUNNING", "DONE"), "s", {}, function()
    if not added then tureen.document.addEventListener("sync", listener) end
    added = true
  end)
  tureen.run()
  tureen.document.removeEventListener("sync", listener)
  same(statuses, { "RUNNING", "DONE" })
end

function tests.test_listeners_run_in_order_and_additions_wait()
  local log = {}
  local function late() log[#log + 1] = "late" end
  local function second() log[#log + 1] = "second" end
  local function gone() log[#log + 1] = "gone" end
  local function first()
    log[#log + 1] = "first"
    tureen.on("sync", late)
    tureen.off("sync", gone)
  end
  tureen.once("sync", first)
  tureen.on("sync", second)
  tureen.on("sync", gone)
  mobilesync.syncDown(steps("RUNNING", "DONE"), "s", {})
  tureen.run()
  tureen.off("sync", second)
  tureen.off("sync", late)
  same(log, { "first", "second", "second", "late" })
end

function tests.test_listener_added_twice_is_called_once()
  local listener = expect(nil, 2)
  tureen.document.addEventListener("sync", listener)
  tureen.document.addEventListener("sync", listener)
  mobilesync.syncDown(steps("RUNNING", "DONE"), "s", {})
  tureen.run()
  tureen.document.removeEventListener("sync", listener)
  mobilesync.syncDown(steps("RUNNING", "DONE"), "s", {})
end

function tests.test_deviceready_is_told_to_whoever_asks()
  tureen.document.addEventListener("deviceready", expect(function(event) same(event.type, "deviceready") end))
  tureen.once("deviceready", expect())
  raises("addEventListener: argument 2 'listener' must be a function, got nil",
    tureen.document.addEventListener, "sync")
  raises("on: argument 1 'type' must be a string, got number", tureen.on, 1, print)
end

function tests.test_configure()
  tureen.configure { home = "/somewhere" }
  local ok, err = pcall(tureen.configure, { colour = "red" })
  same(ok, false)
  same(err.message, "unknown setting 'colour'")
  raises("configure: argument 1 'options' must be a table, got nil", tureen.configure)
end

-- What a script may do with the value of a call that it did not await, and the reading of each.
local USES = {
  sum = function(call) return call + 1 end, product = function(call) return 2 * call end,
  difference = function(call) return call - 1 end, quotient = function(call) return call / 2 end,
  whole = function(call) return call // 2 end, rest = function(call) return call % 2 end,
  power = function(call) return call ^ 2 end,
  negative = function(call) return -call end, text = function(call) return "rows: " .. call end,
  before = function(call) return call .. " rows" end, number = function(call) return call .. 1 end,
  less = function(call) return call < 5 end, more = function(call) return 5 < call end,
  at_most = function(call) return call <= 5 end, calls = function(call) return call < call end,
  size = function(call) return #call end, field = function(call) return call.currentPageOrderedEntries end,
  element = function(call) return call[1] end, assignment = function(call) call.Name = "x" end,
  bits = function(call) return call & 1 end, either = function(call) return call | 1 end,
  one_of = function(call) return call ~ 1 end, shift = function(call) return call << 1 end,
  flipped = function(call) return ~call end, invocation = function(call) return call() end,
  walk = function(call) for _ in pairs(call) do error "walked" end end,
  list = function(call) for _ in ipairs(call) do error "walked" end end,
}

function tests.test_call_without_await_is_no_answer()
  for name, use in pairs(USES) do
    local call = smartstore.soupExists("s", expect(function() end), never "error")
    local id = tostring(call):match "^call (%d+), not awaited$"
    same(id ~= nil, true, tostring(call))
    raises(("soupExists was called without await: this is call %s, not its answer; write await(soupExists, ...) in a task, or "
      .. "pass a function that gets the answer"):format(id), function() use(call) end)
    same(call == true or call == 5, false, name)
  end
  tureen.run()
end

function tests.test_every_function_of_the_modules_returns_its_call()
  local cursor = { cursorId = 7, currentPageIndex = 1, pageSize = 10, totalPages = 3 }
  local function nothing() end
  local made = {
    smartstore.registerSoup("s", {}, nothing, nothing), smartstore.closeCursor(cursor, nothing, nothing),
    smartstore.moveCursorToNextPage(cursor, nothing, nothing), smartstore.moveCursorToPreviousPage(cursor, nothing, nothing),
    smartstore.moveCursorToPageIndex(cursor, 1, nothing, nothing), mobilesync.getConflicts(nothing, nothing),
    mobilesync.stop(nothing, nothing),
    tureen.service("tureen.keyvalue").kvKeys({ storeName = "s" }, nothing, nothing),
  }
  same(#made, 8)
  for i, call in ipairs(made) do same(tostring(call):find "^call %d+, not awaited$" ~= nil, true, "function " .. i) end
  raises("exec: args.entries is a call without await, not its answer", tureen.exec, nothing, nothing,
    "com.salesforce.smartstore", "pgUpsertSoupEntries", { soupName = "s", entries = made[1] })
  local raw = tureen.exec(nothing, nothing, "com.salesforce.smartstore", "pgSoupExists", { soupName = "s" })
  same(math.type(raw), "integer")
  for _, call in ipairs(made) do tureen.cancel(call) end
  tureen.run()
end

harness.run(tests)
