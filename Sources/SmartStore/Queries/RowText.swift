import Database
import JSON
import RecordScan

/// A page of a query's result, as JSON text.
package struct QueryPage: Sendable {
  /// The array of entries, or of rows as arrays, behind the page's head.
  package var text: [UInt8]
  package var rows: Int
  /// No row follows; also true if that was not looked at.
  package var isLast: Bool
  /// Bytes of each row in `text`, for a page of unchecked entries; empty for any other.
  var lengths: [Int32] = []

  static func empty(_ form: PageForm, isLast: Bool) -> QueryPage {
    QueryPage(text: Array(form.head.utf8) + Array("[]".utf8), rows: 0, isLast: isLast)
  }
}

/// What a page looks like as text.
struct PageForm {
  /// What a row of a page is, and who looks into it.
  enum Row {
    /// An array of columns.
    case columns
    /// The entry, which is seen to be one JSON object.
    case entry
    /// The entry as it is stored. The reader has to check that it is JSON.
    case record
  }

  /// Stands before the array: additions to a page go behind, where nothing has to be moved.
  var head = ""
  var row: Row
  /// Bytes it may have.
  var limit = Tuning.pageBytes
}

/// Builds a page as text, row by row. Stored entries are spliced in as they are, never parsed.
struct RowText {
  private var text: [UInt8] = []
  private var lengths: [Int32] = []
  private(set) var rows = 0
  private let columns: Int32
  private let row: PageForm.Row
  private let limit: Int
  /// Columns that hold entries: by their name.
  private let isEntry: [Bool]

  /// - Parameters:
  ///   - columns: How many of the statement's columns belong to the row.
  ///   - capacity: Bytes the page may come to.
  init(_ statement: Statement, columns: Int32, form: PageForm, capacity: Int = 0) {
    self.columns = columns
    row = form.row
    limit = form.limit
    text.reserveCapacity(capacity)
    text.append(contentsOf: form.head.utf8)
    text.append(UInt8(ascii: "["))
    isEntry =
      form.row != .columns
      ? []
      : (0..<columns).map { i in
        let name = statement.columnName(i)
        return name == "soup" || name.hasPrefix("soup:")
      }
  }

  /// - Throws: ``StoreError`` `.queryLimit` when the page gets too large.
  mutating func append(_ statement: Statement) throws {
    guard text.count <= limit else {
      throw StoreError(.queryLimit, "a page of \(rows) rows has more than \(limit) bytes; ask for fewer rows with 'pageSize'")
    }
    if rows > 0 { text.append(UInt8(ascii: ",")) }
    rows += 1
    switch row {
    case .entry: return append(statement, 0, isEntry: true)
    case .record: return appendRecord(statement)
    case .columns: break
    }
    text.append(UInt8(ascii: "["))
    for i in 0..<columns {
      if i > 0 { text.append(UInt8(ascii: ",")) }
      append(statement, i, isEntry: isEntry[Int(i)])
    }
    text.append(UInt8(ascii: "]"))
  }

  consuming func page(isLast: Bool) -> QueryPage {
    text.append(UInt8(ascii: "]"))
    return QueryPage(text: text, rows: rows, isLast: isLast, lengths: lengths)
  }

  private mutating func appendRecord(_ statement: Statement) {
    let before = text.count
    if statement.type(0) == .text, case let value = statement.bytes(0), value.first == UInt8(ascii: "{"),
      value.last == UInt8(ascii: "}")
    {
      text.append(contentsOf: value)
    } else {
      append(statement, 0, isEntry: true)
    }
    lengths.append(Int32(text.count - before))
  }

  private mutating func append(_ statement: Statement, _ i: Int32, isEntry: Bool) {
    switch statement.type(i) {
    case .null, .blob: text.append(contentsOf: "null".utf8)
    case .integer: JSONText.append(statement.int64(i), to: &text)
    case .real: JSONText.append(statement.double(i), to: &text)
    case .text:
      let value = statement.bytes(i)
      // A column that a query itself named `soup` may hold anything: only what is JSON is spliced as JSON.
      if isEntry, JSONWalker.isObject(value) {
        text.append(contentsOf: value)
      } else if JSONWalker.isUTF8(value) {
        text.append(UInt8(ascii: "\""))
        JSONText.appendEscaped(value.bindMemory(to: UInt8.self), to: &text)
        text.append(UInt8(ascii: "\""))
      } else {
        JSONText.appendQuoted(String(decoding: value, as: UTF8.self), to: &text)
      }
    }
  }
}
