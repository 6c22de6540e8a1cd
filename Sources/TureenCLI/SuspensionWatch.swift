@preconcurrency import Dispatch
import Glibc

/// Ctrl-Z: tells the script before the process is suspended, and when it goes on.
final class SuspensionWatch: Sendable {
  private let sources: [any DispatchSourceSignal]

  /// Both are called on a thread of its own, one after the other.
  init(onSuspend: @escaping @Sendable () -> Void, onContinue: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "tureen.suspension")
    signal(SIGTSTP, SIG_IGN)
    let suspend = DispatchSource.makeSignalSource(signal: SIGTSTP, queue: queue)
    // Not what follows the suspension below: a process that another one continues too early goes on all the same.
    let proceed = DispatchSource.makeSignalSource(signal: SIGCONT, queue: queue)
    sources = [suspend, proceed]
    let registered = DispatchSemaphore(value: 0)
    suspend.setEventHandler {
      onSuspend()
      kill(getpid(), SIGSTOP)
    }
    proceed.setEventHandler { onContinue() }
    for source in sources {
      source.setRegistrationHandler { registered.signal() }
      source.resume()
    }
    for _ in sources { registered.wait() }
  }
}
