import JSON
import SandboxParse
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Tests connections of the kind `parse`: what they send, and how they handle refused credentials.
struct ConnectionWireTests {
  private func read(_ json: JSONObject, plain: Bool = true) -> Result<ConnectionSettings, ConnectionProblem> {
    Result { () throws(ConnectionProblem) in
      try ConnectionSettings(name: "p", json: .object(json), from: .init(folder: "/", allowsPlainSecrets: plain))
    }
  }

  private func problem(_ json: JSONObject, plain: Bool = true) -> String {
    guard case .failure(let problem) = read(json, plain: plain) else { return "none" }
    return problem.keys.joined(separator: ".") + " " + problem.what
  }

  private let good: JSONObject = ["kind": "parse", "serverURL": "https://h.example/parse", "applicationId": "app"]

  /// Row 1.
  @Test func parseConnection_sendsIdKeysAndToken_andHidesSecrets() async throws {
    let server = try ScriptedServer(.json(#"{"results":[]}"#))
    var json = good
    json["serverURL"] = .string(server.url + "/parse/")
    for (key, value) in [
      ("restAPIKey", "CANARY-rest"), ("clientKey", "CANARY-client"), ("sessionToken", "r:CANARY"), ("installationId", "i-1"),
    ] { json[key] = .string(value) }
    let settings = try read(json).get()
    let written = LoggedText()
    var environment = RestConnection.Environment(
      home: nil, secrets: SecretReading { (_) throws(SecretReading.Failure) in "" })
    environment.log = RequestLog(level: .debug, isStored: false, now: { 0 }) { written.append($0) }
    let connection = RestConnection(settings, environment: environment)
    _ = try await connection.send(RestRequest(.GET, "/classes/Book"))
    let request = try #require(server.requests.first)
    #expect(request.path == "/parse/classes/Book")
    #expect(request.header("X-Parse-Application-Id") == "app" && request.header("X-Parse-Installation-Id") == "i-1")
    #expect(request.header("X-Parse-REST-API-Key") == "CANARY-rest" && request.header("X-Parse-Client-Key") == "CANARY-client")
    #expect(request.header("X-Parse-Session-Token") == "r:CANARY" && request.header("X-Parse-Master-Key") == nil)
    #expect(written.text.contains("X-Parse-Application-Id") && !written.text.contains("CANARY"), "\(written.text)")
    await connection.shutdown()
    server.stop()
  }

  @Test func parseConnection_mistakes_areToldByKey() {
    #expect(problem(good) == "none")
    #expect(problem(["kind": "parse", "serverURL": "https://h.example"]) == " lacks 'applicationId'")
    #expect(problem(["kind": "parse", "applicationId": "a"]) == " lacks 'serverURL'")
    #expect(problem(good.replacing(with: ["serverURL": "ftp://x"])).hasPrefix("serverURL is not a valid URL"))
    #expect(
      problem(good.replacing(with: ["restApiKey": "x"])) == "restApiKey is not known here; did you mean 'restAPIKey'?")
    #expect(problem(good.replacing(with: ["baseURL": "https://x.example"])).hasPrefix("baseURL is not known here"))
    #expect(problem(good.replacing(with: ["restAPIKey": "x"]), plain: false).hasPrefix("restAPIKey must not be plain text"))
    #expect(problem(good.replacing(with: ["sessionToken": "x"]), plain: false).hasPrefix("sessionToken must not be plain text"))
    #expect(problem(good.replacing(with: ["masterKey": "x"])).contains("add \"useMasterKey\": true"))
    #expect(problem(good.replacing(with: ["useMasterKey": true])) == "useMasterKey is true, but 'masterKey' is missing")
    #expect(problem(good.replacing(with: ["masterKey": "x", "useMasterKey": true])) == "none")
    #expect(problem(["baseURL": "https://x.example", "serverURL": "https://x.example"]).hasPrefix("serverURL is not known here"))
  }

  /// Row 1.
  @Test func wrongKeys_areACredentialError_andNotSentAgain() async throws {
    try await ParseBench.with(["restAPIKey": "wrong"]) { bench async throws in
      let state = try await bench.down()
      #expect(state.status == .failed && state.failure?.code == "notAuthenticated")
      #expect(state.failure?.message.contains("check 'applicationId' and the keys") == true)
      bench.forgetRequests()
      #expect(try await bench.again().status == .failed)
      #expect(bench.requests.isEmpty, "the refused keys are not sent again")
    }
  }

  @Test func connectionOfAnotherKind_isRefusedBeforeAnyRequest() async throws {
    try await ParseBench.with { bench async throws in
      let unknown = try await syncError { try await bench.down("Book", ["connection": "defalt"]) }
      #expect(unknown.message.contains("connection 'defalt' is not known; did you mean 'default'?"))
      let settings = try ConnectionSettings(name: "rest", baseURL: "https://x.example")
      let others = RestConnections(
        [settings], environment: RestConnection.Environment(home: nil, secrets: bench.secrets.reading))
      let error = #expect(throws: SyncError.self) {
        try ParseSyncDownTarget(["type": "parse", "connection": "rest", "className": "Book"], others)
      }
      #expect(error?.message.contains(#"give it "kind": "parse""#) == true)
      #expect(bench.requests.isEmpty)
    }
  }
}

/// Threads: any.
private final class LoggedText: Sendable {
  private let state = Mutex("")
  var text: String { state.withLock { $0 } }
  func append(_ more: String) { state.withLock { $0 += more } }
}
