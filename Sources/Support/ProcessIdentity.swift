import Glibc

/// One process on one run of a machine: a number alone is given to another process after the first has died.
package struct ProcessIdentity: Sendable, Equatable {
  package let bootId: String
  package let pid: Int32
  /// Clock ticks after boot at which the process started.
  package let startTicks: UInt64

  package static let current = ProcessIdentity(
    bootId: readFile("/proc/sys/kernel/random/boot_id").filter { $0 != "\n" }, pid: getpid(),
    startTicks: startTicks(of: getpid()) ?? 0)

  package init(bootId: String, pid: Int32, startTicks: UInt64) {
    self.bootId = bootId
    self.pid = pid
    self.startTicks = startTicks
  }

  /// `boot:pid:start`, the form kept in files.
  package var text: String { "\(bootId):\(pid):\(startTicks)" }

  package init?(text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let pid = Int32(parts[1]), let start = UInt64(parts[2]) else { return nil }
    self.init(bootId: String(parts[0]), pid: pid, startTicks: start)
  }

  /// What can be said about a process that wrote its identity down.
  package enum Liveness: Sendable {
    case running, dead
    /// Of another boot, which cannot be told from another machine, or of another process id namespace, where its number says
    /// nothing here.
    case unknown
  }

  /// - Parameter namespace: The one that its process id belongs to; see ``currentNamespace``.
  package func liveness(in namespace: String = ProcessIdentity.currentNamespace) -> Liveness {
    guard !bootId.isEmpty, bootId == ProcessIdentity.current.bootId, namespace == ProcessIdentity.currentNamespace else {
      return .unknown
    }
    return ProcessIdentity.startTicks(of: pid) == startTicks ? .running : .dead
  }

  /// The process id namespace of this process, such as `pid:[4026531836]`.
  package static let currentNamespace = readLink("/proc/self/ns/pid")

  /// Field 22 of `/proc/<pid>/stat`; the command name before it may hold anything, so counting starts behind its parenthesis.
  private static func startTicks(of pid: Int32) -> UInt64? {
    let stat = readFile("/proc/\(pid)/stat")
    guard let close = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: close)...].split(separator: " ")
    // A process that ended, but whose parent has not asked for its exit status yet, still has an entry.
    guard fields.count > 19, fields[0] != "Z", fields[0] != "X" else { return nil }
    return UInt64(fields[19])
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
