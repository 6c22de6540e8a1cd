import JSON
@_exported public import SandboxServer
import Synchronization

/// A pretend Salesforce org on loopback.
///
/// Any thread. Methods that access records block until the org's queue has done the work; this is
/// short, but they must not be called on an event loop.
public final class SandboxServer: Sendable {
  public var port: Int { http.port }
  /// `http://127.0.0.1:<port>`, or with `https`; it serves login, instance and identity.
  public var url: String { http.url }
  /// PEM of the certificate that clients must trust, and the path of its file; nil without TLS.
  public var certificateAuthority: String? { http.certificateAuthority }
  public var certificateAuthorityPath: String? { http.certificateAuthorityPath }
  /// The faults to inject; see ``FaultBench``.
  public var faults: FaultBench { http.faults }
  /// The org's clock, which can be held and moved.
  public var clock: OrgClock { http.clock }
  /// The bearer token for the control interface, `POST <url>/__sandbox/<action>`. A secret.
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

  /// Opens the database, fills it if it is new, and starts to listen.
  ///
  /// - Throws: ``SandboxError`` `NOT_LOOPBACK`, `CANNOT_OPEN_DATABASE`, `CANNOT_WRITE_LOG`,
  ///   `CANNOT_USE_CERTIFICATE` or `CANNOT_LISTEN`, status 0.
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

  /// Connects the parts that need the finished server.
  private func connect() -> SandboxServer {
    let mounted = org.configuration.mounts.flatMap(\.service.controlActions)
    http.serveControl(Self.controlActions + mounted) { [weak self] in try self?.control($0, $1) }
    clock.observe { [weak org] in org?.commitDue() }
    return self
  }

  /// Closes every connection and the database. Further calls return at once.
  public func stop() async {
    await http.stop()
    await org.jobs.stop()
    try? await Offload.run { [org] in org.close() }
  }

  // MARK: Signing in

  /// The credentials of the default user and client, including secrets.
  public func credentials() -> SandboxCredentials { secrets.withLock { $0 } }
  public var username: String { credentials().username }
  public var password: String { credentials().password }
  public var clientId: String { credentials().clientId }
  public var clientSecret: String { credentials().clientSecret }
  func setOrganizationId(_ id: String) { secrets.withLock { $0.organizationId = id } }

  /// Issues an access token, as for a client that signed in elsewhere.
  public func issueAccessToken() throws -> String {
    try org.performAndWait { org in
      let grant = SessionRegistry.Grant(user: Users.caller, client: org.configuration.clientId, scope: "api web")
      return try org.sessions.issueAccessToken(grant, organization: org.organizationId)
    }
  }

  /// Ends every access token; refresh tokens stay valid.
  public func expireSessions() throws { try org.performAndWait { try $0.sessions.expireAccessTokens() } }

  /// Ends a refresh token with its access tokens, or an access token.
  public func revoke(_ token: String) throws { _ = try org.performAndWait { try $0.sessions.revoke(token) } }

  /// Drops every open query locator.
  public func expireQueryLocators() throws { try org.performAndWait { $0.cursors.removeAll() } }

  // MARK: Observing and intercepting

  /// The most recent requests, oldest first.
  public func requests() -> [LoggedRequest] { http.log.requests }
  public func clearRequests() { http.log.clear() }

  /// Sets a function that is called before each request; nil lets the request through. Called on
  /// the server's threads, several at a time.
  public func setInterceptor(_ interceptor: (@Sendable (LoggedRequest) -> Interception?)?) {
    http.log.setInterceptor(interceptor)
  }

  // MARK: Changes by another user

  /// Creates a record.
  ///
  /// - Returns: The new record's id.
  /// - Throws: ``SandboxError`` with the code that a REST call would get.
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

  /// Restores a deleted record from the recycle bin, with the records that were deleted with it.
  ///
  /// - Throws: ``SandboxError`` `UNDELETE_FAILED` if it is not in the bin.
  public func undelete(_ type: String, id: String) throws {
    try change(type) { writer, object in
      guard let full = RecordID.normalized(id) else { throw SandboxError.notFound() }
      try writer.undelete(object, id: full)
    }
  }

  /// Sets the rules by which briefcase priming tells clients what to keep offline.
  public func setBriefcase(_ rules: [BriefcaseRule]) throws { try org.performAndWait { $0.briefcase = rules } }

  /// Runs a SOQL statement like REST, but returns every row in one page.
  ///
  /// - Returns: `{"totalSize","done","records"}`.
  public func query(_ soql: String, includeDeleted: Bool = false) throws -> JSONValue {
    let bytes = try org.performAndWait { org in
      org.commitDue(isRequest: false)
      let runner = QueryRunner(org: org, version: "v66.0", userId: Users.colleague, pageSize: .max / 2)
      return try runner.run(soql, includeDeleted: includeDeleted)
    }
    return try JSONValue(parsing: bytes)
  }

  /// Runs a SOSL statement like REST.
  ///
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
