import JSON
import Synchronization
import TestSupport
import Testing

@testable import RestClient

/// Tests requests of a named server: URLs, headers, secrets, limits, redirects.
@Suite(.timeLimit(.minutes(60))) struct ConnectionTests {
  private let bed = ConnectionBed()
  private let bearer: JSONObject = ["auth": ["type": "bearer", "token": ["env": "T"]]]

  @Test func send_relativePaths_areAppendedToTheBasePath() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    try await bed.with(server, path: "/api/v1") { connection in
      for path in ["/zones", "zones", "/zones/", "", "?a=1", "/z?a=1"] { _ = try await connection.get(path) }
      _ = try await connection.send(RestRequest(.GET, "/z?a=1", query: [("b", "2 +")]))
      let absolute = try await connection.get(server.url + "/other")
      #expect(absolute.url == server.url + "/other")
    }
    #expect(
      server.requests.map(\.target) == [
        "/api/v1/zones", "/api/v1/zones", "/api/v1/zones/", "/api/v1", "/api/v1?a=1", "/api/v1/z?a=1", "/api/v1/z?a=1&b=2%20%2B",
        "/other",
      ])
  }

  /// Row 20.
  @Test func send_userAgentAndAuthorization_goWithEveryRequestToTheOrigin() async throws {
    let server = try ScriptedServer(.status(302, headers: [("Location", "/b")]), .json("{}"), .json("{}"))
    bed.secrets["T"] = "token-1"
    var members = bearer
    members["headers"] = ["X-Version": "7", "X-Key": ["env": "K"]]
    bed.secrets["K"] = "key-1"
    try await bed.with(server, members) { connection in
      _ = try await connection.get("/a")
      _ = try await connection.get(server.url + "/page2")
    }
    #expect(server.requests.map(\.target) == ["/a", "/b", "/page2"])
    for request in server.requests {
      #expect(request.header("User-Agent") == "tureen/test" && request.header("Authorization") == "Bearer token-1")
      #expect(request.header("X-Version") == "7" && request.header("X-Key") == "key-1")
    }
  }

  @Test func send_ownUserAgent_replacesTheHosts() async throws {
    let server = try ScriptedServer(.json("{}"))
    try await bed.with(server, ["userAgent": "my-app/1"]) { _ = try await $0.get("/") }
    #expect(server.requests[0].header("User-Agent") == "my-app/1")
  }

  @Test(
    arguments: [
      (["type": "basic", "username": "u", "password": "p:w ü"], "Authorization", "Basic dTpwOncgw7w="),
      (["type": "header", "name": "X-API-Key", "value": "k"], "X-API-Key", "k"),
      (["type": "header", "name": "Authorization", "prefix": "Token ", "value": "k"], "Authorization", "Token k"),
    ] as [(JSONObject, String, String)])
  func send_authorization_byType(auth: JSONObject, header: String, value: String) async throws {
    let server = try ScriptedServer(.json("{}"))
    try await bed.with(server, ["auth": .object(auth)]) { _ = try await $0.get("/") }
    #expect(server.requests[0].header(header) == value)
  }

  /// Row 20: a 401 ends the requests at once, and the refused secret is not sent again.
  @Test func send_401WithTheSameSecret_stopsTheConnection() async throws {
    let server = try ScriptedServer(.json(#"{"message":"Bad credentials"}"#, status: 401))
    bed.secrets["T"] = "token-1"
    try await bed.with(server, bearer) { connection in
      for _ in 0..<3 {
        let error = try await failure { try await connection.get("/a") }
        #expect(error.code == .notAuthenticated && error.message.contains("Bad credentials") && !error.isRetryable)
      }
    }
    #expect(server.requests.count == 1)
  }

  @Test func send_401OfTheCallersOwnAuthorization_leavesTheConnectionAlone() async throws {
    let server = try ScriptedServer { request in
      request.header("Authorization") == "Bearer token-1" ? .json("{}") : .status(401)
    }
    bed.secrets["T"] = "token-1"
    try await bed.with(server, bearer) { connection in
      let error = try await failure { try await connection.get("/a", headers: [("authorization", "Bearer other")]) }
      #expect(error.code == .notAuthenticated)
      _ = try await connection.get("/a")
    }
    #expect(server.requests.count == 2 && bed.secrets.reads == 1)
  }

  /// Row 18: a secret that changed after a 401 is used for one retry.
  @Test func send_401AndAnotherSecretMeanwhile_isRepeatedOnce() async throws {
    let secrets = bed.secrets
    let server = try ScriptedServer { request in
      guard request.header("Authorization") == "Bearer token-2" else {
        secrets["T"] = "token-2"
        return .json(#"{"message":"Bad credentials"}"#, status: 401)
      }
      return .json("{}")
    }
    bed.secrets["T"] = "token-1"
    try await bed.with(server, bearer) { _ = try await $0.get("/a") }
    #expect(server.requests.map { $0.header("Authorization") } == ["Bearer token-1", "Bearer token-2"])
  }

  /// Row 18: a secret is missing, or optional and missing.
  @Test func send_missingSecret_isAnErrorBeforeTheRequestUnlessOptional() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    try await bed.with(server, bearer) { connection in
      let error = try await failure { try await connection.get("/a") }
      #expect(error.code == .notAuthenticated && error.outcome == .notSent)
      #expect(error.message == "connection 'api': 'auth.token': the environment variable T is not set")
    }
    #expect(server.requests.isEmpty)
    let optional: JSONObject = ["auth": ["type": "bearer", "token": ["env": "T"], "optional": true]]
    try await bed.with(server, optional) { _ = try await $0.get("/a") }
    #expect(server.requests.count == 1 && server.requests[0].header("Authorization") == nil)
  }

  @Test func send_manyAtOnce_readTheSecretOnce() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    bed.secrets["T"] = "token-1"
    try await bed.with(server, bearer) { connection in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for i in 0..<20 { group.addTask { _ = try await connection.get("/\(i)") } }
        try await group.waitForAll()
      }
    }
    #expect(bed.secrets.reads == 1)
  }

  @Test func send_headersOfATarget_areReadOnceAndForTheOwnOriginAlone() async throws {
    let other = try ScriptedServer(handler: { _ in .json("{}") })
    let server = try ScriptedServer(handler: { _ in .status(307, headers: [("Location", other.url + "/x")]) })
    bed.secrets["H"] = "header-secret"
    let headers = try HeaderReader(origin: .init(folder: "/", allowsPlainSecrets: false)).headers([
      "X-Tenant": ["env": "H"], "X-Plain": "p", "X-Both": "target",
    ])
    try await bed.with(server, ["allowOrigins": [.string(other.url)]]) { connection in
      for _ in 0..<2 {
        _ = try await connection.send(
          RestRequest(.GET, "/a", headers: [("X-Both", "request")]), ConnectionOptions(cache: .bypass, headers: headers))
      }
    }
    #expect(bed.secrets.reads == 1)
    for (asked, secret) in [(server.requests[0], "header-secret"), (other.requests[0], nil)] as [(RecordedRequest, String?)] {
      #expect(asked.header("X-Tenant") == secret && asked.header("X-Plain") == "p" && asked.header("X-Both") == "request")
    }
  }

  // MARK: Redirects (row 21)

  @Test func redirect_permanent_isRememberedTemporaryIsNot() async throws {
    let server = try ScriptedServer { request in
      switch request.path {
      case "/old": .status(301, headers: [("Location", "/new")])
      case "/today": .status(302, headers: [("Location", "new")])
      default: .json("{}")
      }
    }
    try await bed.with(server) { connection in
      for path in ["/old", "/old", "/today", "/today"] {
        let answer = try await connection.get(path)
        #expect(answer.url == server.url + "/new")
        if path == "/today" { #expect(answer.movedTo == nil) }
      }
      let first = try bed.make(server.url)
      let moved = try await first.get("/old")
      #expect(moved.movedTo == server.url + "/new")
      await first.shutdown()
    }
    #expect(server.requests.prefix(7).map(\.path) == ["/old", "/new", "/new", "/today", "/new", "/today", "/new"])
  }

  @Test func redirect_307_keepsMethodAndBody_303BecomesGet() async throws {
    let server = try ScriptedServer(
      .status(307, headers: [("Location", "/b")]), .json("{}"), .status(303, headers: [("Location", "/c")]), .json("{}"))
    try await bed.with(server) { connection in
      for path in ["/a", "/x"] { _ = try await connection.send(RestRequest(.PATCH, path, body: Array("{\"a\":1}".utf8))) }
    }
    #expect(server.requests.map(\.method) == ["PATCH", "PATCH", "PATCH", "GET"])
    #expect(server.requests.map(\.text) == [#"{"a":1}"#, #"{"a":1}"#, #"{"a":1}"#, ""])
  }

  @Test func redirect_301OfAWrite_onlyWithRedirectWrites() async throws {
    let server = try ScriptedServer { $0.path == "/a" ? .status(301, headers: [("Location", "/b")]) : .json("{}") }
    let write = RestRequest(.POST, "/a", body: Array("{}".utf8))
    try await bed.with(server) { connection in
      let error = try await failure { try await connection.send(write) }
      #expect(error.code == .redirectRefused && error.message.contains("redirectWrites"))
    }
    try await bed.with(server, ["redirectWrites": true]) { _ = try await $0.send(write) }
    #expect(server.requests.map { $0.method + $0.path } == ["POST/a", "POST/a", "POST/b"])
  }

  @Test func redirect_loopAndTooMany_areRefused() async throws {
    let server = try ScriptedServer { request in
      if request.path == "/loop" { return .status(302, headers: [("Location", "/loop")]) }
      return .status(302, headers: [("Location", request.path + "x")])
    }
    try await bed.with(server) { connection in
      let loop = try await failure { try await connection.get("/loop") }
      #expect(loop.code == .redirectRefused && loop.message.contains("form a loop"))
      let many = try await failure { try await connection.get("/m") }
      #expect(many.message.contains("more than 5"))
    }
    #expect(server.requests.map(\.path) == ["/loop", "/m", "/mx", "/mxx", "/mxxx", "/mxxxx", "/mxxxxx"])
  }

  /// Rows 6 and 21: other origins.
  @Test func redirect_otherOrigin_isRefusedOrFollowedWithoutSecrets() async throws {
    let other = try ScriptedServer(handler: { _ in .json("{}") })
    let server = try ScriptedServer(handler: { _ in .status(302, headers: [("Location", other.url + "/x?token=CANARY")]) })
    bed.secrets["T"] = "token-1"
    try await bed.with(server, bearer) { connection in
      let error = try await failure { try await connection.get("/a") }
      #expect(error.code == .redirectRefused)
      #expect(error.message.contains("nextOrigin") && error.message.contains("allowOrigins") && !error.message.contains("CANARY"))
      let direct = try await failure { try await connection.get(other.url + "/x") }
      #expect(direct.code == .invalidURL && direct.message.contains("allowOrigins"))
    }
    var members = bearer
    members["allowOrigins"] = [.string(other.url)]
    members["headers"] = ["X-Own": "1"]
    try await bed.with(server, members) { connection in
      _ = try await connection.get("/a", headers: [("Cookie", "c"), ("X-Api-Key", "k"), ("X-Mine", "m")])
    }
    let asked = try #require(other.requests.first)
    for name in ["Authorization", "Cookie", "X-Api-Key", "X-Own"] { #expect(asked.header(name) == nil) }
    #expect(asked.header("X-Mine") == "m" && server.requests.last?.header("Cookie") == "c")
    #expect(other.requests.count == 1)
  }

  @Test func redirect_httpsToHttp_isRefused() throws {
    let settings = try ConnectionSettings(name: "a", baseURL: "https://a.example")
    let response = RestResponse(status: 301, headers: [("Location", "http://a.example/x")])
    let decision = Redirect.of(
      response, method: .GET, url: "https://a.example/x", visited: ["https://a.example/x"], settings: settings, sameOrigin: false)
    guard case .refuse(let why) = decision else { throw Unexpected(what: "\(decision)") }
    #expect(why.contains("from https to http"))
  }

  // MARK: Pacing (rows 22 to 24)

  @Test func pacing_writes_keepThePause() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    try await bed.with(server, ["pauseMs": 1500]) { connection in
      for i in 0..<3 { _ = try await connection.send(RestRequest(.POST, "/\(i)", body: [])) }
      _ = try await connection.get("/r")
    }
    #expect(bed.clock.slept == [1.5, 1.5])
  }

  @Test func pacing_longerPauseOfATarget_counts() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    var options = ConnectionOptions()
    options.pauseMs = 3000
    try await bed.with(server, ["pauseMs": 1000]) { connection in
      for _ in 0..<2 { _ = try await connection.send(RestRequest(.PUT, "/a", body: []), options) }
      _ = try await connection.send(RestRequest(.PUT, "/a", body: []))
    }
    #expect(bed.clock.slept == [3, 3])
  }

  @Test func pacing_parallelReadsAndWrites_areLimited() async throws {
    let inside = Mutex<(now: Int, most: Int)>((0, 0)), arrived = Counter()
    let server = try ScriptedServer { _ in
      inside.withLock { state in
        state.now += 1
        state.most = max(state.most, state.now)
      }
      // The first two requests wait until both are counted: unless two are in flight at once, the
      // test never ends.
      if arrived.next() <= 2 { arrived.wait(for: 2) }
      inside.withLock { $0.now -= 1 }
      return .json("{}")
    }
    try await bed.with(server, ["maxParallel": ["reads": 2, "writes": 1]]) { connection in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for i in 0..<12 { group.addTask { _ = try await connection.get("/\(i)") } }
        try await group.waitForAll()
      }
    }
    #expect(inside.withLock { $0.most } == 2 && server.requests.count == 12)
  }

  @Test func pacing_cancelledWhileWaitingForAPlace_leavesNoHole() async throws {
    let server = try ScriptedServer(.never)
    let connection = try bed.make(server.url, ["maxParallel": 1])
    let first = Task { try await connection.get("/1") }
    await server.received(1)
    let second = Task { try await connection.get("/2") }
    second.cancel()
    let error = try await failure { try await second.value }
    #expect(error.code == .cancelled && error.outcome == .notSent)
    first.cancel()
    _ = await first.result
    await connection.shutdown()
    let closed = try await failure { try await connection.get("/3") }
    #expect(closed.code == .shutDown)
  }

  @Test func quota_used_waitsForTheReset() async throws {
    let reset = Int(bed.clock.now) + 100
    let headers = [("x-ratelimit-limit", "60"), ("x-ratelimit-remaining", "10"), ("x-ratelimit-reset", "\(reset)")]
    let server = try ScriptedServer(.json("{}", headers: headers.map { (name: $0.0, value: $0.1) }), .json("{}"), .json("{}"))
    try await bed.with(server) { connection in
      for i in 0..<3 { _ = try await connection.get("/\(i)") }
    }
    #expect(bed.clock.slept == [101])
  }

  @Test func quota_resetBeyondMaxWait_saysWhenToResume() async throws {
    let reset = Int(bed.clock.now) + 1000
    let headers = [(name: "x-ratelimit-remaining", value: "0"), (name: "x-ratelimit-reset", value: "\(reset)")]
    let server = try ScriptedServer(.json("{}", headers: headers))
    try await bed.with(server) { connection in
      _ = try await connection.get("/1")
      let error = try await failure { try await connection.get("/2") }
      #expect(error.code == .quotaExhausted && error.resumeAt == Int64(reset + 1) * 1000 && error.isRetryable)
      #expect(error.outcome == .notSent)
    }
    #expect(server.requests.count == 1 && bed.clock.slept.isEmpty)
  }

  @Test func backoff_onAnyAnswer_delaysTheNextRequest() async throws {
    let server = try ScriptedServer(.json("{}", headers: [("Backoff", "12")]), .json("{}"))
    try await bed.with(server) { connection in
      for i in 0..<2 { _ = try await connection.get("/\(i)") }
    }
    #expect(bed.clock.slept == [12])
  }

  @Test func retryAfter_fraction_isWaitedFor() async throws {
    let server = try ScriptedServer(.status(429, headers: [("Retry-After", "2.0")]), .json("{}"))
    try await bed.with(server) { _ = try await $0.get("/") }
    #expect(bed.clock.slept == [2] && server.requests.count == 2)
  }

  @Test func secondaryLimit_isWaitedForOnTheClock() async throws {
    let limited = ScriptedAnswer.json(#"{"message":"You have exceeded a secondary rate limit"}"#, status: 403)
    let server = try ScriptedServer(limited, limited, .json("{}"))
    try await bed.with(server) { _ = try await $0.get("/") }
    #expect(bed.clock.slept == [60, 120])
  }

  // MARK: Slow, dead and lying servers

  @Test func send_writeWithoutAnAnswer_isNotRepeated() async throws {
    let server = try ScriptedServer(.closed, .json("{}"))
    try await bed.with(server) { connection in
      let error = try await failure { try await connection.send(RestRequest(.POST, "/a", body: [])) }
      #expect(error.code == .noResponse && error.outcome == .unknown)
    }
    #expect(server.requests.count == 1)
  }

  @Test func send_readWithoutAnAnswer_isRepeated() async throws {
    let server = try ScriptedServer(.closed, .json("{}"))
    try await bed.with(server) { _ = try await $0.get("/a") }
    #expect(server.requests.count == 2 && bed.clock.slept == [0.5])
  }

  /// The response to a retry, here after a redirect, says nothing about the earlier attempt. A 503
  /// with `Retry-After` has not started the request.
  @Test func send_repeatIsRefusedAfterALostTry_mayHaveHappened() async throws {
    let put = RestRequest(.PUT, "/a", body: [])
    let begun = ScriptedAnswer.status(503, headers: [("Retry-After", "1")])
    for (first, isLost) in [(ScriptedAnswer.closed, true), (.status(504), true), (begun, false), (.status(429), false)] {
      let moved = ScriptedAnswer.status(307, headers: [("Location", "/b")])
      let server = try ScriptedServer(first, moved, .status(404))
      try await bed.with(server, ["redirectWrites": true]) { connection in
        let error = try await failure { try await connection.send(put) }
        #expect(error.status == 404 && error.followsLostAttempt == isLost && error.mayHaveTakenEffect == isLost)
      }
      #expect(server.requests.map(\.path) == ["/a", "/a", "/b"])
    }
  }

  @Test func send_silentServer_endsWithTheTimeout() async throws {
    let server = try ScriptedServer(handler: { _ in .never })
    var timeoutS = 0.05, error: RestError?
    // The limit covers connecting: if this machine is too slow to send within it, double it.
    repeat {
      error = try await bed.with(server, ["timeoutS": .number(timeoutS)]) { connection in
        try await failure { try await connection.send(RestRequest(.PATCH, "/a", body: [])) }
      }
      timeoutS *= 2
    } while error?.outcome == .notSent && timeoutS < 200
    #expect(error?.code == .noResponse && error?.outcome == .unknown)
  }

  @Test func send_moreThanMaxBytes_isRefused() async throws {
    let server = try ScriptedServer(.text(String(repeating: "x", count: 2000)))
    try await bed.with(server, ["maxBytes": 1000]) { connection in
      let error = try await failure { try await connection.get("/a") }
      #expect(error.code == .responseTooLarge)
    }
  }

  @Test func send_304WithoutACondition_isAnError() async throws {
    let server = try ScriptedServer(handler: { _ in .status(304) })
    try await bed.with(server) { connection in
      #expect(try await failure { try await connection.get("/a") }.code == .invalidBody)
      let own = try await connection.get("/a", headers: [("If-None-Match", "\"1\"")])
      #expect(own.status == 304)
    }
  }

  @Test func send_htmlError_isNotQuotedAndJSONIs() async throws {
    let server = try ScriptedServer(
      .text("<html>x</html>", status: 404, type: "text/html"), .json(#"{"errors":[{"detail":"No such zone"}]}"#, status: 404))
    try await bed.with(server) { connection in
      let html = try await failure { try await connection.get("/a") }
      #expect(html.message == "connection 'api': the server answered 404: text/html")
      let json = try await failure { try await connection.get("/a") }
      #expect(json.message == "connection 'api': the server answered 404: No such zone")
    }
  }

  /// Row 17: three connections of one host keep their own limits; an unknown name gets a
  /// suggestion.
  @Test func connections_threeInOneHost_keepTheirOwnLimits() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}", headers: [("Backoff", "5")]) })
    let members: JSONObject = [
      "a": ["baseURL": .string(server.url), "pauseMs": 1000], "b": ["baseURL": .string(server.url + "/b")],
      "c": ["baseURL": .string(server.url + "/c"), "maxBytes": 1],
    ]
    let settings = try ConnectionSettings.read(members, from: .init(folder: "/", allowsPlainSecrets: true))
    var environment = RestConnection.Environment(home: nil, secrets: bed.secrets.reading)
    environment.retry = bed.clock.environment
    let connections = RestConnections(settings, environment: environment)
    _ = try await connections.connection(named: "a").get("/1")
    _ = try await connections.connection(named: "B").get("/2")
    #expect(bed.clock.slept.isEmpty, "the back-off of one is not the other's")
    let c = try connections.connection(named: "c")
    #expect(try await failure { try await c.get("/3") }.code == .responseTooLarge)
    #expect(server.requests.map(\.target) == ["/1", "/b/2", "/c/3"])
    let unknown = #expect(throws: RestConnections.Problem.self) { try connections.connection(named: "aa") }
    #expect(unknown?.description == "connection 'aa' is not known; did you mean 'a'?")
    await connections.shutdown()
  }
}
