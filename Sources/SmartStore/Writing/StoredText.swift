import Glibc
import JSON
import RecordScan

/// Recognizes a record of a server in the text of its stored entry byte by byte, without parsing
/// either.
package struct StoredText {
  /// The text that follows the store's own members.
  private let overlay: [UInt8]

  /// - Parameter overlay: The members that the sync sets on every record; see ``PageStorage``.
  package init(overlay: JSONObject) { self.overlay = StoredText.members(overlay) }

  /// Returns the id of a record as it is stored; nil if bytes cannot decide: the id is not a string,
  /// or the record contains members that the store owns.
  package func key(ofRecord i: Int, on page: ScannedPage) -> UnsafeRawBufferPointer? {
    let record = page.scanner.records[i], id = page.scanner.value(record: i, field: page.plan.idField)
    guard id.kind == .plainString, !record.hasOwnedKey, !record.isEmpty else { return nil }
    return UnsafeRawBufferPointer(rebasing: page.bytes[id.start..<id.start + id.count])
  }

  /// Returns whether an entry's text is the result of storing a record: the store's two members, the
  /// overlay's, then the record's.
  package func isText(_ entry: UnsafeRawBufferPointer, ofRecord i: Int, on page: ScannedPage) -> Bool {
    let record = page.scanner.records[i]
    let members = UnsafeRawBufferPointer(rebasing: page.bytes[(record.start + 1)..<(record.start + record.count)])
    let own = entry.count - members.count - 1 - overlay.count
    guard own > 0, entry[own + overlay.count] == UInt8(ascii: ","),
      memcmp(entry.baseAddress! + entry.count - members.count, members.baseAddress!, members.count) == 0,
      overlay.withUnsafeBytes({ memcmp(entry.baseAddress! + own, $0.baseAddress!, $0.count) == 0 })
    else { return false }
    // Two quoted keys, and numbers.
    return entry[..<own].count { $0 == UInt8(ascii: "\"") } == 4
  }

  /// Returns members as text, with a comma before each.
  package static func members(_ members: JSONObject) -> [UInt8] {
    var text: [UInt8] = []
    for (key, value) in members {
      text.append(UInt8(ascii: ","))
      JSONText.appendQuoted(key, to: &text)
      text.append(UInt8(ascii: ":"))
      value.append(to: &text)
    }
    return text
  }
}
