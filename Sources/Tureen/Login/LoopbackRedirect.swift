import RestClient

/// A redirect URI that leads to this machine: `http://localhost:PORT/PATH`.
///
/// - Note: Source: RFC 8252 section 7.3. Salesforce allows plain http only for the name `localhost`, not for 127.0.0.1, and also
///   compares the port.
struct LoopbackRedirect: Sendable, Equatable {
  /// The redirect URI of the sf CLI's apps.
  static let standard = "http://localhost:1717/OauthRedirect"
  /// The paths of the listener's own pages.
  static let donePath = "/done", failedPath = "/failed"

  let uri: String
  let port: Int
  let path: String

  /// Returns nil for any other URI; the person must then paste the answer.
  init?(_ uri: String) {
    guard let address = WebAddress(uri), address.scheme == "http", address.host == "localhost" else { return nil }
    let reference = URLReference(uri)
    guard reference.query == nil, reference.fragment == nil else { return nil }
    self.uri = uri
    port = address.port
    path = reference.path.isEmpty ? "/" : reference.path
  }

  /// True if the path is that of one of the listener's own pages.
  var isTaken: Bool { path == Self.donePath || path == Self.failedPath }
}
