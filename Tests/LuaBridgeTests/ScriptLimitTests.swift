import LuaBridge
import TestSupport
import Testing

/// Tests scripts that try to continue after reaching a limit or to access functions that are not available to them.
@Suite struct ScriptLimitTests {
  private func run(_ text: String, _ change: (inout ScriptLimits) -> Void) throws -> ScriptState.Outcome {
    var limits = ScriptLimits()
    change(&limits)
    return try ScriptState(host: FakeHost(), limits: limits).run(text: text)
  }

  private func kind(_ outcome: ScriptState.Outcome) -> ScriptLimits.Kind? {
    if case .limitReached(let kind, _) = outcome { kind } else { nil }
  }

  /// Scripts that never end by themselves, one of each kind: a loop, one that catches errors, coroutines, a `__close`, a
  /// metamethod that a library function calls, a pattern, a task, a library function in C, the compiler, our own C code.
  ///
  /// A time limit ends a script where an instruction limit does, so the others run with the instruction limit alone, unless
  /// `TUREEN_CASES=all` is set.
  static let endlessOfEachKind: [String] = [
    "while true do end",
    "while true do pcall(function() while true do end end) end",
    "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end",
    "local x <close> = setmetatable({}, { __close = function() while true do end end }) while true do end",
    "local t = setmetatable({}, { __lt = function() while true do end end }) table.sort({ t, t, t })",
    "while true do pcall(string.find, ('a'):rep(60), ('.-'):rep(40) .. 'b') end",
    "require('tureen').async(function() while true do end end)",
    "while true do pcall(table.concat, setmetatable({}, { __index = function() return '' end }), '', 1, 1 << 40) end",
    """
    local n = 0
    load(function()
      n = n + 1
      return n == 1 and "if a then " or "elseif a then "
    end)
    """,
    "local j = require('tureen').json local s = '[' .. ('1,'):rep(1 << 18) .. '1]' while true do j.decode(s) end",
  ]
  static let endlessByTime: [String] = TestCases.all ? endless : endlessOfEachKind

  static let endless: [String] =
    endlessOfEachKind + [
      "local function f() return pcall(f) end f() local function g() pcall(g) pcall(g) end g()",
      "while true do coroutine.wrap(function() while true do pcall(error) end end)() end",
      "while true do local co = coroutine.create(function() for i = 1, 90 do end end) coroutine.resume(co) end",
      "xpcall(function() while true do end end, function() while true do end end) while true do end",
      "local function h() xpcall(error, h) while true do end end xpcall(error, h)",
      """
      coroutine.wrap(function()
        local x <close> = setmetatable({}, { __close = function() while true do end end })
        while true do end
      end)()
      """,
      """
      local co = coroutine.create(function()
        local x <close> = setmetatable({}, { __close = function() while true do end end })
        while true do end
      end)
      coroutine.resume(co)
      coroutine.close(co)
      """,
      "local t = setmetatable({}, { __index = function() while true do end end }) return t.x",
      "string.gsub('aaaa', 'a', function() while true do end end)",
      "load(function() while true do end end)",
      "error(setmetatable({}, { __tostring = function() while true do end end }))",
      """
      require('tureen').async(function()
        error(setmetatable({}, { __tostring = function() while true do end end }))
      end)
      """,
      "while true do pcall(string.gsub, ('a'):rep(100), ('a*'):rep(30) .. 'b', '') end",
      "for _ in (('a'):rep(60)):gmatch(('a?'):rep(60) .. ('a*'):rep(30) .. 'b') do end while true do end",
      "require('tureen').onerror = function() while true do end end require('tureen').async(error)",
      "local smartstore = require('tureen').smartstore smartstore.soupExists('s', function() while true do pcall(error) end end)",
      "local t = {} for _ = 1, 60 do t = { t, t } end while true do pcall(require('tureen').json.encode, t) end",
    ] + endlessInC

  /// Scripts that never end inside library functions, with metamethods and callbacks in C where possible.
  static let endlessInC = [
    """
    local function lying(n)
      return setmetatable({}, { __len = function() return n end, __index = math.max, __newindex = rawequal })
    end
    while true do pcall(table.insert, lying(1 << 24), 1, 1) pcall(table.insert, lying(1 << 60), 1, 1) end
    """,
    """
    local function lying(n)
      return setmetatable({}, { __len = function() return n end, __index = rawequal, __newindex = rawequal })
    end
    while true do pcall(table.remove, lying(1 << 24), 1) pcall(table.remove, lying(1 << 60), 1) end
    """,
    """
    local calls = 0
    local lying = setmetatable({}, {
      __len = function() calls = calls + 1 return calls % 2 == 1 and 0 or 1 << 40 end, __newindex = function() end,
    })
    while true do pcall(table.insert, lying, 1, 1) end
    """,
    "while true do pcall(table.concat, setmetatable({}, { __len = function() return 1 << 60 end, __index = string.len })) end",
    "while true do pcall(table.move, setmetatable({}, { __index = rawequal }), 1, 1 << 60, 2) end",
    "while true do pcall(table.unpack, setmetatable({}, { __index = rawequal }), 1, 900000) end",
    "local t = {} for i = 1, 1 << 16 do t[i] = i end while true do pcall(table.sort, t, rawequal) end",
    """
    local t = setmetatable({}, { __len = function() return (1 << 31) - 2 end, __index = rawequal, __newindex = rawequal })
    while true do pcall(table.sort, t, rawequal) end
    """,
    "local t = { 'return a' } for i = 2, 400000 do t[i] = ' or a' end while true do load(table.concat(t)) end",
    "local s = ('x'):rep(1 << 20) while true do s:upper() s:reverse() s:byte(1, 100000) local _ = ('%q'):format(s), utf8.len(s) end",
    "local s = (' '):rep(1 << 20) while true do tonumber(s) pcall(string.pack, s) pcall(string.packsize, s) os.date(s) end",
    "local s, r = ('a'):rep(1 << 16), ('%0'):rep(1 << 12) while true do s:gsub('.', r) end",
    "local s = ('a'):rep(1 << 20) while true do s:find(('a'):rep(1 << 19) .. 'b', 1, true) end",
    "local p = ('[%a-z]'):rep(1 << 14) while true do pcall(string.find, 'x', p) end",
    "local a, b = ('\0'):rep(1 << 20), ('\0'):rep(1 << 20) .. 'x' while true do local _ = a < b end",
    "local s = (' '):rep(1 << 20) .. '1' while true do local _ = s + 1 end",
    "local t = {} for i = 1, 1 << 16 do t[i] = {} end while true do collectgarbage() end",
    "local t = {} for i = 1, 1 << 20 do t[i] = 1 end for i = 1, 1 << 20 do t[i] = nil end while true do next(t) end",
    "local j = require('tureen').json local s = (' '):rep(1 << 20) while true do j.decode(s) end",
    "local t = {} for i = 1, 1990 do t = setmetatable({}, { __index = t }) end while true do local _ = t.a end",
  ]

  @Test(arguments: endlessByTime)
  func script_withoutEnd_isEndedByTheTimeLimit(text: String) throws {
    #expect(try kind(run(text) { $0.timeMs = 100 }) == .time)
  }

  @Test(arguments: endless)
  func script_withoutEnd_isEndedByTheInstructionLimit(text: String) throws {
    #expect(
      try kind(
        run(text) {
          $0.instructions = 200_000
          $0.isRestricted = true
        }) == .instructions)
  }

  @Test(arguments: [
    "local t = {} while true do t[#t + 1] = {} end", "while true do pcall(string.rep, 'x', 1 << 30) end",
    "local s = 'x' while true do pcall(function() s = s .. s end) end",
    "local t = {} while true do t[#t + 1] = coroutine.create(print) end",
    "local t = {} for _ = 1, 60 do t = { t, t } end while true do pcall(require('tureen').json.encode, t) end",
    "local t = {} while true do t[#t + 1] = load('return ' .. #t) end",
  ])
  func script_thatGrows_isEndedByTheMemoryLimit(text: String) throws {
    #expect(try kind(run(text) { $0.memory = 2_000_000 }) == .memory)
  }

  /// Each script reaches the limit once, in a way that it can catch, and would then have a visible effect.
  @Test(arguments: [
    "pcall(string.rep, 'x', 1 << 26)",
    "pcall(function() local t = {} for i = 1, 1 << 24 do t[i] = i end end)",
    "xpcall(string.rep, function(m) went_on() return m end, 'x', 1 << 26)",
    "coroutine.resume(coroutine.create(function() return ('x'):rep(1 << 26) end))",
    "pcall(coroutine.wrap(function() local t = {} while true do t[#t + 1] = {} end end))",
    "load(function() return ('x'):rep(1 << 26) end)",
    "local x <close> = setmetatable({}, { __close = function() went_on() end }) print((('x'):rep(1 << 26)))",
    "pcall(string.gsub, ('x'):rep(1 << 19), 'x', ('y'):rep(1000))",
    """
    local t = {}
    for i = 1, 300 do t[i] = ('x'):rep(1000) end
    pcall(function() while true do t = { table.concat(t), table.concat(t) } end end)
    """,
    "pcall(require('tureen').json.encode, { ('x'):rep(900000), ('y'):rep(900000) })",
    "require('tureen').async(function() local t = {} while true do t[#t + 1] = {} end end)",
    """
    require('tureen').smartstore.soupExists('s', function() local t = {} while true do t[#t + 1] = {} end end)
    require('tureen').run()
    """,
  ])
  func memoryLimit_reachedAndCaught_isTheEndAllTheSame(text: String) throws {
    let host = FakeHost()
    var limits = ScriptLimits()
    limits.memory = 2_000_000
    let state = try ScriptState(host: host, limits: limits)
    let outcome = state.run(
      text: """
        local tureen = require "tureen"
        function went_on() tureen.smartstore.removeSoup("went on") end
        \(text)
        went_on()
        """)
    state.close()
    #expect(kind(outcome) == .memory, "\(outcome)")
    #expect(!host.log.contains { $0.contains("went on") }, "\(host.log)")
  }

  @Test func restrictedScript_withoutAMemoryLimit_hasOneAllTheSame() throws {
    #expect(try kind(run("while true do pcall(string.rep, 'x', 1 << 30) end") { $0.isRestricted = true }) == .memory)
  }

  /// coroutine.close catches the errors of `__close`, but not a limit.
  @Test func close_thatReachesALimit_doesNotGoOn() throws {
    let host = FakeHost()
    var limits = ScriptLimits()
    limits.instructions = 1_000_000
    let state = try ScriptState(host: host, limits: limits)
    let outcome = state.run(
      text: """
        local smartstore = require("tureen").smartstore
        local endless = setmetatable({}, { __close = function() while true do end end })
        local co = coroutine.create(function() local x <close> = endless coroutine.yield() end)
        coroutine.resume(co)
        smartstore.removeSoup("before")
        coroutine.close(co)
        smartstore.removeSoup("went on")
        """)
    state.close()
    #expect(kind(outcome) == .instructions)
    #expect(host.log.contains { $0.contains("before") } && !host.log.contains { $0.contains("went on") }, "\(host.log)")
  }

  @Test func otherCoroutines_afterALimit_doNotGoOn() throws {
    let outcome = try run(
      """
      local others = {}
      for i = 1, 100 do
        others[i] = coroutine.create(function() coroutine.yield() for _ = 1, 300 do end went_on = true end)
        coroutine.resume(others[i])
      end
      local first = coroutine.create(function() while true do end end)
      coroutine.resume(first)
      for i = 1, 100 do coroutine.resume(others[i]) end
      require('tureen').async(error)
      """
    ) { $0.instructions = 1_000_000 }
    #expect(kind(outcome) == .instructions)
  }

  /// Assertions about library functions, mainly the replaced ones. They hold in stock Lua, too.
  static let ordinaryUse = """
      do
        local u = { 1, 2, 3 }
        assert(table.remove(u, 1) == 1 and #u == 2 and u[1] == 2 and table.remove(u) == 3 and table.remove(u) == 2)
        assert(table.remove(u) == nil and table.remove(u, 0) == nil and table.remove(u, 1) == nil)
        assert(table.remove({ 1, 2 }, 3) == nil and not pcall(table.remove, { 1, 2 }, 0) and not pcall(table.remove, { 1, 2 }, 4))
        assert(not pcall(table.remove, {}, -1) and not pcall(table.insert, u, 5, 1) and not pcall(table.insert, u, 1, 1, 1))
        assert(not pcall(table.insert, u) and not pcall(table.insert, 1, 1) and not pcall(table.concat, { 1, {} }))
        assert(table.concat({ 1, 2, "x" }, ", ") == "1, 2, x" and table.concat({}, "x") == "")
        assert(table.concat({ 1, 2, 3 }, "-", 2, 3) == "2-3" and table.concat({ 1 }, "-", 2, 1) == "")
        local m, z = table.move({ 1, 2, 3 }, 2, 3, 1), { 9, 9 }
        assert(m[1] == 2 and m[2] == 3 and m[3] == 3 and table.move({ 1 }, 1, 1, 3, z) == z and z[3] == 1)
        m = table.move({ 1, 2, 3 }, 1, 2, 2)
        assert(m[1] == 1 and m[2] == 1 and m[3] == 2 and not pcall(table.move, {}, 1, 2))
        assert(select("#", table.unpack({}, 1, 3)) == 3 and select("#", table.unpack({ 1, 2 })) == 2)
        assert(table.unpack({ 1, 2 }, 2) == 2 and select("#", table.unpack({}, 2, 1)) == 0)
        assert(not pcall(table.unpack, {}, 1, 1e8))
        local s = { 3, 1, 2 }
        table.sort(s)
        assert(table.concat(s) == "123")
        table.sort(s, function(a, b) return a > b end)
        assert(table.concat(s) == "321")
        table.sort(s, math.ult)
        assert(table.concat(s) == "123" and not pcall(table.sort, s, 1) and not pcall(table.sort, { 1, "x" }))
        assert(select("#", pcall(function(...) return ... end, 1, nil, nil)) == 4)
        assert(select("#", xpcall(function(...) return ... end, print, 1, nil, nil)) == 4 and not pcall(pcall))
        assert(select(2, xpcall(error, function(e) return e .. "!" end, "x")) == "x!" and not pcall(xpcall, print))
        local n, parts = 0, { "return ", "1", "+", "2" }
        assert(load(function() n = n + 1 return parts[n] end)() == 3 and load("return ...")(4) == 4)
        assert(load("return a", "c", "t", { a = 5 })() == 5 and not pcall(load) and load("a =") == nil)
        assert(select(2, load("x =", "=n")):find("^n:1:") and select(2, load(function() error("no") end)):find("no"))
        assert(load(function() return {} end) == nil and coroutine.wrap(function(...) return select("#", ...) end)(1, nil) == 2)
        assert(not pcall(coroutine.create) and not pcall(coroutine.resume, 1) and not pcall(error, "not enough memory"))
        assert(coroutine.close(coroutine.create(print)) and ("x"):rep(3) == "xxx" and ("x"):rep(-1) == "")
      end
    """

  @Test func stockLua_agreesWithTheOrdinaryUse() throws {
    #expect(try ScriptState(host: FakeHost()).run(text: Self.ordinaryUse) == .done)
  }

  @Test func script_belowItsLimits_runsAsEver() throws {
    let outcome = try run(
      """
      local tureen = require "tureen"
      local co = coroutine.wrap(function(a, b)
        local c = coroutine.yield(a + b)
        error("c is " .. c)
      end)
      assert(co(1, 2) == 3)
      local ok, err = pcall(co, 5)
      assert(not ok and err:find("c is 5"), err)
      assert(not pcall(co))
      local inner = coroutine.wrap(function()
        return xpcall(function() coroutine.yield(1) error("late", 0) end, function(m) return "handled " .. m end)
      end)
      assert(inner() == 1)
      local passed, message = inner()
      assert(passed == false and message == "handled late")
      local t = { 1, 2, 3 }
      table.insert(t, 4) table.remove(t, 1) table.move(t, 1, 3, 2)
      \(Self.ordinaryUse)
      assert(#t == 4 and ("ab"):rep(2, "-") == "ab-ab" and (""):rep(1 << 60) == "")
      tureen.async(function() assert(tureen.await(tureen.smartstore.soupExists, "s")) end)
      assert(tureen.run())
      """
    ) {
      $0.memory = 50_000_000
      $0.instructions = 50_000_000
      $0.timeMs = 600_000
      $0.isRestricted = true
    }
    #expect(outcome == .done)
  }

  /// Each script returns true if the access is refused.
  @Test(arguments: [
    "return io == nil and debug == nil and package == nil and dofile == nil and loadfile == nil and string.dump == nil",
    "for name in pairs(os) do assert(({ clock = 1, date = 1, difftime = 1, time = 1 })[name], name) end return true",
    "return require('os') == os and not pcall(require, 'io') and not pcall(require, 'debug') and not pcall(require, 'lfs')",
    "return load('\\27Lua') == nil and load('\\27Lua', 'x', 'b') == nil and load('return 1', 'x', 'bt')() == 1",
    "return load('return a', 'x', 't', { a = 2 })() == 2 and load('return a', 'x', 't', nil) ~= nil",
    "return not pcall(setmetatable, {}, { __gc = print })",
    "local t = require 'tureen' return getmetatable(t.array {}) == false",
    """
    local t = require 'tureen'
    local _, err = t.json.decode('{')
    return getmetatable(err) == false and tostring(err):find('not JSON') ~= nil
    """,
    "local ok, err = pcall(require('tureen').configure, { home = '/tmp' }) return not ok and err.code == 'restricted'",
  ])
  func restrictedScript_findsTheWayClosed(text: String) throws {
    let outcome = try run("assert((function() \(text) end)() == true)") {
      $0.isRestricted = true
      $0.timeMs = 600_000
    }
    #expect(outcome == .done)
  }

  @Test func unrestrictedScriptWithLimits_cannotTakeTheHookAway() throws {
    let outcome = try run("pcall(debug.sethook) pcall(debug.sethook, nil, '', 0) while true do end") { $0.instructions = 100_000 }
    #expect(kind(outcome) == .instructions)
  }

  @Test func binaryChunk_asARestrictedScript_isNotRun() throws {
    let outcome = try run("\u{1B}Lua") { $0.isRestricted = true }
    guard case .notRunnable(let message) = outcome else {
      Issue.record("got \(outcome)")
      return
    }
    #expect(message.contains("binary"))
  }

  @Test func state_afterALimit_stillClosesTheHost() throws {
    let host = FakeHost()
    var limits = ScriptLimits()
    limits.instructions = 10_000
    let script = try ScriptState(host: host, limits: limits)
    #expect(kind(script.run(text: "while true do end")) == .instructions)
    #expect(kind(script.run(text: "return 1")) == .instructions, "a second script of the state has nothing left")
    script.close()
    #expect(host.shutdowns == 1)
  }
}
