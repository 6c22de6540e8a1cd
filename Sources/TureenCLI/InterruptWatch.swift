@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Ctrl-C and SIGTERM: the first one asks for an orderly end, the second one ends the process at once. So does a SIGTERM after
/// two seconds, because it is sent once only: a stuck script must not need a SIGKILL.
final class InterruptWatch: Sendable {
  /// Between a SIGTERM and the end of the process.
  private static let grace = DispatchTimeInterval.seconds(2)

  private let count = Atomic<Int>(0)
  private let sources: [any DispatchSourceSignal]

  /// - Parameters:
  ///   - endsAfterTerm: False for what always comes to its end.
  ///   - onFirst: Called once, on a thread of its own, for the first SIGINT or SIGTERM.
  init(endsAfterTerm: Bool = true, onFirst: @escaping @Sendable () -> Void) {
    // `onFirst` may wait for something, and a second signal must not wait for it.
    let queue = DispatchQueue(label: "tureen.interrupts"), orderly = DispatchQueue(label: "tureen.interrupted")
    let numbers = [SIGINT, SIGTERM]
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: number, queue: queue)
    }
    // A signal that comes before its source is registered would be lost: nothing runs before that.
    let registered = DispatchSemaphore(value: 0)
    for (number, source) in zip(numbers, sources) {
      source.setEventHandler { [self] in
        guard count.add(1, ordering: .sequentiallyConsistent).oldValue == 0 else { _exit(ExitStatus.interrupted) }
        if number == SIGTERM, endsAfterTerm {
          queue.asyncAfter(deadline: .now() + Self.grace) { _exit(ExitStatus.interrupted) }
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
