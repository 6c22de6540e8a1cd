import Foundation
import Testing

/// A running `tureen sandbox` and the values that it printed.
struct Sandbox {
  let child: Child
  let url: String
  let password: String
  let clientId: String
  let clientSecret: String
  let username: String
  let controlToken: String
  /// The path of the certificate to trust; nil without TLS.
  let authority: String?

  /// Starts a sandbox for the workplace's home and waits until it serves.
  init(_ place: Workplace, options: [String] = []) async throws {
    child = try Child(Built.tureen, ["sandbox", "--home", place.home] + options, in: place.path)
    let serves = await child.prints("Ctrl-C")
    let lines = child.printed.components(separatedBy: "\n")
    func rest(_ start: String) -> String? {
      lines.first { $0.hasPrefix(start) }.map { $0.dropFirst(start.count).trimmingCharacters(in: .whitespaces) }
    }
    #expect(serves)
    url = try #require(rest("Sandbox org at "))
    username = try #require(rest("  username "))
    controlToken = try #require(rest("  control token "))
    password = try #require(rest("  password "))
    clientId = try #require(rest("  client id "))
    clientSecret = try #require(rest("  client secret "))
    authority = rest("Certificate to trust (curl --cacert, REQUESTS_CA_BUNDLE, TUREEN_CA_FILE): ")
  }
}
