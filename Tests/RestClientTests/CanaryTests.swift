import JSON
import RestClient
import Synchronization
import TestSupport
import Testing

@testable import Salesforce

/// Looks for the secrets of every flow in all output of a sign-in.
@Suite(.timeLimit(.minutes(60))) struct CanaryTests {
  private static let canaries = [
    "canary-secret", "canary-password", "canary-refresh", "canary-access", "canary-rotated", "canary-given",
  ]

  private static func flows(_ url: String) -> [Credentials] {
    [
      .password(
        loginURL: url, clientId: "app", clientSecret: "canary-secret", username: "ann@acme.com", password: "canary-password"),
      .clientCredentials(loginURL: url, clientId: "app", clientSecret: "canary-secret"),
      .refreshToken(loginURL: url, clientId: "app", clientSecret: "canary-secret", refreshToken: "canary-refresh"),
      .jwtBearer(
        JWTBearer(loginURL: url, clientId: "app", username: "ann@acme.com", audience: nil, key: SigningKeys.source())),
      .accessToken(instanceURL: url, accessToken: "canary-given"),
      .external(
        ExternalToken(name: "the keeper") { refused in
          guard refused == nil else { throw Unexpected(what: "it has no other") }
          return Session(givenToken: "canary-given", instanceURL: url)
        }),
    ]
  }

  /// A login host that repeats the request in every part of its response.
  private static func echo(_ request: RecordedRequest, _ status: Int) -> ScriptedAnswer {
    let text = request.text.replacing("\"", with: "")
    return .json(
      #"{"error":"invalid_grant","error_description":"authentication failure \#(text)"}"#, status: status,
      headers: [("X-Echo", String(text.prefix(300)))])
  }

  private static func good(_ url: String) -> ScriptedAnswer {
    .json(
      #"{"access_token":"canary-access","refresh_token":"canary-rotated","instance_url":"\#(url)","id":"\#(url)/id/00DO/005U"}"#)
  }

  /// The outcomes of a flow: success, refusal, unavailable host, and a response without a token.
  @Test(arguments: 0..<6, ["works", "refused", "unavailable", "incomplete", "redirected"])
  func secrets_ofEachFlow_areInNoLogAndNoError(flow: Int, way: String) async throws {
    let box = Mutex<String>("")
    let server = try ScriptedServer { request in
      let url = box.withLock { $0 }
      guard request.path == "/services/oauth2/token" else {
        return request.header("Authorization") == "Bearer canary-access"
          ? .json("{}") : .restError(401, "INVALID_SESSION_ID", "Session expired or invalid")
      }
      switch way {
      case "refused": return Self.echo(request, 400)
      case "unavailable": return Self.echo(request, 503)
      case "incomplete": return .json(#"{"refresh_token":"canary-rotated","secret":"canary-access"}"#)
      case "redirected": return .status(302, headers: [("Location", "https://evil.example/services/oauth2/token")])
      default: return Self.good(url)
      }
    }
    box.withLock { $0 = server.url }
    let credentials = Self.flows(server.url)[flow], log = RecordedLog(), told = RecordedSessions()
    var said = ["\(credentials)", String(reflecting: credentials)]
    dump(credentials, to: &said[0])
    try await withClient(
      server, credentials: credentials, policy: .standard, logger: log.logger, onSessionChange: told.note
    ) { client in
      for _ in 0..<2 {
        do {
          _ = try await client.send(RestRequest(.GET, "/services/data/v66.0/limits"))
        } catch let error as RestError {
          said += [error.message, error.body ?? "", "\(error)", "\(error.errors)", "\(error.headers)", String(reflecting: error)]
          dump(error, to: &said[0])
        }
      }
      if let session = await client.knownSession() {
        said += ["\(session)", String(reflecting: session)]
        dump(session, to: &said[0])
      }
    }
    said.append(log.text)
    let assertions = server.requests.compactMap { $0.text.split(separator: "assertion=").dropFirst().first.map(String.init) }
    for text in said {
      for canary in Self.canaries + assertions { #expect(!text.contains(canary), "\(flow) \(way)") }
    }
    // The outcomes only differ for flows that request a token.
    if flow < 4 { #expect((way == "works") == told.changes.contains("signedIn canary-access")) }
  }
}
