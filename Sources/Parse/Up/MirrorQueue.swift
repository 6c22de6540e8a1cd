import JSON
import MobileSync
import SmartStore

/// Keeps relations in step with the pointer columns that they mirror: when a pointer was set or
/// cleared locally, it queues link rows, which are sent after the records.
struct MirrorQueue: Sendable {
  let target: ParseTarget
  let context: UploadContext

  private struct Change: Sendable {
    let soup: String
    let row: LinkRow
    let isAdded: Bool
  }

  func note(_ rows: [RowUpload]) async throws {
    let changes = rows.flatMap(changes)
    guard !changes.isEmpty, let store = context.origin?.store else { return }
    if let recorder = context.intent.recorder { return recorder.note(unknown: "links that follow from changed pointers") }
    try await store.write(.pulled) { transaction in
      for change in changes { try Self.write(change, transaction) }
    }
  }

  private func changes(_ row: RowUpload) -> [Change] {
    target.mirrors.flatMap { rule -> [Change] in
      guard let mirror = rule.mirror, case .links(let soup) = rule.storage, let id = row.entry["objectId"]?.stringValue else {
        return []
      }
      let owner = target.ownerClass(of: rule)
      let before = Self.id(row.base?[mirror.field])
      let after = row.upload.action == .delete ? nil : Self.id(row.entry[mirror.field])
      guard before != after || row.upload.action == .delete else { return [] }
      let removed = (row.upload.action == .delete ? before ?? Self.id(row.entry[mirror.field]) : before).map {
        Change(soup: soup, row: LinkRow(owner, $0, rule.field, id), isAdded: false)
      }
      let added = after.map { Change(soup: soup, row: LinkRow(owner, $0, rule.field, id), isAdded: true) }
      return [removed, added].compactMap { $0 }
    }
  }

  private static func id(_ value: JSONValue?) -> String? { value?["objectId"]?.stringValue }

  /// Idempotent: a run after a failure writes the same again.
  private static func write(_ change: Change, _ transaction: StoreTransaction) throws {
    let found = try transaction.entryIds(in: change.soup, where: "linkKey", equals: .text(change.row.key)).first
    guard let id = found, let entry = try transaction.entry(id, in: change.soup)?.object() else {
      let flag = change.isAdded ? LocalField.created : LocalField.deleted
      var flags = LocalField.clean
      flags[LocalField.local] = true
      flags[flag] = true
      var row = change.row.json
      for (key, value) in flags { row[key] = value }
      _ = try transaction.create(row, in: change.soup)
      return
    }
    let isDeleted = entry.hasFlag(LocalField.deleted)
    guard change.isAdded == isDeleted else { return }
    let isLocal = !change.isAdded || entry.hasFlag(LocalField.created)
    _ = try transaction.patch(
      id, in: change.soup, setting: [LocalField.deleted: .bool(!change.isAdded), LocalField.local: .bool(isLocal)])
  }
}

/// Checks whether a link that mirrors a pointer column may be sent, that is, whether the server has
/// the pointer.
///
/// The link is queued before its record is sent, so that it is not lost if the process ends in
/// between. The record may then be refused or changed back.
struct MirrorCheck: Sendable {
  enum Verdict: Sendable {
    case send
    /// The record has a local change that the server does not have yet.
    case wait
    /// Neither the record nor the server has the pointer any more.
    case drop
  }

  let context: UploadContext
  /// The soup of the records with the pointer column.
  let soup: String

  func verdict(_ link: LinkRow, _ mirror: RelationRule.Mirror, isAdded: Bool) async throws -> Verdict {
    let soup = soup, field = mirror.field
    guard let store = context.origin?.store else { return .send }
    return try await store.read { snapshot in
      guard try snapshot.soupExists(soup),
        let id = try snapshot.entryIds(in: soup, where: "objectId", equals: .text(link.relatedId)).first,
        let entry = try snapshot.entry(id, in: soup)?.object()
      else { return .send }
      let isDirty = entry.hasFlag(LocalField.local), base = try snapshot.base(of: id, in: soup)
      guard !isDirty || base != nil else { return .send }
      let known = try base.flatMap { try JSONValue(parsing: $0).objectValue } ?? entry
      let there = isDirty ? Self.id(known[field]) : Self.id(entry[field])
      let here = entry.hasFlag(LocalField.deleted) ? nil : Self.id(entry[field])
      if (there == link.ownerId) == isAdded { return .send }
      return (here == link.ownerId) == isAdded ? .wait : .drop
    }
  }

  private static func id(_ value: JSONValue?) -> String? { value?["objectId"]?.stringValue }
}
