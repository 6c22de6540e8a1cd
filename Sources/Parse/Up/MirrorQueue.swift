import JSON
import MobileSync
import SmartStore

/// Keeps relations equal to the pointer columns that they follow: a pointer that was set or cleared here becomes link rows with
/// local changes, which are sent behind the records.
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
    guard !changes.isEmpty, let store = context.place?.store else { return }
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

  /// Safe to repeat: a run that failed writes the same once more.
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
