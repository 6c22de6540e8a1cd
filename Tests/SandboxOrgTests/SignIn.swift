import Foundation
import JSON
import SandboxOrg

/// An org with users and clients of every kind, and a browser to sign in with.
func withSignIn(
  clock: ManualSandboxClock = ManualSandboxClock(), _ body: (SandboxServer, WireClient) async throws -> Void
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
  let server = try await SandboxServer.start(configuration)
  let outcome: Result<Void, any Error>
  do { outcome = .success(try await body(server, WireClient(port: server.port))) } catch { outcome = .failure(error) }
  await server.stop()
  try outcome.get()
}

/// What a browser does with the sign-in pages: keeps its cookie, fills in forms.
struct Browser {
  let client: WireClient
  private(set) var cookie: String?
  private(set) var page: WireClient.Answer?

  init(_ client: WireClient) { self.client = client }

  mutating func open(_ fields: [(String, String)]) async throws -> WireClient.Answer {
    try await take(client.send("GET", "/services/oauth2/authorize?" + Self.encoded(fields), headers: cookieHeader))
  }

  /// Sends the form of the page, with its ticket.
  mutating func submit(_ fields: [(String, String)], headers: [(String, String)] = []) async throws -> WireClient.Answer {
    let body = Self.encoded([("ticket", ticket)] + fields)
    return try await take(
      client.send(
        "POST", "/services/oauth2/authorize",
        headers: cookieHeader + headers + [("Content-Type", "application/x-www-form-urlencoded")], body: Array(body.utf8)))
  }

  var ticket: String {
    let parts = page?.text.components(separatedBy: "name=\"ticket\" value=\"") ?? []
    return parts.count > 1 ? String(parts[1].prefix { $0 != "\"" }) : ""
  }

  private mutating func take(_ answer: WireClient.Answer) -> WireClient.Answer {
    if let set = answer.headers["set-cookie"] { cookie = String(set.prefix { $0 != ";" }) }
    page = answer
    return answer
  }

  private var cookieHeader: [(String, String)] { cookie.map { [("Cookie", $0)] } ?? [] }

  private static func encoded(_ fields: [(String, String)]) -> String {
    fields.map { "\($0.0)=\(WireClient.encoded($0.1))" }.joined(separator: "&")
  }
}

/// The parameters of a redirect, after `?` or `#`.
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

func challenge(_ verifier: String) -> String { Keys.urlText(Keys.sha256(verifier)) }
