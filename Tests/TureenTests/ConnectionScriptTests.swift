import Glibc
import JSON
import RestClient
import Support
import TestSupport
import Testing

@testable import Tureen

/// Tests `network.sendRequest` with connections of connections.json, `tureen.configure` and the host's settings.
@Suite(.timeLimit(.minutes(60))) struct ConnectionScriptTests {
  private let before = "local network, await = tureen.network, tureen.await"

  private func write(_ text: String, _ name: String, of runner: ScriptRunner) throws {
    try FileSystem.write(Array(text.utf8), to: runner.folder.path + "/" + name)
  }

  @Test func sendRequest_connectionOfTheFile_usesItsSecretAndCache() async throws {
    let server = try ScriptedServer(handler: { request in
      .json(#"[{"id":1}]"#, headers: [("Cache-Control", "max-age=600"), ("X-Total", "1"), ("x-total", "2")])
    })
    let runner = try await ScriptRunner()
    try write("s3cret-token\n", "token", of: runner)
    try write(
      #"{"books": {"baseURL": "\#(server.url)/api", "auth": {"type": "bearer", "token": {"file": "token"}}}}"#,
      "connections.json",
      of: runner)
    let result = try await runner.value(
      of: """
        local options = { connection = "Books", path = "/items", queryParams = { a = "1" }, returnResponse = true }
        local first, again = assert(await(network.sendRequest, options)), assert(await(network.sendRequest, options))
        local plain = assert(await(network.sendRequest, { connection = "books", path = "items?a=1" }))
        return { first.status, first.headers["x-total"], first.body[1].id, first.cache, first.stale, again.cache, again.age >= 0,
          again.url, plain[1].id }
        """, before: before)
    #expect(result == [200, "1, 2", 1, "miss", false, "hit", true, .string(server.url + "/api/items?a=1"), 1])
    #expect(server.requests.count == 1 && server.requests[0].header("Authorization") == "Bearer s3cret-token")
    #expect(server.requests[0].header("User-Agent")?.hasPrefix("tureen/") == true)
  }

  private static let answers: [(body: String, type: String, expected: JSONValue)] = [
    ("true", "application/json", true), ("false", "application/json;charset=UTF-8", false), ("null", "application/json", .null),
    ("5", "application/problem+json", 5), ("-1.5", "text/json", -1.5), (#""text""#, "application/json", "text"),
    ("\u{FEFF}{\"a\":1}", "application/json", ["a": 1]), ("\u{FEFF}[1]", "text/plain", [1]),
    ("\u{FEFF}true", "application/json", true),
    ("5", "text/plain", "5"), ("true", "text/html", "true"), (#"{"a":1}"#, "text/plain", ["a": 1]),
    ("", "application/json", "OK"),
    ("no json", "application/json", "no json"),
  ]

  @Test(arguments: 0..<14) func sendRequest_eachKindOfAnswer_isThatValue(number: Int) async throws {
    let (body, type, expected) = Self.answers[number]
    let server = try ScriptedServer(handler: { _ in ScriptedAnswer(headers: [("Content-Type", type)], body: Array(body.utf8)) })
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        tureen.configure { connections = { api = { baseURL = "\(server.url)" } } }
        local value, err = await(network.sendRequest, { connection = "api", path = "/" })
        local whole = assert(await(network.sendRequest, { connection = "api", path = "/", returnResponse = true }))
        return { err == nil, value == nil and tureen.null or value, whole.body == nil and tureen.null or whole.body }
        """, before: before)
    #expect(result == [true, expected, expected])
  }

  @Test(arguments: [
    ("[1]", "Content-Encoding", "gzip", "gzip"), ("[1]", "Content-Encoding", "deflate", "deflate"),
    ("\u{1F}", "Content-Encoding", "br", "br"), ("x", "Content-Type", "application/json; charset=UTF-16LE", "utf-16le"),
  ]) func syncDown_answerThatCannotBeRead_isToldAndNotAskedForAgain(body: String, name: String, value: String, says: String)
    async throws
  {
    let server = try ScriptedServer(handler: { _ in
      ScriptedAnswer(
        headers: [("Content-Type", "application/json"), (name, value)].filter { $0.0 != name || $0.1 == value },
        body: Array(body.utf8))
    })
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        tureen.configure { connections = { api = { baseURL = "\(server.url)" } } }
        assert(await(smartstore.registerSoup, "s", { { path = "id", type = "string" } }))
        local _, err = await(mobilesync.syncDown, { type = "rest", connection = "api", url = "/" }, "s", {})
        return { err.sync.status, err.message:find("\(says)", 1, true) ~= nil, err.message:find("no answer", 1, true) == nil }
        """, before: before)
    #expect(result == ["FAILED", true, true] && server.requests.count == 1)
  }

  @Test func sendRequest_returnResponseOfTheOrg_givesStatusAndHeaders() async throws {
    let result = try await ScriptRunner().value(
      of: """
        local answer = assert(await(network.sendRequest, { path = "/services/data", returnResponse = true }))
        local binary = assert(await(network.sendRequest, { path = "/services/data", returnResponse = true, returnBinary = true }))
        return { answer.status, answer.headers["content-type"]:match("^[^;]+"), #answer.body > 0, answer.cache == nil,
          #network.bytes(binary.body) > 0 }
        """, before: before)
    #expect(result == [200, "application/json", true, true, true])
  }

  @Test func sendRequest_unknownConnection_isTold() async throws {
    let runner = try await ScriptRunner()
    try write(#"{"books": {"baseURL": "https://books.example"}}"#, "connections.json", of: runner)
    let result = try await runner.value(
      of: """
        local _, err = await(network.sendRequest, { connection = "boks", path = "/" })
        local _, mode = await(network.sendRequest, { path = "/", cache = "reload" })
        local _, word = await(network.sendRequest, { connection = "books", path = "/", cache = "fresh" })
        return { err.domain, err.code, err.message, mode.message, word.message }
        """, before: before)
    #expect(
      result == [
        "host", "invalidConfiguration", "connection 'boks' is not known; did you mean 'books'?",
        "argument 'cache' needs 'connection'",
        "argument 'cache' must be one of default, revalidate, reload, bypass, offline, got 'fresh'",
      ])
  }

  /// Acceptance row R23: if the server asks for a longer wait than `maxWaitS`, the error says until when.
  @Test func sendRequest_longerWaitThanAllowed_givesResumeAt() async throws {
    let server = try ScriptedServer(handler: { _ in .status(429, headers: [("Retry-After", "1000")]) })
    let result = try await ScriptRunner().value(
      of: """
        local _, err = await(network.sendRequest, { connection = "a", path = "/x" })
        local seconds = err.resumeAt / 1000 - os.time()
        return { err.domain, err.code, err.retryable, err.status, seconds > 900 and seconds < 1100 }
        """,
      before: """
        \(before)
        tureen.configure { connections = { a = { baseURL = "\(server.url)", maxWaitS = 10 } } }
        """)
    #expect(result == ["network", "quotaExhausted", true, 429, true])
  }

  @Test func configure_connections_goBeforeTheFile() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    let runner = try await ScriptRunner()
    try write(#"{"books": {"baseURL": "https://books.example"}}"#, "connections.json", of: runner)
    let result = try await runner.value(
      of: """
        local answer = assert(await(network.sendRequest, { connection = "books", path = "/x", returnResponse = true }))
        return answer.status
        """,
      before: """
        \(before)
        tureen.configure { connections = { Books = { baseURL = "\(server.url)",
          auth = { type = "basic", username = "u", password = "p" } } } }
        """)
    #expect(result == 200)
    #expect(server.requests.first?.header("Authorization") == "Basic dTpw")
  }

  @Test func configure_wrongConnection_namesTheKey() async throws {
    let runner = try await ScriptRunner()
    let result = try await runner.value(
      of: "return said",
      before: """
        local _, said = pcall(tureen.configure, { connections = { a = { baseURL = "https://a.example", pauseMS = 1 } } })
        said = tostring(said)
        """)
    #expect(result?.stringValue?.contains("connection 'a': 'pauseMS' is not known here; did you mean 'pauseMs'?") == true)
  }

  /// Acceptance row R17.
  @Test func connectionsFile_typo_isToldBeforeTheScriptRuns() async throws {
    let runner = try await ScriptRunner()
    try write("{\"a\": {\"baseURL\": \"https://a.example\",\n  \"timeout\": 5}}", "connections.json", of: runner)
    let host = runner.makeHost()
    let error = #expect(throws: HostError.self) { try host.prepare() }
    #expect(error?.code == .invalidConfiguration)
    #expect(
      error?.message
        == "\(runner.folder.path)/connections.json:2: connection 'a': 'timeout' is not known here; did you mean 'timeoutS'?")
    await runner.server.stop()
  }

  @Test func connectionsFile_missingCaFile_isToldBeforeTheScriptRuns() async throws {
    let runner = try await ScriptRunner()
    try write(#"{"a": {"baseURL": "https://a.example", "caFile": "no.pem"}}"#, "connections.json", of: runner)
    let error = #expect(throws: HostError.self) { try runner.makeHost().prepare() }
    #expect(error?.message == "connection 'a': 'caFile' \(runner.folder.path)/no.pem cannot be read")
    await runner.server.stop()
  }

  /// Acceptance row R17: the connections of a restricted script are ignored; those of the program work without showing secrets.
  @Test func restrictedScript_bringsNoConnectionsAndSeesNoSecret() async throws {
    let server = try ScriptedServer(handler: { request in
      .json(#"{"said":"\#(request.header("Authorization") ?? "")"}"#, headers: [("Cache-Control", "max-age=60")])
    })
    let runner = try await ScriptRunner()
    try write(#"{"mine": {"baseURL": "\#(server.url)"}, "typo": 5}"#, "connections.json", of: runner)
    var given = try ConnectionSettings(name: "given", baseURL: server.url)
    given.authorization = .bearer(token: .plain("CANARY-token-value"))
    let host = runner.makeHost { settings in
      settings.isRestricted = true
      settings.allowedHosts = ["127.0.0.1:\(server.port)"]
      settings.connections = [given]
    }
    try host.prepare()
    let result = try await runner.value(
      of: """
        local _, err = await(network.sendRequest, { connection = "mine", path = "/" })
        local said = assert(await(network.sendRequest, { connection = "given", path = "/" })).said
        local again = assert(await(network.sendRequest, { connection = "given", path = "/" })).said
        local _, foreign = await(network.sendRequest, { connection = "given", path = "http://127.0.0.1:1/" })
        return { err.code, said, again, foreign.code }
        """, before: before, on: host)
    #expect(result == ["invalidConfiguration", "Bearer [token]", "Bearer [token]", "invalidURL"])
  }

  /// Acceptance row R18: the sources of secrets.
  @Test func secrets_fromEnvironmentFileAndCommand() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/secret"
    try FileSystem.write(Array("from file\n".utf8), to: file)
    let path = try #require(getenv("PATH").map { String(cString: $0) })
    #expect(read(.environment("PATH")) == path)
    #expect(read(.file(file)) == "from file")
    #expect(read(.command(["/bin/echo", "from command"])) == "from command")
    #expect(read(.command(["/usr/bin/head", "-c", "40000", "/dev/zero"])).contains("it is longer than 32768 bytes"))
    chmod(file, 0o644)
    let open = read(.file(file))
    #expect(open.contains("chmod 600") && !open.contains("from file"))
    #expect(read(.environment("TUREEN_TEST_NOT_SET")) == "failed: the environment variable TUREEN_TEST_NOT_SET is not set")
    #expect(read(.file(folder.path + "/none")) == "failed: the file \(folder.path)/none does not exist")
    #expect(read(.command(["/bin/false", "CANARY"])) == "failed: the command /bin/false: it ended with status 1")
  }

  private func read(_ source: SecretSource) -> String {
    do throws(SecretReading.Failure) {
      return try ConnectionSecrets.reading.read(source)
    } catch {
      return "failed: " + error.message
    }
  }

  @Test func requestLog_ofTheHost_coversOrgAndConnectionsAndShowsNoSecret() async throws {
    let server = try ScriptedServer(handler: { _ in
      .json(#"{"token":"CANARY-from-server"}"#, headers: [("Set-Cookie", "s=CANARY-cookie")])
    })
    let runner = try await ScriptRunner()
    let file = runner.folder.path + "/requests.log"
    let host = runner.makeHost { $0.requestLog = RequestLogSettings(level: .debug, file: file) }
    _ = try await runner.value(
      of: """
        assert(await(network.sendRequest, { path = "/services/data/v66.0/limits" }))
        assert(await(network.sendRequest, { connection = "a", path = "/x?api_key=CANARY-parameter" }))
        return 1
        """,
      before: """
        \(before)
        tureen.configure { connections = { a = { baseURL = "\(server.url)", auth = { type = "bearer", token = "CANARY-bearer" } } } }
        """, on: host)
    let text = String(decoding: try #require(FileSystem.read(file)), as: UTF8.self)
    #expect(text.contains(" org GET ") && text.contains("/services/data/v66.0/limits 200 "))
    #expect(text.contains(" a GET \(server.url)/x?api_key=…"))
    #expect(!text.contains("CANARY") && !text.contains(runner.server.credentials().password))
    #expect(!text.contains(runner.server.credentials().clientSecret))
  }
}
