import JSON

/// An entry as stored in its soup.
package struct StoredEntry: Sendable {
  package let id: Int64
  /// Incremented by every write of the row, starting at 1.
  package let version: Int64
  /// JSON text of the whole entry.
  package let text: [UInt8]

  package init(id: Int64, version: Int64, text: [UInt8]) {
    self.id = id
    self.version = version
    self.text = text
  }

  package func object() throws -> JSONObject { try JSONValue(parsing: text).objectValue ?? [:] }
}

/// Several entries as one JSON array.
package struct EntryBatch: Sendable {
  package var ids: [Int64] = []
  package var versions: [Int64] = []
  /// JSON array of the entries, in the order of `ids`.
  package var text: [UInt8]

  package init(text: [UInt8]) { self.text = text }
}

/// An entry and the server id of its record.
package struct OwnedEntry: Sendable, Equatable {
  package let entryId: Int64
  package let recordId: String

  package init(entryId: Int64, recordId: String) {
    self.entryId = entryId
    self.recordId = recordId
  }
}

/// What a comparison with a server needs of an entry, without its text.
package struct RecordRow: Sendable, Equatable {
  /// Which entries are read.
  package enum Selection: Sendable {
    /// The next entries after an id.
    case after(Int64, limit: Int)
    case entries([Int64])
  }

  package let entryId: Int64
  package let version: Int64
  /// nil if the entry has none.
  package let recordId: String?
  /// The modification date as text, unparsed.
  package let stamp: String?
  /// The `__sync_id__`.
  package let owner: Int64?
  package let isDirty: Bool

  package init(entryId: Int64, version: Int64, recordId: String?, stamp: String?, owner: Int64?, isDirty: Bool) {
    self.entryId = entryId
    self.version = version
    self.recordId = recordId
    self.stamp = stamp
    self.owner = owner
    self.isDirty = isDirty
  }
}
