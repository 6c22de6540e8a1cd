import Foundation
import TestSupport
import Testing

/// Tests that control sequences from servers do not reach a terminal: at the prompt and from `exec`, on a terminal and in a pipe.
@Suite struct TerminalSafetyTests {
  /// Control sequences: an ANSI color, a C1 control that clears the screen, bell and delete, a mark that changes the writing
  /// direction.
  private static let commands = ["\u{1b}[31mEVIL", "\u{9b}2JEVIL", "\u{7}\u{7f}EVIL", "\u{202e}EVIL"]
  /// The same sequences in JSON, as a server may send them: escaped if JSON requires it, else raw.
  private static let inJSON = #""\u001b[31mEVIL","# + "\"\u{9b}2JEVIL\",\"\\u0007\u{7f}EVIL\",\"\u{202e}EVIL\""

  /// Answers `/good` with the sequences in keys, values and records, `/bad` with an error that has them in code and message.
  private static func org() throws -> ScriptedServer {
    try ScriptedServer { request in
      if let token = PagedOrg.token(request) { return token }
      if request.path.hasSuffix("/bad") { return .restError(400, #"BAD\u001b[35mEVIL"#, "\\u001b[31mEVIL\u{9b}2J\u{7f}") }
      return .json(#"{"list":[\#(inJSON)],"\u001b[1mEVIL":{"Name":"\u001b]0;EVIL\u0007"},"records":[{"Id":"\u001b[2JEVIL"}]}"#)
    }
  }

  private static func environment(of org: ScriptedServer) -> [String: String] {
    [
      "TUREEN_ORG": org.url, "TUREEN_CLIENT_ID": "c", "TUREEN_CLIENT_SECRET": "s", "TUREEN_USERNAME": "u",
      "TUREEN_PASSWORD": "p", "NO_COLOR": "1",
    ]
  }

  /// Returns the control characters in a text except line breaks and tabs, after removing the program's own sequences.
  private func commands(in text: String, besides own: [String] = []) -> [String] {
    let rest = own.reduce(text) { $0.replacingOccurrences(of: $1, with: "", options: .regularExpression) }
    return rest.unicodeScalars.filter {
      ($0.value < 0x20 && ![9, 10, 13].contains($0.value)) || (0x7F..<0xA0).contains($0.value) || $0.value == 0x202E
    }.map { String($0.value, radix: 16) }
  }

  // MARK: The prompt

  private static let statements = [
    "await(network.sendRequest, '/services/data', '/good')", "await(network.sendRequest, '/services/data', '/bad')",
    "local _, err = await(network.sendRequest, '/services/data', '/bad') error(err)",
    "local _, err = await(network.sendRequest, '/services/data', '/bad') error(err.message)",
    "local _, err = await(network.sendRequest, '/services/data', '/bad') error({ text = err.message })",
    "(await(network.sendRequest, '/services/data', '/good')).records",
    "for key in pairs(await(network.sendRequest, '/services/data', '/good')) do if key:find('EVIL') then error(key) end end",
    "network.sendRequest('/services/data', '/good', function(r) error(r.list[1]) end)",
    "network.sendRequest('/services/data', '/bad')",
  ]

  @Test(arguments: statements)
  func repl_pipedAnswerWithCommands_isShownEscaped(statement: String) async throws {
    let place = try Workplace(), org = try Self.org()
    let input = try place.write(statement + "\n", to: "input.lua")
    let ended = try await Child(
      Built.tureen, ["repl", "--home", place.home], environment: Self.environment(of: org), in: place.path, input: input
    ).ended()
    #expect((ended.output + ended.errors).contains("EVIL"), "the answer is shown: \(ended)")
    #expect((ended.output + ended.errors).contains(#"\x1B["#) || statement.contains("key"), "\(ended)")
    #expect(commands(in: ended.output) == [] && commands(in: ended.errors) == [], "\(ended)")
  }

  @Test func repl_terminal_isNotCommandedByAnswers() async throws {
    let place = try Workplace(), org = try Self.org()
    let repl = try Child(
      Built.tureen, ["repl", "--home", place.home], environment: Self.environment(of: org), in: place.path, terminal: Terminal())
    #expect(await repl.prints("> "))
    for (number, statement) in Self.statements.enumerated() {
      // Wait for the end of each statement by a word that is not part of the typed text.
      repl.type(statement + "\r")
      repl.type("print('end ' .. \(number))\r")
      #expect(await repl.prints("end \(number)\r\n"), "\(statement)")
    }
    repl.type("\u{4}")
    let ended = await repl.ended()
    #expect(ended.status == 0)
    for evil in ["[31mEVIL", "[35mEVIL", "[1mEVIL", "[2JEVIL", "]0;EVIL"] {
      #expect(!ended.output.contains("\u{1b}" + evil), "\(evil)")
    }
    #expect(ended.output.contains(#"\x1B[31mEVIL"#))
    #expect(!ended.output.unicodeScalars.contains { (0x7F..<0xA0).contains($0.value) || $0.value == 0x202E })
  }

  // MARK: exec

  @Test(arguments: [[], ["--json"]])
  func exec_answersWithCommandsOnATerminal_areShownEscaped(options: [String]) async throws {
    let place = try Workplace(), org = try Self.org()
    for (path, status) in [("/good", 0), ("/bad", 1)] as [(String, Int32)] {
      let request = #"{"path":"/services/data\#(path)"}"#
      let arguments = ["exec", "--home", place.home] + options + ["network", "pgSendRequest", request]
      let child = try Child(
        Built.tureen, arguments, environment: Self.environment(of: org), in: place.path, terminal: Terminal())
      let ended = await child.ended()
      #expect(ended.status == status, "\(ended)")
      #expect(ended.output.contains("EVIL"))
      #expect(commands(in: ended.output) == [], "\(ended)")
    }
  }

  /// A program that reads the result gets unescaped JSON, but errors on a terminal are escaped even then.
  @Test(arguments: [[], ["--json"]])
  func exec_inAPipe_isJSONOfTheSameValueAndErrorsAreEscaped(options: [String]) async throws {
    let place = try Workplace(), org = try Self.org()
    let call = ["exec", "--home", place.home] + options + ["network", "pgSendRequest"]
    let good = try await place.run(
      Built.tureen, call + [#"{"path":"/services/data/good"}"#], environment: Self.environment(of: org))
    let value = try JSONSerialization.jsonObject(with: Data(good.output.utf8)) as? [String: Any]
    #expect(value?["list"] as? [String] == Self.commands)
    #expect(!good.output.utf8.contains(0x1B) && commands(in: good.errors) == [])
    let environment = Self.environment(of: org), request = #"{"path":"/services/data/bad"}"#
    let bad = try await place.run(Built.tureen, call + [request], environment: environment)
    #expect(bad.status == 1 && bad.errors.contains("EVIL") && commands(in: bad.errors) == [], "\(bad)")
  }
}
