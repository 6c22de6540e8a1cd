import Glibc
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
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
  /// `http://127.0.0.1:<port>`, or with `https`: login, instance and identity host in one.
  public let url: String
  /// PEM of what clients have to trust, and the file that holds it; nil without TLS.
  public let certificateAuthority: String?, certificateAuthorityPath: String?
  /// What goes wrong, and when: see ``FaultBench``.
  public let faults: FaultBench
  /// The org's time, which can be held and moved.
  public let clock: OrgClock
  /// What calls of the control interface, `POST <url>/__sandbox/<action>`, bring as their bearer token. A secret.
  public let controlToken: String
  let org: Org
  private let log: RequestLog
  private let secrets: SandboxCredentials
  private let running: Task<Void, any Error>

  private init(
    org: Org, front: HTTPFront, identity: TLSIdentity?, port: Int, running: Task<Void, any Error>
  ) throws(SandboxError) {
    self.org = org
    log = front.log
    faults = front.faults
    clock = front.clock
    controlToken = front.control.token
    self.port = port
    self.running = running
    certificateAuthority = identity?.authority
    certificateAuthorityPath = identity?.authorityPath
    let url = Self.url(org.configuration, port)
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
  /// - Throws: ``SandboxError`` `NOT_LOOPBACK`, `CANNOT_OPEN_DATABASE`, `CANNOT_WRITE_LOG`, `CANNOT_USE_CERTIFICATE` or
  ///   `CANNOT_LISTEN`, status 0.
  public static func start(_ configuration: SandboxConfiguration = .init()) async throws -> SandboxServer {
    guard configuration.allowsRemote || ["127.0.0.1", "::1", "localhost"].contains(configuration.host) else {
      throw SandboxError(
        status: 0, code: "NOT_LOOPBACK",
        message: "the sandbox listens on loopback addresses only, unless remote ones are allowed in so many words; "
          + "'\(configuration.host)' is no loopback address")
    }
    let identity = try await Offload.run {
      try configuration.tls.map { try TLSIdentity($0, names: [configuration.host]) }
    }
    let clock = OrgClock(configuration.clock)
    var configuration = configuration
    configuration.clock = clock
    let log = RequestLog(file: try configuration.logPath.map(LogFile.init))
    let org = try await Offload.run { [configuration] in try Org(configuration) }
    let mounts = MountTable(main: SalesforceService(org: org), mounts: configuration.mounts)
    let front = HTTPFront(
      mounts: mounts, log: log, faults: FaultBench(kinds: HTTPFaultKinds.all + mounts.faultKinds), clock: clock,
      control: ControlFront(token: configuration.controlToken), scheme: identity == nil ? "http" : "https")
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let running = Task { [configuration] in
      defer { continuation.finish() }
      try await application(front, configuration, identity) { continuation.yield($0) }.run()
    }
    for await port in ports {
      return try SandboxServer(org: org, front: front, identity: identity, port: port, running: running).connect(front)
    }
    org.close()
    var reason = "the server ended at once"
    if case .failure(let error) = await running.result {
      let isTaken = (error as? IOError)?.errnoCode == EADDRINUSE
      reason = isTaken ? "the port is in use; choose another one, or 0 for a free one" : "\(error)"
    }
    throw SandboxError(
      status: 0, code: "CANNOT_LISTEN",
      message: "cannot listen on \(configuration.host) port \(configuration.port): \(reason)")
  }

  private static func application(
    _ front: HTTPFront, _ configuration: SandboxConfiguration, _ identity: TLSIdentity?,
    onPort: @escaping @Sendable (Int) -> Void
  ) throws -> Application<HTTPFront> {
    var logger = Logger(label: "tureen.sandbox")
    logger.logLevel = .critical
    let limits = configuration.limits
    let room = ConnectionRoom(limit: limits.connections)
    let channel = HTTP1Channel.Configuration(
      additionalChannelHandlers: [
        ConnectionGuard(limits: limits, clock: front.clock, room: room) { front.mounts.main.refusal($0) }
      ],
      httpDecoderConfiguration: .init(
        maxHeaderFieldSize: Tuning.parsedHeadBytes, maxHeaderListSize: Tuning.parsedHeadBytes,
        maxHeaderFieldCount: Tuning.headerFields))
    let plain = HTTPServerBuilder.http1(configuration: channel)
    return Application(
      responder: front,
      server: try identity.map { try .tls(plain, tlsConfiguration: $0.configuration()) } ?? plain,
      configuration: .init(
        address: .hostname(configuration.host, port: configuration.port), serverName: "sandbox",
        availableConnectionsDelegate: .maximum(limits.connections, logger: logger)),
      onServerRunning: { channel in onPort(channel.localAddress?.port ?? configuration.port) }, logger: logger)
  }

  /// A wildcard address is no address to connect to: then this machine's own.
  private static func url(_ configuration: SandboxConfiguration, _ port: Int) -> String {
    let wildcards = ["0.0.0.0": "127.0.0.1", "::": "::1"]
    let host = wildcards[configuration.host] ?? configuration.host
    let scheme = configuration.tls == nil ? "http" : "https"
    return host.contains(":") ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)"
  }

  /// What needs the finished server.
  private func connect(_ front: HTTPFront) -> SandboxServer {
    front.control.serve { [weak self] in try self?.control($0, $1) }
    clock.observe { [weak org] in org?.commitDue() }
    return self
  }

  deinit { running.cancel() }

  /// Closes every connection and the database. Once is enough; later calls return at once.
  public func stop() async {
    running.cancel()
    _ = await running.result
    await org.jobs.stop()
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
