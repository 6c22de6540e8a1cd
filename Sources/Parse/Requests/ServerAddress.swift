import JSON
import RestClient

/// The URL of a Parse server: `https://host/parse`, `https://host/1`, or just a host.
struct ServerAddress: Sendable, Equatable {
  /// Without a trailing slash.
  let url: String
  /// The path, such as `/parse`; empty for just a host. Paths in a batch start with it.
  let mountPath: String

  /// - Throws: ``ParseProblem`` unless the text is an http(s) URL without a query.
  init(_ text: String) throws(ParseProblem) {
    guard WebAddress(text) != nil, !text.contains("?"), !text.contains("#"), let scheme = text.firstRange(ofASCII: "://") else {
      throw ParseProblem(
        description: "serverURL '\(text.prefix { $0 != "?" })' is not valid: use http(s)://host[:port][/path] without a query")
    }
    var end = text.endIndex
    while end > scheme.upperBound, text[text.index(before: end)] == "/" { end = text.index(before: end) }
    url = String(text[..<end])
    mountPath = String(text[scheme.upperBound..<end].drop { $0 != "/" })
  }
}

/// The credentials that a program sends with every request. They are secret; the description
/// contains none of them.
struct ParseCredentials: Sendable, Equatable, CustomStringConvertible {
  var applicationId: String
  var restAPIKey: String?
  var clientKey: String?
  var sessionToken: String?
  /// For administration only; never the default of a target.
  var masterKey: String?
  /// A UUID of this installation. A second login with it ends the session of the first.
  var installationId: String?

  /// - Parameter forLogin: Omits the session token: the server ignores it there, and it may have
  ///   expired.
  func headers(forLogin: Bool = false) -> [(name: String, value: String)] {
    [
      ("X-Parse-Application-Id", applicationId), ("X-Parse-REST-API-Key", restAPIKey), ("X-Parse-Client-Key", clientKey),
      ("X-Parse-Session-Token", forLogin ? nil : sessionToken), ("X-Parse-Master-Key", masterKey),
      ("X-Parse-Installation-Id", installationId),
    ]
    .compactMap { name, value in value.map { (name, $0) } }
  }

  var description: String {
    let present = headers().map { String($0.name.dropFirst("X-Parse-".count)) }
    return "Parse credentials with \(present.joined(separator: ", "))"
  }
}
