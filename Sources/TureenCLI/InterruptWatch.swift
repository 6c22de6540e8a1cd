@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Handles Ctrl-C and SIGTERM. The first signal asks for an orderly end, the second one ends the process at once.
///
/// Signals that were ignored when the process started stay ignored.
///
/// A SIGTERM also ends the process after a time, because supervisors send it only once and a stuck script must not need a
/// SIGKILL.
final class InterruptWatch: Sendable {
  /// The time from a SIGTERM to the end of the process, for a command whose work may be stuck.
  static let shortGrace = DispatchTimeInterval.seconds(2)

  private let count = Atomic<Int>(0)
  private let sources: [any DispatchSourceSignal]

  /// - Parameters:
  ///   - grace: The time from a SIGTERM to the end of the process; nil for a command that always ends by itself.
  ///   - onFirst: Called once, on its own thread, for the first SIGINT or SIGTERM.
  init(grace: DispatchTimeInterval? = InterruptWatch.shortGrace, onFirst: @escaping @Sendable () -> Void) {
    // `onFirst` may block, and a second signal must not wait for it.
    let queue = DispatchQueue(label: "tureen.interrupts"), orderly = DispatchQueue(label: "tureen.interrupted")
    let numbers = [SIGINT, SIGTERM].filter { !InheritedSignals.isIgnoredForGood($0) }
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: number, queue: queue)
    }
    // A signal that arrives before its source is registered would be lost, so wait for both.
    let registered = DispatchSemaphore(value: 0)
    for (number, source) in zip(numbers, sources) {
      source.setEventHandler { [self] in
        guard count.add(1, ordering: .sequentiallyConsistent).oldValue == 0 else { _exit(ExitStatus.interrupted) }
        if number == SIGTERM, let grace {
          queue.asyncAfter(deadline: .now() + grace) { _exit(ExitStatus.interrupted) }
        }
        orderly.async(execute: onFirst)
      }
      source.setRegistrationHandler { registered.signal() }
      source.resume()
    }
    for _ in sources { registered.wait() }
  }

  var happened: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }
}

/// The work that an interrupt ends: of a command that works once, or of the current run of one that repeats its work. Any thread.
final class InterruptibleWork: Sendable {
  private struct State {
    var isInterrupted = false
    var end: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  /// - Parameter end: Asks the work for an orderly end. Called at once if the interrupt has happened.
  /// - Returns: What an interrupt did until now.
  @discardableResult
  func begin(_ end: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? {
    let (isInterrupted, former) = state.withLock { state in
      defer { state.end = end }
      return (state.isInterrupted, state.end)
    }
    if isInterrupted { end() }
    return former
  }

  /// The work that has begun is done.
  func finish() { state.withLock { $0.end = nil } }

  func interrupt() {
    let end = state.withLock { state in
      state.isInterrupted = true
      return state.end
    }
    end?()
  }
}
