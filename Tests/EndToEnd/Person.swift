import Foundation
import Testing

/// A person who signs in on the sandbox org's pages, with curl as the browser.
struct Person {
  let place: Workplace
  let username: String
  let password: String
  /// The path of the certificate to trust; nil without TLS.
  var authority: String?
  /// The path of the site where the person signs in; empty for none.
  var site = ""

  /// Signs in and allows the app.
  /// - Returns: The redirect URL, which was not requested yet.
  func signIn(at address: String) async throws -> String {
    let origin = try #require(address.firstMatch(of: #/^https?:\/\/[^\/]+/#)).output + site + "/services/oauth2/authorize"
    let jar = place.path + "/cookies-\(UUID().uuidString)"
    var page = try await curl(["--cookie-jar", jar, address])
    page = try await curl(
      [
        "--cookie", jar, "--cookie-jar", jar, "--data-urlencode", "ticket=\(try ticket(page))", "--data-urlencode",
        "username=\(username)", "--data-urlencode", "password=\(password)", String(origin),
      ])
    // A user who has allowed the app is not asked again.
    if !page.lowercased().contains("\nlocation: ") {
      page = try await curl([
        "--cookie", jar, "--data-urlencode", "ticket=\(try ticket(page))", "--data", "decision=allow", String(origin),
      ])
    }
    return String(try #require(page.firstMatch(of: #/(?mi)^location: (\S+)/#)).output.1)
  }

  /// Follows the redirect back to the command.
  /// - Returns: The final page.
  func follow(_ redirect: String) async throws -> String { try await curl(["--location", redirect]) }

  private func ticket(_ page: String) throws -> Substring {
    try #require(page.firstMatch(of: #/name="ticket" value="([^"]+)"/#), "\(page)").output.1
  }

  private func curl(_ arguments: [String]) async throws -> String {
    let trust = authority.map { ["--cacert", $0] } ?? []
    let ended = try await place.run(
      "/usr/bin/curl", ["--silent", "--show-error", "--include", "--noproxy", "*"] + trust + arguments)
    #expect(ended.status == 0, "\(ended.errors)")
    return ended.output.replacingOccurrences(of: "\r\n", with: "\n")
  }
}

extension Sandbox {
  /// Calls an action of the control interface without arguments.
  func control(_ action: String, in place: Workplace) async throws {
    let ended = try await place.run(
      "/usr/bin/curl",
      [
        "--silent", "--show-error", "--fail", "--noproxy", "*", "--request", "POST", "--header",
        "Authorization: Bearer \(controlToken)",
        "--header", "Content-Type: application/json", "--data", "{}", "\(url)/__sandbox/\(action)",
      ])
    #expect(ended.status == 0, "\(ended.errors)")
  }
}
