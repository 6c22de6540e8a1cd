import CIsolation
import Glibc
import Support

/// A worker process and its descriptors. Belongs to the thread that starts it, because the worker dies with that thread;
/// `signal` may be called from any thread.
final class WorkerProcess: @unchecked Sendable {
  /// How the process ended.
  enum Exit: Equatable {
    case status(Int32)
    case signal(Int32)
    /// Another part of the program has collected the status.
    case unknown
  }

  private var worker: tureen_worker
  // Touched only with `lock` held.
  private let lock = Lock()
  private var exit: Exit?

  /// - Throws: `internal`.
  init(program: String) throws(BridgeError) {
    var worker = tureen_worker()
    let failure = tureen_worker_start(program, &worker)
    guard failure == 0 else {
      throw .bridge(
        .internal, "cannot start \(program), the process of isolated scripts: \(String(cString: strerror(failure)))",
        isRetryable: failure == EAGAIN || failure == ENOMEM || failure == EMFILE)
    }
    self.worker = worker
  }

  deinit {
    kill()
    tureen_worker_close(&worker)
  }

  var id: pid_t { worker.process }
  var socket: Int32 { worker.socket }
  var output: Int32 { worker.output }
  var errors: Int32 { worker.errors }

  /// Sends a signal. Does nothing after the end of the process was seen, because its id may have been reused.
  func signal(_ number: Int32) { lock.withLock { if exit == nil { Glibc.kill(worker.process, number) } } }

  /// Waits for the end of the process.
  func wait(forMs milliseconds: Int64) -> Exit? {
    lock.withLock {
      if let exit { return exit }
      var status: Int32 = 0, number: Int32 = 0
      switch tureen_worker_wait(&worker, Int32(milliseconds), &status) {
      case 0: return nil
      case 1: exit = tureen_wait_signal(status, &number) != 0 ? .signal(number) : .status(number)
      default: exit = .unknown
      }
      return exit
    }
  }

  /// Kills the process and waits until it has ended.
  @discardableResult
  func kill() -> Exit {
    signal(SIGKILL)
    while true {
      // Only the kernel can delay the end of a killed process, while it waits for a disk.
      if let exit = wait(forMs: 1000) { return exit }
    }
  }

  /// The report that the process wrote before it ended by itself.
  var lastWords: tureen_last_words? {
    var words = tureen_last_words()
    return tureen_worker_words(&worker, &words) == 1 ? words : nil
  }
}
