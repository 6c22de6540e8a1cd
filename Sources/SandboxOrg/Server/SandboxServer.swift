import Hummingbird
import JSON
import Logging
import NIOCore
import Synchronization

/// A pretend Salesforce org that speaks HTTP on loopback.
///
/// Any thread may call it. Methods that touch records block until the org's queue has done the work: short, but not for
/// an event loop.
public final class SandboxServer: Sendable {
  public let port: Int
  /// `http://127.0.0.1:<port>`: login, instance and identity host in one.
  public let url: String
  private let org: Org
  private let log: RequestLog
  private let secrets: SandboxCredentials
  private let running: Task<Void, any Error>

  private init(org: Org, log: RequestLog, host: String, port: Int, running: Task<Void, any Error>) throws(SandboxError) {
    self.org = org
    self.log = log
    self.port = port
    self.running = running
    let url = host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
    self.url = url
    secrets = try org.performAndWait { org in
      SandboxCredentials(
        loginURL: url, username: org.configuration.username, password: org.sessions.password,
        clientId: org.configuration.clientId, clientSecret: org.sessions.clientSecret,
        refreshToken: org.sessions.provisionedRefreshToken, userId: Users.caller, organizationId: org.organizationId)
    }
  }

  /// Opens the database, seeds it when it is new, and listens.
  ///
  /// - Throws: ``SandboxError`` `NOT_LOOPBACK`, `CANNOT_OPEN_DATABASE` or `CANNOT_LISTEN`, status 0.
  public static func start(_ configuration: SandboxConfiguration = .init()) async throws -> SandboxServer {
    guard ["127.0.0.1", "::1", "localhost"].contains(configuration.host) else {
      throw SandboxError(
        status: 0, code: "NOT_LOOPBACK",
        message: "the sandbox listens on loopback addresses only; '\(configuration.host)' is none")
    }
    let org = try await Offload.run { try Org(configuration) }
    let log = RequestLog()
    let front = HTTPFront(service: SalesforceService(org: org), log: log)
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let running = Task {
      defer { continuation.finish() }
      try await application(front, configuration) { continuation.yield($0) }.run()
    }
    for await port in ports {
      return try SandboxServer(org: org, log: log, host: configuration.host, port: port, running: running)
    }
    org.close()
    var reason = "the server ended at once"
    if case .failure(let error) = await running.result { reason = "\(error)" }
    throw SandboxError(
      status: 0, code: "CANNOT_LISTEN",
      message: "cannot listen on \(configuration.host) port \(configuration.port): \(reason)")
  }

  private static func application(
    _ front: HTTPFront, _ configuration: SandboxConfiguration, onPort: @escaping @Sendable (Int) -> Void
  ) -> Application<HTTPFront> {
    var logger = Logger(label: "tureen.sandbox")
    logger.logLevel = .critical
    return Application(
      responder: front,
      configuration: .init(address: .hostname(configuration.host, port: configuration.port), serverName: "sandbox"),
      onServerRunning: { channel in onPort(channel.localAddress?.port ?? configuration.port) }, logger: logger)
  }

  deinit { running.cancel() }

  /// Closes every connection and the database. Once is enough; later calls return at once.
  public func stop() async {
    running.cancel()
    _ = await running.result
    try? await Offload.run { [org] in org.close() }
  }

  // MARK: Signing in

  /// What a client needs to sign in. Holds secrets.
  public func credentials() -> SandboxCredentials { secrets }
  public var username: String { secrets.username }
  public var password: String { secrets.password }
  public var clientId: String { secrets.clientId }
  public var clientSecret: String { secrets.clientSecret }

  /// A token as a client that signed in elsewhere would bring it.
  public func issueAccessToken() throws -> String {
    try org.performAndWait { try $0.sessions.issueAccessToken(user: Users.caller, organization: $0.organizationId) }
  }

  /// Ends every access token; refresh tokens stay good.
  public func expireSessions() throws { try org.performAndWait { try $0.sessions.expireAccessTokens() } }

  /// Ends a refresh token and the access tokens it brought.
  public func revoke(_ token: String) throws { _ = try org.performAndWait { try $0.sessions.revoke(token) } }

  /// Forgets every open query locator.
  public func expireQueryLocators() throws { try org.performAndWait { $0.cursors.removeAll() } }

  // MARK: Watching and interfering

  /// The last requests, oldest first.
  public func requests() -> [LoggedRequest] { log.requests }
  public func clearRequests() { log.clear() }

  /// Asked before each request; nil lets it through. Called on the server's threads, several at a time.
  public func setInterceptor(_ interceptor: (@Sendable (LoggedRequest) -> Interception?)?) {
    log.setInterceptor(interceptor)
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

  /// Every row a statement matches, in one page, as REST would answer it.
  /// - Returns: `{"totalSize","done","records"}`.
  public func query(_ soql: String, includeDeleted: Bool = false) throws -> JSONValue {
    let bytes = try org.performAndWait { org in
      let runner = QueryRunner(org: org, version: "v66.0", userId: Users.colleague, pageSize: .max / 2)
      return try runner.run(soql, includeDeleted: includeDeleted)
    }
    return try JSONValue(parsing: bytes)
  }

  private func change<T>(_ type: String, _ body: (RecordWriter, ObjectSchema) throws -> T) throws -> T {
    try org.performAndWait { org in
      guard let object = org.schema.object(type) else { throw SandboxError.unknownType(type) }
      return try org.transaction { try body(RecordWriter(org: org, userId: Users.colleague), object) }
    }
  }

  private static func live(_ id: String, _ object: ObjectSchema, _ writer: RecordWriter) throws -> String {
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
