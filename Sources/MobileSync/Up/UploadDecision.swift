import JSON

/// The action for one dirty record. No store, network or clock: each rule has a one-line test.
package enum UploadAction: Sendable, Equatable {
  /// Created and deleted locally: the server never had it.
  case removeLocally
  case create, update, upsert, delete
  /// No longer dirty.
  case nothing
}

/// The local flags of a record, which determine its upload.
package struct LocalFlags: Sendable, Equatable {
  package var isLocal = true
  package var isCreated = false
  package var isUpdated = false
  package var isDeleted = false

  /// - Parameter hasExternalId: Whether the target has an external id field and the record a
  ///   non-local value in it.
  /// - Note: Source: Mobile SDK, `CompositeRequestHelper`: a dirty record without a flag counts as an update.
  package func action(hasExternalId: Bool) -> UploadAction {
    guard isLocal else { return .nothing }
    if isDeleted { return isCreated ? .removeLocally : .delete }
    if isCreated { return hasExternalId ? .upsert : .create }
    return .update
  }
}

/// The state of a record on the server, as far as known.
package enum RemoteRecord: Sendable, Equatable {
  /// Last modified at this time, ms since 1970 UTC.
  case modified(Int64)
  case deleted
  case unknown
  /// The target compared by itself and found that the local change may overwrite the record, or may
  /// not.
  case unchanged, changed
}

package enum LeaveIfChanged {
  /// Returns the time stamp that an entry is based on: that of its record, or of a later upload of
  /// it.
  static func later(_ stamp: Int64?, _ ownStamp: Int64?) -> Int64? {
    guard let stamp, let ownStamp else { return stamp ?? ownStamp }
    return max(stamp, ownStamp)
  }

  /// Returns whether the server has nothing newer than the base of the local change.
  /// - Parameter localStamp: The modification date that the record came with, ms; nil if it has
  ///   none.
  package static func mayUpload(_ flags: LocalFlags, localStamp: Int64?, remote: RemoteRecord) -> Bool {
    if flags.isCreated || remote == .unchanged { return true }
    guard remote != .changed else { return false }
    // A deleted record is gone; the entry's date does not matter.
    guard remote != .deleted else { return flags.isDeleted }
    guard let localStamp else { return true }
    return switch remote {
    case .modified(let stamp): localStamp >= stamp
    case .unknown, .changed, .deleted: false
    case .unchanged: true
    }
  }
}

/// Decides whether an entry may be sent over the server's version. No store, network or clock.
package enum UploadComparison {
  /// Returns whether the entry may be sent.
  /// - Parameters:
  ///   - base: The base of the entry; nil if unknown.
  ///   - mergeMode: Not `OVERWRITE`, which compares nothing.
  ///   - ownStamp: The server's time stamp of our last upload, ms; nil if unknown.
  ///   - own: What our own uploads sent.
  package static func mayUpload(
    _ entry: JSONObject, _ flags: LocalFlags, base: JSONObject?, server: ServerVersion, _ fields: TargetFields,
    _ mergeMode: MergeMode, ownStamp: Int64? = nil, own: OwnValues? = nil
  ) -> Bool {
    guard !flags.isCreated else { return true }
    let date = LeaveIfChanged.later(fields.stamp(of: entry), ownStamp), isMerge = mergeMode == .merge
    if let record = server.record, let base = RecordMerge.base(base, fitting: entry, fields) {
      let merge = RecordMerge(base: base, local: entry, server: record, fields: fields, own: own)
      return (isMerge || flags.isDeleted ? merge.remoteChanges : merge.foreignChanges).isEmpty
    }
    if isMerge, date == nil { return false }
    return LeaveIfChanged.mayUpload(flags, localStamp: date, remote: remote(server, fields))
  }

  private static func remote(_ server: ServerVersion, _ fields: TargetFields) -> RemoteRecord {
    switch server {
    case .deleted: .deleted
    case .unknown: .unknown
    case .record(let record): fields.stamp(of: record).map { .modified($0) } ?? .unknown
    }
  }
}
