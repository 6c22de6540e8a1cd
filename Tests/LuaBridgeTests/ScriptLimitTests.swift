import LuaBridge
import Testing

/// Scripts that try to go on after their limit, or to get at what they are not given.
@Suite struct ScriptLimitTests {
  private func run(_ text: String, _ change: (inout ScriptLimits) -> Void) throws -> ScriptState.Outcome {
    var limits = ScriptLimits()
    change(&limits)
    return try ScriptState(host: FakeHost(), limits: limits).run(text: text)
  }

  private func kind(_ outcome: ScriptState.Outcome) -> ScriptLimits.Kind? {
    if case .limitReached(let kind, _) = outcome { kind } else { nil }
  }

  /// Each runs for ever unless something ends it.
  static let endless = [
    "while true do end",
    "while true do pcall(function() while true do end end) end",
    "local function f() return pcall(f) end f() local function g() pcall(g) pcall(g) end g()",
    "while true do coroutine.wrap(function() while true do pcall(error) end end)() end",
    "while true do local co = coroutine.create(function() for i = 1, 90 do end end) coroutine.resume(co) end",
    "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end",
    "xpcall(function() while true do end end, function() while true do end end) while true do end",
    "local function h() xpcall(error, h) while true do end end xpcall(error, h)",
    "local x <close> = setmetatable({}, { __close = function() while true do end end }) while true do end",
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
    "local t = setmetatable({}, { __lt = function() while true do end end }) table.sort({ t, t, t })",
    "string.gsub('aaaa', 'a', function() while true do end end)",
    "load(function() while true do end end)",
    "error(setmetatable({}, { __tostring = function() while true do end end }))",
    """
    require('tureen').async(function()
      error(setmetatable({}, { __tostring = function() while true do end end }))
    end)
    """,
    "while true do pcall(string.find, ('a'):rep(60), ('.-'):rep(40) .. 'b') end",
    "while true do pcall(string.gsub, ('a'):rep(100), ('a*'):rep(30) .. 'b', '') end",
    "for _ in (('a'):rep(60)):gmatch(('a?'):rep(60) .. ('a*'):rep(30) .. 'b') do end while true do end",
    "require('tureen').onerror = function() while true do end end require('tureen').async(error)",
    "require('tureen').async(function() while true do end end)",
    "local smartstore = require('tureen').smartstore smartstore.soupExists('s', function() while true do pcall(error) end end)",
    "local t = {} for _ = 1, 60 do t = { t, t } end while true do pcall(require('tureen').json.encode, t) end",
  ]

  @Test(arguments: endless)
  func script_withoutEnd_isEndedByTheTimeLimit(text: String) throws {
    #expect(try kind(run(text) { $0.timeMs = 100 }) == .time)
  }

  @Test(arguments: endless.dropLast())
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
      assert(#t == 4 and ("ab"):rep(2, "-") == "ab-ab" and (""):rep(1 << 60) == "")
      tureen.async(function() assert(tureen.await(tureen.smartstore.soupExists, "s")) end)
      assert(tureen.run())
      """
    ) {
      $0.memory = 50_000_000
      $0.instructions = 50_000_000
      $0.timeMs = 60_000
      $0.isRestricted = true
    }
    #expect(outcome == .done)
  }

  /// Each returns true when the way is closed.
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
    "return not pcall(table.move, {}, 1, 1 << 60, 2)",
    "return not pcall(table.insert, setmetatable({}, { __len = function() return 1 << 60 end }), 1, 1)",
    "return not pcall(table.remove, setmetatable({}, { __len = function() return 1 << 60 end }), 1)",
  ])
  func restrictedScript_findsTheWayClosed(text: String) throws {
    let outcome = try run("assert((function() \(text) end)() == true)") {
      $0.isRestricted = true
      $0.timeMs = 10_000
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
