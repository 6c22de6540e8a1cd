import JSON
@_exported public import SandboxServer

/// Configures a pretend Parse server with its own port.
public struct ParseConfiguration: Sendable {
  /// 0 lets the system choose.
  public var port = 0
  /// nil for plain HTTP.
  public var tls: SandboxTLS?
  public var clock: any SandboxClock = SystemSandboxClock()
  public var settings = ParseSettings()
  public var keys = ParseKeys()
  /// Whether the server starts with the library data: 40 genres, 300 publishers, 2,000 authors, and
  /// 5,000 books with their ISBNs.
  public var isSeeded = true
  /// The path of a file that receives one line of JSON for each request; nil keeps the log in
  /// memory only.
  public var logPath: String?

  public init() {}
}

/// A pretend Parse server on loopback, served under `/parse`, under `/1` and without a path. Any
/// thread.
public final class ParseServer: Sendable {
  /// `http://127.0.0.1:<port>`, without the mount path.
  public var url: String { http.url }
  public var port: Int { http.port }
  public var certificateAuthority: String? { http.certificateAuthority }
  /// The faults to inject; see ``FaultBench``.
  public var faults: FaultBench { http.faults }
  public var clock: OrgClock { http.clock }
  /// The bearer token for the control interface, `POST <url>/__sandbox/<action>`. A secret.
  public var controlToken: String { http.controlToken }
  public var keys: ParseKeys { service.keys }
  private let http: HTTPServer
  private let service: ParseService

  private init(_ http: HTTPServer, _ service: ParseService) {
    self.http = http
    self.service = service
    let actions = HTTPServer.controlActions + service.controlActions + ["reset"]
    http.serveControl(actions) { [weak http] action, arguments in
      guard action == "reset" else { return try http?.control(action, arguments) }
      try http?.resetServices(arguments)
      return "OK"
    }
  }

  /// Starts a Parse server.
  ///
  /// - Throws: ``SandboxError`` `CANNOT_WRITE_LOG`, `CANNOT_USE_CERTIFICATE` or `CANNOT_LISTEN`,
  ///   status 0.
  public static func start(_ configuration: ParseConfiguration = .init()) async throws -> ParseServer {
    var listening = HTTPServerConfiguration()
    listening.port = configuration.port
    listening.tls = configuration.tls
    listening.logPath = configuration.logPath
    let prepared = try await PreparedHTTPServer(listening, clock: configuration.clock)
    let service = ParseService(
      settings: configuration.settings, keys: configuration.keys, isSeeded: configuration.isSeeded)
    let http = try await prepared.listen(main: service, mounts: service.mounts)
    return ParseServer(http, service)
  }

  /// Closes every connection. Further calls return at once.
  public func stop() async { await http.stop() }

  /// The behavior of the server; can be changed while it runs.
  public var settings: ParseSettings {
    get { service.settings }
    set { service.settings = newValue }
  }

  /// Restores the initial settings and removes all data but the built-in classes; `seeded` restores
  /// the library data, too.
  public func reset(seeded: Bool = false) throws { try service.reset(ControlArguments(["seed": .bool(seeded)])) }

  /// The most recent requests, oldest first.
  public func requests() -> [LoggedRequest] { http.log.requests }
  public func clearRequests() { http.log.clear() }

  /// Sets a function that is called before each request; nil lets the request through. Called on
  /// the server's threads, several at a time.
  public func setInterceptor(_ interceptor: (@Sendable (LoggedRequest) -> Interception?)?) {
    http.log.setInterceptor(interceptor)
  }

  /// Runs an action of the control interface.
  ///
  /// - Returns: nil if there is no such action.
  public func control(_ action: String, _ arguments: JSONObject) throws -> JSONValue? { try http.control(action, arguments) }
}
