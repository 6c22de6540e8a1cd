import Synchronization

/// The number of attempts of requests that one run may make. Any thread.
final class RequestLimit: Sendable {
  private let most: Int
  private let used = Mutex(0)

  /// - Throws: ``SyncError`` `.invalidArguments`.
  init(_ most: Int) throws(SyncError) {
    guard most > 0 else { throw SyncError(.invalidArguments, "maxRequests must be positive, got \(most)") }
    self.most = most
  }

  /// Counts an attempt.
  /// - Returns: False if it is one too many.
  func take() -> Bool {
    used.withLock { used in
      guard used < most else { return false }
      used += 1
      return true
    }
  }

  var error: SyncError {
    SyncError(
      .tooMuch, "the run needs more than \(most) requests ('maxRequests'), so it ended; what was stored until then stays")
  }
}
