import Glibc
import Support

/// Watches the memory of this process while a script runs: its calls need some of it, in ways that no limit of their own covers.
struct HostMemory {
  /// Milliseconds between two looks.
  static let lookMs: Int64 = 100

  private let growth: UInt64
  private let most: UInt64
  private var nextLook: Int64 = 0

  init(growth: UInt64) {
    self.growth = growth
    most = Self.resident + min(growth, 1 << 60)
  }

  /// Returns a message if the process has grown too much; nil if not, or if it was looked at a moment ago.
  mutating func excess(at now: Int64) -> String? {
    guard now >= nextLook else { return nil }
    nextLook = now + Self.lookMs
    guard Self.resident > most else { return nil }
    return "the script reached its memory limit: its calls need more than \(growth >> 20) MiB outside of it"
  }

  /// Bytes of physical memory of this process; 0 if the system does not tell.
  private static var resident: UInt64 {
    let fields = FileSystem.read("/proc/self/statm").map { String(decoding: $0, as: UTF8.self).split(separator: " ") } ?? []
    return (fields.count > 1 ? UInt64(fields[1]) ?? 0 : 0) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
  }
}
