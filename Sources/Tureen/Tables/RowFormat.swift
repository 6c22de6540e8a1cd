import JSON

/// An output format for rows.
package enum RowFormat: String, Sendable { case table, csv, json, jsonl }

/// Formats rows as text, one after the other. A table's first rows are held until the widths of its columns are known.
package struct RowFormatter {
  private let format: RowFormat
  private let columns: [String]
  private let keys: [[UInt8]]
  private let width: Int?
  private var rows = 0
  private var held: [[ResultCell]] = []
  private var table: TextTable?

  /// The number of rows that determine the widths of a table's columns.
  private static let sample = 500

  /// - Parameters:
  ///   - columns: The columns' names. In JSON, a number distinguishes equal names.
  ///   - width: The terminal's width in columns, for a table; nil for no limit.
  package init(_ format: RowFormat, columns: [String], width: Int? = nil) {
    self.format = format
    self.columns = columns
    self.width = width
    keys = Self.unique(columns).map { name in
      var key: [UInt8] = [UInt8(ascii: "\"")]
      var text = name
      text.withUTF8 { JSONText.appendEscaped($0, to: &key) }
      return key + Array("\":".utf8)
    }
  }

  static func unique(_ names: [String]) -> [String] {
    var seen: IdSet = []
    return names.map { name in
      var candidate = name, number = 2
      while !seen.insert(candidate).inserted {
        candidate = "\(name)_\(number)"
        number += 1
      }
      return candidate
    }
  }

  package mutating func row(_ cells: [ResultCell], to out: inout [UInt8]) {
    defer { rows += 1 }
    switch format {
    case .table:
      guard table == nil else { return append(cells, to: &out) }
      held.append(cells)
      if held.count >= Self.sample { release(&out) }
    case .csv:
      if rows == 0 { CSVText.append(columns, to: &out) }
      CSVText.append(cells.map(\.text), to: &out)
    case .jsonl:
      object(cells, to: &out)
      out.append(UInt8(ascii: "\n"))
    case .json:
      out.append(contentsOf: (rows == 0 ? "[\n" : ",\n").utf8)
      object(cells, to: &out)
    }
  }

  /// The titles of a table's columns that are omitted because the terminal is too narrow.
  package var leftOut: [String] { table?.leftOut ?? [] }

  /// Writes held rows and the text after the last row.
  package mutating func end(to out: inout [UInt8]) {
    switch format {
    case .table: if table == nil { release(&out) }
    case .csv: if rows == 0 { CSVText.append(columns, to: &out) }
    case .json: out.append(contentsOf: (rows == 0 ? "[]\n" : "\n]\n").utf8)
    case .jsonl: break
    }
  }

  private func object(_ cells: [ResultCell], to out: inout [UInt8]) {
    out.append(UInt8(ascii: "{"))
    for (i, key) in keys.enumerated() where i < cells.count {
      if i > 0 { out.append(UInt8(ascii: ",")) }
      out.append(contentsOf: key)
      out.append(contentsOf: cells[i].json)
    }
    out.append(UInt8(ascii: "}"))
  }

  // MARK: Tables

  private mutating func release(_ out: inout [UInt8]) {
    let titles = columns.indices.map { i in
      let kinds = held.compactMap { i < $0.count ? $0[i].kind : nil }.filter { $0 != .null }
      return TextTable.Column(columns[i], isNumeric: !kinds.isEmpty && kinds.allSatisfy { $0 == .number })
    }
    let made = TextTable(titles, sample: held.map { $0.map { TextTable.cell($0.text) } }, width: width)
    table = made
    out.append(contentsOf: made.heading.utf8)
    for cells in held { append(cells, to: &out) }
    held = []
  }

  private func append(_ cells: [ResultCell], to out: inout [UInt8]) {
    guard let table else { return }
    out.append(contentsOf: table.line(cells.map { TextTable.cell($0.text) }).utf8)
  }
}
