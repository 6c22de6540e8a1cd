import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// Keeps a program's signals as they are, where the program has no part in what this library does for itself.
public enum ProgramSignals {
  private struct State {
    /// Whether SIGPIPE is the program's affair.
    var areKept = false
    var isRestored = false
  }

  private static let state = Mutex(State())

  /// From now on SIGPIPE stays as the program has it, though SwiftNIO ignores it for the whole process with its first socket.
  ///
  /// Only for a library that has a SwiftNIO of its own: others' threads in SwiftNIO rely on what it does.
  public static func keep() { state.withLock { $0.areKept = true } }

  /// One event-loop thread that takes no signals: SIGPIPE of a connection that broke stays with it, unseen.
  package static func makeGroup() -> MultiThreadedEventLoopGroup {
    var all = sigset_t(), before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, &before)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    state.withLock { state in
      guard state.areKept, !state.isRestored else { return }
      state.isRestored = true
      restore(group)
    }
    return group
  }

  /// SwiftNIO changes SIGPIPE once: it makes its first socket here.
  private static func restore(_ group: MultiThreadedEventLoopGroup) {
    var before = sigaction()
    sigaction(SIGPIPE, nil, &before)
    let channel = try? ClientBootstrap(group: group).connect(unixDomainSocketPath: "/dev/null").wait()
    try? channel?.close().wait()
    sigaction(SIGPIPE, &before, nil)
  }
}
