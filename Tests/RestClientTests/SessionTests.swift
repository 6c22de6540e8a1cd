import JSON
import RestClient
import Synchronization
import TestSupport
import Testing

@testable import Salesforce

@Suite(.timeLimit(.minutes(60))) struct SessionTests {
  private let get = RestRequest(.GET, "/services/data/v66.0/limits")

  @Test func signIn_eachGrant_sendsItsForm() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    let forms: [(Credentials, String)] = [
      (
        .password(loginURL: server.url, clientId: "app", clientSecret: "s+1", username: "a@b.c", password: "p w&d"),
        "grant_type=password&client_id=app&client_secret=s%2B1&username=a%40b.c&password=p%20w%26d"
      ),
      (
        .clientCredentials(loginURL: server.url + "/", clientId: "app", clientSecret: "s"),
        "grant_type=client_credentials&client_id=app&client_secret=s"
      ),
      (
        .refreshToken(loginURL: server.url, clientId: "app", clientSecret: nil, refreshToken: "r="),
        "grant_type=refresh_token&client_id=app&refresh_token=r%3D"
      ),
    ]
    let transport = HTTPTransport()
    for (credentials, form) in forms {
      server.enqueue(tokenAnswer(server, token: "t"))
      let session = try await OAuthClient(transport: transport).signIn(credentials)
      #expect(session.accessToken == "t" && session.instanceURL == server.url)
      #expect(session.userId == "005U" && session.orgId == "00DO" && session.issuedAt == 1_700_000_000_000)
      let request = try #require(server.requests.last)
      #expect(request.method == "POST" && request.target == "/services/oauth2/token")
      #expect(request.header("Content-Type") == "application/x-www-form-urlencoded")
      #expect(request.header("Authorization") == nil)
      #expect(request.text == form)
    }
    await transport.shutdown()
  }

  @Test func signIn_wrongPassword_isNotAuthenticatedAndNotAskedAgain() async throws {
    let body = #"{"error":"invalid_grant","error_description":"authentication failure"}"#
    let server = try ScriptedServer(handler: { _ in .json(body, status: 400) })
    let credentials = Credentials.password(
      loginURL: server.url, clientId: "a", clientSecret: "b", username: "c", password: "d")
    try await withClient(server, credentials: credentials, policy: .standard) { client in
      for n in 0..<3 {
        let error = try await failure { try await client.send(get) }
        #expect(error.code == .notAuthenticated)
        #expect(
          error.message == "\(server.url) refused the sign-in of c: authentication failure; check the user name and the "
            + "password, followed by the security token if the org asks for one; a locked user, multi-factor sign-in and a "
            + "disabled password flow get the same answer"
            + (n == 0 ? "" : "; it is asked again when the credentials change, or by oauth.authenticate and `tureen login`"))
        #expect(error.reason == "wrongCredentials" && error.outcome == (n == 0 ? .answered : .notSent))
        #expect(n > 0 || error.body == body && error.serverCode == "invalid_grant")
      }
    }
    #expect(server.requests.count == 1)
  }

  @Test func signIn_refusalThatRepeatsWhatWasSent_showsNoSecret() async throws {
    for status in [400, 503] {
      let server = try ScriptedServer(handler: { request in
        .json(#"{"error":"invalid_client","error_description":"you sent \#(request.text)"}"#, status: status)
      })
      let credentials = Credentials.password(
        loginURL: server.url, clientId: "a", clientSecret: "canary secret", username: "c", password: "canary+password")
      let error = try await withClient(server, credentials: credentials) { client in
        try await failure { try await client.send(get) }
      }
      #expect(
        error.message.contains("you sent") && !"\(error) \(error.body ?? "") \(error.errors)".contains("canary"), "\(error)")
    }
  }

  @Test func signIn_answerWithoutToken_isInvalidBodyWithoutTheBody() async throws {
    let server = try ScriptedServer(.json(#"{"access_token":"secret"}"#))
    let credentials = Credentials.clientCredentials(loginURL: server.url, clientId: "a", clientSecret: "b")
    let error = try await withClient(server, credentials: credentials) { client in
      try await failure { try await client.send(get) }
    }
    #expect(error.code == .invalidBody)
    #expect(!"\(error)".contains("secret") && error.body == nil)
  }

  @Test func signIn_loginHostBusy_isRepeatedThenWorks() async throws {
    let server = try ScriptedServer(.text("<html>", status: 503, type: "text/html"))
    server.enqueue(tokenAnswer(server, token: "t"), .json("{}"))
    let credentials = Credentials.clientCredentials(loginURL: server.url, clientId: "a", clientSecret: "b")
    try await withClient(server, credentials: credentials, policy: .standard) { _ = try await $0.send(get) }
    #expect(server.requests.last?.header("Authorization") == "Bearer t")
  }

  @Test func send_expiredSession_refreshesAndReplaysOnce() async throws {
    let server = try ScriptedServer(expired)
    server.enqueue(tokenAnswer(server, token: "token-2"), .json(#"{"id":"1"}"#, status: 201))
    let stored = RecordedSessions()
    let post = RestRequest(.POST, "/services/data/v66.0/sobjects/Account", body: Array(#"{"Name":"x"}"#.utf8))
    let response = try await withClient(
      server, session: session(server), credentials: refreshCredentials(server),
      onSessionChange: stored.note
    ) { try await $0.send(post) }
    #expect(response.status == 201)
    #expect(server.requests.map(\.path) == [post.path, "/services/oauth2/token", post.path])
    #expect(server.requests.map { $0.header("Authorization") } == ["Bearer token-1", nil, "Bearer token-2"])
    #expect(server.requests.last?.text == #"{"Name":"x"}"#)
    #expect(stored.changes == ["renewed token-2"])
    #expect(stored.sessions.map(\.refreshToken) == ["refresh-1"])
  }

  @Test func send_rotatedRefreshToken_isUsedNextTime() async throws {
    let server = try ScriptedServer(expired)
    server.enqueue(tokenAnswer(server, token: "token-2", refresh: "refresh-2"), .json("{}"))
    server.enqueue(expired, tokenAnswer(server, token: "token-3"), .json("{}"))
    try await withClient(server, session: session(server), credentials: refreshCredentials(server)) { client in
      _ = try await client.send(get)
      _ = try await client.send(get)
    }
    let refreshes = server.requests.filter { $0.path == "/services/oauth2/token" }.map(\.text)
    #expect(refreshes.map { $0.hasSuffix("refresh_token=refresh-1") } == [true, false])
    #expect(refreshes.last?.hasSuffix("refresh_token=refresh-2") == true)
  }

  @Test func send_twentyAtOnce_refreshOnceAndReplayEach() async throws {
    let box = ServerBox()
    let server = try ScriptedServer(handler: { request in
      guard let server = box.server else { return .status(500) }
      if request.path == "/services/oauth2/token" { return tokenAnswer(server, token: "token-2") }
      guard request.header("Authorization") == "Bearer token-1" else { return .json("{}") }
      // None is refused before all have been sent: a request that begins during the renewal waits for the new session.
      server.blockUntilReceived(20) { $0.header("Authorization") == "Bearer token-1" }
      return expired
    })
    box.server = server
    defer { box.server = nil }
    var configuration = TransportConfiguration()
    configuration.connectionsPerHost = 20
    try await withClient(
      server, session: session(server), credentials: refreshCredentials(server), configuration: configuration
    ) { client in
      try await withThrowingTaskGroup { group in
        for number in 0..<20 {
          group.addTask { try await client.send(RestRequest(.POST, "/r/\(number)", body: [])).status }
        }
        for try await status in group { #expect(status == 200) }
      }
    }
    let paths = Dictionary(grouping: server.requests, by: \.path).mapValues(\.count)
    #expect(paths["/services/oauth2/token"] == 1)
    #expect((0..<20).allSatisfy { paths["/r/\($0)"] == 2 })
  }

  @Test func send_refusedAgainAfterRefresh_isSessionExpired() async throws {
    let server = try ScriptedServer(expired)
    server.enqueue(tokenAnswer(server, token: "token-2"), expired)
    let error = try await withClient(server, session: session(server), credentials: refreshCredentials(server)) {
      client in try await failure { try await client.send(get) }
    }
    #expect(error.code == .sessionExpired && error.status == 401)
    #expect(error.message.contains("right after it was renewed: Session expired or invalid; check that the user"))
    #expect(server.requests.count == 3)
  }

  @Test func send_refreshRevoked_isNotAuthenticatedWithTheServersWords() async throws {
    let body = #"{"error":"invalid_grant","error_description":"expired access/refresh token"}"#
    let server = try ScriptedServer(expired, .json(body, status: 400))
    try await withClient(server, session: session(server), credentials: refreshCredentials(server), policy: .standard) {
      client in
      let first = try await failure { try await client.send(get) }
      #expect(first.code == .notAuthenticated && first.body == body)
      #expect(first.message.contains(": expired access/refresh token; the refresh token is no longer valid: sign in again"))
      let second = try await failure { try await client.send(get) }
      #expect(second.code == .notAuthenticated && second.reason == "sessionEnded" && second.outcome == .notSent)
      #expect(
        second.message == first.message
          + "; it is asked again when the credentials change, or by oauth.authenticate and `tureen login`")
    }
    #expect(server.requests.count == 2)
  }

  @Test func send_refreshUnavailable_failsForNowOnly() async throws {
    // The next request must not use the refused token again.
    let server = try ScriptedServer(expired, .restError(503, "X", "down"))
    server.enqueue(tokenAnswer(server, token: "token-2"), .json("{}"))
    try await withClient(server, session: session(server), credentials: refreshCredentials(server)) { client in
      let error = try await failure { try await client.send(get) }
      #expect(error.code == .httpStatus && error.status == 503 && error.isRetryable)
      #expect(try await client.send(get).status == 200)
    }
  }

  @Test func send_expiredWithoutCredentials_isSessionExpired() async throws {
    let server = try ScriptedServer(expired)
    let error = try await withClient(server) { client in try await failure { try await client.send(get) } }
    #expect(error.code == .sessionExpired && error.message.contains("Session expired or invalid; there are no credentials"))
    #expect(server.requests.count == 1)
  }

  @Test func send_badOAuthToken403_refreshes() async throws {
    let server = try ScriptedServer(.text("Bad_OAuth_Token", status: 403))
    server.enqueue(tokenAnswer(server, token: "token-2"), .json("{}"))
    try await withClient(server, session: session(server), credentials: refreshCredentials(server)) { client in
      let response = try await client.send(RestRequest(.GET, "/services/oauth2/userinfo"))
      #expect(response.status == 200)
    }
  }

  @Test(arguments: [
    "This session is not valid for use with the REST API", "Connected app is not attached to Agent",
  ])
  func send_hopeless401_doesNotRefresh(text: String) async throws {
    let server = try ScriptedServer(.restError(401, "INVALID_SESSION_ID", text))
    let error = try await withClient(server, session: session(server), credentials: refreshCredentials(server)) {
      client in try await failure { try await client.send(get) }
    }
    #expect(error.code == .httpStatus && error.status == 401 && error.message == text)
    #expect(server.requests.count == 1)
  }

  @Test func cancel_whileARefreshIsUnderWay_endsAtOnceAndTheRefreshGoesOn() async throws {
    let server = try ScriptedServer(expired, .never)
    try await withClient(server, session: session(server), credentials: refreshCredentials(server)) { client in
      let call = Task { try await failure { try await client.send(get) } }
      await server.received(1) { $0.path == "/services/oauth2/token" }
      call.cancel()
      let error = try await call.value
      #expect(error.code == .cancelled)
    }
  }

  @Test func shutdown_whileARefreshIsUnderWay_endsTheWaitingCall() async throws {
    let server = try ScriptedServer(expired, .never)
    try await withClient(server, session: session(server), credentials: refreshCredentials(server)) { client in
      let call = Task { try await failure { try await client.send(get) } }
      await server.received(1) { $0.path == "/services/oauth2/token" }
      await client.shutdown()
      let error = try await call.value
      #expect(error.code == .shutDown)
    }
  }

  @Test func send_openResource_carriesNoToken() async throws {
    let server = try ScriptedServer(.json("[]"))
    try await withClient(server) { _ = try await $0.send($0.requests.versions()) }
    #expect(server.requests.first?.header("Authorization") == nil)
  }

  @Test func send_absoluteURLOfTheOrg_carriesTheToken() async throws {
    let server = try ScriptedServer(.json("{}"))
    try await withClient(server) { _ = try await $0.send(RestRequest(.GET, server.url + "/id/00DO/005U")) }
    #expect(server.requests.first?.header("Authorization") == "Bearer token-1")
  }

  @Test func send_absoluteURLElsewhere_neverCarriesTheToken() async throws {
    let (server, other) = (try ScriptedServer(), try ScriptedServer(.json("{}")))
    let error = try await withClient(server) { client in
      try await failure { try await client.send(RestRequest(.GET, other.url + "/x")) }
    }
    #expect(error.code == .invalidURL)
    #expect(other.requests.isEmpty)
  }

  @Test(arguments: [("refresh-1", "token=refresh-1"), (nil, "token=token-1")])
  func signOut_signedIn_revokesTheStrongestTokenAfterForgetting(refresh: String?, form: String) async throws {
    let store = MemorySessionStore(), keptThen = Mutex<[StoredSession?]>([])
    let server = try ScriptedServer { _ in
      keptThen.withLock { $0.append(store.load()) }
      return .status(200)
    }
    store.save(StoredSession(session: session(server, refresh: refresh)))
    try await withClient(server, store: store) { client in
      #expect(await client.signOut())
      #expect(await client.knownSession() == nil)
      #expect(await client.signOut())
    }
    #expect(keptThen.withLock { $0 } == [nil])
    let requests = server.requests
    #expect(requests.map(\.target) == ["/services/oauth2/revoke"])
    #expect(requests.first?.text == form && requests.first?.header("Authorization") == nil)
  }

  @Test func signOut_loginHostRefuses_isFalseAndAskedOnce() async throws {
    let server = try ScriptedServer(handler: { _ in .text("busy", status: 503) })
    try await withClient(server, session: session(server), policy: .standard) { client in
      #expect(await client.signOut() == false)
      #expect(await client.knownSession() == nil)
    }
    #expect(server.requests.count == 1)
  }

  @Test func send_userAgent_isAskedForEachRequest() async throws {
    let server = try ScriptedServer(.json("{}"), .json("{}"))
    let calls = Mutex(0)
    let client = SalesforceClient(
      session: session(server),
      userAgent: {
        calls.withLock { calls in
          calls += 1
          return "tureen/\(calls)"
        }
      })
    for _ in 0..<2 { _ = try await client.send(get) }
    await client.shutdown()
    #expect(server.requests.map { $0.header("User-Agent") } == ["tureen/1", "tureen/2"])
  }
}

/// Gives a handler access to its own server. Set before the first request.
private final class ServerBox: @unchecked Sendable {
  weak var server: ScriptedServer?
}
