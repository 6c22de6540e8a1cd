import JSON
import RestClient
import Synchronization
import TestSupport
import Testing

@testable import Salesforce

/// Tests tokens obtained by other programs.
@Suite(.timeLimit(.minutes(60))) struct GivenTokenTests {
  private let get = RestRequest(.GET, "/services/data/v66.0/limits")

  /// Hands out tokens in order, and the last one forever; records the refused tokens it is told
  /// about.
  private final class Source: Sendable {
    private let state: Mutex<(tokens: [String], refused: [String?])>
    let url: String

    init(_ url: String, _ tokens: String...) {
      self.url = url
      state = Mutex((tokens, []))
    }

    var refused: [String?] { state.withLock { $0.refused } }

    var credentials: Credentials {
      .external(
        ExternalToken(name: "the test") { refused in
          let token = self.state.withLock { state in
            state.refused.append(refused)
            return state.tokens.count > 1 ? state.tokens.removeFirst() : state.tokens[0]
          }
          return Session(givenToken: token, instanceURL: self.url)
        })
    }
  }

  @Test func givenToken_isUsedUncheckedAndNothingElseIsAsked() async throws {
    let server = try ScriptedServer(.json("{}"))
    let credentials = Credentials.accessToken(instanceURL: server.url + "/", accessToken: "00D5g0000001abc!AQEA.x")
    try await withClient(server, credentials: credentials) { client in
      #expect(try await client.send(get).status == 200)
      let session = try await client.session()
      #expect(session.orgId == "00D5g0000001abcEAA" && session.userId == "" && session.instanceURL == server.url)
    }
    #expect(server.requests.map(\.path) == [get.path])
    #expect(server.requests.first?.header("Authorization") == "Bearer 00D5g0000001abc!AQEA.x")
  }

  @Test func givenToken_refused_isSessionExpiredAndNothingIsAskedForAnother() async throws {
    let server = try ScriptedServer(handler: { _ in expired })
    let credentials = Credentials.accessToken(instanceURL: server.url, accessToken: "canary")
    let error = try await withClient(server, credentials: credentials) { client in
      try await failure { try await client.send(get) }
    }
    #expect(error.code == .sessionExpired && !error.isRetryable && error.message.contains("give a new one"))
    #expect(!"\(error) \(credentials)".contains("canary") && server.requests.count == 1)
  }

  @Test func keptToken_isTheSessionsAndNeedsAPersonWithoutOne() async throws {
    let server = try ScriptedServer(.json("{}"), expired)
    let credentials = Credentials.accessToken(instanceURL: server.url, accessToken: nil)
    try await withClient(server, session: session(server), credentials: credentials) { client in
      #expect(try await client.send(get).status == 200)
      let error = try await failure { try await client.send(get) }
      #expect(error.code == .sessionExpired)
    }
    let error = try await withClient(server, credentials: credentials) { client in
      try await failure { try await client.send(get) }
    }
    #expect(error.code == .notAuthenticated && error.reason == "needsPerson" && error.message.contains("tureen login"))
    #expect(server.requests.count == 2)
  }

  @Test func refreshToken_thatOnlyTheKeptSessionHas_isUsedAndNeedsAPersonWithoutOne() async throws {
    let server = try ScriptedServer(expired)
    server.enqueue(tokenAnswer(server, token: "token-2"), .json("{}"))
    let credentials = Credentials.refreshToken(loginURL: server.url, clientId: "app", clientSecret: nil, refreshToken: nil)
    try await withClient(server, session: session(server), credentials: credentials) { client in
      let status = try await client.send(get).status, session = try await client.session()
      #expect(status == 200 && session.refreshToken == "refresh-1")
    }
    #expect(server.requests[1].text == "grant_type=refresh_token&client_id=app&refresh_token=refresh-1")
    let error = try await withClient(server, session: session(server, refresh: nil), credentials: credentials) { client in
      server.enqueue(expired)
      return try await failure { try await client.send(get) }
    }
    #expect(error.code == .notAuthenticated && error.reason == "needsPerson")
    #expect(server.requests.count == 4)
  }

  @Test func external_refusedToken_isAskedOnceMoreWithIt() async throws {
    let server = try ScriptedServer(expired, .json("{}"))
    let source = Source(server.url, "one", "two")
    try await withClient(server, credentials: source.credentials) { client in
      let status = try await client.send(get).status
      // For a new session without a refused token, the source's current token is used.
      let session = try await client.signIn()
      #expect(status == 200 && session.accessToken == "two")
    }
    #expect(source.refused == [nil, "one", nil])
    #expect(server.requests.map { $0.header("Authorization") } == ["Bearer one", "Bearer two"])
  }

  @Test func external_sameTokenAgain_isSessionExpired() async throws {
    let server = try ScriptedServer(handler: { _ in expired })
    let source = Source(server.url, "canary")
    let error = try await withClient(server, credentials: source.credentials) { client in
      try await failure { try await client.send(get) }
    }
    #expect(error.code == .sessionExpired && error.message.contains("the test returned the same access token"))
    #expect(!"\(error) \(source.credentials)".contains("canary"))
    #expect(server.requests.count == 1 && source.refused == [nil, "canary"])
  }

  @Test func external_anyFailure_isNotAuthenticatedAndNamesTheSource() async throws {
    struct Broken: Error, CustomStringConvertible { let description = "it is broken" }
    let server = try ScriptedServer()
    let credentials = Credentials.external(ExternalToken(name: "the test") { _ in throw Broken() })
    let error = try await withClient(server, credentials: credentials) { client in
      try await failure { try await client.send(get) }
    }
    #expect(error.code == .notAuthenticated && error.outcome == .notSent && error.message == "the test: it is broken")
  }

  /// The 15 characters are case-sensitive; the three after them encode which are capitals.
  @Test(arguments: [
    ("00D000000000001", "00D000000000001EAA"), ("00D5g0000001abc", "00D5g0000001abcEAA"),
    ("001A0000006Vm9u", "001A0000006Vm9uIAC"),
    ("00DAAAAABBBBBzz", "00DAAAAABBBBBzz25H"), ("00D000000000001EAA", "00D000000000001EAA"),
  ])
  func orgId_of15Characters_isCompleted(short: String, long: String) {
    #expect(RecordId.complete(short) == long)
  }

  @Test func orgId_ofAnotherToken_isNone() {
    for token in ["eyJhbGciOi.x.y", "00D!x", "00D00000000000é!", "005000000000001!x", ""] {
      #expect(RecordId.org(inToken: token) == nil)
    }
  }
}
