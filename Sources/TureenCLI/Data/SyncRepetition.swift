import ArgumentParser
@preconcurrency import Dispatch
import Tureen

/// `tureen sync --every`: runs until a signal.
struct SyncRepetition {
  /// From a SIGTERM to the end of the process if a run does not end at a page: less than supervisors wait before they kill.
  private static let grace = DispatchTimeInterval.seconds(8)

  private let command: SyncCommand

  init(_ command: SyncCommand) { self.command = command }

  /// - Throws: `ExitCode` if the first run shows that a person is needed.
  func run(_ times: (every: JobInterval, jitter: JobInterval?)) throws {
    let repeated = RepeatedWork(every: times.every, jitter: times.jitter), work = InterruptibleWork()
    let interrupts = InterruptWatch(grace: Self.grace) {
      repeated.stop()
      work.interrupt()
    }
    defer { withExtendedLifetime(interrupts) {} }
    var isFirst = true, final: Int32 = 0
    repeated.run {
      let run = command.run(again: work)
      defer { isFirst = false }
      if isFirst, !work.isInterrupted, run.needsPerson { final = run.status }
      return run.hasLostItsReader || final != 0 ? .over : run.hasFailed ? .failed : .done
    } onPause: { outcome, milliseconds in
      guard outcome == .failed, !command.json else { return }
      complain("next attempt in \(JobInterval(milliseconds: max(1000, milliseconds / 1000 * 1000)))", .notice)
    }
    guard final == 0 else { throw ExitCode(final) }
  }
}

/// Reads spans of time in options.
enum IntervalOption {
  /// The shortest interval of syncs, in ms.
  static let shortestMs: Int64 = 1000

  /// - Parameter option: Its name, for the message.
  static func parse(_ option: String, _ text: String) throws -> JobInterval {
    guard let interval = JobInterval(text) else {
      throw ValidationError("\(option) \(text): give \(JobInterval.shape), of at most ten years")
    }
    return interval
  }
}
