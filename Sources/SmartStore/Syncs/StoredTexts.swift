import Database
import Glibc
import JSON
import RecordScan

extension StoreSnapshot {
  /// Compares the records of a page with the entries they were stored as.
  /// - Parameters:
  ///   - idPath: What an entry is found by.
  ///   - overlay: What the sync sets on every record, as it was given to ``StoreTransaction/storeRecords``.
  package func storedTexts(
    in name: String, by idPath: String, overlay: JSONObject, on page: ScannedPage
  ) throws -> StoredTexts {
    let soup = try self.soup(name)
    let finder = try connection.statement("SELECT soup FROM \(soup.table) WHERE \(soup.expression(idPath)) = ?")
    return StoredTexts(finder: finder, page: page, overlay: SoupWriter.text(of: overlay))
  }
}

/// Tells whether records are stored as they came, by their bytes: no value is made of a record or its entry. Belongs to the
/// snapshot that made it.
package struct StoredTexts {
  let finder: Statement
  let page: ScannedPage
  /// As it stands behind the store's own members.
  let overlay: [UInt8]

  /// False as well where bytes cannot tell: an id that is not a string, or a record that brings members of the store.
  package func isStored(record i: Int) throws -> Bool {
    let record = page.scanner.records[i], id = page.scanner.value(record: i, field: page.plan.idField)
    guard id.kind == .plainString, !record.hasOwnedKey, !record.isEmpty else { return false }
    finder.bind(1, text: UnsafeRawBufferPointer(rebasing: page.bytes[id.start..<id.start + id.count]))
    defer { finder.reset() }
    guard try finder.step() else { return false }
    let members = UnsafeRawBufferPointer(rebasing: page.bytes[(record.start + 1)..<(record.start + record.count)])
    guard isText(finder.bytes(0), ofMembers: members) else { return false }
    return try !finder.step()
  }

  /// Whether an entry's text is what storing such members gives: the store's two, the overlay's, then these.
  private func isText(_ entry: UnsafeRawBufferPointer, ofMembers members: UnsafeRawBufferPointer) -> Bool {
    let own = entry.count - members.count - 1 - overlay.count
    guard own > 0, entry[own + overlay.count] == UInt8(ascii: ","),
      memcmp(entry.baseAddress! + entry.count - members.count, members.baseAddress!, members.count) == 0,
      overlay.withUnsafeBytes({ memcmp(entry.baseAddress! + own, $0.baseAddress!, $0.count) == 0 })
    else { return false }
    // Two keys in quotes, and numbers.
    return entry[..<own].count { $0 == UInt8(ascii: "\"") } == 4
  }
}
