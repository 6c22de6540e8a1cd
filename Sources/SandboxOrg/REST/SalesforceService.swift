import Database

/// The Salesforce API: finds the route, authenticates the caller, and runs the handler on the org's
/// queue.
struct SalesforceService: ServerService {
  struct Endpoint: Sendable {
    /// True below `/services/data/vNN.0`; other resources authenticate for themselves.
    let needsSession: Bool
    let run: @Sendable (Call) throws -> ServerReply
  }

  let org: Org
  private let routes: RouteTable<Endpoint>
  /// Paths of the org's sites, longest first.
  private let sites: [(path: String, segments: [String])]

  init(org: Org) {
    self.org = org
    sites = org.configuration.signIn.sites.map { (path: $0.path, segments: URLCoding.segments($0.path)) }
      .sorted { $0.segments.count > $1.segments.count }
    var table = RouteTable<Endpoint>()
    SignInRoutes.add(to: &table)
    ResourceRoutes.add(to: &table)
    LimitRoutes.add(to: &table)
    ApexRestRoutes.add(to: &table)
    ConnectRoutes.add(to: &table)
    ConnectFiles.add(to: &table)
    NotificationRoutes.add(to: &table)
    QueryRoutes.add(to: &table)
    SearchRoutes.add(to: &table)
    CollectionRoutes.add(to: &table)
    CompositeRoutes.add(to: &table)
    BatchRoutes.add(to: &table)
    TreeRoutes.add(to: &table)
    ChangeRoutes.add(to: &table)
    LayoutRoutes.add(to: &table)
    ListViewRoutes.add(to: &table)
    PrimingRoutes.add(to: &table)
    BulkRoutes.add(to: &table)
    AsyncRoutes.add(to: &table)
    RowRoutes.add(to: &table)
    routes = table
  }

  var faultKinds: [FaultKind] { SalesforceFaultKinds.all }

  package func begin(clock: any SandboxClock, url: String) { try? org.performAndWait { $0.instance.begin(at: url) } }

  /// Returns true for sign-in resources, which carry tokens in queries, and names and passwords in
  /// bodies.
  func isSecret(_ request: ServerRequest) -> Bool {
    let segments = request.segments.map { $0.lowercased() }
    return segments.contains("oauth2") || segments.contains("soap") || ["id", "secur"].contains(segments.first)
  }

  func grant(of request: ServerRequest) -> String? { TokenRoutes.grant(of: request) }

  /// Removes the path of a site.
  func received(_ request: ServerRequest) -> ServerRequest {
    for (path, segments) in sites where request.segments.starts(with: segments) {
      var inner = request
      inner.segments.removeFirst(segments.count)
      inner.mountPath = path
      return inner
    }
    return request
  }

  func reply(to request: ServerRequest) async -> ServerReply {
    let origins = CrossOrigin(allowed: org.configuration.corsOrigins)
    if let reply = origins.preflight(request) { return reply }
    var reply: ServerReply
    do {
      let plain = try ContentCoding.decoded(request, limit: bodyLimit(for: request))
      if let draw = request.faults.first(where: { $0.kind == "lateCommit" }) {
        reply = try await lateReply(to: plain, draw)
      } else if let draw = request.faults.first(where: { $0.kind == "tokenBusy" }) {
        reply = try await heldReply(to: plain, draw)
      } else {
        reply = try await org.perform { org in
          org.commitDue(isRequest: Self.wantsSession(plain.segments))
          return answered(plain, org)
        }
      }
    } catch {
      reply = self.reply(error)
    }
    if request.header("x-prettyprint") == "1", reply.headers.first?.value.hasPrefix("application/json") == true {
      reply.body = PrettyJSON.indented(reply.body)
    }
    reply.headers += origins.headers(for: request)
    return ContentCoding.encoded(reply, for: request)
  }

  func refusal(_ refusal: ServerRefusal) -> ServerReply {
    .json(refusal.status, SandboxError(status: refusal.status, code: refusal.code, message: refusal.message).body)
  }

  /// Answers with the request's faults applied. On the org's queue.
  func answered(_ request: ServerRequest, _ org: Org) -> ServerReply {
    do {
      return try org.withFaults(of: request) { try answer(request, org) }
    } catch {
      return reply(error)
    }
  }

  private func answer(_ request: ServerRequest, _ org: Org) throws -> ServerReply {
    if Self.isOnInstance(request.segments), let refusal = try org.instance.refusal(of: request) { return refusal }
    guard Self.wantsSession(request.segments) else { return try route(request, org, "") }
    let userId = try authenticated(request, org)
    var reply: ServerReply
    do {
      try org.calls.add(at: org.configuration.clock.now())
      reply = try route(request, org, userId)
    } catch {
      reply = self.reply(error)
    }
    reply.user = userId
    reply.headers += [limitInfo(org), ("Cache-Control", "no-cache,must-revalidate,max-age=0,no-store,private")]
    return reply
  }

  /// Returns true for everything below `/services/data/` and `/services/apexrest/`. Case is
  /// ignored, as in the route table.
  static func wantsSession(_ segments: [String]) -> Bool {
    guard segments.count > 1, segments[0].lowercased() == "services" else { return false }
    return segments[1].lowercased() == "apexrest" || segments[1].lowercased() == "data" && segments.count > 2
  }

  /// Returns true for data resources, which move with the org. Signing in stays at the login host.
  private static func isOnInstance(_ segments: [String]) -> Bool {
    wantsSession(segments) || segments.count > 1 && segments[0].lowercased() == "services" && segments[1].lowercased() == "async"
  }

  private func route(_ request: ServerRequest, _ org: Org, _ userId: String) throws -> ServerReply {
    let method = Negotiation.method(of: request)
    try Negotiation.checkAccept(request)
    switch routes.outcome(method, Negotiation.plainSegments(request.segments)) {
    case .none:
      guard request.segments.dropFirst().first?.lowercased() != "apexrest" else {
        return try org.apex.answer(request, method, org, userId)
      }
      if Self.wantsSession(request.segments), request.segments.count > 2 { try Negotiation.checkVersion(request.segments[2]) }
      throw SandboxError.notFound()
    case .wrongMethod(let allowed): return Self.wrongMethod(method, allowed)
    case .found(let match):
      let version = match.parameters["version"] ?? ""
      if match.handler.needsSession { try Negotiation.checkVersion(version) }
      return try match.handler.run(
        Call(service: self, org: org, request: request, parameters: match.parameters, version: version, userId: userId))
    }
  }

  static func wrongMethod(_ method: String, _ allowed: [String]) -> ServerReply {
    let list = allowed.joined(separator: ",")
    let message = "HTTP Method '\(method)' not allowed. Allowed are \(list)"
    let error = SandboxError(status: 405, code: "METHOD_NOT_ALLOWED", message: message)
    return .json(405, error.body, headers: [("Allow", list)])
  }

  /// Answers a subrequest, for which the outer request has been authenticated and counted. Failures
  /// become responses.
  func reply(inside call: Call, at place: Int, to request: ServerRequest) -> ServerReply {
    do {
      return try call.org.item(place) { try route(request, call.org, call.userId) }
    } catch {
      return reply(error)
    }
  }

  /// Returns the user of a call that has its session in another header.
  static func user(ofSession token: String?, _ request: ServerRequest, _ org: Org) throws(SandboxError) -> String {
    guard let token, let session = org.session(ofAccessToken: token, at: request.mountPath) else { throw .sessionInvalid }
    return session.grant.user
  }

  private func authenticated(_ request: ServerRequest, _ org: Org) throws(SandboxError) -> String {
    guard let header = request.header("authorization") else { throw .sessionInvalid }
    let parts = header.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, ["bearer", "oauth"].contains(parts[0].lowercased()) else {
      throw SandboxError(status: 401, code: "INVALID_AUTH_HEADER", message: "INVALID_HEADER_TYPE")
    }
    return try Self.user(ofSession: String(parts[1]), request, org)
  }

  private func limitInfo(_ org: Org) -> (name: String, value: String) {
    ("Sforce-Limit-Info", "api-usage=\(org.calls.used(at: org.configuration.clock.now()))/\(org.calls.limit)")
  }

  private func reply(_ error: any Error) -> ServerReply {
    let failure = error as? SandboxError ?? .unknown("An unexpected error occurred: \(error)")
    let challenge = failure.status == 401 ? [(name: "WWW-Authenticate", value: "Token")] : []
    return .json(failure.status == 0 ? 500 : failure.status, failure.body, headers: challenge)
  }
}

extension RouteTable where Handler == SalesforceService.Endpoint {
  /// Adds a route below `/services/data/vNN.0`.
  mutating func data(_ method: String, _ pattern: String, _ run: @escaping @Sendable (Call) throws -> ServerReply) {
    add(method, "/services/data/:version" + pattern, .init(needsSession: true, run: run))
  }

  mutating func open(_ method: String, _ pattern: String, _ run: @escaping @Sendable (Call) throws -> ServerReply) {
    add(method, pattern, .init(needsSession: false, run: run))
  }
}
