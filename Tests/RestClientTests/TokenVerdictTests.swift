import Foundation
import JSON
import RestClient
import TestSupport
import Testing

@testable import Salesforce

/// Tests the meaning of each response of a token endpoint, and the reaction to it.
@Suite(.timeLimit(.minutes(60))) struct TokenVerdictTests {
  private func error(_ code: String, _ text: String, status: Int = 400) -> RestError {
    let body: JSONObject = ["error": .string(code), "error_description": .string(text)]
    return RestError(
      code: .httpStatus, message: text, status: status, body: String(decoding: body.serialized(), as: UTF8.self),
      errors: [.object(body)])
  }

  @Test(arguments: [
    ("invalid_grant", "expired access/refresh token", SignInReason.sessionEnded),
    ("invalid_grant", "authentication failure", .wrongCredentials), ("invalid_client", "x", .wrongCredentials),
    ("invalid_basic_auth_header", "x", .wrongCredentials), ("invalid_grant", "invalid assertion", .wrongCredentials),
    ("invalid_grant", "Inactive User", .userInactive), ("inactive_user", "x", .userInactive),
    ("inactive_org", "x", .orgInactive), ("invalid_grant", "inactive organization", .orgInactive),
    ("invalid_grant", "ip restricted", .ipRestricted), ("invalid_grant", "restricted IP or hours", .ipRestricted),
    ("invalid_grant", "ip restricted or invalid login hours", .ipRestricted),
    ("invalid_grant", "user hasn't approved this consumer", .notApproved),
    ("invalid_app_access", "user is not admin approved to access this app", .notApproved),
    ("OAUTH_APP_ACCESS_DENIED", "x", .notApproved), ("invalid_client_id", "x", .appRefused),
    ("app_not_found", "x", .appRefused), ("app_blocked", "x", .appRefused), ("fail_close_app_blocked", "x", .appRefused),
    ("oauth_flow_disabled", "x", .appRefused), ("ecapp_policy_not_found", "x", .appRefused),
    ("invalid_dpop_proof", "x", .appRefused), ("OAUTH_EC_APP_NOT_FOUND", "x", .appRefused),
    ("invalid_grant", "request not supported on this domain", .wrongHost),
    ("invalid_grant", "no client credentials user enabled", .noRunAsUser),
    ("invalid_grant", "Audience validation failed", .audience), ("invalid_grant", "audience is invalid", .audience),
    ("rate_limit_exceeded", "x", .rateLimited), ("invalid_grant", "login rate exceeded", .rateLimited),
    ("access_denied", "x", .denied), ("access-denied", "x", .denied), ("something_new", "x", .refused),
    ("invalid_grant", "something new", .refused), ("unsupported_grant_type", "x", .refused),
  ])
  func verdict_codeAndText_haveTheirReason(code: String, text: String, reason: SignInReason) {
    #expect(TokenVerdict(error(code, text), grant: .clientCredentials) == .refused(reason))
  }

  @Test(arguments: [
    "unknown_error", "server_error", "service_unavailable", "system_down", "slow_down", "client_blocked_retry",
  ])
  func verdict_serverUnable_isPassing(code: String) {
    #expect(TokenVerdict(error(code, "x"), grant: .refreshToken) == .passing)
  }

  @Test func verdict_expiredAuthorizationCode_dependsOnTheGrant() {
    let said = error("invalid_grant", "expired authorization code")
    #expect(TokenVerdict(said, grant: .jwtBearer) == .refused(.clock))
    #expect(TokenVerdict(said, grant: .refreshToken) == .busy)
    #expect(TokenVerdict(said, grant: .password) == .refused(.refused))
  }

  @Test func verdict_withoutACode_goesByStatusAndBody() {
    func of(_ status: Int, _ body: String) -> TokenVerdict {
      TokenVerdict(RestError(code: .httpStatus, message: "m", status: status, body: body), grant: .password)
    }
    for status in [400, 401, 403] { #expect(of(status, "") == .refused(.refused)) }
    #expect(of(404, "") == .other && of(429, "") == .refused(.rateLimited) && of(503, "") == .passing)
    #expect(of(403, " <html>") == .passing && of(403, "no") == .other)
  }

  // MARK: Reactions

  private func signIn(_ server: ScriptedServer, _ waits: RecordedWaits = RecordedWaits()) async -> Result<Session, RestError> {
    let transport = HTTPTransport()
    let client = OAuthClient(transport: transport, environment: waits.environment())
    let result: Result<Session, RestError>
    do throws(RestError) {
      result = .success(try await client.signIn(refreshCredentials(server)))
    } catch {
      result = .failure(error)
    }
    await transport.shutdown()
    return result
  }

  private static let busy = ScriptedAnswer.json(
    #"{"error":"invalid_grant","error_description":"token request is already being processed"}"#, status: 400)

  @Test func refresh_busyTwice_waitsAndSignsIn() async throws {
    let server = try ScriptedServer(Self.busy, Self.busy), waits = RecordedWaits()
    server.enqueue(tokenAnswer(server, token: "t"))
    #expect(try await signIn(server, waits).get().accessToken == "t")
    #expect(server.requests.count == 3 && waits.seconds == [1, 2])
  }

  @Test func refresh_alwaysBusy_isARetryableErrorAfterHalfAMinute() async throws {
    let server = try ScriptedServer(handler: { _ in Self.busy }), waits = RecordedWaits()
    let result = await signIn(server, waits)
    #expect(throws: RestError.self) { try result.get() }
    guard case .failure(let error) = result else { return }
    #expect(error.code == .httpStatus && error.isRetryable && error.reason == nil)
    #expect(waits.seconds == [1, 2, 4, 8, 15] && server.requests.count == 6)
  }

  @Test(arguments: [(401, ""), (403, ""), (429, #"{"error":"rate_limit_exceeded"}"#)])
  func refusal_ofAnyStatus_isAskedOnce(status: Int, body: String) async throws {
    let server = try ScriptedServer(handler: { _ in .json(body, status: status) })
    let result = await signIn(server)
    #expect(server.requests.count == 1)
    guard case .failure(let error) = result else {
      Issue.record("signed in")
      return
    }
    #expect(error.code == .notAuthenticated && error.reason == (status == 429 ? "rateLimited" : "refused"))
  }

  @Test func loginHost_answersHTMLWith400_isRetriedAndRetryable() async throws {
    let server = try ScriptedServer(handler: { _ in .text("<html>maintenance", status: 400, type: "text/html") })
    let result = await signIn(server)
    guard case .failure(let error) = result else {
      Issue.record("signed in")
      return
    }
    #expect(error.code == .httpStatus && error.isRetryable && error.reason == nil)
    #expect(server.requests.count == RetryPolicy.standard.attempts)
  }

  @Test func redirect_sameMachine_isFollowedOnceWithTheBody() async throws {
    let (login, own) = (try ScriptedServer(), try ScriptedServer())
    login.enqueue(.status(302, headers: [("Location", own.url + "/services/oauth2/token")]))
    own.enqueue(tokenAnswer(own, token: "t"))
    #expect(try await signIn(login).get().instanceURL == own.url)
    #expect(own.requests.map(\.method) == ["POST"])
    #expect(own.requests.map(\.text) == login.requests.map(\.text) && own.requests.count == 1)
  }

  @Test(arguments: [
    "https://evil.example/services/oauth2/token", "http://acme.my.salesforce.com/services/oauth2/token", "/other", "",
    "https://acme.my.salesforce.com/services/oauth2/token",
  ])
  func redirect_elsewhere_isWrongHostAndNothingIsSentThere(location: String) async throws {
    let server = try ScriptedServer(handler: { _ in .status(302, headers: [("Location", location)]) })
    let result = await signIn(server)
    guard case .failure(let error) = result else {
      Issue.record("signed in")
      return
    }
    #expect(error.code == .notAuthenticated && error.reason == "wrongHost" && server.requests.count == 1)
    #expect(error.message.contains(server.url))
    if location.hasPrefix("http") { #expect(error.message.contains(WebAddress(location)?.host ?? "?")) }
  }

  @Test(
    arguments: [
      ("https://login.salesforce.com", "https://acme.my.salesforce.com", nil, true),
      ("https://login.acme.com", "https://data.acme.com:8443", "https://data.acme.com:8443", true),
      ("https://login.acme.com", "http://data.acme.com", "http://data.acme.com", false),
      ("https://login.acme.com", "https://data.acme.com", "https://data.acme.com:8443", false),
      ("https://login.salesforce.com", "https://acme.my.salesforce.com:8443", nil, false),
      ("https://login.salesforce.com", "https://acme.my.salesforce.com.evil.example", nil, false),
      ("https://login.salesforce.com", "http://acme.my.salesforce.com", nil, false),
      ("https://acme.my.salesforce.mil", "https://acme.my.salesforce.com", nil, false),
      ("https://127.0.0.1:1", "http://127.0.0.1:2", nil, false), ("http://127.0.0.1:1", "https://localhost:2", nil, true),
    ] as [(String, String, String?, Bool)])
  func redirect_fromAndTo_isFollowedToTheInstanceOrWithinSalesforce(
    from: String, to: String, instance: String?, isFollowed: Bool
  ) throws {
    let (from, to) = (try #require(WebAddress(from)), try #require(WebAddress(to)))
    #expect(TokenExchange.mayFollow(from, to, instance) == isFollowed)
  }

  @Test func redirect_twice_isWrongHost() async throws {
    let server = try ScriptedServer()
    for _ in 0..<2 { server.enqueue(.status(307, headers: [("Location", "/services/oauth2/token")])) }
    let result = await signIn(server)
    guard case .failure(let error) = result else {
      Issue.record("signed in")
      return
    }
    #expect(error.reason == "wrongHost" && server.requests.count == 2)
  }

  @Test(arguments: ["https://login.salesforce.com", "https://test.salesforce.com/"])
  func clientCredentials_sharedLoginHost_isRefusedBeforeAnythingIsSent(url: String) async throws {
    let transport = HTTPTransport()
    let credentials = Credentials.clientCredentials(loginURL: url, clientId: "a", clientSecret: "canary-canary")
    let error = try await failure { try await OAuthClient(transport: transport).signIn(credentials) }
    await transport.shutdown()
    #expect(error.reason == "wrongHost" && error.outcome == .notSent && error.message.contains("My Domain"))
    #expect(!error.message.contains("canary"))
  }

  // MARK: Addresses

  @Test func loginAddress_forBrowsers_namesTheRightOne() {
    let cases = [
      ("https://acme.lightning.force.com", "https://acme.my.salesforce.com"),
      ("https://acme--uat.sandbox.lightning.force.com/x", "https://acme--uat.sandbox.my.salesforce.com"),
      ("https://acme.my.salesforce-setup.com", "https://acme.my.salesforce.com"),
      ("https://acme.lightning.crmforce.mil", "https://acme.my.salesforce.mil"),
      ("https://acme.lightning.sfcrmapps.cn", "https://acme.my.sfcrmproducts.cn"),
    ]
    for (url, right) in cases { #expect(LoginAddress.problem(url)?.hasSuffix("take \(right)") == true, "\(url)") }
    for url in ["https://acme.my.salesforce.com", "https://acme.my.site.com/portal", "http://localhost:8080"] {
      #expect(LoginAddress.problem(url) == nil)
    }
    #expect(LoginAddress.problem("http://acme.my.salesforce.com") != nil && LoginAddress.problem("acme") != nil)
  }

  @Test func sfdxURL_forms_areReadOrNamed() throws {
    let url = try SFDXAuthURL("force://PlatformCLI::5Aep861.tok_en-==@acme.my.salesforce.com/services/x")
    #expect(
      url.credentials
        == .refreshToken(
          loginURL: "https://acme.my.salesforce.com", clientId: "PlatformCLI", clientSecret: nil,
          refreshToken: "5Aep861.tok_en-=="))
    let cases = [
      ("force://:5Aep861token@acme.my.salesforce.com", "has no client id; `sf org auth show-sfdx-auth-url`"),
      ("force://::5Aep861token@acme.my.salesforce.com", "has no client id"),
      ("[REDACTED] run sf org auth", "is redacted; `sf org auth show-sfdx-auth-url`"),
      ("https://5Aep861token@acme", "not an SFDX auth URL"), ("force://a:b:@acme.my.salesforce.com", "not an SFDX auth URL"),
      ("force://a:b:5Aep861to ken@acme", "not an SFDX auth URL"), ("force://a:b:5Aep861token@", "not an SFDX auth URL"),
      ("force://a:b:5Aep861token===@acme", "not an SFDX auth URL"), ("", "not an SFDX auth URL"),
    ]
    for (text, part) in cases {
      let problem = #expect(throws: SFDXAuthURL.Problem.self) { try SFDXAuthURL(text) }
      #expect(problem?.description.contains(part) == true, "\(text): \(problem as Any)")
      #expect(problem?.description.contains("5Aep861") == false)
    }
  }
}
