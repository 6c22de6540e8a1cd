import Glibc

/// How much a store keeps of its history.
public enum HistoryLevel: String, Sendable, CaseIterable {
  case all
  /// Without values of records and texts of servers.
  case names
  case off
}

/// The program behind a write.
public struct HistoryActor: Sendable, Hashable {
  public enum Kind: String, Sendable, CaseIterable {
    case script, exec, repl, cli, `import`, job, inspector, host, resume
  }

  public var kind: Kind
  /// The script without its folder, the command, or the job; nil if nothing names it.
  public var name: String?
  /// The machine; empty if that is not known.
  public var host: String
  public var uid: Int64?
  /// The version of Tureen.
  public var version: String

  public init(_ kind: Kind, name: String? = nil, host: String = Self.ownHost, uid: Int64? = Int64(getuid()), version: String = "")
  {
    self.kind = kind
    self.name = name
    self.host = host
    self.uid = uid
    self.version = version
  }

  /// The name of this machine.
  public static let ownHost: String = {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }()

  /// Its number in every store: a hash, so that a program needs no look-up before it writes.
  package var id: Int64 {
    // FNV-1a. The rows of a store are few, so 62 bits identify them.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for part in [kind.rawValue, name ?? "\u{1}", host, uid.map { "\($0)" } ?? "\u{1}", version] {
      for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      hash = (hash ^ 0xff) &* 0x100_0000_01b3
    }
    return Int64(hash >> 2)
  }

  package var row: HistoryRow {
    HistoryRow(integers: [id, uid], texts: [kind.rawValue, name, host, version])
  }

  /// - Parameter row: Of ``HistoryTable/actors``.
  package init?(_ row: HistoryRow) {
    guard let kind = row.texts[0].flatMap(Kind.init(rawValue:)) else { return nil }
    self.init(kind, name: row.texts[1], host: row.texts[2] ?? "", uid: row.integers[1], version: row.texts[3] ?? "")
  }
}
