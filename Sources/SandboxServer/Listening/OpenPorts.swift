import NIOCore
import Synchronization

/// The ports of one server: its first one and those opened later. Any thread.
final class OpenPorts: Sendable {
  private struct State {
    var ports: [OpenPort]
    var isClosed = false
  }
  private let state: Mutex<State>

  init(_ first: OpenPort) { state = Mutex(State(ports: [first])) }

  var count: Int { state.withLock { $0.ports.count } }

  /// - Returns: false if the server has stopped in the meantime; the port is closed then.
  func add(_ port: OpenPort) async -> Bool {
    let isOpen = state.withLock { state in
      guard !state.isClosed else { return false }
      state.ports.append(port)
      return true
    }
    if !isOpen { try? await port.channel.close().get() }
    return isOpen
  }

  /// Stops listening on all ports.
  func close() async {
    let ports = state.withLock { state in
      state.isClosed = true
      return state.ports
    }
    // It fails only for a port that is closed.
    for port in ports { try? await port.channel.close().get() }
  }
}

extension HTTPServer {
  /// Listens on one more port, chosen by the system, until the server stops. Its requests are
  /// answered, logged and subject to faults as on the first port; services can tell the ports apart
  /// by ``ServerRequest/localPort``.
  ///
  /// - Throws: ``SandboxError`` `CANNOT_LISTEN`.
  package func listenAlso() async throws -> Int {
    guard open.count < ServerTuning.ports else {
      let text = "the sandbox already listens on \(ServerTuning.ports) ports, the maximum; start a new sandbox"
      throw SandboxError(status: 400, code: "CANNOT_LISTEN", message: text)
    }
    let opened = try await prepared.open(requestHandler, connections, port: 0)
    guard await open.add(opened) else {
      throw SandboxError(status: 503, code: "SERVER_UNAVAILABLE", message: "the sandbox has been stopped")
    }
    return opened.port
  }

  /// Returns the URL of one of this server's ports, such as `http://127.0.0.1:<port>`.
  package func url(of port: Int) -> String { prepared.url(port) }
}
