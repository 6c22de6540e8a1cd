@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Ctrl-C: the first one asks for an orderly end, the second one ends the process at once.
final class InterruptWatch: Sendable {
  private let count = Atomic<Int>(0)
  private let sources: [any DispatchSourceSignal]

  /// - Parameter onFirst: Called once, on a thread of its own, for the first SIGINT or SIGTERM.
  init(onFirst: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "tureen.interrupts")
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: number, queue: queue)
    }
    // A signal that comes before its source is registered would be lost: nothing runs before that.
    let registered = DispatchSemaphore(value: 0)
    for source in sources {
      source.setEventHandler { [self] in
        if count.add(1, ordering: .sequentiallyConsistent).oldValue == 0 { onFirst() } else { _exit(130) }
      }
      source.setRegistrationHandler { registered.signal() }
      source.resume()
    }
    for _ in sources { registered.wait() }
  }

  var happened: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }
}
