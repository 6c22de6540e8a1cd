import Glibc
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import JSON
import Logging
import NIOCore
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
    log = RequestLog(file: try configuration.logPath.map(LogFile.init))
  }

  /// - Throws: ``SandboxError`` `CANNOT_LISTEN`, status 0.
  package func listen(main: any ServerService, mounts: [Mount] = []) async throws -> HTTPServer {
    let table = MountTable(main: main, mounts: mounts)
    let requestHandler = HTTPRequestHandler(
      mounts: table, log: log, faults: FaultBench(kinds: HTTPFaultKinds.all + table.faultKinds), clock: clock,
      control: ControlEndpoint(token: configuration.controlToken), scheme: identity == nil ? "http" : "https")
    let gate = ConnectionGate()
    let first = try await open(requestHandler, gate, port: configuration.port)
    main.begin(clock: clock, url: url(first.port))
    for mount in mounts { mount.service.begin(clock: clock, url: mount.url(on: url(first.port))) }
    return HTTPServer(self, requestHandler, gate: gate, first: first)
  }

  /// - Throws: ``SandboxError`` `CANNOT_LISTEN`, status 0.
  func open(_ requestHandler: HTTPRequestHandler, _ gate: ConnectionGate, port: Int) async throws -> OpenPort {
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let running = Task {
      defer { continuation.finish() }
      try await application(requestHandler, gate, port) { continuation.yield($0) }.run()
    }
    for await port in ports { return OpenPort(port: port, running: running) }
    var reason = "the server stopped at once"
    if case .failure(let error) = await running.result {
      let isTaken = (error as? IOError)?.errnoCode == EADDRINUSE
      reason = isTaken ? "the port is in use; choose another, or 0 for a free one" : "\(error)"
    }
    throw SandboxError(
      status: 0, code: "CANNOT_LISTEN",
      message: "cannot listen on \(configuration.host) port \(port): \(reason)")
  }

  private func application(
    _ requestHandler: HTTPRequestHandler, _ gate: ConnectionGate, _ port: Int, onPort: @escaping @Sendable (Int) -> Void
  ) throws -> Application<HTTPRequestHandler> {
    var logger = Logger(label: "tureen.sandbox")
    logger.logLevel = .critical
    let limits = configuration.limits
    let openConnections = OpenConnections(limit: limits.connections)
    let channel = HTTP1Channel.Configuration(
      additionalChannelHandlers: [
        ConnectionGuard(limits: limits, clock: requestHandler.clock, openConnections: openConnections) {
          requestHandler.mounts.main.refusal($0)
        }
      ],
      httpDecoderConfiguration: .init(
        maxHeaderFieldSize: ServerTuning.parsedHeadBytes, maxHeaderListSize: ServerTuning.parsedHeadBytes,
        maxHeaderFieldCount: ServerTuning.headerFields))
    let tls = try identity?.configuration()
    let builder = HTTPServerBuilder { responder in
      let plain = HTTP1Channel(responder: responder, configuration: channel)
      guard let tls else { return GatedChannel(base: plain, gate: gate) }
      return GatedChannel(base: try TLSChannel(plain, tlsConfiguration: tls), gate: gate)
    }
    return Application(
      responder: requestHandler, server: builder,
      configuration: .init(
        address: .hostname(configuration.host, port: port), serverName: "sandbox",
        availableConnectionsDelegate: .maximum(limits.connections, logger: logger)),
      onServerRunning: { channel in onPort(channel.localAddress?.port ?? port) }, logger: logger)
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

/// A listening port and the task that serves it.
struct OpenPort: Sendable {
  let port: Int
  let running: Task<Void, any Error>
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
  let gate: ConnectionGate
  let open: OpenPorts

  init(_ prepared: PreparedHTTPServer, _ requestHandler: HTTPRequestHandler, gate: ConnectionGate, first: OpenPort) {
    self.prepared = prepared
    self.requestHandler = requestHandler
    self.gate = gate
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
    Task { [gate, open] in
      await gate.close()
      _ = open.close()
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
    await gate.close()
    for running in open.close() { _ = await running.result }
  }
}
