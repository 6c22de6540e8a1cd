import JSON
import SmartStore

/// An entry with local changes that the server changed as well. It stays unchanged and dirty until
/// the conflict is resolved: by ``SyncManager/resolveConflict(inSoup:entryId:with:)``, by a
/// resolver, by an upload that succeeds, or by removing the entry. This value is a snapshot of the
/// store at the time of the call.
public struct SyncConflict: Sendable, Equatable {
  public enum Kind: String, Sendable, CaseIterable {
    /// Changed on both sides.
    case changed
    /// Deleted locally, changed on the server.
    case deletedHere
    /// Changed locally, deleted on the server.
    case deletedThere
    /// Changed on both sides, but the server's version could not be read.
    case unknown
  }

  public let soupName: String
  /// The entry's `_soupEntryId`.
  public let entryId: Int64
  /// The sync that detected the conflict last.
  public let syncId: Int64
  public let kind: Kind
  /// The entry when it last equalled the server's record; nil if it never did.
  public let base: JSONObject?
  /// The entry with its local changes.
  public let local: JSONObject
  /// The server's record, with the fields that the sync read; nil if it is deleted or not known.
  public let server: JSONObject?
  /// The entry with the changes of both sides; fields changed on both keep the local value, unless the option `resolve` of the
  /// sync decides them.
  public let merged: JSONObject
  /// Fields changed on both sides, to different values, that are to be decided.
  public let fields: [String]
  public let localChanges: [String]
  public let remoteChanges: [String]
  /// Ms since 1970 UTC.
  public let detectedAt: Int64

  /// The version of the row that ``local`` was read from.
  let version: Int64
  /// Whether the option `resolve` of the sync decides fields of it.
  let isDecidedByPolicy: Bool

  init(
    _ record: ConflictRecord, in soup: String, base: JSONObject?, entry: StoredEntry, own: OwnValues? = nil,
    policy: ConflictPolicy? = nil
  ) throws {
    let local = try entry.object()
    let fields = TargetFields(id: record.idField, modificationDate: record.dateField)
    soupName = soup
    entryId = record.entryId
    syncId = record.syncId
    self.base = base
    self.local = local
    detectedAt = record.detectedAt
    version = entry.version
    let server = try ServerVersion(record.server)
    self.server = server.record
    let merge = RecordMerge(
      base: base, local: local, server: server.record ?? [:], fields: fields, own: own,
      policy: local.hasFlag(LocalField.deleted) ? nil : policy)
    merged = merge.merged
    isDecidedByPolicy = merge.isDecidedByPolicy
    self.fields = merge.conflicts
    localChanges = merge.localChanges
    remoteChanges = merge.remoteChanges
    kind =
      switch server {
      case .deleted: .deletedThere
      case .unknown: .unknown
      case .record: local.hasFlag(LocalField.deleted) ? .deletedHere : .changed
      }
  }

  /// The form that scripts get.
  public var json: JSONObject {
    func names(_ list: [String]) -> JSONValue { .array(list.map { .string($0) }) }
    return [
      "soupName": .string(soupName), "entryId": .integer(entryId), "syncId": .integer(syncId),
      "kind": .string(kind.rawValue), "base": base.map { .object($0) } ?? .null, "local": .object(local),
      "server": server.map { .object($0) } ?? .null, "merged": .object(merged), "fields": names(fields),
      "localChanges": names(localChanges), "remoteChanges": names(remoteChanges), "detectedAt": .integer(detectedAt),
    ]
  }
}

extension ServerVersion {
  init(_ stored: ConflictRecord.Server) throws {
    self =
      switch stored {
      case .record(let text): .record(try JSONValue(parsing: text).objectValue ?? [:])
      case .deleted: .deleted
      case .unknown: .unknown
      }
  }

  var stored: ConflictRecord.Server {
    switch self {
    case .record(let record): .record(record.serialized())
    case .deleted: .deleted
    case .unknown: .unknown
    }
  }

  var record: JSONObject? { if case .record(let record) = self { record } else { nil } }
}

extension StoreSnapshot {
  /// Returns a conflict with its versions; nil if the entry has none.
  func syncConflict(_ id: Int64, in soup: String) throws -> SyncConflict? {
    try conflict(of: id, in: soup).flatMap { try syncConflict($0, in: soup) }
  }

  func syncConflict(_ record: ConflictRecord, in soup: String) throws -> SyncConflict? {
    var policies = ConflictPolicies()
    return try syncConflict(record, in: soup, &policies)
  }

  /// - Parameter policies: Kept for the next conflict.
  func syncConflict(_ record: ConflictRecord, in soup: String, _ policies: inout ConflictPolicies) throws -> SyncConflict? {
    guard let entry = try entry(record.entryId, in: soup) else { return nil }
    let stored = try base(of: record.entryId, in: soup).flatMap { try JSONValue(parsing: $0).objectValue }
    let fields = TargetFields(id: record.idField, modificationDate: record.dateField)
    let base = RecordMerge.base(stored, fitting: try entry.object(), fields)
    let own = try ownValues(of: [record.entryId], in: soup)[record.entryId]
    return try SyncConflict(
      record, in: soup, base: base, entry: entry, own: own, policy: try policies.policy(of: record.syncId, in: self))
  }
}

/// The policies of syncs, each read once.
struct ConflictPolicies {
  private var known: [Int64: ConflictPolicy?] = [:]

  mutating func policy(of syncId: Int64, in snapshot: StoreSnapshot) throws -> ConflictPolicy? {
    if let policy = known[syncId] { return policy }
    let policy = try snapshot.soupExists(SyncsSoup.name) ? SyncsSoup.find(.id(syncId), in: snapshot)?.options.resolve : nil
    known[syncId] = .some(policy)
    return policy
  }
}
