import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// Turns connections away while a server stops, and knows of those that have been accepted and not yet been taken over by their
/// handler. Any thread.
///
/// A connection that is accepted while the server's task is cancelled would be dropped between the two, and swift-nio ends the
/// process for that ("Deinited NIOAsyncWriter without calling finish()").
final class ConnectionGate: Sendable {
  private struct State {
    var isClosed = false
    /// Accepted, and not taken over.
    var arriving = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  /// - Returns: false when no more connections are let in.
  func enter() -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.arriving += 1
      return true
    }
  }

  /// A connection that was let in has been taken over, or could not be set up.
  func arrived() {
    let waiting = state.withLock { state in
      state.arriving -= 1
      return Self.due(&state)
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Lets no more connections in; returns when those that were let in have been taken over.
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

/// A kind of connection behind a gate.
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
