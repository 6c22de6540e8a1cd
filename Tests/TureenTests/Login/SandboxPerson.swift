import SandboxOrg
import Testing

/// A person who signs in on the sandbox org's pages, through plain sockets.
struct SandboxPerson: Sendable {
  let username: String
  let password: String

  init(of server: SandboxServer) {
    let access = server.credentials()
    (username, password) = (access.username, access.password)
  }

  /// Signs in at a URL of the authorize endpoint and allows the app.
  /// - Returns: The redirect URL.
  func signIn(at address: String) async throws -> String {
    let rest = address.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)[1...]
    let host = String(try #require(rest.first)), target = "/" + (rest.dropFirst().first ?? "")
    let browser = TestBrowser(port: try #require(Int(host.split(separator: ":").last ?? "")))
    let page = await browser.get(target, host: host, headers: ["Connection: close"])
    let cookie = try #require(page.header("Set-Cookie")).prefix { $0 != ";" }
    func post(_ fields: [(String, String)], _ page: TestBrowser.Answer) async throws -> TestBrowser.Answer {
      let ticket = try #require(page.text.firstMatch(of: #/name="ticket" value="([^"]+)"/#)).output.1
      let form = ([("ticket", String(ticket))] + fields).map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
      return await browser.send(
        "POST /services/oauth2/authorize HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\nCookie: \(cookie)\r\n"
          + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n\(form)")
    }
    var answer = try await post([("username", username), ("password", password)], page)
    // A user who has allowed the app is not asked again.
    if answer.header("Location") == nil { answer = try await post([("decision", "allow")], answer) }
    return try #require(answer.header("Location"))
  }

  private static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain = UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
      return isPlain ? String(UnicodeScalar(byte)) : "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }
}
