import Glibc

/// Identifies one process for good. A process id alone does not: the system reuses it after the
/// process ends.
package struct ProcessIdentity: Sendable, Equatable {
  package let bootId: String
  package let pid: Int32
  /// When the process started, in clock ticks after boot.
  package let startTicks: UInt64

  package static let current = ProcessIdentity(
    bootId: readFile("/proc/sys/kernel/random/boot_id").filter { $0 != "\n" }, pid: getpid(),
    startTicks: startTicks(of: getpid()) ?? 0)

  package init(bootId: String, pid: Int32, startTicks: UInt64) {
    self.bootId = bootId
    self.pid = pid
    self.startTicks = startTicks
  }

  /// The form that is stored in files: `boot:pid:start`.
  package var text: String { "\(bootId):\(pid):\(startTicks)" }

  package init?(text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let pid = Int32(parts[1]), let start = UInt64(parts[2]) else { return nil }
    self.init(bootId: String(parts[0]), pid: pid, startTicks: start)
  }

  /// Whether the process behind a stored identity is still running.
  package enum Liveness: Sendable {
    case running, dead
    /// The process is from another boot, which may be another machine, or from another process id
    /// namespace, where its id has a different meaning.
    case unknown
  }

  /// - Parameter namespace: The namespace of the process id; see ``currentNamespace``.
  package func liveness(in namespace: String = ProcessIdentity.currentNamespace) -> Liveness {
    guard !bootId.isEmpty, bootId == ProcessIdentity.current.bootId, namespace == ProcessIdentity.currentNamespace else {
      return .unknown
    }
    return ProcessIdentity.startTicks(of: pid) == startTicks ? .running : .dead
  }

  /// The process id namespace of this process, such as `pid:[4026531836]`.
  package static let currentNamespace = readLink("/proc/self/ns/pid")

  /// Whether a process of this machine was stopped, by a signal or a debugger.
  package var isStopped: Bool { ["T", "t"].contains(ProcessIdentity.fields(of: pid).first) }

  /// The name of its program; nil if it has ended.
  package var command: String? {
    let name = ProcessIdentity.readFile("/proc/\(pid)/comm").filter { $0.isLetter || $0.isNumber || "-_.".contains($0) }
    return name.isEmpty ? nil : name
  }

  /// Reads field 22 of `/proc/<pid>/stat`.
  private static func startTicks(of pid: Int32) -> UInt64? {
    let fields = fields(of: pid)
    // A zombie, whose parent has not collected its exit status yet, still has an entry.
    guard fields.count > 19, fields[0] != "Z", fields[0] != "X" else { return nil }
    return UInt64(fields[19])
  }

  /// Reads the fields of `/proc/<pid>/stat` from the third one on, which is the state. Counting starts after the
  /// closing parenthesis of the command name, because the name may contain any character.
  private static func fields(of pid: Int32) -> [Substring] {
    let stat = readFile("/proc/\(pid)/stat")
    guard let close = stat.lastIndex(of: ")") else { return [] }
    return stat[stat.index(after: close)...].split(separator: " ")
  }

  private static func readFile(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : ""
  }

  private static func readLink(_ path: String) -> String {
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = buffer.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.map { start in
        start.withMemoryRebound(to: CChar.self, capacity: buffer.count) { readlink(path, $0, buffer.count) }
      } ?? 0
    }
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : ""
  }
}
