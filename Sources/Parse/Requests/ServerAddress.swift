import JSON
import RestClient

/// Where a Parse server is: `https://host/parse`, `https://host/1`, or a host alone.
struct ServerAddress: Sendable, Equatable {
  /// Without a slash at its end.
  let url: String
  /// The path part, such as `/parse`; empty for a host alone. Paths inside a batch begin with it.
  let mountPath: String

  /// - Throws: ``ParseProblem`` for what is not an http(s) URL, and for one with a query.
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

/// What a program says of itself with every request. Secrets: the description holds none.
struct ParseCredentials: Sendable, Equatable, CustomStringConvertible {
  var applicationId: String
  var restAPIKey: String?
  var clientKey: String?
  var sessionToken: String?
  /// For administration only; never the default of a target.
  var masterKey: String?
  /// A UUID of this installation: a second login with it ends the first one's session.
  var installationId: String?

  /// - Parameter forLogin: The token stays away: the server ignores it there, and it may have ended.
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
