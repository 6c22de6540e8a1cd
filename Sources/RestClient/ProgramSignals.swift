import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// Keeps SwiftNIO from changing the signal handling of the host program.
public enum ProgramSignals {
  private struct State {
    /// Whether the host program decides how to handle SIGPIPE.
    var areKept = false
    var isRestored = false
  }

  private static let state = Mutex(State())

  /// Preserves the program's SIGPIPE handling, which SwiftNIO would change to "ignore" when it
  /// creates its first socket.
  ///
  /// Call this only in a library with its own copy of SwiftNIO: other users of a shared copy rely
  /// on the change.
  public static func keep() { state.withLock { $0.areKept = true } }

  /// Creates one event-loop thread with all signals blocked, so that SIGPIPE of a broken connection
  /// stays pending there.
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

  /// Makes SwiftNIO create its first socket and change SIGPIPE, which it does only once, then
  /// restores the program's handler.
  private static func restore(_ group: MultiThreadedEventLoopGroup) {
    var before = sigaction()
    sigaction(SIGPIPE, nil, &before)
    let channel = try? ClientBootstrap(group: group).connect(unixDomainSocketPath: "/dev/null").wait()
    try? channel?.close().wait()
    sigaction(SIGPIPE, &before, nil)
  }
}
