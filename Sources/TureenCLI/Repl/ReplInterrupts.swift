@preconcurrency import Dispatch
import Glibc
import LuaBridge

/// Handles every Ctrl-C while something runs: interrupts Lua code and wakes a waiting prompt.
final class ReplInterrupts: Sendable {
  /// Readable while an interrupt is pending.
  let descriptor: Int32
  private let source: any DispatchSourceSignal
  private let stop: ScriptState.Break

  private let writing: Int32

  init(_ stop: ScriptState.Break) {
    var ends: [Int32] = [-1, -1]
    // Without a pipe Ctrl-C still ends Lua code, but not a wait.
    if pipe(&ends) == 0 {
      for end in ends {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
      }
    }
    self.stop = stop
    descriptor = ends[0]
    let writing = ends[1]
    self.writing = writing
    signal(SIGINT, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: DispatchQueue(label: "tureen.repl.interrupts"))
    source.setEventHandler {
      stop.set(true)
      _ = Glibc.write(writing, "!", 1)
    }
    if InheritedSignals.isIgnoredForGood(SIGINT) { source.setEventHandler {} }
    source.resume()
  }

  deinit {
    source.cancel()
    close(descriptor)
    close(writing)
  }

  /// Whether an interrupt has happened since the last call.
  func take() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 64)
    let isInterrupted = read(descriptor, &bytes, bytes.count) > 0
    if isInterrupted { stop.set(false) }
    return isInterrupted
  }
}
