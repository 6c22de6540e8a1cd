import JSON
import RestClient
import Support
import Synchronization
import TestSupport
import Testing

@testable import Salesforce
@testable import Tureen

/// Tests that refusals of a login host are stored for all processes of a home, and that a refusal deletes nothing.
@Suite(.timeLimit(.minutes(60))) struct RefusalTests {
  private let place: SessionPlace

  init() throws { place = try SessionPlace() }

  /// A login host that answers with `said`, which tests can change, and the data of its org.
  private final class LoginHost: @unchecked Sendable {  // `server` is set once
    private let refusal: Mutex<ScriptedAnswer?>
    private(set) var server: ScriptedServer!

    init(_ refusal: ScriptedAnswer?) throws {
      self.refusal = Mutex(refusal)
      server = try ScriptedServer { [weak self] request in self?.answer(request) ?? .status(500) }
    }

    var url: String { server.url }
    var asked: Int { server.requests.filter { $0.path == "/services/oauth2/token" }.count }
    func say(_ answer: ScriptedAnswer?) { refusal.withLock { $0 = answer } }

    private func answer(_ request: RecordedRequest) -> ScriptedAnswer {
      guard request.path == "/services/oauth2/token" else { return .json("{}") }
      if request.text.contains("password=right") { return token }
      return refusal.withLock { $0 } ?? token
    }

    private var token: ScriptedAnswer {
      .json(#"{"access_token":"t","instance_url":"\#(url)","id":"\#(url)/id/00DO/005U"}"#)
    }
  }

  private static func refusal(_ error: String, _ text: String, _ status: Int = 400) -> ScriptedAnswer {
    .json(#"{"error":"\#(error)","error_description":"\#(text)"}"#, status: status)
  }

  private func password(_ host: LoginHost, _ password: String = "wrong") -> Credentials {
    .password(loginURL: host.url, clientId: "app", clientSecret: "s", username: "ann@acme.com", password: password)
  }

  @Test func wrongPassword_hundredRuns_oneFailedSignInThenTheRightOneIsAskedAtOnce() async throws {
    let host = try LoginHost(Self.refusal("invalid_grant", "authentication failure"))
    for run in 1...100 {
      let error = try await place.run(password(host))
      #expect(error?.code == .notAuthenticated && error?.reason == "wrongCredentials")
      for cause in ["locked user", "multi-factor", "disabled password flow", "security token"] {
        #expect(error?.message.contains(cause) == true)
      }
      #expect(host.asked == 1)
      place.clock.advance(Double(run) * 3600)
    }
    #expect(try await place.run(password(host, "right")) == nil)
    #expect(host.asked == 2)
    #expect(try await place.store.load()?.refusal == nil)
  }

  @Test func addressRestricted_backOffIsShared_thenTheSameRefreshTokenSignsIn() async throws {
    let host = try LoginHost(Self.refusal("invalid_grant", "ip restricted"))
    let credentials = Credentials.refreshToken(loginURL: host.url, clientId: "app", clientSecret: nil, refreshToken: "r1")
    for (asked, minutes) in [(1, 1.0), (2, 5), (3, 15), (4, 60), (5, 60)] {
      for _ in 0..<3 {
        let error = try await place.run(credentials)
        #expect(error?.reason == "ipRestricted" && error?.code == .notAuthenticated)
        #expect(host.asked == asked)
      }
      place.clock.advance(minutes * 60 - 1)
      #expect(try await place.run(credentials)?.reason == "ipRestricted")
      #expect(host.asked == asked)
      place.clock.advance(1)
    }
    host.say(nil)
    #expect(try await place.run(credentials) == nil)
    let tokens = Set(host.server.requests.filter { $0.path == "/services/oauth2/token" }.map(\.text))
    #expect(tokens == ["grant_type=refresh_token&client_id=app&refresh_token=r1"])
    let kept = try await place.store.load()
    #expect(kept?.refusal == nil && kept?.session?.refreshToken == "r1")
  }

  @Test(arguments: [
    ("invalid_grant", "expired access/refresh token", "sessionEnded"), ("invalid_grant", "inactive user", "userInactive"),
    ("inactive_user", "user is inactive", "userInactive"), ("invalid_grant", "inactive organization", "orgInactive"),
    ("inactive_org", "", "orgInactive"), ("invalid_grant", "ip restricted", "ipRestricted"),
    ("invalid_grant", "authentication failure", "wrongCredentials"), ("invalid_client", "", "wrongCredentials"),
    ("invalid_basic_auth_header", "", "wrongCredentials"), ("invalid_grant", "invalid assertion", "wrongCredentials"),
    ("invalid_grant", "user hasn't approved this consumer", "notApproved"), ("invalid_app_access", "x", "notApproved"),
    ("OAUTH_APP_ACCESS_DENIED", "x", "notApproved"), ("invalid_client_id", "x", "appRefused"),
    ("app_not_found", "External client app is not installed in this org", "appRefused"), ("app_blocked", "x", "appRefused"),
    ("oauth_flow_disabled", "x", "appRefused"), ("oauth_policy_not_found", "x", "appRefused"),
    ("invalid_dpop_proof", "x", "appRefused"), ("OAUTH_EC_APP_NOT_FOUND", "x", "appRefused"),
    ("invalid_request", "request not supported on this domain", "refused"),
    ("invalid_grant", "request not supported on this domain", "wrongHost"),
    ("invalid_grant", "no client credentials user enabled", "noRunAsUser"),
    ("invalid_grant", "audience is invalid", "audience"), ("rate_limit_exceeded", "x", "rateLimited"),
    ("invalid_grant", "login rate exceeded", "rateLimited"), ("a_code_of_later", "x", "refused"),
  ])
  func refusal_ofEachReason_isAskedOnceWithinTheBackOff(code: String, text: String, reason: String) async throws {
    let host = try LoginHost(Self.refusal(code, text))
    for _ in 0..<3 { #expect(try await place.run(password(host))?.reason == reason) }
    #expect(host.asked == 1)
    place.clock.advance(61)
    let isFinal = ["sessionEnded", "wrongCredentials"].contains(reason)
    #expect(try await place.run(password(host))?.reason == reason)
    #expect(host.asked == (isFinal ? 1 : 2))
  }

  @Test(arguments: [400, 401, 403]) func refusal_withoutABody_isAskedOnceWithinTheBackOff(status: Int) async throws {
    let host = try LoginHost(.status(status))
    for _ in 0..<3 { #expect(try await place.run(password(host))?.reason == "refused") }
    #expect(host.asked == 1)
  }

  @Test func refusal_429_isRateLimitedAndAskedOnceWithinTheBackOff() async throws {
    let host = try LoginHost(.text("slow down", status: 429))
    for _ in 0..<3 { #expect(try await place.run(password(host))?.reason == "rateLimited") }
    #expect(host.asked == 1)
  }

  private static let noRefusals: [ScriptedAnswer] = [
    .text("<html>maintenance</html>", status: 503, type: "text/html"),
    .text("<html>maintenance</html>", status: 400, type: "text/html"), .closed, refusal("server_error", "x"),
    refusal("unknown_error", "x"), refusal("system_down", "x"), refusal("client_blocked_retry", "x"),
    refusal("invalid_grant", "token request is already being processed"),
  ]

  @Test(arguments: noRefusals.indices)
  func noRefusal_isRetryableAndNotKept(answer: Int) async throws {
    let host = try LoginHost(Self.noRefusals[answer])
    let credentials = Credentials.refreshToken(loginURL: host.url, clientId: "app", clientSecret: nil, refreshToken: "r1")
    for _ in 0..<2 { #expect(try await place.run(credentials)?.isRetryable == true) }
    #expect(host.asked >= 2)
    #expect(try await place.store.load() == nil)
    host.say(nil)
    #expect(try await place.run(credentials) == nil)
  }

  @Test func silentLoginHost_isRetryableAndNotKept() async throws {
    let host = try LoginHost(.never)
    var transport = TransportConfiguration()
    // It begins once a request is sent, and only it can end one.
    transport.idleTimeoutMs = 50
    transport.connectTimeoutMs = 600_000
    let client = SalesforceClient(
      store: place.store, credentials: password(host), transport: HTTPTransport(transport),
      environment: place.clock.environment, logger: place.log.logger)
    let error = try await #require(throws: RestError.self) { try await client.send(RestRequest(.GET, "/x")) }
    await client.shutdown()
    #expect(error.code == .noResponse && error.isRetryable)
    // The host may read a request after its client has given up.
    await host.server.received(RetryPolicy.standard.attempts)
    #expect(host.asked == RetryPolicy.standard.attempts)
    #expect(try await place.store.load() == nil)
  }

  @Test func busyTwice_thenSignedIn_keepsNoRefusal() async throws {
    let busy = Self.refusal("invalid_grant", "token request is already being processed")
    let host = try LoginHost(nil)
    host.server.enqueue(busy, busy)
    let credentials = Credentials.refreshToken(loginURL: host.url, clientId: "app", clientSecret: nil, refreshToken: "r1")
    #expect(try await place.run(credentials) == nil)
    #expect(host.asked == 3 && place.clock.waits.prefix(2) == [1, 2])
    let kept = try await place.store.load()
    #expect(kept?.refusal == nil && kept?.session?.accessToken == "t")
  }

  @Test func authenticate_withinTheBackOff_isAskedAtOnce() async throws {
    let host = try LoginHost(Self.refusal("invalid_app_access", "x"))
    #expect(try await place.run(password(host))?.reason == "notApproved")
    host.say(nil)
    #expect(try await place.run(password(host))?.reason == "notApproved")
    _ = try await place.withClient(password(host)) { try await $0.signIn() }
    #expect(host.asked == 2)
    #expect(try await place.run(password(host)) == nil)
    #expect(host.asked == 2)
  }

  @Test func refusal_inTheFile_saysNothingOfThePassword() async throws {
    let host = try LoginHost(Self.refusal("invalid_grant", "authentication failure"))
    let credentials = Credentials.password(
      loginURL: host.url, clientId: "app", clientSecret: "canary-secret", username: "ann@acme.com", password: "canary-password")
    _ = try await place.run(credentials)
    let text = try #require(textOfFile(place.path))
    #expect(!text.contains("canary") && text.contains("wrongCredentials"))
    // The salted digest identifies the same password; in another user's file the salt and the digest differ.
    let other = try SessionPlace()
    _ = try await other.run(credentials)
    let keys = [try await place.store.load()?.refusal?.key, try await other.store.load()?.refusal?.key]
    #expect(keys[0] != nil && keys[0] != keys[1])
  }

  @Test func clockSetBack_backOffInTheFarFuture_isAskedAgain() async throws {
    let host = try LoginHost(Self.refusal("invalid_app_access", "x"))
    #expect(try await place.run(password(host))?.reason == "notApproved")
    place.clock.advance(-86_400)
    #expect(try await place.run(password(host))?.reason == "notApproved")
    #expect(host.asked == 2)
  }

  @Test func newRefreshToken_afterTheStoredOneEnded_isTheOneThatIsSent() async throws {
    let host = try LoginHost(nil)
    func credentials(_ token: String) -> Credentials {
      .refreshToken(loginURL: host.url, clientId: "app", clientSecret: nil, refreshToken: token)
    }
    #expect(try await place.run(credentials("old")) == nil)
    host.say(Self.refusal("invalid_grant", "expired access/refresh token"))
    _ = try? await place.withClient(credentials("old")) { try await $0.signIn() }
    host.say(nil)
    _ = try await place.withClient(credentials("new")) { client in
      // The org still accepts the stored access token, so only a renewal shows which credentials are sent.
      try await client.signIn()
    }
    #expect(host.server.requests.last { $0.path == "/services/oauth2/token" }?.text.hasSuffix("refresh_token=new") == true)
  }
}

private func textOfFile(_ path: String) -> String? {
  FileSystem.read(path).map { String(decoding: $0, as: UTF8.self) }
}
