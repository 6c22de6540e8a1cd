@preconcurrency import Dispatch
import Glibc

/// Handles Ctrl-Z: tells the script before the process is suspended and after it has been resumed.
final class SuspensionWatch: Sendable {
  private let sources: [any DispatchSourceSignal]

  /// Both are called on one background thread, one after the other.
  init(onSuspend: @escaping @Sendable () -> Void, onContinue: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "tureen.suspension")
    signal(SIGTSTP, SIG_IGN)
    let suspend = DispatchSource.makeSignalSource(signal: SIGTSTP, queue: queue)
    // Do not call `onContinue` after the suspension below instead: a SIGCONT may arrive before it.
    let proceed = DispatchSource.makeSignalSource(signal: SIGCONT, queue: queue)
    sources = [suspend, proceed]
    let registered = DispatchSemaphore(value: 0)
    suspend.setEventHandler {
      guard !InheritedSignals.isIgnoredForGood(SIGTSTP) else { return }
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
