import Foundation
import JSON
import Testing

/// A running `tureen sandbox`.
struct Sandbox {
  let child: Child
  let url: String
  let password: String
  let clientId: String
  let clientSecret: String
  let username: String

  /// Starts one under the workplace's home and waits until it serves.
  init(_ place: Workplace, options: [String] = []) async throws {
    child = try Child(Built.tureen, ["sandbox", "--home", place.home] + options, in: place.path)
    #expect(await child.prints("Ctrl-C"))
    let file = try Data(contentsOf: URL(fileURLWithPath: place.home + "/sandbox/credentials.json"))
    let fields = try JSONValue(parsing: String(decoding: file, as: UTF8.self))
    func field(_ name: String) throws -> String { try #require(fields[name]?.stringValue) }
    url = try field("loginUrl")
    username = try field("username")
    password = try field("password")
    clientId = try field("clientId")
    clientSecret = try field("clientSecret")
  }
}
