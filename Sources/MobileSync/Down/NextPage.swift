import Synchronization

/// A page that is fetched while the previous one is written.
final class NextPage: Sendable {
  /// Returns the page; nil if there is none after all.
  let task: Task<SyncDownPage?, any Error>
  private let end: End

  /// Outlives the object, because the fetch may be cancelled.
  private final class End: Sendable { let hasCome = Mutex(false) }

  init(_ fetch: @escaping @Sendable () async throws -> SyncDownPage?) {
    let end = End()
    self.end = end
    task = Task {
      defer { end.hasCome.withLock { $0 = true } }
      return try await fetch()
    }
  }

  /// Whether the fetch has ended. Any thread.
  var hasEnded: Bool { end.hasCome.withLock { $0 } }

  /// Cancels the fetch and waits until it has ended.
  func cancel() async {
    task.cancel()
    _ = await task.result
  }
}
