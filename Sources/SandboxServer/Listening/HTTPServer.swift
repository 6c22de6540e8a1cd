import Glibc
import JSON
import NIOCore
import NIOPosix
import Synchronization

/// The listening options of a pretend server.
package struct HTTPServerConfiguration: Sendable {
  /// `127.0.0.1`, `::1` or `localhost`. Any other address also requires `allowsRemote`.
  package var host = "127.0.0.1"
  package var allowsRemote = false
  /// 0 lets the system choose.
  package var port = 0
  /// nil for plain HTTP.
  package var tls: SandboxTLS?
  package var limits = ConnectionLimits()
  /// The path of a file that receives one line of JSON for each request; nil keeps the log in
  /// memory only.
  package var logPath: String?
  /// The bearer token of the control interface; nil generates one.
  package var controlToken: String?

  package init() {}
}

/// A server that does not listen yet: its clock, log and certificate. Services are created with
/// this clock.
package struct PreparedHTTPServer: Sendable {
  package let clock: OrgClock
  let configuration: HTTPServerConfiguration
  let identity: TLSIdentity?
  private let tls: TLSServerContext?
  let log: RequestLog

  /// - Throws: ``SandboxError`` `NOT_LOOPBACK`, `CANNOT_WRITE_LOG` or `CANNOT_USE_CERTIFICATE`, status 0.
  package init(_ configuration: HTTPServerConfiguration, clock: any SandboxClock) async throws {
    guard configuration.allowsRemote || ["127.0.0.1", "::1", "localhost"].contains(configuration.host) else {
      throw SandboxError(
        status: 0, code: "NOT_LOOPBACK",
        message: "the sandbox listens on loopback addresses only, unless remote ones are explicitly allowed; "
          + "'\(configuration.host)' is not a loopback address")
    }
    self.configuration = configuration
    self.clock = OrgClock(clock)
    identity = try await Offload.run {
      try configuration.tls.map { try TLSIdentity($0, names: [configuration.host]) }
    }
    tls = try identity?.context()
    log = RequestLog(file: try configuration.logPath.map(LogFile.init))
  }

  /// - Throws: ``SandboxError`` `CANNOT_LISTEN`, status 0.
  package func listen(main: any ServerService, mounts: [Mount] = []) async throws -> HTTPServer {
    let table = MountTable(main: main, mounts: mounts)
    let requestHandler = HTTPRequestHandler(
      mounts: table, log: log, faults: FaultBench(kinds: HTTPFaultKinds.all + table.faultKinds), clock: clock,
      control: ControlEndpoint(token: configuration.controlToken), scheme: identity == nil ? "http" : "https")
    let connections = ConnectionTasks()
    let first = try await open(requestHandler, connections, port: configuration.port)
    main.begin(clock: clock, url: url(first.port))
    for mount in mounts { mount.service.begin(clock: clock, url: mount.url(on: url(first.port))) }
    return HTTPServer(self, requestHandler, connections, first: first)
  }

  /// - Throws: ``SandboxError`` `CANNOT_LISTEN`, status 0.
  func open(_ requestHandler: HTTPRequestHandler, _ connections: ConnectionTasks, port: Int) async throws -> OpenPort {
    do {
      let channel = try await bootstrap(requestHandler, connections).bind(host: configuration.host, port: port).get()
      return OpenPort(port: channel.localAddress?.port ?? port, channel: channel)
    } catch {
      let isTaken = (error as? IOError)?.errnoCode == EADDRINUSE
      let reason = isTaken ? "the port is in use; choose another, or 0 for a free one" : "\(error)"
      throw SandboxError(
        status: 0, code: "CANNOT_LISTEN",
        message: "cannot listen on \(configuration.host) port \(port): \(reason)")
    }
  }

  private func bootstrap(_ requestHandler: HTTPRequestHandler, _ connections: ConnectionTasks) -> ServerBootstrap {
    let limits = configuration.limits
    let open = OpenConnections(limit: limits.connections)
    return ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: ServerTuning.backlog)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptLimit(limits.connections))
        }
      }
      .childChannelInitializer { [tls] channel in
        channel.eventLoop.makeCompletedFuture {
          if let tls { try channel.pipeline.syncOperations.addHandler(tls.makeHandler()) }
          let guardian = ConnectionGuard(limits: limits, clock: requestHandler.clock, openConnections: open) {
            requestHandler.mounts.main.refusal($0)
          }
          let connection = try HTTPConnection(channel, guardian, requestHandler)
          connections.start { await connection.serve() }
        }
      }
  }

  /// Returns the URL for a port. Clients cannot connect to a wildcard address, so it becomes the
  /// loopback address.
  func url(_ port: Int) -> String {
    let wildcards = ["0.0.0.0": "127.0.0.1", "::": "::1"]
    let host = wildcards[configuration.host] ?? configuration.host
    let scheme = identity == nil ? "http" : "https"
    return host.contains(":") ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)"
  }
}

/// A listening port.
struct OpenPort: Sendable {
  let port: Int
  let channel: any Channel
}

/// A pretend server that is listening. Any thread.
package final class HTTPServer: Sendable {
  package let port: Int
  /// `http://127.0.0.1:<port>`, or with `https`.
  package let url: String
  /// PEM of the certificate that clients must trust, and the path of its file; nil without TLS.
  package let certificateAuthority: String?, certificateAuthorityPath: String?
  package let faults: FaultBench
  package let clock: OrgClock
  package let log: RequestLog
  /// The bearer token for the control interface. A secret.
  package let controlToken: String
  let mounts: MountTable
  private let control: ControlEndpoint
  let prepared: PreparedHTTPServer
  let requestHandler: HTTPRequestHandler
  let connections: ConnectionTasks
  let open: OpenPorts

  init(
    _ prepared: PreparedHTTPServer, _ requestHandler: HTTPRequestHandler, _ connections: ConnectionTasks, first: OpenPort
  ) {
    self.prepared = prepared
    self.requestHandler = requestHandler
    self.connections = connections
    open = OpenPorts(first)
    port = first.port
    url = prepared.url(first.port)
    certificateAuthority = prepared.identity?.authority
    certificateAuthorityPath = prepared.identity?.authorityPath
    faults = requestHandler.faults
    clock = requestHandler.clock
    log = requestHandler.log
    mounts = requestHandler.mounts
    control = requestHandler.control
    controlToken = requestHandler.control.token
  }

  deinit {
    Task { [open, connections] in
      await open.close()
      await connections.stop()
    }
  }

  /// Starts to serve the control interface.
  ///
  /// - Parameters:
  ///   - actions: The known actions, listed in the error about an unknown one.
  ///   - handler: Called on a thread that may block; returns nil for an unknown action.
  package func serveControl(
    _ actions: [String], _ handler: @escaping @Sendable (_ action: String, _ arguments: JSONObject) throws -> JSONValue?
  ) {
    control.serve(actions, handler)
  }

  /// Refuses new connections, then closes every open one. Further calls return at once.
  package func stop() async {
    await open.close()
    await connections.stop()
  }
}
