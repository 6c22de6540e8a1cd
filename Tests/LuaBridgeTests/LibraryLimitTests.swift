import LuaBridge
import TestSupport
import Testing

/// Calls each library function whose work can be made arbitrarily long in an endless loop, which a limit must end. The test of a
/// function that no limit ends would not terminate.
@Suite struct LibraryLimitTests {
  /// One of each kind. A time limit ends a call where an instruction limit does, so the others run with the instruction limit
  /// alone, unless `TUREEN_CASES=all` is set.
  static let ofEachKind = [
    "string.rep('', 1 << 60)",
    "string.format(('%d'):rep(1 << 12), table.unpack({}, 1, 1 << 12))",
    "string.gsub(LONG, '(.-)(.-)(.-)b', '%3%2%1')",
    "string.find(LONG, '.-b')",
    "table.concat({}, '', 1, 1 << 60)",
    "table.sort(BYTES, rawequal)",
    "utf8.len(LONG)",
    "collectgarbage()",
    "load(function() return 'a = 1 ' end)",
    "require('tureen').json.decode(('['):rep(1 << 16))",
  ]
  static let strings = [
    "string.rep('x', 1 << 60)", "string.rep('', 1 << 60, '')", "string.rep('x', 1 << 40, 'y')",
    "string.rep(('x'):rep(1 << 20), 200)", "string.rep(('x'):rep(1 << 20), 1 << 43)", "string.rep('x', math.maxinteger)",
    "string.format('%99999d', 1)", "string.format('%99.99f', 1e308)", "string.format('%.99999f', 1)",
    "string.format(('%99.99f'):rep(1 << 10), table.unpack(LARGE, 1, 1 << 10))", "string.format(('%%'):rep(1 << 18))",
    "string.format('%s', setmetatable({}, { __tostring = function() return LONG end }))", "string.format('%q', LONG)",
    "string.format('%-99s|%99s', LONG, LONG)",
    "string.gsub(LONG, '', '')", "string.gsub(LONG, '.', '%0%0%0%0')", "string.gsub(LONG, 'a*', {})",
    "string.gsub(LONG, '%f[%a]', '')",
    "string.gsub(('a'):rep(200), ('a?'):rep(100) .. ('a'):rep(100) .. 'b', '')",
    "string.find(LONG, ('a-'):rep(20) .. 'b')", "string.find(LONG, '(a*)%1b')",
    "string.find(('('):rep(1 << 16), '%b()')", "string.find(LONG, '%f[%d]')",
    "string.find(LONG, ('a'):rep(1 << 15) .. 'b', 1, true)",
    "string.find(LONG, ('['):rep(1 << 16))", "string.find(LONG, ('%a'):rep(1 << 16))", "string.find(LONG, ('(a'):rep(40))",
    "string.match(LONG, '((a*)b)')", "string.match(('ab'):rep(1 << 15), '(.*)%1c')", "string.match(LONG, '^(a-)-$')",
    "(function() for _ in string.gmatch(LONG, '()') do end end)()",
    "(function() for _ in string.gmatch(LONG, '.-b') do end end)()",
    "string.byte(LONG, 1, -1)", "string.char(table.unpack(BYTES))", "string.sub(LONG, 2)", "string.lower(LONG)",
    "string.upper(LONG)",
    "string.reverse(LONG)", "string.len(LONG)", "string.pack(LONG)",
    "string.pack(('s'):rep(1 << 10), table.unpack(TEXTS, 1, 1 << 10))",
    "string.packsize(('i16'):rep(1 << 15))", "string.unpack(('B'):rep(1 << 16), LONG)",
    "string.unpack('!16' .. (' '):rep(1 << 16), LONG)",
    "string.dump(print)", "LONG .. LONG", "LONG < LONG .. 'b'", "LONG == LONG:sub(2) .. 'a'", "(' '):rep(1 << 16) .. '1' + 1",
  ]
  static let tables = [
    "table.unpack({}, 1, 900000)", "table.unpack({}, 1, 1 << 60)", "table.unpack({}, math.mininteger, math.maxinteger)",
    "table.unpack(setmetatable({}, { __len = function() return 900000 end, __index = rawequal }))",
    "table.pack(table.unpack(BYTES))", "table.concat(TEXTS, LONG)",
    "table.insert({}, 1 << 60, 1)",
    "table.move(BYTES, 1, 1 << 60, 2)", "table.sort(BYTES, function() return true end)",
    "select('#', table.unpack(BYTES))", "select(-1, table.unpack(BYTES))", "next(BYTES)", "#BYTES", "rawlen(LONG)",
    "rawequal(LONG, LONG)",
  ]
  static let rest = [
    "utf8.len(LONG, 1, -1, true)", "utf8.codepoint(LONG, 1, -1)", "utf8.char(table.unpack(BYTES))",
    "utf8.offset(LONG, 1 << 15)", "utf8.offset(LONG, -(1 << 15))", "utf8.offset(LONG, math.mininteger)",
    "utf8.offset(LONG, 1 << 60)",
    "utf8.offset(('\\x80'):rep(1 << 16), 0, 1 << 16)", "(function() for _ in utf8.codes(LONG) do end end)()",
    "math.tointeger((' '):rep(1 << 16))", "tonumber((' '):rep(1 << 16))", "tonumber(LONG, 36)", "tonumber('0x' .. LONG)",
    "tostring(setmetatable({}, { __name = LONG }))", "error(LONG)", "assert(false, LONG)", "pcall(pcall, pcall, error)",
    "collectgarbage('step', 1 << 30)", "collectgarbage('generational')", "os.date(('%%'):rep(1 << 15))",
    "os.date(('%c'):rep(1 << 12))", "os.time({ year = 1 << 60 })", "os.clock()", "print == nil or type(LONG)",
    "load(function() return LONG end)", "load(function() return '' end and '')",
    "load(('a = 1 '):rep(1 << 14))", "load('return ' .. ('('):rep(1 << 16))", "load('return ' .. ('{'):rep(1 << 16))",
    "load('return ' .. ('1'):rep(1 << 16))", "load('return ' .. ('-'):rep(1 << 16) .. ' 1')", "load('return \"' .. LONG .. '\"')",
    "load('if a then ' .. ('elseif a then '):rep(1 << 12) .. 'end')", "load(('do goto x end '):rep(1 << 12) .. '::x::')",
    "load('return ' .. ('a .. '):rep(1 << 12) .. 'a')", "load('--[' .. ('='):rep(1 << 16) .. '[')",
    "load(('local a '):rep(1 << 12))",
    "load('\\27Lua')", "load(LONG, LONG)",
    "(function() local function f(n) return coroutine.wrap(function() return f(n + 1) end)() end f(1) end)()",
    """
    (function()
      local f = type
      for _ = 1, 150 do local g = f f = function(...) return coroutine.wrap(function(...) return g(...) end)(...) end end
      f(1)
    end)()
    """,
    "coroutine.wrap(function(...) coroutine.yield(...) end)(table.unpack(BYTES))",
    "coroutine.resume(coroutine.create(error), LONG)",
    "coroutine.close(coroutine.create(type))", "coroutine.wrap(coroutine.wrap)(coroutine.wrap)", "coroutine.running()",
    "require('tureen').json.decode('\"' .. LONG .. '\"')",
    "require('tureen').json.decode('1' .. ('0'):rep(1 << 16))", "require('tureen').json.encode(BYTES)",
    "require('tureen').json.encode(LONG)", "require('tureen').network.bytes({ encodedBody = LONG })", "require(LONG)",
  ]

  /// Returns a script that creates the shared values within the limit and then repeats the expression forever.
  private static func endless(_ expression: String) -> String {
    """
    local LONG, BYTES, TEXTS, LARGE = ('a'):rep(1 << 16), {}, {}, {}
    for i = 1, 1 << 13 do BYTES[i], TEXTS[i], LARGE[i] = i % 128, 'text', 1e308 end
    while true do pcall(function() return \(expression) end) end
    """
  }

  private func limit(_ text: String, _ change: (inout ScriptLimits) -> Void) throws -> ScriptLimits.Kind? {
    var limits = ScriptLimits()
    limits.isRestricted = true
    change(&limits)
    guard case .limitReached(let kind, _) = try ScriptState(host: FakeHost(), limits: limits).run(text: text) else { return nil }
    return kind
  }

  @Test(arguments: ofEachKind + strings + tables + rest)
  func libraryFunction_calledWithoutEnd_isEndedByTheInstructionLimit(expression: String) throws {
    // An expression that needs too much memory is ended by the memory limit.
    let reached = try limit(Self.endless(expression)) { $0.instructions = 1_000_000 }
    #expect(reached == .instructions || (reached == .memory && expression.contains("<<")), "\(String(describing: reached))")
  }

  @Test(arguments: TestCases.all ? ofEachKind + strings + tables + rest : ofEachKind)
  func libraryFunction_calledWithoutEnd_isEndedByTheTimeLimit(expression: String) throws {
    let reached = try limit(Self.endless(expression)) { $0.timeMs = 50 }
    #expect(reached == .time || (reached == .memory && expression.contains("<<")), "\(String(describing: reached))")
  }

  @Test(arguments: [
    "io", "debug", "package", "dofile", "loadfile", "os.execute", "os.remove", "os.rename", "os.tmpname", "os.exit",
    "os.getenv", "os.setlocale", "string.dump",
  ])
  func restrictedScript_hasNoWayToTheSystem(name: String) throws {
    var limits = ScriptLimits()
    limits.isRestricted = true
    let outcome = try ScriptState(host: FakeHost(), limits: limits).run(text: "assert(\(name) == nil)")
    #expect(outcome == .done)
  }
}
