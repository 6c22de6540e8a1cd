/// A part of a store that is copied: rows in the order of their keys, in a form that all engines
/// share. Soups have names in it, because their numbers may differ in the copy.
package enum StorePart: Sendable, Hashable {
  /// The columns `id`, `soup` (the text), `created`, `lastModified`, `version`, `owner`, and one for
  /// each spec that is not `json1`.
  case entries(String)
  case members(String), creators(String), bases(String), conflicts(String), uploads(String), uploaded(String)
  case arrivals(String), assignedIds(String)
  case syncPages, keyValues

  /// Returns the parts of a store with these soups.
  package static func all(_ soups: [CopiedSoup]) -> [StorePart] {
    soups.map(\.name).flatMap { soup -> [StorePart] in
      [
        .entries(soup), .members(soup), .creators(soup), .bases(soup), .conflicts(soup), .uploads(soup), .uploaded(soup),
        .arrivals(soup), .assignedIds(soup),
      ]
    } + [.syncPages, .keyValues]
  }

  /// How many of the first columns are the key.
  package var keyColumns: Int {
    switch self {
    case .members, .syncPages, .keyValues: 2
    default: 1
    }
  }

  package var soup: String? {
    switch self {
    case .entries(let name), .members(let name), .creators(let name), .bases(let name), .conflicts(let name),
      .uploads(let name), .uploaded(let name), .arrivals(let name), .assignedIds(let name):
      name
    case .syncPages, .keyValues: nil
    }
  }

  /// The table and its columns, without the soup's number; nil for entries, whose columns depend on
  /// their soup. The key comes first.
  package var table: (name: String, columns: [CopiedColumn])? {
    switch self {
    case .entries: nil
    case .members: ("soup_members", [.integer("entry"), .integer("owner")])
    case .creators: ("soup_creators", [.integer("entry"), .integer("sync")])
    case .bases: ("soup_bases", [.integer("entry"), .text("base")])
    case .conflicts:
      (
        "soup_conflicts",
        [
          .integer("entry"), .integer("sync"), .text("state"), .text("server"), .text("idField"), .text("dateField"),
          .integer("detectedAt"),
        ]
      )
    case .uploads:
      (
        "uploads",
        [
          .integer("entry"), .integer("version"), .text("operation"), .text("state"), .integer("sync"), .integer("fence"),
          .integer("sentAt"), .integer("clockOffset"), .integer("resendAt"), .text("sent"), .text("earlier"), .text("entryText"),
        ]
      )
    case .uploaded:
      (
        "uploaded",
        [
          .integer("entry"), .integer("version"), .integer("sequence"), .integer("stamp"), .text("sent"), .text("deletedId"),
        ]
      )
    case .arrivals: ("arrivals", [.integer("entry")])
    case .assignedIds: ("assigned_ids", [.text("localId"), .text("id"), .integer("arrivedAt")])
    case .syncPages: ("sync_pages", [.integer("sync"), .text("page"), .text("value")])
    case .keyValues: ("keyvalue", [.text("store"), .text("key"), .blob("value")])
    }
  }

  /// Names a row in messages, such as `entry 7 of soup 'contacts'`. Contains no values of records.
  package func title(of key: [CopiedValue]) -> String {
    func number(_ i: Int) -> String { if case .integer(let number)? = key.dropFirst(i).first { "\(number)" } else { "?" } }
    func text(_ i: Int) -> String {
      if case .text(let text)? = key.dropFirst(i).first { String(decoding: text, as: UTF8.self) } else { "?" }
    }
    return switch self {
    case .entries(let soup): "entry \(number(0)) of soup '\(soup)'"
    case .members(let soup): "the owner \(number(1)) of entry \(number(0)) of soup '\(soup)'"
    case .bases(let soup): "the server's version of entry \(number(0)) of soup '\(soup)'"
    case .conflicts(let soup): "the conflict of entry \(number(0)) of soup '\(soup)'"
    case .creators(let soup): "the creating sync of entry \(number(0)) of soup '\(soup)'"
    case .uploads(let soup): "the upload of entry \(number(0)) of soup '\(soup)'"
    case .uploaded(let soup): "what the server has of entry \(number(0)) of soup '\(soup)'"
    case .arrivals(let soup): "the arrival of entry \(number(0)) of soup '\(soup)'"
    case .assignedIds(let soup): "the server's id of '\(text(0))' in soup '\(soup)'"
    case .syncPages: "a page of sync \(number(0))"
    case .keyValues: "the key '\(text(1))' of key-value store '\(text(0))'"
    }
  }
}

/// A column of a part, by its name in every engine.
package enum CopiedColumn: Sendable, Equatable {
  case integer(String), real(String), text(String), blob(String)
  /// A boolean, which SQLite keeps as 0 or 1.
  case flag(String)

  package var name: String {
    switch self {
    case .integer(let name), .real(let name), .text(let name), .blob(let name), .flag(let name): name
    }
  }
}

/// A value of a copied row. Texts are bytes, because equal strings may differ in theirs.
package enum CopiedValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case real(Double)
  case text([UInt8])
  case blob([UInt8])

  /// The approximate size in memory.
  package var bytes: Int {
    switch self {
    case .text(let bytes), .blob(let bytes): bytes.count + 16
    case .null, .integer, .real: 16
    }
  }

  /// Whether this is the same value in another engine: PostgreSQL keeps U+FFFD for U+0000 in the
  /// columns of indexes.
  package func isSame(as other: CopiedValue) -> Bool {
    if self == other { return true }
    guard case .text(let a) = self, case .text(let b) = other, a.contains(0) != b.contains(0) else { return false }
    return CopiedValue.withoutNul(a) == CopiedValue.withoutNul(b)
  }

  /// Returns the text with U+FFFD for U+0000.
  package static func withoutNul(_ text: [UInt8]) -> [UInt8] {
    text.contains(0) ? text.flatMap { $0 == 0 ? replacement : [$0] } : text
  }

  /// U+FFFD.
  package static let replacement: [UInt8] = [0xef, 0xbf, 0xbd]
}

/// A batch of a part's rows.
package struct CopiedRows: Sendable {
  package var rows: [[CopiedValue]]
  /// Whether no row follows in the requested range.
  package var isLast: Bool

  package init(rows: [[CopiedValue]] = [], isLast: Bool) {
    self.rows = rows
    self.isLast = isLast
  }
}

/// The keys of a part between two keys.
package struct CopiedRange: Sendable {
  /// Excluded; nil for the first row.
  package var after: [CopiedValue]?
  /// Included; nil for the last row.
  package var through: [CopiedValue]?

  package init(after: [CopiedValue]? = nil, through: [CopiedValue]? = nil) {
    self.after = after
    self.through = through
  }
}

/// What a copy needs to know about a soup.
package struct CopiedSoup: Sendable, Equatable {
  package let name: String
  package let specs: [IndexSpec]
  /// The last entry id that was given: ids of removed entries are not given again.
  package let lastId: Int64
  /// The number of entries.
  package let entries: Int64

  package init(name: String, specs: [IndexSpec], lastId: Int64, entries: Int64) {
    self.name = name
    self.specs = specs
    self.lastId = lastId
    self.entries = entries
  }
}

/// The counters of a store that belong to no soup.
package struct CopiedCounters: Sendable, Equatable {
  /// The last fencing token of each lease by name: in the copy, a run must not get the token of an
  /// upload that the original has sent.
  package var fences: IdMap<Int64>
  /// See ``StoreSnapshot/uploadSequence()``.
  package var uploads: Int64

  package init(fences: IdMap<Int64>, uploads: Int64) {
    self.fences = fences
    self.uploads = uploads
  }
}

/// The seam for copies of whole stores: the reading side.
package protocol CopiedStore: AnyObject {
  /// Returns the soups, in the order of their registration. Call first: from then on, the snapshot
  /// may be idle for any time.
  func soupsToCopy() throws -> [CopiedSoup]

  /// Returns the leases, without those that were released.
  func leases() throws -> [Lease]

  func countersToCopy() throws -> CopiedCounters

  /// Returns the next rows of a range in the order of their keys, as many as fit into a batch, and at
  /// least one if there is one.
  func copiedRows(of part: StorePart, in range: CopiedRange) throws -> CopiedRows
}

/// The seam for copies of whole stores: the writing side, for unfinished copies alone. Each call
/// throws if another process has finished or removed the copy.
package protocol StoreToFill: CopiedStore {
  /// Makes these the soups of the copy: creates those that are missing, without indexes; removes
  /// others and those with other specs, with their data.
  func prepareSoups(_ soups: [CopiedSoup]) throws

  /// Replaces the rows of a range.
  /// - Parameter rows: In the order of their keys, all of which are in the range.
  func replaceRows(of part: StorePart, in range: CopiedRange, with rows: [[CopiedValue]]) throws

  /// Builds the indexes of a soup unless they exist.
  func indexSoup(_ name: String) throws

  func setCounters(_ counters: CopiedCounters) throws
}
