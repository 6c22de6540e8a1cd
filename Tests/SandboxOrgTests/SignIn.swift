import Foundation
import JSON
import SandboxOrg
import Support

/// Runs `body` with an org that has users and clients of every kind.
///
/// - Parameter change: Further changes to the sign-in data.
func withSignIn(
  clock: ManualSandboxClock = ManualSandboxClock(), change: (inout SandboxSignInData) -> Void = { _ in },
  _ body: (SandboxServer, WireClient) async throws -> Void
) async throws {
  var grace = SandboxUser(username: "grace@example.org", password: "h0pper")
  grace.securityToken = "TOKEN"
  var gone = SandboxUser(username: "gone@example.org", password: "gone")
  gone.isActive = false
  var phone = SandboxClient(id: "phone")
  phone.redirectURIs = ["app:///done", "https://example.org/back?x=1"]
  phone.requiresPKCE = true
  phone.rotatesRefreshTokens = true
  var web = SandboxClient(id: "web", secret: "web secret")
  web.redirectURIs = ["https://example.org/callback"]
  web.requiresSecret = true
  web.runsAs = "grace@example.org"
  var admin = SandboxClient(id: "admin", secret: "admin secret")
  admin.redirectURIs = ["https://example.org/admin"]
  admin.approval = .byAdministrator(usernames: ["Grace@Example.org", "gone@example.org"])
  admin.certificate = Keys.certificate
  var strict = admin
  strict.id = "strict"
  strict.strictAssertions = true
  var asking = SandboxClient(id: "asking", secret: "s")
  asking.certificate = Keys.publicKey
  asking.redirectURIs = ["https://example.org/asking"]
  var configuration = SandboxConfiguration()
  configuration.seed = .none
  configuration.clock = clock
  configuration.signIn.users = [grace, gone]
  configuration.signIn.clients = [phone, web, admin, strict, asking]
  change(&configuration.signIn)
  let server = try await SandboxServer.start(configuration)
  let outcome: Result<Void, any Error>
  do { outcome = .success(try await body(server, WireClient(port: server.port))) } catch { outcome = .failure(error) }
  await server.stop()
  try outcome.get()
}

/// Simulates a browser at the sign-in pages: keeps cookies and fills in forms.
struct Browser {
  let client: WireClient
  /// The path of a site.
  let base: String
  private(set) var cookies: [String: String] = [:]
  private(set) var page: WireClient.Answer?

  init(_ client: WireClient, at base: String = "") {
    self.client = client
    self.base = base
  }

  mutating func open(_ fields: [(String, String)]) async throws -> WireClient.Answer {
    try await take(client.send("GET", base + "/services/oauth2/authorize?" + Self.encoded(fields), headers: cookieHeader))
  }

  /// Submits the page's form with its ticket.
  mutating func submit(_ fields: [(String, String)], headers: [(String, String)] = []) async throws -> WireClient.Answer {
    let body = Self.encoded([("ticket", ticket)] + fields)
    return try await take(
      client.send(
        "POST", base + "/services/oauth2/authorize",
        headers: cookieHeader + headers + [("Content-Type", "application/x-www-form-urlencoded")], body: Array(body.utf8)))
  }

  var ticket: String {
    let parts = page?.text.components(separatedBy: "name=\"ticket\" value=\"") ?? []
    return parts.count > 1 ? String(parts[1].prefix { $0 != "\"" }) : ""
  }

  private mutating func take(_ answer: WireClient.Answer) -> WireClient.Answer {
    if let set = answer.headers["set-cookie"] {
      let pair = set.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
      cookies[pair[0]] = pair[1]
    }
    page = answer
    return answer
  }

  /// The `Cookie` header.
  var cookie: String { cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
  private var cookieHeader: [(String, String)] { cookies.isEmpty ? [] : [("Cookie", cookie)] }

  private static func encoded(_ fields: [(String, String)]) -> String {
    fields.map { "\($0.0)=\(WireClient.encoded($0.1))" }.joined(separator: "&")
  }
}

/// Returns the parameters of a redirect, after `?` or `#`.
func redirected(_ answer: WireClient.Answer) -> (target: String, fields: [String: String]) {
  let location = answer.headers["location"] ?? ""
  let mark = location.firstIndex { $0 == "?" || $0 == "#" } ?? location.endIndex
  var fields: [String: String] = [:]
  for pair in location[mark...].dropFirst().split(separator: "&") {
    let parts = pair.split(separator: "=", maxSplits: 1).map {
      $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
    }
    fields[parts[0]] = parts.count > 1 ? parts[1] : ""
  }
  return (String(location[..<mark]), fields)
}

func challenge(_ verifier: String) -> String { Keys.urlText(try! Digest.sha256(verifier.utf8)) }

/// Gets codes and tokens of a client, through all pages.
struct SignedIn {
  let client: WireClient
  let id: String
  let redirect: String
  var base = ""
  var secret: String?

  func authorize(_ browser: inout Browser, _ extra: [(String, String)] = []) async throws -> WireClient.Answer {
    try await browser.open(
      [("response_type", "code"), ("client_id", id), ("redirect_uri", redirect), ("code_challenge", challenge("v"))] + extra)
  }

  /// - Returns: The token resource's answer to the code.
  func tokens(_ username: String, _ password: String) async throws -> WireClient.Answer {
    var browser = Browser(client, at: base)
    _ = try await authorize(&browser)
    var answer = try await browser.submit([("username", username), ("password", password)])
    if answer.status == 200 { answer = try await browser.submit([("decision", "allow")]) }
    return try await exchange(redirected(answer).fields["code"] ?? "")
  }

  func exchange(_ code: String) async throws -> WireClient.Answer {
    try await post([
      ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect), ("code_verifier", "v"),
    ])
  }

  func refresh(_ token: String?) async throws -> WireClient.Answer {
    try await post([("grant_type", "refresh_token"), ("refresh_token", token ?? "")])
  }

  private func post(_ fields: [(String, String)]) async throws -> WireClient.Answer {
    let own = [("client_id", id)] + (secret.map { [("client_secret", $0)] } ?? [])
    return try await client.form(base + "/services/oauth2/token", own + fields)
  }
}
