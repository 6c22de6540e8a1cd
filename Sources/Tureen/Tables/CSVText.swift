/// Writes CSV (RFC 4180). Fields are quoted only if necessary; lines end with a line feed.
package enum CSVText {
  package static func append(_ fields: [String], to out: inout [UInt8]) {
    for (i, field) in fields.enumerated() {
      if i > 0 { out.append(UInt8(ascii: ",")) }
      append(field, to: &out)
    }
    // Without quotes, a record of one empty field would be an empty line, which readers skip.
    if fields.count == 1, fields[0].isEmpty { out.append(contentsOf: "\"\"".utf8) }
    out.append(UInt8(ascii: "\n"))
  }

  private static func append(_ field: String, to out: inout [UInt8]) {
    // Readers skip a byte order mark at the start of a file.
    let hasMark = field.utf8.starts(with: [0xEF, 0xBB, 0xBF])
    guard hasMark || field.utf8.contains(where: needsQuotes) || field.first == " " || field.last == " " else {
      out.append(contentsOf: field.utf8)
      return
    }
    out.append(UInt8(ascii: "\""))
    for byte in field.utf8 {
      if byte == UInt8(ascii: "\"") { out.append(byte) }
      out.append(byte)
    }
    out.append(UInt8(ascii: "\""))
  }

  private static func needsQuotes(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }
}
