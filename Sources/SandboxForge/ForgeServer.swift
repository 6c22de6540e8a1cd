import JSON
@_exported public import SandboxServer

/// How a pretend forge with a server of its own is set up.
public struct ForgeConfiguration: Sendable {
  /// 0 lets the system choose.
  public var port = 0
  /// nil serves plain HTTP.
  public var tls: SandboxTLS?
  public var clock: any SandboxClock = SystemSandboxClock()
  public var settings = ForgeSettings()
  /// Tokens by login; what is missing is made up. Each user keeps one organisation: `ada` acme, `ben` orchard, `cleo` harbor.
  public var tokens: [String: String] = [:]
  /// A file that gets a line of JSON for each request; nil keeps the log in memory alone.
  public var logPath: String?

  public init() {}
}

/// A pretend GitHub that speaks HTTP on loopback: `api.github.com` on a port of its own. Any thread may call it.
public final class ForgeServer: Sendable {
  /// `http://127.0.0.1:<port>`: what paths such as `/orgs/acme/repos` stand behind; also without a path of its own for clients
  /// that take a base address.
  public var url: String { http.url }
  public var port: Int { http.port }
  public var certificateAuthority: String? { http.certificateAuthority }
  /// What goes wrong, and when: see ``FaultBench``.
  public var faults: FaultBench { http.faults }
  public var clock: OrgClock { http.clock }
  /// What calls of the control interface, `POST <url>/__sandbox/<action>`, bring as their bearer token. A secret.
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

  /// - Throws: ``SandboxError`` `CANNOT_WRITE_LOG`, `CANNOT_USE_CERTIFICATE` or `CANNOT_LISTEN`, status 0.
  public static func start(_ configuration: ForgeConfiguration = .init()) async throws -> ForgeServer {
    var listening = HTTPServerConfiguration()
    listening.port = configuration.port
    listening.tls = configuration.tls
    listening.logPath = configuration.logPath
    let prepared = try await PreparedHTTPServer(listening, clock: configuration.clock)
    let service = ForgeService(settings: configuration.settings, tokens: configuration.tokens)
    // Also where GitHub Enterprise Server has it.
    let http = try await prepared.listen(main: service, mounts: [service.mount])
    return ForgeServer(http, service)
  }

  /// Closes every connection. Once is enough; later calls return at once.
  public func stop() async { await http.stop() }

  /// The token of a user. A secret.
  public func token(of login: String) -> String? { service.tokens[login] }

  /// How it answers; can be changed while it runs.
  public var settings: ForgeSettings {
    get { service.settings }
    set { service.settings = newValue }
  }

  /// The seed again, the first settings, no request counted.
  public func reset() { service.reset() }

  /// The last requests, oldest first.
  public func requests() -> [LoggedRequest] { http.log.requests }
  public func clearRequests() { http.log.clear() }

  /// Asked before each request; nil lets it through. Called on the server's threads, several at a time.
  public func setInterceptor(_ interceptor: (@Sendable (LoggedRequest) -> Interception?)?) {
    http.log.setInterceptor(interceptor)
  }

  /// An action of the control interface by name.
  /// - Returns: nil when there is no such action.
  public func control(_ action: String, _ arguments: JSONObject) throws -> JSONValue? {
    try http.control(action, arguments)
  }
}
