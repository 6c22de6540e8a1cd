import JSON
@_exported public import SandboxServer
import Synchronization

/// A pretend Salesforce org that speaks HTTP on loopback.
///
/// Any thread may call it. Methods that touch records block until the org's queue has done the work: short, but not for
/// an event loop.
public final class SandboxServer: Sendable {
  public var port: Int { http.port }
  /// `http://127.0.0.1:<port>`, or with `https`: login, instance and identity host in one.
  public var url: String { http.url }
  /// PEM of what clients have to trust, and the file that holds it; nil without TLS.
  public var certificateAuthority: String? { http.certificateAuthority }
  public var certificateAuthorityPath: String? { http.certificateAuthorityPath }
  /// What goes wrong, and when: see ``FaultBench``.
  public var faults: FaultBench { http.faults }
  /// The org's time, which can be held and moved.
  public var clock: OrgClock { http.clock }
  /// What calls of the control interface, `POST <url>/__sandbox/<action>`, bring as their bearer token. A secret.
  public var controlToken: String { http.controlToken }
  let org: Org
  let http: HTTPServer
  private let secrets: Mutex<SandboxCredentials>

  private init(org: Org, http: HTTPServer) throws(SandboxError) {
    self.org = org
    self.http = http
    let url = http.url
    secrets = Mutex(
      try org.performAndWait { org in
        SandboxCredentials(
          loginURL: url, username: org.configuration.username, password: org.sessions.password,
          clientId: org.configuration.clientId, clientSecret: org.sessions.clientSecret,
          refreshToken: org.sessions.provisionedRefreshToken, userId: Users.caller, organizationId: org.organizationId)
      })
  }

  /// Opens the database, seeds it when it is new, and listens.
  ///
  /// - Throws: ``SandboxError`` `NOT_LOOPBACK`, `CANNOT_OPEN_DATABASE`, `CANNOT_WRITE_LOG`, `CANNOT_USE_CERTIFICATE` or
  ///   `CANNOT_LISTEN`, status 0.
  public static func start(_ configuration: SandboxConfiguration = .init()) async throws -> SandboxServer {
    let prepared = try await PreparedHTTPServer(configuration.listening, clock: configuration.clock)
    var configuration = configuration
    configuration.clock = prepared.clock
    let org = try await Offload.run { [configuration] in try Org(configuration) }
    do {
      let http = try await prepared.listen(main: SalesforceService(org: org), mounts: configuration.mounts)
      return try SandboxServer(org: org, http: http).connect()
    } catch {
      org.close()
      throw error
    }
  }

  /// What needs the finished server.
  private func connect() -> SandboxServer {
    let mounted = org.configuration.mounts.flatMap(\.service.controlActions)
    http.serveControl(Self.controlActions + mounted) { [weak self] in try self?.control($0, $1) }
    clock.observe { [weak org] in org?.commitDue() }
    return self
  }

  /// Closes every connection and the database. Once is enough; later calls return at once.
  public func stop() async {
    await http.stop()
    await org.jobs.stop()
    try? await Offload.run { [org] in org.close() }
  }

  // MARK: Signing in

  /// What a client needs to sign in. Holds secrets.
  public func credentials() -> SandboxCredentials { secrets.withLock { $0 } }
  public var username: String { credentials().username }
  public var password: String { credentials().password }
  public var clientId: String { credentials().clientId }
  public var clientSecret: String { credentials().clientSecret }
  func setOrganizationId(_ id: String) { secrets.withLock { $0.organizationId = id } }

  /// A token as a client that signed in elsewhere would bring it.
  public func issueAccessToken() throws -> String {
    try org.performAndWait { org in
      let grant = SessionRegistry.Grant(user: Users.caller, client: org.configuration.clientId, scope: "api web")
      return try org.sessions.issueAccessToken(grant, organization: org.organizationId)
    }
  }

  /// Ends every access token; refresh tokens stay good.
  public func expireSessions() throws { try org.performAndWait { try $0.sessions.expireAccessTokens() } }

  /// Ends a refresh token and the access tokens it brought.
  public func revoke(_ token: String) throws { _ = try org.performAndWait { try $0.sessions.revoke(token) } }

  /// Forgets every open query locator.
  public func expireQueryLocators() throws { try org.performAndWait { $0.cursors.removeAll() } }

  // MARK: Watching and interfering

  /// The last requests, oldest first.
  public func requests() -> [LoggedRequest] { http.log.requests }
  public func clearRequests() { http.log.clear() }

  /// Asked before each request; nil lets it through. Called on the server's threads, several at a time.
  public func setInterceptor(_ interceptor: (@Sendable (LoggedRequest) -> Interception?)?) {
    http.log.setInterceptor(interceptor)
  }

  // MARK: Changes behind the client's back, made by another user

  /// - Returns: The new record's id.
  /// - Throws: ``SandboxError`` with the code a REST call would get.
  @discardableResult
  public func create(_ type: String, fields: JSONObject) throws -> String {
    try change(type) { try $0.create($1, fields) }
  }

  public func update(_ type: String, id: String, fields: JSONObject) throws {
    try change(type) { writer, object in
      try writer.update(object, id: try Self.live(id, object, writer), fields)
    }
  }

  public func delete(_ type: String, id: String) throws {
    try change(type) { writer, object in try writer.delete(object, id: try Self.live(id, object, writer)) }
  }

  /// Brings a deleted record back from the recycle bin, with the records that were deleted along with it.
  /// - Throws: ``SandboxError`` `UNDELETE_FAILED` when it is not there.
  public func undelete(_ type: String, id: String) throws {
    try change(type) { writer, object in
      guard let full = RecordID.normalized(id) else { throw SandboxError.notFound() }
      try writer.undelete(object, id: full)
    }
  }

  /// Sets what briefcase priming tells clients to keep offline.
  public func setBriefcase(_ rules: [BriefcaseRule]) throws { try org.performAndWait { $0.briefcase = rules } }

  /// Every row a statement matches, in one page, as REST would answer it.
  /// - Returns: `{"totalSize","done","records"}`.
  public func query(_ soql: String, includeDeleted: Bool = false) throws -> JSONValue {
    let bytes = try org.performAndWait { org in
      org.commitDue(isRequest: false)
      let runner = QueryRunner(org: org, version: "v66.0", userId: Users.colleague, pageSize: .max / 2)
      return try runner.run(soql, includeDeleted: includeDeleted)
    }
    return try JSONValue(parsing: bytes)
  }

  /// What a SOSL statement finds, as REST would answer it.
  /// - Returns: `{"searchRecords"}`.
  public func search(_ sosl: String) throws -> JSONValue {
    let bytes = try org.performAndWait { org in
      try SearchRunner(org: org, version: "v66.0", userId: Users.colleague).run(sosl)
    }
    return try JSONValue(parsing: bytes)
  }

  private func change<T>(_ type: String, _ body: (RecordWriter, ObjectSchema) throws -> T) throws -> T {
    try org.performAndWait { org in
      guard let object = org.schema.object(type) else { throw SandboxError.unknownType(type) }
      return try org.transaction { try body(RecordWriter(org: org, userId: Users.colleague), object) }
    }
  }

  static func live(_ id: String, _ object: ObjectSchema, _ writer: RecordWriter) throws -> String {
    guard let full = RecordID.normalized(id), RecordID.prefix(of: full) == object.keyPrefix else {
      throw SandboxError.notFound()
    }
    switch try writer.reader.presence(of: full, in: object) {
    case .live: return full
    case .deleted: throw SandboxError.entityIsDeleted(status: 404)
    case .missing: throw SandboxError.notFound()
    }
  }
}
