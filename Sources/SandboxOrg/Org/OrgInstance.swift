/// The response of an org's old instance to data requests.
public enum OldInstance: String, CaseIterable, Sendable {
  /// 401 `INVALID_SESSION_ID`.
  case refused
  /// 400 `URL_NOT_RESET`.
  case urlNotReset
  /// Closes the connection without a response.
  case closed
}

/// Which port of the server is the org's instance. The first port remains the login host. On the
/// org's queue.
struct OrgInstance {
  /// nil until the org has moved: every port is its instance.
  private(set) var port: Int?
  /// The instance's base URL for clients that signed in through a shared login host.
  private var home = ""
  private var old = OldInstance.refused

  mutating func begin(at home: String) { self.home = home }

  mutating func move(to port: Int, at home: String, old: OldInstance) {
    self.port = port
    self.home = home
    self.old = old
  }

  /// The configured base URL, which clients are told instead of the port's; see
  /// ``SandboxConfiguration/instanceURL``.
  private let fixed: String?

  init(fixed: String?) { self.fixed = fixed }

  /// Returns the instance's origin, with the host name that the client uses.
  func origin(for request: ServerRequest) -> String {
    if let fixed { return fixed }
    if TokenRoutes.isSharedLoginHost(request) { return home }
    guard let port, port != request.localPort else { return request.origin }
    return Self.origin(of: request, port: port)
  }

  static func origin(of request: ServerRequest, port: Int) -> String {
    "\(request.scheme)://\(MountTable.name(request.header("host") ?? "localhost")):\(port)"
  }

  /// Returns the response for a data request to an old instance; nil for a request to the current
  /// one.
  ///
  /// - Throws: ``SandboxError`` 401 or 400.
  func refusal(of request: ServerRequest) throws(SandboxError) -> ServerReply? {
    guard let port, port != request.localPort else { return nil }
    switch old {
    case .refused: throw .sessionInvalid
    case .urlNotReset: throw .urlNotReset
    case .closed: return .dropped
    }
  }
}

/// A redirect with which the token resource answers.
struct TokenRedirect {
  enum Target {
    /// The same host at this port, which answers normally.
    case port(Int)
    /// Another origin.
    case elsewhere(String)
  }
  let target: Target
  let status: Int

  /// - Returns: nil at the port that answers normally.
  func reply(to request: ServerRequest) -> ServerReply? {
    let origin: String
    switch target {
    case .port(request.localPort): return nil
    case .port(let port): origin = OrgInstance.origin(of: request, port: port)
    case .elsewhere(let url): origin = url
    }
    return ServerReply(
      status: status, headers: [("Location", origin + request.path), ("Cache-Control", "no-store")], body: [])
  }
}
