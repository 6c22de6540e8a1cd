import JSON
@_exported public import SandboxServer

/// Configures a pretend forge with its own server.
public struct ForgeConfiguration: Sendable {
  /// 0 lets the system choose.
  public var port = 0
  /// nil for plain HTTP.
  public var tls: SandboxTLS?
  public var clock: any SandboxClock = SystemSandboxClock()
  public var settings = ForgeSettings()
  /// Tokens by login; missing ones are generated. Each user maintains one organization: `ada` acme,
  /// `ben` orchard, `cleo` harbor.
  public var tokens: [String: String] = [:]
  /// The path of a file that receives one line of JSON for each request; nil keeps the log in
  /// memory only.
  public var logPath: String?

  public init() {}
}

/// A pretend GitHub on loopback: `api.github.com` on its own port. Any thread.
public final class ForgeServer: Sendable {
  /// `http://127.0.0.1:<port>`, the base address of paths such as `/orgs/acme/repos`.
  public var url: String { http.url }
  public var port: Int { http.port }
  public var certificateAuthority: String? { http.certificateAuthority }
  /// The faults to inject; see ``FaultBench``.
  public var faults: FaultBench { http.faults }
  public var clock: OrgClock { http.clock }
  /// The bearer token for the control interface, `POST <url>/__sandbox/<action>`. A secret.
  public var controlToken: String { http.controlToken }
  private let http: HTTPServer
  private let service: ForgeService

  private init(_ http: HTTPServer, _ service: ForgeService) {
    self.http = http
    self.service = service
    let actions = HTTPServer.controlActions + service.controlActions + ["reset"]
    http.serveControl(actions) { [weak http] action, arguments in
      guard action == "reset" else { return try http?.control(action, arguments) }
      try http?.resetServices()
      return "OK"
    }
  }

  /// Starts a forge.
  ///
  /// - Throws: ``SandboxError`` `CANNOT_WRITE_LOG`, `CANNOT_USE_CERTIFICATE` or `CANNOT_LISTEN`,
  ///   status 0.
  public static func start(_ configuration: ForgeConfiguration = .init()) async throws -> ForgeServer {
    var listening = HTTPServerConfiguration()
    listening.port = configuration.port
    listening.tls = configuration.tls
    listening.logPath = configuration.logPath
    let prepared = try await PreparedHTTPServer(listening, clock: configuration.clock)
    let service = ForgeService(settings: configuration.settings, tokens: configuration.tokens)
    // Also serve the path that GitHub Enterprise Server uses.
    let http = try await prepared.listen(main: service, mounts: [service.mount])
    return ForgeServer(http, service)
  }

  /// Closes every connection. Further calls return at once.
  public func stop() async { await http.stop() }

  /// Returns a user's token. A secret.
  public func token(of login: String) -> String? { service.tokens[login] }

  /// The behavior of the forge; can be changed while it runs.
  public var settings: ForgeSettings {
    get { service.settings }
    set { service.settings = newValue }
  }

  /// Restores the initial data and settings, and resets the request counts.
  public func reset() { service.reset() }

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
  public func control(_ action: String, _ arguments: JSONObject) throws -> JSONValue? {
    try http.control(action, arguments)
  }
}
