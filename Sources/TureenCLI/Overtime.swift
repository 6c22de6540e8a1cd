@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Ends the process for a script that does not end at its time limit: what waits in `io.read`, `os.execute` or a C module
/// cannot be interrupted.
final class Overtime: Sendable {
  /// Seconds a script has after its limit, to notice it and for its syncs to stop at a page boundary.
  private static let grace = 5.0
  private let isCancelled = Mutex(false)

  /// - Parameter close: Closes stores and syncs in order; a sync that does not stop has another `grace` seconds.
  init(seconds: Double, close: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "tureen.overtime")
    queue.asyncAfter(deadline: .now() + seconds + Self.grace) { [weak self] in
      guard let self, !self.isCancelled.withLock({ $0 }) else { return }
      complain(
        "the script reached its time limit of \(seconds) s (--time-limit) inside a function that cannot be interrupted")
      DispatchQueue.global().asyncAfter(deadline: .now() + Self.grace) { _exit(ExitStatus.limitReached) }
      close()
      _exit(ExitStatus.limitReached)
    }
  }

  /// The script has ended.
  func cancel() { isCancelled.withLock { $0 = true } }
}
