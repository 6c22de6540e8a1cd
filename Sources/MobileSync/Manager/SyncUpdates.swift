import Synchronization

/// Listeners to runs that other callers started. Any thread.
final class UpdateHub<News: Sendable>: Sendable {
  private struct State {
    var last = 0
    var listeners: [Int: @Sendable (News) -> Void] = [:]
    var ends: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  /// The news that `isWanted` picks, from now on, until the manager is shut down.
  ///
  /// A listener that falls behind misses the oldest ones, never the latest.
  func stream(where isWanted: @escaping @Sendable (News) -> Bool) -> AsyncStream<News> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: News.self, bufferingPolicy: .bufferingNewest(waitingNews))
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

  func tell(_ news: News) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener(news) }
  }

  /// Ends every stream.
  func end() {
    for end in state.withLock({ Array($0.ends.values) }) { end() }
  }
}

/// What waits for one listener: some runs' worth, a few hundred KB at most.
private let waitingNews = 256

extension SyncManager {
  /// Every state of the sync with this name, as listeners get them: also of runs that others start, and when its definition
  /// changes. Ends when the manager is shut down.
  public func updates(named name: String) -> AsyncStream<SyncState> { hub.stream { $0.name == name } }

  /// The same for the sync with this id.
  public func updates(id: Int64) -> AsyncStream<SyncState> { hub.stream { $0.id == id } }
}
