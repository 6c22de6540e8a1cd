import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// Keeps a program's signals as they are: what this library does for itself changes neither what a signal does nor whose thread
/// it reaches.
enum ProgramSignals {
  /// One event-loop thread that takes no signals: SIGPIPE of a connection that broke stays with it, unseen.
  static func makeGroup() -> MultiThreadedEventLoopGroup {
    var all = sigset_t(), before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, &before)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    restoreOnce(group)
    return group
  }

  private static func restoreOnce(_ group: MultiThreadedEventLoopGroup) {
    isRestored.withLock { isRestored in
      guard !isRestored else { return }
      isRestored = true
      restore(group)
    }
  }

  /// SwiftNIO ignores SIGPIPE for the whole process with its first socket, and never again: it makes that socket here.
  private static func restore(_ group: MultiThreadedEventLoopGroup) {
    var before = sigaction()
    sigaction(SIGPIPE, nil, &before)
    let channel = try? ClientBootstrap(group: group).connect(unixDomainSocketPath: "/dev/null").wait()
    try? channel?.close().wait()
    sigaction(SIGPIPE, &before, nil)
  }

  private static let isRestored = Mutex(false)
}
