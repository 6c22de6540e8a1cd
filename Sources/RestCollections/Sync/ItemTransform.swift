import JSON
import MobileSync
import RecordScan
import SmartStore

/// Calls a script's function to compute members of a page's items.
struct ItemTransform: Sendable {
  /// Such as `module.name`.
  let name: String
  let context: FetchContext

  /// - Parameter text: A JSON array of the page's items.
  /// - Throws: ``SyncError`` `.customTarget` if the function cannot be called at all.
  func records(_ text: [UInt8], of page: CollectionPage) async throws -> ShapedRecords {
    let items = try JSONValue(parsing: text)
    let answer = try await context.call(implementation: name, .transform, ["records": items])
    guard let made = answer["records"]?.arrayValue, made.count == page.items.count else {
      throw failure("must return a value for each of \(page.items.count) items")
    }
    var shaped = ShapedRecords(), out: [UInt8] = [UInt8(ascii: "[")]
    for (item, value) in zip(page.items, made) {
      if let problem = value["error"]?.stringValue {
        shaped.flagged.append("page \(page.number), \(item.id): \(name) failed: \(problem)")
        continue
      }
      guard let record = value["record"], !record.isNull else {
        shaped.dropped.append(item.id)
        continue
      }
      guard record.objectValue != nil, id(of: record) == item.id else {
        shaped.flagged.append("page \(page.number), \(item.id): \(name) must return the item with its id")
        continue
      }
      if out.count > 1 { out.append(UInt8(ascii: ",")) }
      out.append(contentsOf: record.serialized())
    }
    out.append(UInt8(ascii: "]"))
    if out.count > 2 { shaped.records = try context.plan.scan(ByteArrayPage(out), recordsKey: nil) }
    return shaped
  }

  private func id(of record: JSONValue) -> String? {
    context.idPath.split(separator: ".").reduce(Optional(record)) { $0?[String($1)] }?.stringValue
  }

  private func failure(_ what: String) -> SyncError { SyncError(.customTarget, "transform '\(name)': \(what)") }
}
