import Glibc

/// A small HTTP/1.1 server on loopback for tests. Its responses, including misbehavior, are
/// scripted, and it records the requests.
///
/// Responses come from ``enqueue(_:)`` in order, then from the handler. Each connection has a
/// thread, so a handler may block. The server ends with ``stop()`` or with its last reference.
public final class ScriptedServer: @unchecked Sendable {  // all mutable state is touched inside `monitor` only
  public typealias Handler = @Sendable (RecordedRequest) -> ScriptedAnswer

  public struct SocketError: Error, Sendable {
    public let call: String
    public let errno: Int32
  }

  /// `http://127.0.0.1:<port>`
  public let url: String
  public let port: Int

  private let core: ServerCore
  private let acceptor: WorkerThread

  /// Listens on a free port.
  ///
  /// - Parameter handler: Answers when the queue is empty; the default answers 500
  ///   `SCRIPT_EXHAUSTED`.
  public init(
    handler: @escaping Handler = { .restError(500, "SCRIPT_EXHAUSTED", "no answer is scripted for \($0.target)") }
  ) throws {
    let (listener, port) = try ServerCore.listen()
    let core = ServerCore(listener: listener, handler: handler)
    guard let acceptor = WorkerThread({ core.acceptConnections() }) else {
      close(listener)
      throw SocketError(call: "pthread_create", errno: EAGAIN)
    }
    self.core = core
    self.acceptor = acceptor
    self.port = port
    url = "http://127.0.0.1:\(port)"
  }

  public convenience init(_ answers: ScriptedAnswer...) throws {
    try self.init()
    core.enqueue(answers)
  }

  deinit { stop() }

  public func enqueue(_ answers: ScriptedAnswer...) {
    core.enqueue(answers)
  }

  /// Closes each later connection once this many bytes of a longer request have arrived.
  public func closeConnections(afterReading bytes: Int) { core.limitReading(to: bytes) }

  /// The requests so far, oldest first.
  public var requests: [RecordedRequest] { core.monitor.change { core.requests } }

  /// Waits until `count` matching requests have arrived. For tests.
  @discardableResult
  public func received(
    _ count: Int, where matches: @escaping @Sendable (RecordedRequest) -> Bool = { _ in true }
  ) async -> [RecordedRequest] {
    await withCheckedContinuation { continuation in
      core.whenReceived(count, matches) { continuation.resume(returning: $0) }
    }
  }

  /// Waits until a client has connected and all clients have disconnected.
  public func disconnected() async {
    await withCheckedContinuation { continuation in
      core.whenDisconnected { continuation.resume() }
    }
  }

  /// Like ``received(_:where:)``, but blocks the thread. For handlers.
  public func blockUntilReceived(
    _ count: Int, where matches: @Sendable (RecordedRequest) -> Bool = { _ in true }
  ) {
    core.monitor.wait { core.isStopped || core.requests.lazy.filter(matches).prefix(count).count >= count }
  }

  /// Refuses new connections, closes the open ones and ends the threads. May be called twice.
  public func stop() {
    guard core.stop() else { return }
    acceptor.join()
    core.keep(port: port)
    core.joinConnections()
  }
}
