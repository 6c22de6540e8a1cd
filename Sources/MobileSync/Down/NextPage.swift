import Synchronization

/// A page that is being fetched while the one before is written.
final class NextPage: Sendable {
  /// Ends with the page; nil when there was none after all.
  let task: Task<SyncDownPage?, any Error>
  private let end: End

  /// Outlives the object: what is fetched may be given up.
  private final class End: Sendable { let hasCome = Mutex(false) }

  init(_ fetch: @escaping @Sendable () async throws -> SyncDownPage?) {
    let end = End()
    self.end = end
    task = Task {
      defer { end.hasCome.withLock { $0 = true } }
      return try await fetch()
    }
  }

  /// Whether there is nothing to wait for. Any thread.
  var hasEnded: Bool { end.hasCome.withLock { $0 } }

  /// Gives the fetch up, and waits until it has.
  func cancel() async {
    task.cancel()
    _ = await task.result
  }
}
