import JSON
import RestClient
import TestSupport
import Testing

@testable import Salesforce

@Suite(.timeLimit(.minutes(60))) struct TransportTests {
  private let get = RestRequest(.GET, "/services/data/v66.0/x")

  @Test func send_wholeAnswer_givesBytesAndPadding() async throws {
    let server = try ScriptedServer(.json(#"{"totalSize":1}"#))
    let response = try await withClient(server) { try await $0.send(get) }
    #expect(response.status == 200)
    #expect(response.header("content-TYPE") == "application/json;charset=UTF-8")
    #expect(try response.json()["totalSize"] == 1)
    response.body.withUnsafeBytes { bytes in
      let end = UnsafeRawBufferPointer(rebasing: bytes[...]).baseAddress.map { $0 + bytes.count }
      let padding = UnsafeRawBufferPointer(start: end, count: ResponseBody.padding)
      #expect(padding.allSatisfy { $0 == 0 })
    }
  }

  @Test func send_pathQueryAndHeaders_arriveEncoded() async throws {
    let server = try ScriptedServer(.json("{}"))
    let query = SalesforceRequests(apiVersion: "v66.0").query(
      soql: "SELECT Id FROM Account WHERE LastModifiedDate > 2026-01-01T00:00:00.000+0000", batchSize: 250)
    _ = try await withClient(server) { try await $0.send(query) }
    let request = try #require(server.requests.first)
    #expect(request.path == "/services/data/v66.0/query")
    #expect(request.query.hasPrefix("q=SELECT%20Id%20FROM%20Account%20WHERE%20LastModifiedDate%20%3E%202026"))
    #expect(request.query.hasSuffix("000%2B0000"))
    #expect(request.header("Sforce-Query-Options") == "batchSize=250")
    #expect(request.header("Authorization") == "Bearer token-1")
    #expect(request.header("Accept-Encoding") == "identity")
  }

  @Test func queryMore_url_isSentVerbatim() async throws {
    let server = try ScriptedServer(.json("{}"))
    let next = "/services/data/v66.0/query/01gRO0000016PIAYA2-2000?x=%2B+1"
    _ = try await withClient(server) { try await $0.send($0.requests.queryMore(next)) }
    #expect(server.requests.map(\.target) == [next])
  }

  @Test func send_bigBody_arrivesWhole() async throws {
    let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
    for isChunked in [false, true] {
      let server = try ScriptedServer(ScriptedAnswer(body: body, isChunked: isChunked))
      let response = try await withClient(server) { try await $0.send(get) }
      #expect(response.body.withUnsafeBytes { $0.elementsEqual(body) })
    }
  }

  @Test func send_gzipAnswer_isUnpacked() async throws {
    let packed: [UInt8] = [
      0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0x4b, 0xce, 0xcf, 0x2d, 0x28, 0x4a, 0x2d, 0x2e, 0x4e, 0x4d, 0x51, 0x48, 0xcc,
      0x2b, 0x2e, 0x4f, 0x2d, 2, 0, 0x2e, 0xf3, 0x74, 0xfc, 0x11, 0, 0, 0,
    ]
    let server = try ScriptedServer(ScriptedAnswer(headers: [("Content-Encoding", "gzip")], body: packed))
    let response = try await withClient(server) { try await $0.send(get) }
    #expect(response.body.text == "compressed answer")
  }

  @Test(arguments: [(false, 0), (false, 500), (false, 9_999), (true, 0), (true, 5_000)])
  func send_bodyCutOff_isNoResponse(isChunked: Bool, bytes: Int) async throws {
    let server = try ScriptedServer(
      ScriptedAnswer(
        body: [UInt8](repeating: 0x20, count: 10_000), delivery: .closeAfter(bytes: bytes), isChunked: isChunked))
    let error = try await withClient(server) { client in try await failure { try await client.send(get) } }
    #expect(error.code == .noResponse)
    #expect(error.isRetryable)
    #expect(error.outcome == .unknown)
  }

  @Test func send_closedBeforeAnswering_isNoResponseOfUnknownOutcome() async throws {
    let server = try ScriptedServer(.closed)
    let error = try await withClient(server) { client in try await failure { try await client.send(get) } }
    #expect(error.code == .noResponse && error.outcome == .unknown)
  }

  /// The server cannot have acted on an incomplete request.
  @Test func send_closedWhileTheBodyIsOnItsWay_isNoResponseNotSent() async throws {
    let server = try ScriptedServer()
    server.closeConnections(afterReading: 1_000)
    let body = [UInt8](repeating: 0x20, count: 64 << 20)
    let post = RestRequest(.POST, "/services/data/v66.0/x", body: body)
    let error = try await withClient(server) { client in try await failure { try await client.send(post) } }
    #expect(error.code == .noResponse && error.outcome == .notSent)
  }

  @Test func send_nobodyListens_isNoResponseNotSent() async throws {
    let server = try ScriptedServer()
    server.stop()
    let error = try await withClient(server) { client in try await failure { try await client.send(get) } }
    #expect(error.code == .noResponse)
    #expect(error.outcome == .notSent)
    #expect(error.message == "no answer from 127.0.0.1:\(server.port): Connection refused")
  }

  @Test func send_hostWithoutAddress_isNoResponseNotSent() async throws {
    let server = try ScriptedServer()
    var org = session(server)
    org.instanceURL = "https://tureen-test.invalid"  // RFC 6761: never resolves
    let error = try await withClient(server, session: org) { client in
      try await failure { try await client.send(get) }
    }
    #expect(error.code == .noResponse && error.outcome == .notSent)
    #expect(error.message == "no answer from tureen-test.invalid: its name cannot be resolved")
  }

  @Test func send_tlsToAServerWithout_isNoResponseNotSent() async throws {
    let server = try ScriptedServer(.json("{}"))
    var org = session(server)
    org.instanceURL = "https://127.0.0.1:\(server.port)"
    var configuration = TransportConfiguration()
    configuration.connectTimeoutMs = 200
    let error = try await withClient(server, session: org, configuration: configuration) { client in
      try await failure { try await client.send(get) }
    }
    #expect(error.code == .noResponse && error.outcome == .notSent)
    #expect(server.requests.isEmpty)
  }

  @Test func send_silentServer_endsAfterIdleTimeout() async throws {
    let server = try ScriptedServer(.never)
    var configuration = TransportConfiguration()
    configuration.idleTimeoutMs = 50
    let error = try await withClient(server, configuration: configuration) { client in
      try await failure { try await client.send(get) }
    }
    #expect(error.code == .noResponse)
    #expect(error.message.contains("sent no data for too long"))
  }

  @Test(arguments: [false, true])
  func send_bodyOverTheLimit_isRefused(isChunked: Bool) async throws {
    var configuration = TransportConfiguration()
    configuration.largestResponse = 5_000
    let body = [UInt8](repeating: 0x20, count: 5_001)
    let server = try ScriptedServer(ScriptedAnswer(body: body, isChunked: isChunked))
    server.enqueue(ScriptedAnswer(body: Array(body.dropLast()), isChunked: isChunked))
    try await withClient(server, configuration: configuration) { client in
      let error = try await failure { try await client.send(get) }
      #expect(error.code == .responseTooLarge)
      #expect(!error.isRetryable)
      #expect(try await client.send(get).body.count == 5_000)
    }
  }

  @Test func send_head_hasLengthWithoutBody() async throws {
    var configuration = TransportConfiguration()
    configuration.largestResponse = 10
    let server = try ScriptedServer(ScriptedAnswer(body: [UInt8](repeating: 1, count: 5_000)))
    let response = try await withClient(server, configuration: configuration) {
      try await $0.send(RestRequest(.HEAD, "/x"))
    }
    #expect(response.header("Content-Length") == "5000" && response.body.count == 0)
  }

  @Test func send_noContent_isAnEmptyBody() async throws {
    let server = try ScriptedServer(.status(204))
    let response = try await withClient(server) {
      try await $0.send($0.requests.updateRecord(type: "Account", id: "001", body: Array(#"{"Name":"x"}"#.utf8)))
    }
    #expect(response.status == 204 && response.body.count == 0)
    #expect(server.requests.first?.text == #"{"Name":"x"}"#)
    #expect(server.requests.first?.header("Content-Type") == "application/json")
  }

  @Test func cancel_whileTheServerIsSilent_endsAtOnce() async throws {
    let server = try ScriptedServer(.never)
    try await withClient(server) { client in
      let call = Task { try await failure { try await client.send(get) } }
      await server.received(1)
      call.cancel()
      let error = try await call.value
      #expect(error.code == .cancelled && error.outcome == .unknown)
    }
  }

  @Test func cancel_beforeSending_sendsNothing() async throws {
    let server = try ScriptedServer()
    try await withClient(server) { client in
      let call = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await failure { try await client.send(get) }
      }
      let error = try await call.value
      #expect(error.code == .cancelled)
    }
    #expect(server.requests.isEmpty)
  }

  @Test func shutdown_requestUnderWay_getsShutDown() async throws {
    let server = try ScriptedServer(.never)
    try await withClient(server) { client in
      let call = Task { try await failure { try await client.send(get) } }
      await server.received(1)
      await client.shutdown()
      let underWay = try await call.value
      let later = try await failure { try await client.send(get) }
      #expect(underWay.code == .shutDown && later.code == .shutDown)
    }
  }

  @Test func shutdown_fromSeveralTasks_allReturn() async throws {
    let server = try ScriptedServer()
    try await withClient(server) { client in
      await withTaskGroup { group in
        for _ in 0..<8 { group.addTask { await client.shutdown() } }
      }
    }
  }

  @Test func client_droppedWithoutShutdown_closesItsConnection() async throws {
    let server = try ScriptedServer(.json("{}"))
    var client: SalesforceClient? = SalesforceClient(session: session(server))
    _ = try await client?.send(get)
    client = nil
    await server.disconnected()
  }

  @Test(arguments: ["no-slash", "http://example.com/x", "/a b", "/ü", "/a\r\nX: y", "ftp://127.0.0.1/"])
  func send_badPath_isInvalidURL(path: String) async throws {
    let server = try ScriptedServer()
    let error = try await withClient(server) { client in
      try await failure { try await client.send(RestRequest(.GET, path)) }
    }
    #expect(error.code == .invalidURL && error.outcome == .notSent)
  }

  @Test func send_headerWithLineBreak_doesNotReachTheServer() async throws {
    let server = try ScriptedServer(.json("{}"))
    _ = try await withClient(server) { client in
      try await failure { try await client.send(RestRequest(.GET, "/x", headers: [("X-A", "1\r\nX-B: 2")])) }
    }
    #expect(server.requests.isEmpty)
  }
}
