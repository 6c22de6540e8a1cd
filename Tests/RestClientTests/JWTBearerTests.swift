import Foundation
import JSON
import Logging
import RestClient
import Support
import Synchronization
import TestSupport
import Testing

@testable import Salesforce

/// Tests sign-ins with signed assertions against a scripted login host.
@Suite(.timeLimit(.minutes(60))) struct JWTBearerTests {
  private static let now = 1_772_442_000.0

  private func bearer(_ url: String, audience: String? = nil) -> Credentials {
    .jwtBearer(
      JWTBearer(
        loginURL: url, clientId: "app", username: "ann@acme.com", audience: audience, key: SigningKeys.source()))
  }

  private func client(
    _ transport: HTTPTransport, now: Double = now, logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  ) -> OAuthClient {
    OAuthClient(transport: transport, environment: RecordedWaits().environment(now: now), logger: logger)
  }

  /// The fields of a form.
  private func form(_ request: RecordedRequest) -> [String: String] {
    Dictionary(
      request.text.split(separator: "&").map { field in
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), String(parts[1]).removingPercentEncoding ?? "")
      }, uniquingKeysWith: { first, _ in first })
  }

  private func claims(_ request: RecordedRequest) throws -> JSONValue {
    let parts = try #require(form(request)["assertion"]).split(separator: ".")
    return try JSONValue(parsing: Array(#require(SigningKeys.data(parts[1]))))
  }

  private func refusal(_ error: String, _ description: String, headers: [(name: String, value: String)] = []) -> ScriptedAnswer {
    .json(#"{"error":"\#(error)","error_description":"\#(description)"}"#, status: 400, headers: headers)
  }

  @Test func jwt_signIn_sendsFourSignedClaimsAndNoSecret() async throws {
    let server = try ScriptedServer()
    server.enqueue(tokenAnswer(server, token: "t"))
    let transport = HTTPTransport()
    let session = try await client(transport).signIn(bearer(server.url + "/"))
    await transport.shutdown()
    #expect(session.accessToken == "t" && session.refreshToken == nil && session.audience == server.url)
    let request = try #require(server.requests.first)
    // A trailing slash of the login address appears in no path and no claim.
    #expect(request.target == "/services/oauth2/token")
    let fields = form(request)
    #expect(fields.keys.sorted() == ["assertion", "grant_type"])
    #expect(fields["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
    #expect(
      try claims(request) == ["iss": "app", "sub": "ann@acme.com", "aud": .string(server.url), "exp": 1_772_442_180])
    #expect(SigningKeys.isSigned(fields["assertion"] ?? ""))
  }

  @Test func jwt_expiredToken_isSignedForAnewAndTheRequestReplayed() async throws {
    let server = try ScriptedServer(expired)
    server.enqueue(tokenAnswer(server, token: "token-2"), .json("{}"))
    let get = RestRequest(.GET, "/services/data/v66.0/limits")
    let status = try await withClient(server, session: session(server, refresh: nil), credentials: bearer(server.url)) {
      try await $0.send(get).status
    }
    #expect(status == 200)
    #expect(server.requests.map(\.path) == [get.path, "/services/oauth2/token", get.path])
  }

  @Test func jwt_keyReplaced_isUsedForTheNextAssertion() async throws {
    let server = try ScriptedServer()
    let pem = Mutex("no key yet")
    let key = SigningKeySource(name: "k") { try SigningKeys.signingKey(pem.withLock { $0 }) }
    let credentials = Credentials.jwtBearer(JWTBearer(loginURL: server.url, clientId: "app", username: "ann", key: key))
    try await withClient(server, credentials: credentials) { client in
      let get = RestRequest(.GET, "/services/data/v66.0/limits")
      let error = try await failure { try await client.send(get) }
      #expect(error.code == .notAuthenticated && error.outcome == .notSent && error.message.contains("it is not PEM"))
      #expect(server.requests.isEmpty)
      pem.withLock { $0 = SigningKeys.pem }
      server.enqueue(tokenAnswer(server, token: "t"), .json("{}"))
      #expect(try await client.send(get).status == 200)
    }
  }

  @Test func audience_refusedOnce_triesTheTestHostAndRemembersIt() async throws {
    // This machine cannot have the host name of a sandbox, so it is tested by value.
    let sandbox = JWTBearer(
      loginURL: "https://acme--uat.sandbox.my.salesforce.com", clientId: "a", username: "b", key: SigningKeys.source())
    #expect(sandbox.audience(after: sandbox.firstAudience) == "https://test.salesforce.com")
    let server = try ScriptedServer(refusal("invalid_grant", "audience is invalid"))
    server.enqueue(tokenAnswer(server, token: "t"), tokenAnswer(server, token: "u"))
    let transport = HTTPTransport()
    let first = try await client(transport).signIn(bearer(server.url))
    #expect(first.audience == "https://login.salesforce.com")
    #expect(Session(json: first.json)?.audience == first.audience)
    _ = try await client(transport).signIn(bearer(server.url), previous: first)
    await transport.shutdown()
    let audiences = try server.requests.map { try claims($0)["aud"] }
    #expect(audiences == [.string(server.url), "https://login.salesforce.com", "https://login.salesforce.com"])
  }

  @Test(arguments: [("invalid_grant", "Audience validation failed", "audience"), ("app_not_found", "x", "appRefused")])
  func audience_refusedTwice_isAskedTwice(error: String, description: String, reason: String) async throws {
    let server = try ScriptedServer(handler: { _ in
      .json(#"{"error":"\#(error)","error_description":"\#(description)"}"#, status: 400)
    })
    let transport = HTTPTransport()
    let refused = try await failure { try await client(transport).signIn(bearer(server.url)) }
    await transport.shutdown()
    #expect(refused.code == .notAuthenticated && refused.reason == reason)
    #expect(server.requests.count == 2)
  }

  @Test(arguments: ["https://login.salesforce.com", "https://test.salesforce.com/"])
  func audience_sharedHost_hasNoOther(url: String) {
    let bearer = JWTBearer(loginURL: url, clientId: "a", username: "b", key: SigningKeys.source())
    #expect(bearer.audience(after: bearer.firstAudience) == nil)
    let words = Credentials.jwtBearer(bearer).remedy(for: .appRefused, "app_not_found")
    #expect(words.contains("My Domain"))
  }

  @Test func clock_tenMinutesBehind_isTimedByTheServerWithOneWarning() async throws {
    let server = try ScriptedServer(
      refusal("invalid_grant", "expired authorization code", headers: [("Date", "Mon, 02 Mar 2026 09:10:00 GMT")]))
    server.enqueue(tokenAnswer(server, token: "t"))
    let lines = LoggedLines()
    let transport = HTTPTransport()
    _ = try await client(transport, logger: lines.logger).signIn(bearer(server.url))
    await transport.shutdown()
    #expect(try server.requests.map { try claims($0)["exp"]?.integerValue } == [1_772_442_180, 1_772_442_780])
    #expect(lines.warnings.count == 1)
    #expect(lines.warnings.first?.contains("clock is 600 s behind that of \(server.url)") == true, "\(lines.warnings)")
  }

  @Test func clock_right_refusalStands() async throws {
    let server = try ScriptedServer(
      refusal("invalid_grant", "expired authorization code", headers: [("Date", "Mon, 02 Mar 2026 09:00:20 GMT")]))
    let transport = HTTPTransport()
    let error = try await failure { try await client(transport).signIn(bearer(server.url)) }
    await transport.shutdown()
    #expect(error.reason == "clock" && server.requests.count == 1)
  }

  // MARK: Keys

  @Test func key_pkcs1AndPKCS8_areRead() throws {
    for pem in [SigningKeys.pem, SigningKeys.pkcs8, "# a comment\n" + SigningKeys.pkcs8] {
      _ = try SigningKeys.signingKey(pem)
    }
    #expect(SigningKeys.pem.hasPrefix("-----BEGIN RSA PRIVATE KEY-----"))
    #expect(SigningKeys.pkcs8.hasPrefix("-----BEGIN PRIVATE KEY-----"))
  }

  @Test func key_unusable_isToldWithTheFixAndNoneOfIt() throws {
    let small = try PrivateKey.makeRSA(bits: 1_024).pem()
    let body = SigningKeys.pem.split(separator: "\n")[1]
    let curve = try PrivateKey.makeEC().pem()
    let cases: [(pem: String, part: String)] = [
      (small, "it has 1024 bits, and orgs take 2048 or more: openssl genpkey"),
      ("-----BEGIN ENCRYPTED PRIVATE KEY-----\n\(body)\n-----END ENCRYPTED PRIVATE KEY-----\n", "it is encrypted; write it"),
      (
        SigningKeys.pem.replacingOccurrences(
          of: "KEY-----\n\(body)", with: "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n\(body)"),
        "openssl pkey -in key.pem -out plain.pem"
      ),
      (curve, "RSA of 2048 bits or more: openssl genpkey"),
      (
        "-----BEGIN EC PRIVATE KEY-----\n\(body)\n-----END EC PRIVATE KEY-----\n",
        "it is an EC key, but Salesforce accepts only RSA"
      ),
      ("-----BEGIN CERTIFICATE-----\n\(body)\n-----END CERTIFICATE-----\n", "it is a certificate, which the org has"),
      ("-----BEGIN PRIVATE KEY-----\n\(body)\n", "not an RSA key that can be read"), (String(body), "it is not PEM"),
      ("-----BEGIN ", "it is not PEM"),
    ]
    for (pem, part) in cases {
      let problem = #expect(throws: SigningKey.Problem.self) { try SigningKeys.signingKey(pem) }
      #expect(problem?.description.contains(part) == true, "\(problem as Any)")
      #expect(problem?.description.contains(body.prefix(16)) == false)
    }
  }
}

/// Collects the warnings of a logger.
private final class LoggedLines: Sendable {
  private let list = Mutex<[String]>([])

  var warnings: [String] { list.withLock { $0 } }
  var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

  private struct Handler: LogHandler {
    let lines: LoggedLines
    var logLevel = Logger.Level.warning
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.list.withLock { $0.append("\(event.message)") } }
  }
}
