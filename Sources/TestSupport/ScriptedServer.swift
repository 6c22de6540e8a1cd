import Glibc

/// A small HTTP/1.1 server on loopback for tests: it answers by script, misbehaves by script and remembers the
/// requests.
///
/// Answers come from ``enqueue(_:)``, in order; when none is left, from the handler. One thread a connection, so a
/// handler may block. Ends with ``stop()`` or with the last reference.
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
  /// - Parameter handler: Answers what the queue does not; the default says 500 `SCRIPT_EXHAUSTED`.
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

  /// Closes each connection from now on when so many bytes of a longer request have come.
  public func closeConnections(afterReading bytes: Int) { core.limitReading(to: bytes) }

  /// What has arrived so far, oldest first.
  public var requests: [RecordedRequest] { core.monitor.change { core.requests } }

  /// Waits until `count` requests have arrived that match. For tests.
  @discardableResult
  public func received(
    _ count: Int, where matches: @escaping @Sendable (RecordedRequest) -> Bool = { _ in true }
  ) async -> [RecordedRequest] {
    await withCheckedContinuation { continuation in
      core.whenReceived(count, matches) { continuation.resume(returning: $0) }
    }
  }

  /// Waits until a client has been connected and none is any more.
  public func disconnected() async {
    await withCheckedContinuation { continuation in
      core.whenDisconnected { continuation.resume() }
    }
  }

  /// The same as ``received(_:where:)``, blocking the thread. For handlers.
  public func blockUntilReceived(
    _ count: Int, where matches: @Sendable (RecordedRequest) -> Bool = { _ in true }
  ) {
    core.monitor.wait { core.isStopped || core.requests.lazy.filter(matches).prefix(count).count >= count }
  }

  /// Refuses connections from now on, closes those there are and ends the threads. Safe twice.
  public func stop() {
    guard core.stop() else { return }
    acceptor.join()
    core.keep(port: port)
    core.joinConnections()
  }
}
