import Synchronization

/// Distributes updates of runs to listeners that did not start them. Any thread.
final class UpdateHub<Update: Sendable>: Sendable {
  private struct State {
    var last = 0
    var listeners: [Int: @Sendable (Update) -> Void] = [:]
    var ends: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  /// Returns a stream of the updates that `isWanted` accepts, from now on until the manager is shut
  /// down.
  ///
  /// A listener that falls behind misses the oldest updates, never the latest.
  func stream(where isWanted: @escaping @Sendable (Update) -> Bool) -> AsyncStream<Update> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Update.self, bufferingPolicy: .bufferingNewest(waitingUpdates))
    let key = state.withLock { state in
      state.last += 1
      state.listeners[state.last] = { if isWanted($0) { continuation.yield($0) } }
      state.ends[state.last] = { continuation.finish() }
      return state.last
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in
        state.listeners[key] = nil
        state.ends[key] = nil
      }
    }
    return stream
  }

  func send(_ update: Update) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener(update) }
  }

  /// Ends every stream.
  func end() {
    for end in state.withLock({ Array($0.ends.values) }) { end() }
  }
}

/// The number of updates that wait for one listener: enough for several runs, a few hundred KB at
/// most.
private let waitingUpdates = 256

extension SyncManager {
  /// Returns a stream of the states of the sync with this name, as listeners get them: also of runs
  /// that others start, and when its definition changes. It ends when the manager is shut down.
  public func updates(named name: String) -> AsyncStream<SyncState> { hub.stream { $0.name == name } }

  /// Returns a stream of the states of the sync with this id; see ``updates(named:)``.
  public func updates(id: Int64) -> AsyncStream<SyncState> { hub.stream { $0.id == id } }
}
