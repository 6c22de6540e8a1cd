import RestClient

/// A redirect that this machine answers itself: `http://localhost:PORT/PATH`.
///
/// - Note: Source: RFC 8252 section 7.3. Salesforce allows plain http for the name `localhost` alone, not for 127.0.0.1, and
///   compares the port, too.
struct LoopbackRedirect: Sendable, Equatable {
  /// What the sf CLI's apps have.
  static let standard = "http://localhost:1717/OauthRedirect"
  /// The listener's own pages.
  static let donePath = "/done", failedPath = "/failed"

  let uri: String
  let port: Int
  let path: String

  /// nil for every other address: a person has to paste what the browser gets there.
  init?(_ uri: String) {
    guard let address = WebAddress(uri), address.scheme == "http", address.host == "localhost" else { return nil }
    let reference = URLReference(uri)
    guard reference.query == nil, reference.fragment == nil else { return nil }
    self.uri = uri
    port = address.port
    path = reference.path.isEmpty ? "/" : reference.path
  }

  /// Whether the browser's way back would end at one of our own pages.
  var isTaken: Bool { path == Self.donePath || path == Self.failedPath }
}
