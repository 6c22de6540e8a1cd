/// What is to be done with one dirty record. No store, network or clock: each rule has a one-line test.
enum UploadAction: Sendable, Equatable {
  /// Made and deleted here: the server never knew it.
  case removeLocally
  case create, update, upsert, delete
  /// Not dirty any more.
  case nothing
}

/// The local flags of a record and what decides about its upload.
struct LocalFlags: Sendable, Equatable {
  var isLocal = true
  var isCreated = false
  var isUpdated = false
  var isDeleted = false

  /// - Parameter hasExternalId: The target names an external id field, and the record has a value in it that is not local.
  /// - Note: Source: Mobile SDK, `CompositeRequestHelper`: a dirty record without a flag counts as an update.
  func action(hasExternalId: Bool) -> UploadAction {
    guard isLocal else { return .nothing }
    if isDeleted { return isCreated ? .removeLocally : .delete }
    if isCreated { return hasExternalId ? .upsert : .create }
    return .update
  }
}

/// What the server holds of a record, as far as it said.
enum RemoteRecord: Sendable, Equatable {
  /// Modified last at this time, ms since 1970 UTC.
  case modified(Int64)
  case deleted
  case unknown
  /// Somebody else compared, and found that the local change may go over it, or may not.
  case unchanged, changed
}

enum LeaveIfChanged {
  /// True when the server has nothing newer than what the local change was based on.
  /// - Parameter localStamp: The modification date the record came with, ms; nil when it has none.
  static func mayUpload(_ flags: LocalFlags, localStamp: Int64?, remote: RemoteRecord) -> Bool {
    if flags.isCreated || remote == .unchanged { return true }
    guard remote != .changed else { return false }
    guard let localStamp else { return true }
    return switch remote {
    case .modified(let stamp): localStamp >= stamp
    case .deleted: flags.isDeleted
    case .unknown, .changed: false
    case .unchanged: true
    }
  }
}
