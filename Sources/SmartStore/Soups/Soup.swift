import JSON
import RecordScan
import Support

/// The table of one soup and the location of each indexed path.
package struct Soup: Sendable, Equatable {
  package let name: String
  /// The `n` of `TABLE_n`. Never reused after the soup is removed.
  package let number: Int64
  package let specs: [IndexSpec]
  /// Set during a bulk load: indexes are missing, so entries cannot be looked up by external id.
  package let bulkLoad: BulkLoad?

  package init(name: String, number: Int64, specs: [IndexSpec], bulkLoad: BulkLoad?) {
    self.name = name
    self.number = number
    self.specs = specs
    self.bulkLoad = bulkLoad
  }

  /// Throws unless the name can be registered.
  package static func validate(name: String) throws(StoreError) {
    guard !name.isEmpty else { throw StoreError(.invalidSoupName, "Bogus soup name: it is empty") }
    guard !name.utf8.contains(0) else {
      throw StoreError(
        .invalidSoupName,
        "soup name '\(name.split(separator: "\0", omittingEmptySubsequences: false).joined(separator: "\\0"))' "
          + "contains a zero byte, which SQLite and smart SQL end a text at")
    }
    guard !name.utf8.contains(where: "{}:".utf8.contains) else {
      throw StoreError(.invalidSoupName, "soup name '\(name)': '{', '}' and ':' are reserved for smart SQL")
    }
  }
}

/// The names of the fields that the store, and the sync engine on top of it, add to every entry.
package enum SoupField {
  package static let entryId = "_soupEntryId"
  package static let lastModified = "_soupLastModifiedDate"
  package static let created = "_soupCreatedDate"
  package static let soup = "_soup"
  package static let local = "__local__"
  package static let syncId = "__sync_id__"
  package static let locallyCreated = "__locally_created__"
  package static let locallyUpdated = "__locally_updated__"
  package static let locallyDeleted = "__locally_deleted__"
  /// The prefix of ids that were created locally, before the server assigned one.
  package static let localIdPrefix = "local_"
  /// The flags that describe local changes of an entry.
  package static let localFlags = [local, locallyCreated, locallyUpdated, locallyDeleted]
}

extension ScannedValue {
  /// Returns whether the value sets a local flag: true, or the values that ``Soup/dirtyCondition``
  /// treats as true.
  package func isFlagSet(in text: UnsafeRawBufferPointer) -> Bool {
    switch kind {
    case .true: return true
    case .number, .plainString:
      let slice = text[start..<start + count]
      return slice.elementsEqual("1".utf8) || (kind == .plainString && slice.elementsEqual("true".utf8))
    default: return false
    }
  }
}

extension JSONObject {
  /// Returns whether a local flag is set, by the rule of ``Soup/dirtyCondition``.
  package func hasFlag(_ name: String) -> Bool {
    switch self[name] {
    case .bool(let isSet)?: isSet
    case .integer(let number)?: number == 1
    case .string(let text)?: text == "1" || text == "true"
    default: false
    }
  }
}

/// A bulk load in progress: its owner, and the path whose values must be unique in the end. The
/// soup's indexes are built afterwards.
package struct BulkLoad: Sendable, Equatable {
  /// The one connection that may continue a bulk load: it alone has seen the ids so far.
  package struct Owner: Sendable, Equatable {
    package let process: ProcessIdentity
    /// Distinguishes the connections of the process.
    package let connection: String

    package init(process: ProcessIdentity, connection: String) {
      self.process = process
      self.connection = connection
    }

    /// Creates the owner for a new connection of this process.
    package init() {
      self.init(process: .current, connection: String(UInt64.random(in: 0 ... .max), radix: 36))
    }
  }

  package var idPath: String
  package var owner: Owner

  package static func == (a: BulkLoad, b: BulkLoad) -> Bool { a.idPath == b.idPath && a.owner == b.owner }

  /// The form stored in `soup_attrs.loading`.
  package var text: String { "\(owner.process.text) \(owner.connection) \(idPath)" }

  package init(idPath: String, owner: Owner) {
    self.idPath = idPath
    self.owner = owner
  }

  package init?(text: String) {
    let parts = text.split(separator: " ", maxSplits: 2)
    guard parts.count == 3, let process = ProcessIdentity(text: String(parts[0])) else { return nil }
    self.init(idPath: String(parts[2]), owner: Owner(process: process, connection: String(parts[1])))
  }
}
