import JSON
import RecordScan
import Support

/// A page of a query's result as JSON text.
package struct QueryPage: Sendable {
  /// The page's head, followed by the array of entries, or of rows as arrays.
  package var text: [UInt8]
  package var rows: Int
  /// Whether no row follows; also true if this was not checked.
  package var isLast: Bool
  /// The byte length of each row in `text`, for a page of unchecked entries; otherwise empty.
  package var lengths: [Int32] = []

  package static func empty(_ form: PageForm, isLast: Bool) -> QueryPage {
    QueryPage(text: Array(form.head.utf8) + Array("[]".utf8), rows: 0, isLast: isLast)
  }
}

/// The current row of a result. Every engine has its own, and a page is built from any of them.
package protocol ResultRow {
  func type(_ column: Int32) -> ColumnType
  func int64(_ column: Int32) -> Int64
  func double(_ column: Int32) -> Double
  /// The bytes of a text or blob, valid until the result moves on.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer
  func columnName(_ column: Int32) -> String
}

/// The text form of a page.
package struct PageForm {
  /// The form of a row.
  package enum Row {
    /// An array of column values.
    case columns
    /// The entry, verified to be a JSON object.
    case entry
    /// The entry as stored. The reader must check that it is valid JSON.
    case record
  }

  /// Text before the array. Other additions to a page follow the array, where nothing has to be
  /// moved.
  package var head: String
  package var row: Row
  /// The size limit in bytes.
  package var limit: Int

  /// - Parameter limit: nil for the usual one.
  package init(head: String = "", row: Row, limit: Int? = nil) {
    self.head = head
    self.row = row
    self.limit = limit ?? Tuning.pageBytes
  }
}

/// Builds the text of a page row by row. Stored entries are copied as they are, without parsing.
package struct RowText {
  private var text: [UInt8] = []
  private var lengths: [Int32] = []
  package private(set) var rows = 0
  private let columns: Int32
  private let kind: PageForm.Row
  private let limit: Int
  private let memory = PageMemory()
  /// Whether each column holds entries, judged by its name.
  private let isEntry: [Bool]

  /// - Parameters:
  ///   - first: A row of the result, which names the columns.
  ///   - columns: The number of columns that belong to the row.
  ///   - capacity: The number of bytes to reserve.
  package init(_ first: some ResultRow, columns: Int32, form: PageForm, capacity: Int = 0) {
    self.columns = columns
    kind = form.row
    limit = form.limit
    text.reserveCapacity(capacity)
    text.append(contentsOf: form.head.utf8)
    text.append(UInt8(ascii: "["))
    isEntry =
      form.row != .columns
      ? []
      : (0..<columns).map { i in
        let name = first.columnName(i)
        return name == "soup" || name.hasPrefix("soup:")
      }
  }

  /// Appends the current row of a result.
  /// - Throws: ``StoreError`` `.queryLimit` if the page gets too large.
  package mutating func append(_ row: some ResultRow) throws {
    try require(0)
    if rows > 0 { text.append(UInt8(ascii: ",")) }
    rows += 1
    switch kind {
    case .entry: return try append(row, 0, isEntry: true)
    case .record: return try appendRecord(row)
    case .columns: break
    }
    text.append(UInt8(ascii: "["))
    for i in 0..<columns {
      if i > 0 { text.append(UInt8(ascii: ",")) }
      try append(row, i, isEntry: isEntry[Int(i)])
    }
    text.append(UInt8(ascii: "]"))
  }

  /// Makes sure that so many bytes may be added.
  private mutating func require(_ count: Int) throws {
    let wanted = text.count + count
    guard wanted <= limit else {
      throw StoreError(.queryLimit, "a page of \(rows) rows has more than \(limit) bytes; ask for fewer rows with 'pageSize'")
    }
    if wanted > memory.enough { try memory.grow(to: wanted) }
  }

  package consuming func page(isLast: Bool) -> QueryPage {
    text.append(UInt8(ascii: "]"))
    return QueryPage(text: text, rows: rows, isLast: isLast, lengths: lengths)
  }

  private mutating func appendRecord(_ row: some ResultRow) throws {
    let before = text.count
    if row.type(0) == .text, case let value = row.bytes(0), value.first == UInt8(ascii: "{"),
      value.last == UInt8(ascii: "}")
    {
      try require(value.count)
      text.append(contentsOf: value)
    } else {
      try append(row, 0, isEntry: true)
    }
    lengths.append(Int32(text.count - before))
  }

  private mutating func append(_ row: some ResultRow, _ i: Int32, isEntry: Bool) throws {
    switch row.type(i) {
    case .null, .blob: text.append(contentsOf: "null".utf8)
    case .integer: JSONText.append(row.int64(i), to: &text)
    case .real: JSONText.append(row.double(i), to: &text)
    case .text:
      let value = row.bytes(i)
      // A query may name any column `soup`: copy its text only if it is valid JSON.
      if isEntry, JSONWalker.isObject(value) {
        try require(value.count)
        return text.append(contentsOf: value)
      }
      try require(value.count > Tuning.largeValueBytes ? value.escapedCount : value.count)
      if JSONWalker.isUTF8(value) {
        text.append(UInt8(ascii: "\""))
        JSONText.appendEscaped(value.bindMemory(to: UInt8.self), to: &text)
        text.append(UInt8(ascii: "\""))
      } else {
        JSONText.appendQuoted(String(decoding: value, as: UTF8.self), to: &text)
      }
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The most bytes of the text as a JSON string without quotes.
  fileprivate var escapedCount: Int {
    reduce(count) { $1 < UInt8(ascii: " ") || $1 == UInt8(ascii: "\"") || $1 == UInt8(ascii: "\\") ? $0 + 5 : $0 }
  }
}
