import Foundation
import LuaBridge
import TestSupport
import Testing

/// Compares the string functions for scripts with limits with Lua's own.
@Suite struct PatternTests {
  /// Writes the results of find, match, gmatch and gsub for pseudorandom patterns with a fixed seed to the file `path`.
  private static let script = #"""
    local seed = 7
    local function random(n) seed = (seed * 1103515245 + 12345) % 2147483648 return (seed >> 8) % n + 1 end
    local atoms = {
      "a", "b", "c", ".", "%a", "%d", "%s", "%w", "[ab]", "[^a]", "[a-c]", "[%d_]", "[]a]", "[^]a]", "[a-]", "[-a]", "[%a-z]",
      "[a-%z]", "(a)", "(.)", "(b*)", "((a)b)", "()", "%1", "%2", "%b()", "%f[%w]", "%f[^a]", "$", "^", "-", "%.", "%%", "%-", "x",
      "_", "%A", "%S", "%W", "\0", "]", "+", "*", "?",
    }
    local repetitions = { "", "", "", "*", "+", "-", "?" }
    local bytes = { "a", "b", "c", "1", "2", " ", "(", ")", "_", "x", "-", "%", "]", "\0", "^", "$", "\xe9" }
    local replacements = { "x", "<%0>", "%1%%", "[%1]", "%2", "%", 5 }
    local function show(...)
      local values = table.pack(...)
      if values[1] == false then return "error " .. tostring(values[2]):gsub("^[^:]*:%d+: ", "") end
      for i = 1, values.n do values[i] = tostring(values[i]) end
      return table.concat(values, "|")
    end
    local out = assert(io.open(path, "w"))
    for _ = 1, 4000 do
      local pattern = random(8) == 1 and "^" or ""
      for _ = 1, random(6) do pattern = pattern .. atoms[random(#atoms)] .. repetitions[random(#repetitions)] end
      local parts = {}
      for i = 1, random(14) do parts[i] = bytes[random(#bytes)] end
      local text, init = table.concat(parts), random(6) == 1 and random(20) - 10 or nil
      local replacement, most = replacements[random(#replacements)], random(4) == 1 and random(3) or nil
      out:write(("%q %q %s\n"):format(pattern, text, tostring(init)),
        show(pcall(string.find, text, pattern, init)), "\n", show(pcall(string.match, text, pattern, init)), "\n",
        show(pcall(function()
          local found = {}
          for a, b in text:gmatch(pattern, init) do found[#found + 1] = show(a, b) end
          return table.concat(found, ";")
        end)), "\n", show(pcall(string.gsub, text, pattern, replacement, most)), "\n",
        show(pcall(string.gsub, text, pattern, function(a, b) return b or (a == "a" and 7) end)), "\n",
        show(pcall(string.gsub, text, pattern, { a = "A", b = false })), "\n",
        show(pcall(string.find, text, pattern, init, true)), "\n")
    end
    out:close()
    """#

  private func results(_ folder: TemporaryFolder, _ limits: ScriptLimits) throws -> [String] {
    let path = folder.path + "/results"
    let text = "local path = '\(path)'\n" + Self.script
    #expect(try ScriptState(host: FakeHost(), limits: limits).run(text: text) == .done)
    return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self).components(separatedBy: "\n")
  }

  @Test func patterns_underLimits_giveWhatLuasOwnFunctionsGive() throws {
    let folder = try TemporaryFolder()
    var limits = ScriptLimits()
    limits.instructions = 1_000_000_000
    let own = try results(folder, ScriptLimits()), limited = try results(folder, limits)
    #expect(own.count == limited.count && own.count > 28_000)
    let different = zip(own, limited).first { $0 != $1 }
    #expect(different == nil, "\(String(describing: different))")
  }

  @Test(arguments: [
    ("%", "ends with '%'"), ("[a", "missing ']'"), ("[a%", "missing ']'"), ("%b(", "%b"), ("%fa", "missing '['"),
    ("(a", "unfinished capture"), ("a)", "invalid pattern capture"), ("%1", "invalid capture index"),
    (String(repeating: "()", count: 33), "too many captures"), (String(repeating: "a?", count: 400), "too complex"),
  ])
  func pattern_wrong_isAnErrorThatSaysHow(pattern: String, message: String) throws {
    var limits = ScriptLimits()
    limits.isRestricted = true
    let outcome = try ScriptState(host: FakeHost(), limits: limits)
      .run(text: "string.match(('a'):rep(500), '\(pattern)')")
    guard case .failed(let text) = outcome else {
      Issue.record("got \(outcome)")
      return
    }
    #expect(text.contains(message), "got: \(text)")
  }
}
