import Synchronization

/// The ports of one server: the one it was started with, and those opened since. Any thread.
final class OpenPorts: Sendable {
  private struct State {
    var ports: [OpenPort]
    var isClosed = false
  }
  private let state: Mutex<State>

  init(_ first: OpenPort) { state = Mutex(State(ports: [first])) }

  var count: Int { state.withLock { $0.ports.count } }

  /// - Returns: false when the server has stopped meanwhile: nothing listens on the port then.
  func add(_ port: OpenPort) -> Bool {
    let isOpen = state.withLock { state in
      guard !state.isClosed else { return false }
      state.ports.append(port)
      return true
    }
    if !isOpen { port.running.cancel() }
    return isOpen
  }

  /// Stops to listen on all of them.
  /// - Returns: The tasks, which end soon.
  func close() -> [Task<Void, any Error>] {
    let ports = state.withLock { state in
      state.isClosed = true
      return state.ports
    }
    for port in ports { port.running.cancel() }
    return ports.map(\.running)
  }
}

extension HTTPServer {
  /// Listens on one more port, which the system chooses, until the server stops. What comes in there is answered, logged and
  /// faulted as on the first one; services tell them apart by ``ServerRequest/localPort``.
  /// - Throws: ``SandboxError`` `CANNOT_LISTEN`.
  package func listenAlso() async throws -> Int {
    guard open.count < ServerTuning.ports else {
      let text = "the sandbox listens on \(ServerTuning.ports) ports already; start a new one"
      throw SandboxError(status: 400, code: "CANNOT_LISTEN", message: text)
    }
    let opened = try await prepared.open(front, gate, port: 0)
    guard open.add(opened) else {
      throw SandboxError(status: 503, code: "SERVER_UNAVAILABLE", message: "the sandbox has been stopped")
    }
    return opened.port
  }

  /// `http://127.0.0.1:<port>`, for a port of this server.
  package func url(of port: Int) -> String { prepared.url(port) }
}
