import Glibc

/// A thread that no signal interrupts: a program's handlers run on its own threads.
package enum SignalFreeThread {
  private final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  /// Runs `body` on a new thread.
  /// - Returns: The thread, which the caller joins or detaches; an error number if there is none.
  package static func start(_ body: @escaping @Sendable () -> Void) -> (thread: pthread_t, error: Int32) {
    var all = sigset_t(), before = sigset_t(), thread = pthread_t()
    sigfillset(&all)
    // A new thread inherits the mask.
    pthread_sigmask(SIG_BLOCK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let context = Unmanaged.passRetained(Body(body))
    let error = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, context.toOpaque())
    if error != 0 { context.release() }
    return (thread, error)
  }

  /// Lets a thread end by itself.
  package static func detach(_ thread: pthread_t) { pthread_detach(thread) }
}
