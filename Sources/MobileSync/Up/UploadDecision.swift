import JSON

/// What is to be done with one dirty record. No store, network or clock: each rule has a one-line test.
package enum UploadAction: Sendable, Equatable {
  /// Made and deleted here: the server never knew it.
  case removeLocally
  case create, update, upsert, delete
  /// Not dirty any more.
  case nothing
}

/// The local flags of a record and what decides about its upload.
package struct LocalFlags: Sendable, Equatable {
  package var isLocal = true
  package var isCreated = false
  package var isUpdated = false
  package var isDeleted = false

  /// - Parameter hasExternalId: The target names an external id field, and the record has a value in it that is not local.
  /// - Note: Source: Mobile SDK, `CompositeRequestHelper`: a dirty record without a flag counts as an update.
  package func action(hasExternalId: Bool) -> UploadAction {
    guard isLocal else { return .nothing }
    if isDeleted { return isCreated ? .removeLocally : .delete }
    if isCreated { return hasExternalId ? .upsert : .create }
    return .update
  }
}

/// What the server holds of a record, as far as it said.
package enum RemoteRecord: Sendable, Equatable {
  /// Modified last at this time, ms since 1970 UTC.
  case modified(Int64)
  case deleted
  case unknown
  /// Somebody else compared, and found that the local change may go over it, or may not.
  case unchanged, changed
}

package enum LeaveIfChanged {
  /// The stamp that says what an entry was based on: that of its record, or of an upload of it since.
  static func later(_ stamp: Int64?, _ ownStamp: Int64?) -> Int64? {
    guard let stamp, let ownStamp else { return stamp ?? ownStamp }
    return max(stamp, ownStamp)
  }

  /// True when the server has nothing newer than what the local change was based on.
  /// - Parameter localStamp: The modification date the record came with, ms; nil when it has none.
  package static func mayUpload(_ flags: LocalFlags, localStamp: Int64?, remote: RemoteRecord) -> Bool {
    if flags.isCreated || remote == .unchanged { return true }
    guard remote != .changed else { return false }
    // A record that is gone is gone, whatever date the entry has.
    guard remote != .deleted else { return flags.isDeleted }
    guard let localStamp else { return true }
    return switch remote {
    case .modified(let stamp): localStamp >= stamp
    case .unknown, .changed, .deleted: false
    case .unchanged: true
    }
  }
}

/// Whether an entry may be sent over what the server has. No store, network or clock.
package enum UploadComparison {
  /// - Parameters:
  ///   - base: What the store says that the entry was made from; nil when it does not know.
  ///   - mergeMode: Not `OVERWRITE`, which compares nothing.
  ///   - ownStamp: What the server stamped our last upload with, ms; nil when that is not known.
  package static func mayUpload(
    _ entry: JSONObject, _ flags: LocalFlags, base: JSONObject?, server: ServerVersion, _ fields: TargetFields,
    _ mergeMode: MergeMode, ownStamp: Int64? = nil
  ) -> Bool {
    guard !flags.isCreated else { return true }
    let date = LeaveIfChanged.later(fields.stamp(of: entry), ownStamp), isMerge = mergeMode == .merge
    if let record = server.record, let base = RecordMerge.base(base, fitting: entry, fields) {
      let merge = RecordMerge(base: base, local: entry, server: record, fields: fields)
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
