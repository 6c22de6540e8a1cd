import JSON
@_exported public import SandboxServer

/// How a pretend Parse server with a port of its own is set up.
public struct ParseConfiguration: Sendable {
  /// 0 lets the system choose.
  public var port = 0
  /// nil serves plain HTTP.
  public var tls: SandboxTLS?
  public var clock: any SandboxClock = SystemSandboxClock()
  public var settings = ParseSettings()
  public var keys = ParseKeys()
  /// Whether it begins with the library: 40 genres, 300 publishers, 2,000 authors, 5,000 books with their ISBNs.
  public var isSeeded = true
  /// A file that gets a line of JSON for each request; nil keeps the log in memory alone.
  public var logPath: String?

  public init() {}
}

/// A pretend Parse server that speaks HTTP on loopback: below `/parse`, below `/1`, and without a path. Any thread may call it.
public final class ParseServer: Sendable {
  /// `http://127.0.0.1:<port>`; the mount path stands behind it.
  public var url: String { http.url }
  public var port: Int { http.port }
  public var certificateAuthority: String? { http.certificateAuthority }
  /// What goes wrong, and when: see ``FaultBench``.
  public var faults: FaultBench { http.faults }
  public var clock: OrgClock { http.clock }
  /// What calls of the control interface, `POST <url>/__sandbox/<action>`, bring as their bearer token. A secret.
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

  /// - Throws: ``SandboxError`` `CANNOT_WRITE_LOG`, `CANNOT_USE_CERTIFICATE` or `CANNOT_LISTEN`, status 0.
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

  /// Closes every connection. Once is enough; later calls return at once.
  public func stop() async { await http.stop() }

  /// How it answers; can be changed while it runs.
  public var settings: ParseSettings {
    get { service.settings }
    set { service.settings = newValue }
  }

  /// The built-in classes alone, the first settings; with the starting data when `seeded`.
  public func reset(seeded: Bool = false) throws { try service.reset(ControlArguments(["seed": .bool(seeded)])) }

  /// The last requests, oldest first.
  public func requests() -> [LoggedRequest] { http.log.requests }
  public func clearRequests() { http.log.clear() }

  /// Asked before each request; nil lets it through. Called on the server's threads, several at a time.
  public func setInterceptor(_ interceptor: (@Sendable (LoggedRequest) -> Interception?)?) {
    http.log.setInterceptor(interceptor)
  }

  /// An action of the control interface by name.
  /// - Returns: nil when there is no such action.
  public func control(_ action: String, _ arguments: JSONObject) throws -> JSONValue? { try http.control(action, arguments) }
}
