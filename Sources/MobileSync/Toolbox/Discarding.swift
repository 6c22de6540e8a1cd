import JSON
import SmartStore

/// The entries whose local changes were dropped, and those that kept them.
public struct DiscardResult: Sendable, Equatable {
  /// An entry that kept its changes.
  public struct Kept: Sendable, Equatable {
    public let entryId: Int64
    /// `cannotDiscard`.
    public let code: String
    public let text: String
  }

  public internal(set) var discarded: [Int64] = []
  public internal(set) var kept: [Kept] = []

  public var json: JSONObject {
    [
      "discarded": .array(discarded.map { ["entryId": .integer($0)] }),
      "kept": .array(
        kept.map { ["entryId": .integer($0.entryId), "code": .string($0.code), "text": .string($0.text)] }),
    ]
  }
}

/// Drops local changes within one transaction: an entry becomes what the server is known to have.
struct Discarding {
  let soup: String
  /// Only these fields; nil for all changes.
  let fields: [String]?
  /// Whether entries that the server never had are removed.
  let removesCreated: Bool
  let uploads: SoupUploads
  /// Ms since 1970 UTC.
  let now: Int64

  /// Why an entry keeps its changes.
  private struct Refusal: Error { let text: String }

  func run(_ ids: [Int64], in transaction: StoreTransaction, running: (SyncState) throws -> Bool, _ syncs: [SyncState]) throws
    -> DiscardResult
  {
    var result = DiscardResult()
    let busy = try syncs.first(where: running)
    for id in ids {
      do {
        if let busy { throw Refusal(text: "sync '\(busy.name ?? "\(busy.id)")' is running; stop it, or wait for its end") }
        try discard(id, in: transaction)
        result.discarded.append(id)
      } catch let refusal as Refusal {
        result.kept.append(.init(entryId: id, code: SyncError.Code.cannotDiscard.rawValue, text: refusal.text))
      }
    }
    return result
  }

  private func discard(_ id: Int64, in transaction: StoreTransaction) throws {
    guard let entry = try transaction.entry(id, in: soup)?.object() else {
      throw Refusal(text: "there is no entry \(id) in soup '\(soup)'")
    }
    guard entry.hasFlag(LocalField.local) else { throw Refusal(text: "it has no local changes") }
    // Of a refused create the server has said that it has no record.
    if let upload = try transaction.unsettledUpload(of: id, in: soup), upload.state != .refused {
      throw Refusal(text: "it was sent and the server has not answered yet; run the sync up first")
    }
    if entry.hasFlag(LocalField.created) { return try removeCreated(id, entry, in: transaction) }
    let stored = try transaction.base(of: id, in: soup).flatMap { try JSONValue(parsing: $0).objectValue }
    if let fields { return try discard(fields, of: id, entry, stored, in: transaction) }
    if let conflict = try transaction.syncConflict(id, in: soup) {
      guard conflict.kind != .unknown else {
        throw Refusal(text: "the server's version is not known; sync it down first")
      }
      try noteDropped(changed(entry, stored), of: id, entry, in: transaction)
      // The base is older than what the server is known to have.
      try transaction.resolve(conflict, .server)
      return
    }
    guard let stored else { throw Refusal(text: "its version before the changes is not known") }
    try noteDropped(changed(entry, stored), of: id, entry, in: transaction)
    try restore(id, entry, stored, in: transaction)
  }

  /// An entry that was made here has nothing to go back to, and no other copy exists.
  private func removeCreated(_ id: Int64, _ entry: JSONObject, in transaction: StoreTransaction) throws {
    guard fields == nil else { throw Refusal(text: "it was created here, so its fields have no earlier values") }
    guard removesCreated else {
      throw Refusal(text: "it was created here and the server never had it; only --created removes it")
    }
    let version = try transaction.entry(id, in: soup)?.version ?? 0
    let changes = entry.filtered { !RecordMerge.isBookkeeping($0.key, uploads.fields(of: soup)) }
    try transaction.note(
      EntryChange(.discarded, id, version: version, before: changes.serialized()), in: soup)
    try transaction.remove(
      [RemovedEntry(id: id, version: version, recordId: uploads.fields(of: soup).id(of: entry), because: .discarded)], from: soup)
  }

  private func discard(
    _ names: [String], of id: Int64, _ entry: JSONObject, _ stored: JSONObject?, in transaction: StoreTransaction
  ) throws {
    guard !entry.hasFlag(LocalField.deleted) else {
      throw Refusal(text: "it is marked for deletion; discard that without naming fields")
    }
    let fields = uploads.fields(of: soup)
    guard let base = RecordMerge.base(stored, fitting: entry, fields) else {
      throw Refusal(text: "its version before the changes is not known")
    }
    let changed = names.filter { name in
      guard !RecordMerge.isBookkeeping(name, fields), entry[name] != nil || base[name] != nil else { return false }
      return !RecordMerge.same(entry[name] ?? .null, base[name] ?? .null)
    }
    guard !changed.isEmpty else { throw Refusal(text: "\(names.joined(separator: ", ")) was not changed here") }
    var next = entry
    for name in changed { next[name] = base[name] }
    try noteDropped(changed, of: id, entry, in: transaction)
    next[LocalField.lastError] = nil
    let merge = RecordMerge(base: base, local: next, server: [:], fields: fields)
    if merge.localChanges.isEmpty {
      if let conflict = try transaction.syncConflict(id, in: soup), conflict.kind != .unknown {
        try transaction.resolve(conflict, .server)
        return
      }
      return try restore(id, entry, base, in: transaction)
    }
    _ = try transaction.replace(id, with: next, in: soup)
  }

  private func changed(_ entry: JSONObject, _ stored: JSONObject?) -> [String] {
    let fields = uploads.fields(of: soup)
    guard let base = RecordMerge.base(stored, fitting: entry, fields) else {
      return entry.keys.filter { !RecordMerge.isBookkeeping($0, fields) }
    }
    return RecordMerge(base: base, local: entry, server: [:], fields: fields).localChanges
  }

  /// Keeps the dropped values in the history.
  private func noteDropped(
    _ names: [String], of id: Int64, _ entry: JSONObject, in transaction: StoreTransaction
  ) throws {
    guard transaction.history != nil, let version = try transaction.entry(id, in: soup)?.version else { return }
    let dropped = JSONObject(names.compactMap { name in entry[name].map { (name, $0) } })
    try transaction.note(
      EntryChange(
        .discarded, id, version: version + 1, fields: names, recordId: uploads.fields(of: soup).id(of: entry),
        before: dropped.serialized()), in: soup)
  }

  private func restore(_ id: Int64, _ entry: JSONObject, _ base: JSONObject, in transaction: StoreTransaction) throws {
    var clean = RecordMerge.cleaned(base)
    clean[LocalField.syncId] = entry[LocalField.syncId]
    _ = try transaction.replace(id, with: clean, in: soup)
  }
}
