--- Tests plug-ins that a script adds: calls, answers, progress, cancellation, errors, specs, events.
local tureen = require "tureen"
local harness = require "harness"
local same, raises, expect, never, case = harness.same, harness.raises, harness.expect, harness.never, harness.case
local await = tureen.await

local tests = {}

--- Returns a plug-in that is removed at the end of the block.
local function plugin(name, actions, spec)
  local made = tureen.plugin(name, actions, spec)
  return setmetatable({ plugin = made }, { __close = function() made:unregister() end })
end

local function failing(service, action, args)
  local value, err = await(tureen.service(service)[action], args)
  same(value, nil)
  return err
end

tests.test_action_answers_through_its_callback = case(function()
  local _ <close> = plugin("com.acme.printer", { print = function(args, success) success { pages = args.pages } end })
  same(await(tureen.service("com.acme.printer").print, { pages = 2 }), { pages = 2 })
end)

function tests.test_exec_calls_it_like_our_own()
  local made = tureen.plugin("com.acme.printer", { print = function(args, success) success(args) end })
  tureen.exec(expect(function(payload)
    same(payload, { a = { tureen.null, 1, "x" } })
    made:unregister()
  end), never "the error", "com.acme.printer", "print", { a = { tureen.null, 1, "x" } })
end

tests.test_action_answers_by_returning = case(function()
  local _ <close> = plugin("com.acme.printer", {
    status = function() return "ready" end,
    no = function() return false end,
    fails = function() return nil, { domain = "printer", code = "empty", message = "no paper", retryable = true, tray = 2 } end,
  })
  local printer = tureen.service "com.acme.printer"
  same(await(printer.status), "ready")
  same(await(printer.no), false)
  local err = failing("com.acme.printer", "fails")
  same({ err.domain, err.code, err.message, err.retryable, err.tray }, { "printer", "empty", "no paper", true, 2 })
  same(err.source, "com.acme.printer:fails")
end)

tests.test_errors_without_parts_are_filled = case(function()
  local _ <close> = plugin("com.acme.printer", {
    text = function(_, _, failure) failure "jammed" end,
    none = function(_, _, failure) failure() end,
    raises = function() error "broken" end,
    raises_table = function() error { domain = "printer", code = "hot", message = "too hot", inner = print } end,
  })
  local err = failing("com.acme.printer", "text")
  same({ err.domain, err.code, err.message, err.retryable }, { "com.acme.printer", "failed", "jammed", false })
  same(failing("com.acme.printer", "none").message, "the plug-in gave no reason")
  err = failing("com.acme.printer", "raises")
  same({ err.domain, err.code }, { "bridge", "raised" })
  assert(err.message:find "broken", err.message)
  same(failing("com.acme.printer", "raises_table").domain, "bridge")
end)

tests.test_action_that_takes_no_callbacks_and_returns_nothing_answers_null = case(function()
  local printed = 0
  local function count() printed = printed + 1 end
  local kept
  local _ <close> = plugin("com.acme.printer", {
    none = function() count() end,
    args = function(_) count() end,
    waits = function(_) tureen.sleep(0) count() end,
    returns_nil = function(_) count() return nil end,
    -- These can still answer through a callback.
    success = function(_, success) kept = success end,
    any = function(...) kept = select(2, ...) end,
  })
  local printer = tureen.service "com.acme.printer"
  for _, action in ipairs { "none", "args", "waits", "returns_nil" } do
    same({ await(printer[action], {}) }, { tureen.null }, action)
  end
  same(printed, 4)
  for _, action in ipairs { "success", "any" } do
    local task = tureen.async(function() return await(printer[action], {}) end)
    kept = nil
    while not kept do tureen.sleep(0) end
    tureen.sleep(0)
    same(task:status(), "running", action)
    kept(action)
    same(await(task), action)
  end
end)

tests.test_error_whose_text_raises_is_still_an_answer = case(function()
  local function bad() return setmetatable({}, { __tostring = function() error "inner" end }) end
  local _ <close> = plugin("com.acme.printer", {
    raises = function() error(bad()) end,
    returns = function() return nil, bad() end,
  })
  same(failing("com.acme.printer", "raises").code, "raised")
  same(failing("com.acme.printer", "returns").code, "failed")
end)

tests.test_action_awaits_before_it_answers = case(function()
  local _ <close> = plugin("com.acme.printer", {
    slow = function(args, success)
      tureen.sleep(1)
      success(await(tureen.service("com.acme.printer").fast, args))
    end,
    fast = function(args) return args.n + 1 end,
  })
  same(await(tureen.service("com.acme.printer").slow, { n = 1 }), 2)
end)

tests.test_action_answers_long_after_it_returned = case(function()
  local held
  local _ <close> = plugin("com.acme.printer", { print = function(_, success) held = success end })
  local task = tureen.async(function() return await(tureen.service("com.acme.printer").print) end)
  while not held do tureen.sleep(0) end
  same(task:status(), "running")
  same(held "done", true)
  same(await(task), "done")
end)

tests.test_second_and_late_answers_are_dropped = case(function()
  local callbacks
  local _ <close> = plugin("com.acme.printer", {
    print = function(_, success, failure, progress)
      callbacks = { success, failure, progress }
      same(success(1), true)
      same(success(2), false)
      same(failure "late", false)
      return 3
    end,
  })
  same(await(tureen.service("com.acme.printer").print), 1)
  for _, callback in ipairs(callbacks) do same(callback "later", false) end
end)

tests.test_progress_reaches_the_caller = case(function()
  local seen, synced = {}, 0
  local _ <close> = plugin("com.acme.printer", {
    print = function(_, success, _, progress)
      for page = 1, 3 do
        same(progress { page = page }, true)
        while #seen < page do tureen.sleep(0) end
      end
      success "printed"
    end,
  })
  local function listener() synced = synced + 1 end
  tureen.on("sync", listener)
  same(await(tureen.service("com.acme.printer").print, {}, function(value) seen[#seen + 1] = value.page end), "printed")
  tureen.off("sync", listener)
  same(seen, { 1, 2, 3 })
  same(synced, 0, "a plug-in's progress is no sync")
end)

tests.test_progress_between_two_polls_is_the_latest = case(function()
  local _ <close> = plugin("com.acme.printer", {
    print = function(_, success, _, progress)
      for page = 1, 3 do progress(page) end
      success "printed"
    end,
  })
  local seen = {}
  same(await(tureen.service("com.acme.printer").print, nil, function(page) seen[#seen + 1] = page end), "printed")
  same(seen, { 3 })
end)

function tests.test_service_functions_take_callbacks()
  local made = tureen.plugin("com.acme.printer", {
    print = function(args, success, failure, progress)
      progress(1)
      if args.jam then failure "jammed" else success(args.pages or 0) end
    end,
  })
  local printer = tureen.service "com.acme.printer"
  local id = printer.print({ pages = 3 }, expect(function(n) same(n, 3) end), never "the error", expect())
  same(tostring(id):match "^call %d+, not awaited$" ~= nil, true)
  printer.print(expect(function(n) same(n, 0) end), never "the error")
  printer.print({ jam = true }, never "the answer", expect(function(err)
    same(err.message, "jammed")
    made:unregister()
  end))
  raises("print: argument 1 'args' must be a table, got string", printer.print, "x")
  raises("print: argument 2 'success' must be a function, got number", printer.print, {}, 1)
  raises("print: argument 4 'progress' must be a function, got boolean", printer.print, {}, nil, nil, true)
end

tests.test_cancel_reaches_an_action_that_awaits = case(function()
  local reason
  local _ <close> = plugin("com.acme.printer", {
    print = function(_, _, failure)
      local _, err = tureen.sleep(60000)
      reason = err.code
      failure(err)
    end,
  })
  local id, ended
  id = tureen.service("com.acme.printer").print({}, never "the answer", function(err) ended = err.code end)
  tureen.sleep(1)
  tureen.cancel(id)
  while not ended do tureen.sleep(1) end
  same({ reason, ended }, { "cancelled", "cancelled" })
end)

tests.test_cancel_reaches_an_action_that_waits_for_a_callback = case(function()
  local told = {}
  local _ <close> = plugin("com.acme.printer", {
    asks = function(_, success, _, _, call)
      call.oncancel = function(given)
        told = { given == call, given.cancelled, given.action }
        success "stopped at page 2"
      end
    end,
    silent = function(_, _) end,
  })
  for action, wanted in pairs { asks = "stopped at page 2", silent = "cancelled" } do
    local ended
    local id = tureen.service("com.acme.printer")[action]({},
      function(value) ended = value end, function(err) ended = err.code end)
    tureen.sleep(1)
    tureen.cancel(id)
    while not ended do tureen.sleep(1) end
    same(ended, wanted, action)
  end
  same(told, { true, true, "asks" })
end)

tests.test_unknown_names_are_answered = case(function()
  local _ <close> = plugin("com.acme.printer", { print = function() return 1 end })
  local err = failing("com.acme.printer", "prnt")
  same({ err.code, err.message }, { "unknownAction", "unknown action 'prnt' of service 'com.acme.printer'" })
  err = failing("com.acme.prnter", "print")
  same({ err.code, err.message },
    { "unknownService", "unknown service 'com.acme.prnter'; did you mean 'com.acme.printer'?" })
end)

tests.test_unregistered_is_unknown_and_the_name_is_free = case(function()
  local first = tureen.plugin("com.acme.printer", { print = function() return 1 end })
  raises("plugin: service 'com.acme.printer' is registered already", tureen.plugin, "com.acme.printer", {})
  local pending = tureen.async(function() return await(tureen.service("com.acme.printer").print) end)
  first:unregister()
  first:unregister()
  local _, err = await(pending)
  same({ err.code, err.message }, { "unknownService", "the plug-in was unregistered before it got the call" })
  same(failing("com.acme.printer", "print").code, "unknownService")
  local _ <close> = plugin("com.acme.printer", { print = function() return 2 end })
  same(await(tureen.service("com.acme.printer").print), 2)
end)

function tests.test_names_that_are_refused()
  local rule = " must be letters, digits and '_', in at least two parts with '.' between them, and not start with "
    .. "'com.salesforce.' or 'tureen.': for example com.acme.printer"
  for _, name in ipairs { "", "printer", "com..acme", ".acme", "com.acme.", "com.ac me", "com.acmé.x", "com.acme.a-b",
    "com.salesforce.smartstore", "com.salesforce.new", "tureen.keyvalue" } do
    raises(("plugin: service '%s'%s"):format(name, rule), tureen.plugin, name, {})
  end
  raises("plugin: argument 1 'name' must be a string, got nil", tureen.plugin)
  raises("plugin: argument 2 'actions' must be a table of functions, got nil", tureen.plugin, "com.acme.x")
  raises("plugin: argument 2 'actions' must contain functions by name, got number under 'a'", tureen.plugin, "com.acme.x",
    { a = 1 })
  raises("plugin: argument 3 'spec' must be a table, got number", tureen.plugin, "com.acme.x", {}, 1)
  raises("service: argument 1 'name' must be a string, got nil", tureen.service)
end

local SPEC = {
  service = "com.acme.printer", summary = "Prints.",
  types = { margin = { meaning = "a margin", fields = { top = { type = "number", required = true } } } },
  actions = {
    print = {
      summary = "Prints pages.",
      arguments = {
        pages = { type = "integer", required = true }, title = { type = "string" },
        margin = { type = "margin" }, tags = { type = "array", elements = "string" },
      },
      result = { type = "integer" },
    },
  },
}

tests.test_spec_answers_wrong_arguments_before_the_plugin_hears = case(function()
  local calls = 0
  local _ <close> = plugin("com.acme.printer", {
    print = function(args)
      calls = calls + 1
      return args
    end,
    hidden = function() return 1 end,
  }, SPEC)
  local wrong = {
    { {}, "argument 'pages' is missing, expected an integer" },
    { { pages = "2" }, "argument 'pages' must be an integer, got string" },
    { { pages = 1, titel = "x" }, "argument 'titel' is not known here; did you mean 'title'?" },
    { { pages = 1, margin = { top = "x" } }, "argument 'margin.top' must be a number, got string" },
    { { pages = 1, tags = { 1 } }, "argument 'tags[1]' must be a string, got number" },
  }
  for _, entry in ipairs(wrong) do
    local err = failing("com.acme.printer", "print", entry[1])
    same({ err.domain .. "/" .. err.code, err.message }, { "bridge/invalidArguments", entry[2] })
  end
  same(calls, 0)
  same(failing("com.acme.printer", "hidden").code, "unknownAction")
  local good = await(tureen.service("com.acme.printer").print, { pages = 2.0, tags = {}, margin = { top = 1.5 } })
  same(good, { pages = 2, tags = tureen.array(), margin = { top = 1.5 } })
end)

function tests.test_spec_that_is_wrong_is_refused()
  local function refused(message, spec) raises("plugin: " .. message, tureen.plugin, "com.acme.x", {}, spec) end
  refused("spec: 'service' must be 'com.acme.x', the name that is registered", { service = "com.acme.y", actions = {} })
  refused("spec.actions must be an object, got null", { summary = "x" })
  refused("spec: the key 'action' is not known here; did you mean 'actions'?", { action = {} })
  refused("spec.actions.a.arguments.b: the type 'int' is unknown; known: any, boolean, fieldlist, integer, number, string, "
    .. "object, array", { actions = { a = { arguments = { b = { type = "int" } } } } })
  refused("spec.actions.a.arguments.b: 'elements' is missing", { actions = { a = { arguments = { b = { type = "array" } } } } })
  refused("spec.actions.a.oneOf names 'c', which is not an argument", { actions = { a = { oneOf = { "c" } } } })
end

tests.test_answer_without_a_json_form_is_an_error = case(function()
  local heard
  local _ <close> = plugin("com.acme.printer", {
    print = function(_, success) heard = select(2, pcall(success, { a = print })) end,
  })
  local err = failing("com.acme.printer", "print")
  same(err.domain .. "/" .. err.code, "bridge/invalidArguments")
  assert(err.message:find("the plug-in's answer: success: value.a", 1, true), err.message)
  same(heard.code, "invalidArguments")
end)

tests.test_sdkinfo_names_it = case(function()
  local function is_named()
    for _, name in ipairs(await(tureen.sdkinfo.getInfo).forcePluginsAvailable) do
      if name == "com.acme.printer" then return true end
    end
    return false
  end
  same(is_named(), false)
  local made = tureen.plugin("com.acme.printer", {})
  same(is_named(), true)
  made:unregister()
  same(is_named(), false)
end)

function tests.test_emit_tells_listeners_at_the_next_poll()
  local detail
  local function listener(event) detail = event.detail end
  tureen.document.addEventListener("com.acme.printer.jammed", listener)
  tureen.emit("com.acme.printer.jammed", { tray = 2 })
  same(detail, nil)
  tureen.run()
  same(detail, { tray = 2 })
  tureen.emit "com.acme.printer.jammed"
  tureen.run()
  same(detail, tureen.null)
  tureen.document.removeEventListener("com.acme.printer.jammed", listener)
  for _, name in ipairs { "sync", "tureen.x", "com.salesforce.x", "a..b", "com.a b" } do
    raises(("emit: argument 1 'name' must be a reverse-DNS name such as com.acme.printer.jammed, got '%s'"):format(name),
      tureen.emit, name)
  end
end

tests.test_a_service_of_our_own_is_called_by_name = case(function()
  local store = tureen.service "com.salesforce.smartstore"
  same(await(store.pgSoupExists, { soupName = "s" }).action, "pgSoupExists")
  local down = await(tureen.service("com.salesforce.mobilesync").syncDown,
    { soupName = "s", target = { type = "soql", query = "q" }, options = { mergeMode = "OVERWRITE" } })
  same(down.status, "DONE")
end)

tests.test_many_calls_leave_memory_flat = case(function()
  local _ <close> = plugin("com.acme.printer", { print = function(_, success) success(1) end })
  local print_page = tureen.service("com.acme.printer").print
  local function pages(count) for _ = 1, count do await(print_page) end end
  pages(2000)
  collectgarbage()
  local before = collectgarbage "count"
  pages(5000)
  collectgarbage()
  assert(collectgarbage "count" < before + 64, ("%.0f KB more"):format(collectgarbage "count" - before))
end)

harness.run(tests)
