import JSON
import TestSupport
import Testing
import Tureen

@testable import LuaBridge

/// Calls nobody would write, through the real bridge to real stores and a server: each has to end with an answer or an error that
/// can be read. What traps ends the process, and the test with it.
///
/// How long they go on: ``FuzzSettings``. A failure names the seed and the round.
@Suite(.serialized) struct BridgeFuzzTests {
  /// Runs rounds of calls on a bridge of its own for every thousand of them, on a thread of its own.
  private func fuzz(
    _ name: String, usual: Int, _ call: @escaping @Sendable (inout FuzzValues) -> (service: String, action: String, JSONObject)
  ) async throws {
    let server = try ScriptedServer(handler: { Self.answer($0) })
    let counts: [String: Int] = try await withCheckedThrowingContinuation { done in
      Thread.start { done.resume(with: Result { try Self.rounds(name, usual, server, call) }) }
    }
    print("fuzzed \(name): \(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))")
    #expect(counts.values.reduce(0, +) > 0)
  }

  private static func rounds(
    _ name: String, _ usual: Int, _ server: ScriptedServer,
    _ call: (inout FuzzValues) -> (service: String, action: String, JSONObject)
  ) throws -> [String: Int] {
    var values = FuzzValues(random: SeededGenerator(state: FuzzSettings.seed)), counts: [String: Int] = [:], round = 0
    let start = ContinuousClock.now
    while FuzzSettings.goesOn(round, usual: usual, since: start) {
      let folder = try TemporaryFolder(), bridge = try Bridge(host: host(in: folder, server))
      repeat {
        let (service, action, arguments) = call(&values)
        let comment = Comment(
          rawValue: "seed \(FuzzSettings.seed), round \(round): \(service) \(action) \(arguments.text.prefix(2000))")
        switch bridge.perform(service: service, action: action, arguments: arguments) {
        case .success(let text):
          #expect((try? JSONValue(parsing: text)) != nil, comment)
          counts["answers", default: 0] += 1
        case .failure(let text):
          let error = try? JSONValue(parsing: text)
          #expect(error?["domain"]?.stringValue != nil && error?["message"]?.stringValue != nil, comment)
          #expect(error?["code"]?.stringValue != "internal", comment)
          counts["\(error?["domain"]?.stringValue ?? "?") errors", default: 0] += 1
        }
        round += 1
      } while round % 1000 != 0 && FuzzSettings.goesOn(round, usual: usual, since: start)
      bridge.close()
    }
    return counts
  }

  private static func host(in folder: TemporaryFolder, _ server: ScriptedServer) -> Host {
    var settings = HostSettings()
    settings.home = folder.path + "/home"
    settings.org = "sandbox"
    settings.embeddedSandbox = { _ in .clientCredentials(loginURL: server.url, clientId: "app", clientSecret: "s") }
    return Host(settings: settings)
  }

  /// What the server says follows from the path, so that a round can be repeated.
  private static func answer(_ request: RecordedRequest) -> ScriptedAnswer {
    guard request.path != "/services/oauth2/token" else {
      let url = "http://" + (request.header("Host") ?? "")
      return .json(#"{"access_token": "token-0123456789", "instance_url": "\#(url)", "id": "\#(url)/id/00D/005"}"#)
    }
    var values = FuzzValues(
      random: SeededGenerator(state: UInt64(truncatingIfNeeded: request.target.utf8.count) &+ FuzzSettings.seed))
    let statuses = [200, 200, 200, 201, 204, 300, 304, 400, 404]
    let status = values.pick(statuses)
    // A body where HTTP has none would be taken for the next answer.
    guard request.method != "HEAD", ![204, 304].contains(status) else { return ScriptedAnswer(status: status) }
    let body = values.pick([values.value(depth: 3).serialized(), Array("<html>".utf8), [], Array(values.text().utf8)])
    return ScriptedAnswer(
      status: status, headers: [("Content-Type", values.pick(["application/json", "text/html", ""]))], body: body)
  }

  @Test(.timeLimit(.minutes(120))) func sendRequest_urlsAndHeadersNobodyWrote_answerOrFailCleanly() async throws {
    try await fuzz("sendRequest", usual: 500) { values in
      var arguments: JSONObject = ["path": .string(values.path())]
      if values.chance(3) { arguments["endPoint"] = .string(values.pick(["/services/data", "", "//", "http:", values.text()])) }
      arguments["method"] = .string(values.pick(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "get", values.text()]))
      arguments["headerParams"] = .object(values.headers())
      if values.chance(2) { arguments["queryParams"] = .object(values.object(depth: 2)) }
      if values.chance(4) { arguments["doesNotRequireAuthentication"] = true }
      if values.chance(4) { arguments["returnBinary"] = true }
      return ("com.salesforce.network", "pgSendRequest", arguments)
    }
  }

  @Test(.timeLimit(.minutes(120))) func everyAction_argumentsNobodyWrote_answerOrFailCleanly() async throws {
    let actions = FuzzValues.actions
    try await fuzz("actions", usual: 1_000) { values in
      let (service, action, rules) = values.action(of: actions)
      return (service, action, values.arguments(rules))
    }
  }
}
