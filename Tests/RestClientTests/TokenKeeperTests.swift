import Glibc
import JSON
import Support
import Synchronization
import TestSupport
import Testing

@testable import RestClient

/// Row 19 and other tests of client credentials: one token for all requests and processes of a
/// home.
@Suite(.timeLimit(.minutes(60))) struct TokenKeeperTests {
  private let bed = ConnectionBed()

  private func auth(_ server: ScriptedServer, _ more: JSONObject = [:]) -> JSONObject {
    var auth: JSONObject = [
      "type": "clientCredentials", "tokenURL": .string(server.url + "/token"), "clientId": "app",
      "clientSecret": ["env": "S"],
    ]
    for (key, value) in more { auth[key] = value }
    // A busy machine may be slow, and a request that times out would be sent again.
    return ["auth": .object(auth), "maxParallel": 64, "timeoutS": 600, "connectTimeoutS": 600]
  }

  private func token(_ text: String, expiresIn: Int? = 3600) -> ScriptedAnswer {
    .json(#"{"access_token":"\#(text)","token_type":"bearer"\#(expiresIn.map { #","expires_in":\#($0)"# } ?? "")}"#)
  }

  private func tokenRequests(_ server: ScriptedServer) -> [RecordedRequest] { server.requests.filter { $0.path == "/token" } }

  @Test func clientCredentials_basicByDefault_idAndSecretAsTheyAre() async throws {
    let server = try ScriptedServer(token("t1"), .json("{}"))
    bed.secrets["S"] = "p+w/ü"
    try await bed.with(server, auth(server, ["scopes": ["read", "write"], "audience": "https://x"])) {
      _ = try await $0.get("/a")
    }
    let asked = try #require(tokenRequests(server).first)
    #expect(asked.header("Authorization") == "Basic " + Base64.text("app:p+w/ü".utf8))
    #expect(asked.text == "grant_type=client_credentials&scope=read%20write&audience=https%3A%2F%2Fx")
    #expect(asked.header("Content-Type") == "application/x-www-form-urlencoded")
    #expect(server.requests.last?.header("Authorization") == "Bearer t1")
  }

  @Test func clientCredentials_inTheBody() async throws {
    let server = try ScriptedServer(token("t1"), .json("{}"))
    bed.secrets["S"] = "s&1"
    try await bed.with(server, auth(server, ["clientAuth": "body"])) { _ = try await $0.get("/a") }
    let asked = try #require(tokenRequests(server).first)
    #expect(asked.header("Authorization") == nil)
    #expect(asked.text == "grant_type=client_credentials&client_id=app&client_secret=s%261")
  }

  /// Row 19.
  @Test func clientCredentials_fiftyRefusedAtOnce_oneTokenRequestEachRepeatedOnce() async throws {
    let count = 50, given = Counter(), refused = Counter()
    let server = try ScriptedServer { request in
      if request.path == "/token" { return token("t\(given.next())") }
      guard request.header("Authorization") == "Bearer t1" else { return .json("{}") }
      // All fifty requests are refused before the first of them gets its response.
      _ = refused.next()
      refused.wait(for: count)
      return .status(401)
    }
    bed.secrets["S"] = "secret"
    try await bed.with(server, auth(server)) { connection in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for i in 0..<count { group.addTask { _ = try await connection.get("/\(i)") } }
        try await group.waitForAll()
      }
    }
    #expect(tokenRequests(server).count == 2)
    for i in 0..<count { #expect(server.requests.count { $0.path == "/\(i)" } == 2) }
  }

  @Test func clientCredentials_refused_isNotSentAgainUntilTheyChange() async throws {
    let folder = try TemporaryFolder()
    var bed = bed
    bed.home = folder.path
    let server = try ScriptedServer { request in
      guard request.path == "/token" else { return .json("{}") }
      return request.header("Authorization") == "Basic " + Base64.text("app:right".utf8) ? token("t1") : .status(403)
    }
    bed.secrets["S"] = "wrong"
    for _ in 0..<2 {
      try await bed.with(server, auth(server)) { connection in
        for _ in 0..<2 {
          let error = try await failure { try await connection.get("/a") }
          #expect(error.code == .notAuthenticated && !error.message.contains("wrong"))
          for part in ["status 403", "clientAuth", "scopes"] { #expect(error.message.contains(part)) }
        }
      }
    }
    #expect(tokenRequests(server).count == 1, "another process of the home does not ask either")
    bed.secrets["S"] = "right"
    try await bed.with(server, auth(server)) { _ = try await $0.get("/a") }
    #expect(tokenRequests(server).count == 2)
  }

  /// Some servers send no body, so the cause is unknown, and no token is requested until the
  /// credentials change.
  @Test(arguments: [
    (401, "", "wrongCredentials"), (403, "", "wrongCredentials"), (400, #"{"error":"invalid_client"}"#, "wrongCredentials"),
    (400, #"{"error":"unauthorized_client"}"#, "wrongCredentials"), (403, "<html>no</html>", "wrongCredentials"),
    (400, #"{"error":"scope_invalid"}"#, "refused"), (400, "", "refused"), (404, "", "refused"),
  ])
  func clientCredentials_eachRefusal_hasItsReasonAndIsAskedOnceWithinTheBackOff(
    status: Int, body: String, reason: String
  ) async throws {
    let server = try ScriptedServer { request in
      request.path == "/token" ? .text(body, status: status, type: "application/json") : .json("{}")
    }
    bed.secrets["S"] = "secret"
    try await bed.with(server, auth(server)) { connection in
      for _ in 0..<3 {
        let error = try await failure { try await connection.get("/a") }
        #expect(error.code == .notAuthenticated && error.reason == reason && error.message.contains("status \(status)"))
      }
      #expect(tokenRequests(server).count == 1)
      bed.clock.advance(61)
      _ = try? await connection.get("/a")
    }
    #expect(tokenRequests(server).count == (reason == "refused" ? 2 : 1))
  }

  @Test func clientCredentials_refusalThatRepeatsTheSecret_neitherKeepsNorShowsIt() async throws {
    let folder = try TemporaryFolder()
    var bed = bed
    bed.home = folder.path
    let server = try ScriptedServer { request in
      guard request.path == "/token" else { return .json("{}") }
      return .json(
        #"{"error":"invalid_client","error_description":"\#(request.header("Authorization") ?? "") \#(request.text)"}"#,
        status: 400)
    }
    bed.secrets["S"] = "CANARY+secret"
    for way in ["basic", "body"] {
      try await bed.with(server, auth(server, ["clientAuth": .string(way)])) { connection in
        let error = try await failure { try await connection.get("/a") }
        #expect(error.message.contains("[token]"), "\(error)")
        let kept = String(decoding: FileSystem.read(folder.path + "/connections/api/session.json") ?? [], as: UTF8.self)
        for secret in ["CANARY", Base64.text("app:CANARY+secret".utf8)] { #expect(!"\(error) \(kept)".contains(secret)) }
      }
    }
  }

  @Test func clientCredentials_otherRefusal_backsOff() async throws {
    let server = try ScriptedServer { request in
      request.path == "/token" ? .json(#"{"error":"invalid_scope"}"#, status: 400) : .json("{}")
    }
    bed.secrets["S"] = "s"
    try await bed.with(server, auth(server)) { connection in
      _ = try? await connection.get("/a")
      bed.clock.advance(59)
      _ = try? await connection.get("/a")
      #expect(tokenRequests(server).count == 1)
      bed.clock.advance(2)
      _ = try? await connection.get("/a")
      #expect(tokenRequests(server).count == 2)
      bed.clock.advance(61)
      let error = try await failure { try await connection.get("/a") }
      #expect(tokenRequests(server).count == 2 && error.message.contains("invalid_scope"))
    }
  }

  @Test(arguments: [(3600, 3540.0), (60, 30), (100, 50), (nil, 1e9)] as [(Int?, Double)])
  func token_isRenewedAheadOfItsEnd(expiresIn: Int?, after: Double) async throws {
    let given = Counter()
    let server = try ScriptedServer { request in
      request.path == "/token" ? token("t\(given.next())", expiresIn: expiresIn) : .json("{}")
    }
    bed.secrets["S"] = "s"
    try await bed.with(server, auth(server)) { connection in
      _ = try await connection.get("/a")
      bed.clock.advance(after - 1)
      _ = try await connection.get("/a")
      #expect(tokenRequests(server).count == 1)
      guard expiresIn != nil else { return }
      bed.clock.advance(1)
      _ = try await connection.get("/a")
      #expect(tokenRequests(server).count == 2)
    }
  }

  @Test func token_isKeptForTheNextProcessAndPrivate() async throws {
    let folder = try TemporaryFolder()
    var bed = bed
    bed.home = folder.path
    let server = try ScriptedServer { $0.path == "/token" ? token("t1") : .json("{}") }
    bed.secrets["S"] = "CANARY-client-secret"
    for _ in 0..<2 { try await bed.with(server, auth(server)) { _ = try await $0.get("/a") } }
    #expect(tokenRequests(server).count == 1)
    let path = folder.path + "/connections/api/session.json"
    #expect(try mode(of: path) == 0o600)
    let text = String(decoding: try #require(FileSystem.read(path)), as: UTF8.self)
    #expect(text.contains("t1") && !text.contains("CANARY"))
    #expect(try FileSystem.entries(of: folder.path + "/connections/api").sorted() == ["session.json", "session.lock"])
  }

  @Test func token_twoConnectionsOfAHome_askOnceWhenRefusedTogether() async throws {
    let folder = try TemporaryFolder()
    var bed = bed
    bed.home = folder.path
    let given = Counter()
    let server = try ScriptedServer { request in
      if request.path == "/token" {
        return token("t\(given.next())")
      }
      return request.header("Authorization") == "Bearer t1" ? .status(401) : .json("{}")
    }
    bed.secrets["S"] = "s"
    let first = try bed.make(server.url, auth(server)), second = try bed.make(server.url, auth(server))
    async let a = first.get("/a")
    async let b = second.get("/b")
    _ = try await (a, b)
    await first.shutdown()
    await second.shutdown()
    #expect(tokenRequests(server).count == 2)
  }

  @Test func token_serverAway_isRetryableAndNotKept() async throws {
    let server = try ScriptedServer { $0.path == "/token" ? .status(503) : .json("{}") }
    bed.secrets["S"] = "s"
    try await bed.with(server, auth(server)) { connection in
      let error = try await failure { try await connection.get("/a") }
      #expect(error.status == 503 && error.isRetryable)
      _ = try? await connection.get("/a")
    }
    #expect(tokenRequests(server).count == 10)
  }

  @Test func token_placeThatCannotBeWritten_isNotAskedFor() async throws {
    let folder = try TemporaryFolder()
    var bed = bed
    bed.home = folder.path + "/file"
    try FileSystem.write([1], to: folder.path + "/file")
    let server = try ScriptedServer { $0.path == "/token" ? token("t1") : .json("{}") }
    bed.secrets["S"] = "s"
    try await bed.with(server, auth(server)) { connection in
      let error = try await failure { try await connection.get("/a") }
      #expect(error.code == .notAuthenticated && error.message.contains("cannot be stored"))
    }
    #expect(server.requests.isEmpty)
  }

  @Test func tokenFile_heldByAnother_isBusyAndThenFree() throws {
    let folder = try TemporaryFolder()
    do {
      let first = try TokenFile(folder: folder.path, patienceMs: 0)
      let error = #expect(throws: RestError.self) { try TokenFile(folder: folder.path, patienceMs: 0) }
      #expect(error?.code == .signInBusy && error?.isRetryable == true)
      try first.write(StoredToken(key: "k", salt: "s"))
    }
    let again = try TokenFile(folder: folder.path, patienceMs: 0)
    #expect(try again.read() == StoredToken(key: "k", salt: "s"))
  }

  @Test func tokenFile_openToOthersOrUnreadable_isNarrowedOrForgotten() throws {
    let folder = try TemporaryFolder(), path = folder.path + "/session.json"
    try FileSystem.write(Array("not JSON".utf8), to: path)
    chmod(path, 0o644)
    let file = try TokenFile(folder: folder.path, patienceMs: 0)
    #expect(try file.read() == nil)
    #expect(try mode(of: path) == 0o600)
  }

  @Test func keptToken_throughItsFile_staysTheSame() throws {
    var token = StoredToken(key: "k", salt: "s")
    token.accessToken = "t"
    token.renewAt = 12.5
    token.refusal = .init(reason: "refused", message: "status 400", until: 99, count: 3)
    #expect(StoredToken(json: token.json) == token)
    #expect(StoredToken(json: ["version": 2, "key": "k", "salt": "s"]) == nil)
  }
}
