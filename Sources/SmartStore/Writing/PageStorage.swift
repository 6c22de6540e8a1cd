import JSON

/// How many records of a page were stored.
package struct StoreOutcome: Sendable, Equatable {
  /// Rows written: created and updated.
  package var stored = 0
  package var created = 0
  /// Records skipped because their entries have local changes.
  package var keptDirty = 0

  package init(stored: Int = 0, created: Int = 0, keptDirty: Int = 0) {
    self.stored = stored
    self.created = created
    self.keptDirty = keptDirty
  }
}

/// How the records of a page become entries.
package struct PageStorage: Sendable {
  /// The indexed path that finds a record's entry.
  package var idPath: String
  /// Members set on every record, such as the sync id and the local flags.
  package var members: JSONObject
  /// Members to remove from records.
  package var dropped: [String] = []
  /// Whether entries with local changes stay unchanged.
  package var keepDirty: Bool
  /// The sync that brings the records.
  package var owner: Int64
  /// The number of records that the server announced for the whole run; nil if unknown.
  package var expectedTotal: Int?
  /// Positions of records to skip.
  package var skipping: Set<Int> = []
  /// The entries whose replacement the transaction adds to the history, at most.
  package var logged = 0

  package init(
    idPath: String, members: JSONObject, dropped: [String] = [], keepDirty: Bool, owner: Int64, expectedTotal: Int? = nil,
    skipping: Set<Int> = []
  ) {
    self.idPath = idPath
    self.members = members
    self.dropped = dropped
    self.keepDirty = keepDirty
    self.owner = owner
    self.expectedTotal = expectedTotal
    self.skipping = skipping
  }
}
