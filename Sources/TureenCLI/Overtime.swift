@preconcurrency import Dispatch
import Glibc
import LuaBridge
import Synchronization

/// Watches a script with limits from outside of it: has its limits looked at in the middle of what Lua does not count, and ends
/// the process for a script that does not end at a limit, because what waits in `io.read`, `os.execute` or a C module, and a
/// garbage collection made to take long, cannot be interrupted.
final class Overtime: Sendable {
  /// Seconds a script has after its limit, to notice it and for its syncs to stop at a page boundary.
  private static let grace = 5.0
  /// Milliseconds between two looks. One costs a signal.
  private static let lookMs = 100
  private let isOver = Mutex(false)
  private let looks: any DispatchSourceTimer
  private let close: @Sendable () -> Void

  /// - Parameters:
  ///   - limits: At least one of them is set.
  ///   - close: Closes stores and syncs in order; a sync that does not stop has another `grace` seconds.
  init(_ limits: ScriptLimits, close: @escaping @Sendable () -> Void) {
    self.close = close
    let queue = DispatchQueue(label: "tureen.overtime")
    looks = DispatchSource.makeTimerSource(queue: queue)
    looks.schedule(deadline: .now() + .milliseconds(Self.lookMs), repeating: .milliseconds(Self.lookMs))
    looks.setEventHandler { [weak self] in
      let stuckMs = ScriptState.lookAtLimits()
      // Half a microsecond for each instruction, as the limit itself allows.
      guard let most = limits.instructions, Double(stuckMs) > Self.grace * 1000 + Double(most) / 2000 else { return }
      self?.end("the script reached its limit of \(most) instructions (--instruction-limit)")
    }
    looks.resume()
    guard let timeMs = limits.timeMs else { return }
    let seconds = Double(timeMs) / 1000
    queue.asyncAfter(deadline: .now() + seconds + Self.grace) { [weak self] in
      self?.end("the script reached its time limit of \(seconds) s (--time-limit)")
    }
  }

  /// Ends the process, unless the script has ended first.
  private func end(_ reason: String) {
    guard
      isOver.withLock({ wasOver in
        defer { wasOver = true }
        return !wasOver
      })
    else { return }
    complain(reason + " inside a function that cannot be interrupted")
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.grace) { _exit(ExitStatus.limitReached) }
    close()
    _exit(ExitStatus.limitReached)
  }

  /// The script has ended.
  func cancel() {
    looks.cancel()
    isOver.withLock { $0 = true }
  }
}
