import Glibc

/// Runs code on a plain thread: a Lua state must not run on the cooperative pool, where blocking is not allowed.
enum Thread {
  private final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  static func start(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let code = pthread_create(
      &thread, nil,
      { context in
        Unmanaged<Box>.fromOpaque(context!).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    precondition(code == 0, "no thread")
    pthread_detach(thread)
  }
}
