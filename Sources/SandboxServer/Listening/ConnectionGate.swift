import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// Turns connections away while a server stops, and counts those that are accepted but not yet
/// handled. Any thread.
///
/// Without it, a connection accepted while the server's task is cancelled would be dropped before
/// its handler runs, and swift-nio then ends the process ("Deinited NIOAsyncWriter without calling
/// finish()").
final class ConnectionGate: Sendable {
  private struct State {
    var isClosed = false
    /// Connections that are accepted but not yet handled.
    var arriving = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  /// - Returns: false if the gate is closed.
  func enter() -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.arriving += 1
      return true
    }
  }

  /// Call when the handler of an admitted connection starts, or when its setup fails.
  func arrived() {
    let waiting = state.withLock { state in
      state.arriving -= 1
      return Self.due(&state)
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Admits no more connections, and returns when all admitted ones have reached their handlers.
  func close() async {
    await withCheckedContinuation { continuation in
      let waiting = state.withLock { state in
        state.isClosed = true
        state.waiting.append(continuation)
        return Self.due(&state)
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  private static func due(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    guard state.isClosed, state.arriving == 0 else { return [] }
    defer { state.waiting.removeAll() }
    return state.waiting
  }
}

/// A channel whose connections pass through a gate.
struct GatedChannel<Base: ServerChildChannel>: ServerChildChannel {
  private struct ServerIsStopping: Error {}

  let base: Base
  let gate: ConnectionGate

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
    guard gate.enter() else {
      channel.close(promise: nil)
      return channel.eventLoop.makeFailedFuture(ServerIsStopping())
    }
    let ready = base.setup(channel: channel, logger: logger)
    ready.whenFailure { [gate] _ in gate.arrived() }
    return ready
  }

  func handle(value: Base.Value, logger: Logger) async {
    gate.arrived()
    await base.handle(value: value, logger: logger)
  }
}
