import Glibc
import Support

/// The process that holds a lock, as it has written itself into the lock's file: a wait can thus name it.
struct LockHolder {
  private let process: ProcessIdentity
  private let namespace: String

  /// Writes this process into the file of a lock that it has taken.
  static func sign(_ lock: Int32) {
    let text = Array("\(ProcessIdentity.current.text) \(ProcessIdentity.currentNamespace)\n".utf8)
    // Without it the lock is as good, and only the message of another process says less.
    guard ftruncate(lock, 0) == 0 else { return }
    _ = text.withUnsafeBytes { pwrite(lock, $0.baseAddress, $0.count, 0) }
  }

  /// Reads the file of a lock that another process holds. Nil if it has not said who it is, or has ended.
  init?(_ lock: Int32) {
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = pread(lock, &bytes, bytes.count, 0)
    let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split { $0 == " " || $0 == "\n" }.map(String.init)
    guard words.count == 2, let process = ProcessIdentity(text: words[0]) else { return nil }
    (self.process, namespace) = (process, words[1])
    guard process.liveness(in: namespace) == .running else { return nil }
  }

  /// Whether the process was stopped by a signal or a debugger: it does not end its sign-in by itself.
  var isStopped: Bool { process.isStopped }

  var name: String { "process \(process.pid)\(process.command.map { " (\($0))" } ?? "")" }

  /// What a person does who does not want to wait for it.
  func remedy(isStopped: Bool) -> String {
    isStopped
      ? "continue it with 'kill -CONT \(process.pid)', or end it with 'kill -KILL \(process.pid)'"
      : "end it with 'kill \(process.pid)' if it hangs"
  }
}
