import Database

/// The Salesforce API: finds the route, checks who calls, runs the handler on the org's queue.
struct SalesforceService: ServerService {
  struct Endpoint: Sendable {
    /// Everything below `/services/data/vNN.0` wants a session; the rest looks after itself.
    let needsSession: Bool
    let run: @Sendable (Call) throws -> ServerReply
  }

  let org: Org
  private let routes: RouteTable<Endpoint>

  init(org: Org) {
    self.org = org
    var table = RouteTable<Endpoint>()
    OAuthRoutes.add(to: &table)
    ResourceRoutes.add(to: &table)
    QueryRoutes.add(to: &table)
    CollectionRoutes.add(to: &table)
    RowRoutes.add(to: &table)
    routes = table
  }

  func reply(to request: ServerRequest) async -> ServerReply {
    do {
      return try await org.perform { org in try answer(request, org) }
    } catch {
      return reply(error)
    }
  }

  private func answer(_ request: ServerRequest, _ org: Org) throws -> ServerReply {
    let isData = request.segments.count > 2 && request.segments[0...1].elementsEqual(["services", "data"])
    let userId = isData ? try authenticated(request, org) : ""
    if isData { org.countCall() }
    do {
      var reply = try route(request, org, userId)
      if isData { reply.headers.append(limitInfo(org)) }
      return reply
    } catch {
      var reply = self.reply(error)
      if isData { reply.headers.append(limitInfo(org)) }
      return reply
    }
  }

  private func route(_ request: ServerRequest, _ org: Org, _ userId: String) throws -> ServerReply {
    let method = request.method == "POST" ? request.parameter("_HttpMethod")?.uppercased() ?? "POST" : request.method
    switch routes.outcome(method, request.segments) {
    case .none: throw SandboxError.notFound()
    case .wrongMethod(let allowed):
      let list = allowed.joined(separator: ",")
      let message = "HTTP Method '\(method)' not allowed. Allowed are \(list)"
      let error = SandboxError(status: 405, code: "METHOD_NOT_ALLOWED", message: message)
      return .json(405, error.body, headers: [("Allow", list)])
    case .found(let match):
      let version = match.parameters["version"] ?? ""
      guard !match.handler.needsSession || Self.isKnown(version) else { throw SandboxError.notFound() }
      return try match.handler.run(
        Call(org: org, request: request, parameters: match.parameters, version: version, userId: userId))
    }
  }

  /// `v31.0` to the newest known.
  private static func isKnown(_ version: String) -> Bool {
    guard version.first == "v", version.hasSuffix(".0"), let number = Int(version.dropFirst().dropLast(2)) else {
      return false
    }
    return Tuning.apiVersions.contains(number)
  }

  private func authenticated(_ request: ServerRequest, _ org: Org) throws(SandboxError) -> String {
    guard let header = request.header("authorization") else { throw .sessionInvalid }
    let parts = header.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, ["bearer", "oauth"].contains(parts[0].lowercased()) else {
      throw SandboxError(status: 401, code: "INVALID_AUTH_HEADER", message: "INVALID_HEADER_TYPE")
    }
    guard let user = org.sessions.user(ofAccessToken: String(parts[1])) else { throw .sessionInvalid }
    return user
  }

  private func limitInfo(_ org: Org) -> (name: String, value: String) {
    ("Sforce-Limit-Info", "api-usage=\(org.callCount)/\(Tuning.dailyCalls)")
  }

  private func reply(_ error: any Error) -> ServerReply {
    let failure = error as? SandboxError ?? .unknown("An unexpected error occurred: \(error)")
    let challenge = failure.status == 401 ? [(name: "WWW-Authenticate", value: "Token")] : []
    return .json(failure.status == 0 ? 500 : failure.status, failure.body, headers: challenge)
  }
}

extension RouteTable where Handler == SalesforceService.Endpoint {
  /// A route below `/services/data/vNN.0`.
  mutating func data(_ method: String, _ pattern: String, _ run: @escaping @Sendable (Call) throws -> ServerReply) {
    add(method, "/services/data/:version" + pattern, .init(needsSession: true, run: run))
  }

  mutating func open(_ method: String, _ pattern: String, _ run: @escaping @Sendable (Call) throws -> ServerReply) {
    add(method, pattern, .init(needsSession: false, run: run))
  }
}
