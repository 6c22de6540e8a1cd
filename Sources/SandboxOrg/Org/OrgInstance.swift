/// What the old instance of an org that has moved answers to data requests.
public enum OldInstance: String, CaseIterable, Sendable {
  /// 401 `INVALID_SESSION_ID`.
  case refused
  /// 400 `URL_NOT_RESET`.
  case urlNotReset
  /// The connection is closed without an answer.
  case closed
}

/// Which port of the server is the org's instance. The first port stays the login host. On the org's queue.
struct OrgInstance {
  /// nil: any port is, as long as the org has not moved.
  private(set) var port: Int?
  /// For clients that have come to a login host that all orgs share, and are sent on from there.
  private var home = ""
  private var old = OldInstance.refused

  mutating func begin(at home: String) { self.home = home }

  mutating func move(to port: Int, at home: String, old: OldInstance) {
    self.port = port
    self.home = home
    self.old = old
  }

  /// The instance's origin, by the host name that the client uses.
  func origin(for request: ServerRequest) -> String {
    if TokenRoutes.isSharedLoginHost(request) { return home }
    guard let port, port != request.localPort else { return request.origin }
    return Self.origin(of: request, port: port)
  }

  static func origin(of request: ServerRequest, port: Int) -> String {
    "\(request.scheme)://\(MountTable.name(request.header("host") ?? "localhost")):\(port)"
  }

  /// What a data request gets that has come to an old instance; nil for one at the right place.
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

/// Where the token resource sends its clients instead of answering.
struct TokenRedirect {
  enum Target {
    /// The same host at this port, which answers.
    case port(Int)
    /// Another origin.
    case elsewhere(String)
  }
  let target: Target
  let status: Int

  /// - Returns: nil at the port that answers.
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
