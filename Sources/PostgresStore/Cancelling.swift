import Dispatch
import Synchronization

/// The wish to cancel what a connection runs, for as long as it runs it.
final class Cancelling: Sendable {
  private static let queue = DispatchQueue(label: "tureen.postgres.cancelling", attributes: .concurrent)
  private let cancellation: PostgresCancellation
  private let sending = DispatchGroup()
  private let isOver = Mutex(false)

  init(_ cancellation: PostgresCancellation) { self.cancellation = cancellation }

  /// Asks the server. Does not block, and has no effect after ``end()``.
  func start() {
    isOver.withLock { isOver in
      guard !isOver else { return }
      Self.queue.async(group: sending) { [cancellation] in cancellation.cancel() }
    }
  }

  /// Blocks until a request that is under way has arrived.
  /// - Returns: False if it may arrive later still.
  func end() -> Bool {
    isOver.withLock { $0 = true }
    return sending.wait(timeout: .now() + .milliseconds(Tuning.cancellingMs)) == .success
  }
}
