@preconcurrency import Dispatch
import Glibc
import LuaBridge
import Synchronization

/// Enforces the limits of a script from outside.
///
/// It makes Lua check the limits during work that Lua does not count. It ends the process if the script does not stop at a limit:
/// a script inside `io.read`, `os.execute`, a C module or a long garbage collection cannot be interrupted.
final class Overtime: Sendable {
  /// Seconds that a script has after a limit to notice it and to stop its syncs at a page boundary.
  private static let grace = 5.0
  /// Milliseconds between two checks. Each costs a signal.
  private static let lookMs = 100
  private let isOver = Mutex(false)
  private let looks: any DispatchSourceTimer
  private let close: @Sendable () -> Void

  /// - Parameters:
  ///   - limits: At least one is set.
  ///   - close: Closes syncs and stores in order. A sync that does not stop gets another `grace` seconds.
  init(_ limits: ScriptLimits, close: @escaping @Sendable () -> Void) {
    self.close = close
    let queue = DispatchQueue(label: "tureen.overtime")
    looks = DispatchSource.makeTimerSource(queue: queue)
    looks.schedule(deadline: .now() + .milliseconds(Self.lookMs), repeating: .milliseconds(Self.lookMs))
    looks.setEventHandler { [weak self] in
      let stuckMs = ScriptState.checkLimits()
      // Allows half a microsecond for each instruction, as the limit itself does.
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

  /// Stops watching: the script has ended.
  func cancel() {
    looks.cancel()
    isOver.withLock { $0 = true }
  }
}
