import JSON
import RecordScan
import Support

/// A value of a query's result, as JSON text.
package struct ResultCell: Sendable {
  package enum Kind: Sendable { case null, boolean, number, string, container }

  package let kind: Kind
  package let json: ArraySlice<UInt8>

  package init(_ value: JSONValue) { self.init(value.serialized()[...]) }

  /// - Parameter json: One JSON value without surrounding whitespace.
  package init(_ json: ArraySlice<UInt8>) {
    self.json = json
    kind =
      switch json.first {
      case UInt8(ascii: "\""): .string
      case UInt8(ascii: "{"), UInt8(ascii: "["): .container
      case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
      case UInt8(ascii: "n"), nil: .null
      default: .number
      }
  }

  /// The value as plain text: a string without quotes and escapes, an empty text for null, other values as JSON.
  package var text: String {
    switch kind {
    case .null: return ""
    case .string where json.contains(UInt8(ascii: "\\")):
      return (try? JSONValue(parsing: Array(json)))?.stringValue ?? String(decoding: json, as: UTF8.self)
    case .string: return String(decoding: json.dropFirst().dropLast(), as: UTF8.self)
    default: return String(decoding: json, as: UTF8.self)
    }
  }
}

/// A page of a cursor whose entries are rows. The rows are split without parsing their values, because a page may have a hundred
/// thousand rows.
package struct ResultPage: Sendable {
  private let payload: [UInt8]
  private let firstRow: Int
  package var byteCount: Int { payload.count }

  /// The page's other members: `cursorId`, `totalPages` and so on.
  package let rest: JSONObject

  private static let head = Array(#"{"currentPageOrderedEntries":["#.utf8)

  /// - Parameter payload: The answer of `runSmartQuery` or `moveCursorToPageIndex`.
  package init?(_ payload: [UInt8]) {
    guard payload.starts(with: Self.head) else { return nil }
    self.payload = payload
    firstRow = Self.head.count
    var scanner = ElementScanner(payload, at: firstRow - 1)
    scanner.skipValue()
    let end = scanner.position
    guard end < payload.count, payload[end] == UInt8(ascii: ","),
      let rest = try? JSONValue(parsing: [UInt8(ascii: "{")] + payload[(end + 1)...])
    else { return nil }
    self.rest = rest.objectValue ?? [:]
  }

  /// Calls `body` with the cells of each row.
  package func forEachRow(_ body: ([ResultCell]) throws -> Void) rethrows {
    var scanner = ElementScanner(payload, at: firstRow)
    while scanner.beginsElement() {
      scanner.position += 1
      var cells: [ResultCell] = []
      while scanner.beginsElement() { cells.append(ResultCell(scanner.skipValue())) }
      scanner.position += 1
      try body(cells)
    }
  }
}

/// Finds the boundaries of values in JSON text that has one value after the other, such as the elements of an array.
struct ElementScanner {
  private let bytes: [UInt8]
  var position: Int

  init(_ bytes: [UInt8], at position: Int) {
    self.bytes = bytes
    self.position = position
  }

  var count: Int { bytes.count }
  /// The byte here; the position is inside the text.
  var byte: UInt8 { bytes[position] }

  /// Skips whitespace and a comma before the next element of an array. Returns false at the array's end.
  mutating func beginsElement() -> Bool {
    while position < bytes.count, bytes[position].isASCIIWhitespace || bytes[position] == UInt8(ascii: ",") { position += 1 }
    return position < bytes.count && bytes[position] != UInt8(ascii: "]")
  }

  /// Skips the value at the current position and returns its text; all of the rest if that does not start with a JSON value.
  @discardableResult
  mutating func skipValue() -> ArraySlice<UInt8> {
    let start = position
    position = bytes.withUnsafeBytes { raw in
      var walker = JSONWalker(raw)
      walker.p = walker.base + start
      return (try? walker.skipValue(depth: 1)) == nil ? raw.count : walker.offset
    }
    return bytes[start..<position]
  }
}

extension ElementScanner {
  /// Moves over blanks and a comma to the next key of an object; false at the object's end.
  mutating func beginsMember() -> Bool {
    guard beginsElement(), position < count else { return false }
    return byte == UInt8(ascii: "\"")
  }

  mutating func skipColon() {
    while position < count, byte != UInt8(ascii: ":") { position += 1 }
    position = min(position + 1, count)
    while position < count, byte.isASCIIWhitespace { position += 1 }
  }
}
