import SmartStore

/// A part of a store as rows of a table in its schema.
struct PostgresCopyTable {
  let table: String
  let columns: [CopiedColumn]
  let keyColumns: Int
  /// The number of the soup, in a column of tables that several soups share.
  let soup: Int64?
  /// Columns of an index have U+FFFD for U+0000.
  let firstIndexColumn: Int
  /// The column whose texts are stored as bytes: keys of key-value stores, which may contain U+0000.
  private let byteTextColumn: Int?

  /// - Parameter schema: The quoted schema of the store.
  init(_ part: StorePart, _ soup: SoupTable?, schema: String) {
    keyColumns = part.keyColumns
    if let shared = part.table {
      table = "\(schema).\(shared.name)"
      byteTextColumn = part == .keyValues ? 1 : nil
      columns = part == .keyValues ? [shared.columns[0], .blob("key"), shared.columns[2]] : shared.columns
      self.soup = soup?.soup.number
      firstIndexColumn = .max
    } else {
      byteTextColumn = nil
      table = soup?.sql ?? ""
      let own: [CopiedColumn] = [
        .integer("id"), .text("soup"), .integer("created"), .integer("lastModified"), .integer("version"), .integer("owner"),
      ]
      firstIndexColumn = own.count
      columns =
        own
        + (soup.map { soup in
          soup.projected.map { i in
            let name = soup.column(i)
            return switch soup.form(i) {
            case .integer: .integer(name)
            case .real: .real(name)
            case .text, .mixed: .text(name)
            }
          }
        } ?? [])
      self.soup = nil
    }
  }

  var keys: String { columns.prefix(keyColumns).map(\.name).joined(separator: ", ") }

  /// Returns the condition for the rows of a range, and its values.
  func rows(in range: CopiedRange) -> (sql: String, parameters: [PostgresParameter]) {
    var conditions: [String] = [], parameters: [PostgresParameter] = []
    if let soup {
      parameters.append(.int64(soup))
      conditions.append("soup = $1")
    }
    for (key, sign) in [(range.after, ">"), (range.through, "<=")] {
      guard let key else { continue }
      let marks = key.indices.map { "$\(parameters.count + $0 + 1)" }.joined(separator: ", ")
      conditions.append("(\(keys)) \(sign) (\(marks))")
      for (i, value) in key.enumerated() { parameters.append(parameter(value, column: i)) }
    }
    return (conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "), parameters)
  }

  private func parameter(_ value: CopiedValue, column: Int) -> PostgresParameter {
    switch value {
    case .text(let value) where column == byteTextColumn: .bytes(value)
    case .null: .null
    case .integer(let value): .int64(value)
    case .real(let value): .double(value)
    case .text(let value): .utf8(value)
    case .blob(let value): .bytes(value)
    }
  }

  /// An expression for the bytes of a row's texts.
  var bytes: String {
    let sizes = columns.compactMap { column -> String? in
      switch column {
      case .text(let name), .blob(let name): "coalesce(octet_length(\(name)), 0)"
      case .integer, .real, .flag: nil
      }
    }
    return sizes.isEmpty ? "0" : sizes.joined(separator: " + ")
  }

  /// Reads a row's columns.
  func row(_ row: PostgresRow) throws -> [CopiedValue] {
    try columns.enumerated().map { i, column in
      if try row.isNull(i) { return .null }
      return switch column {
      case .integer: .integer(try row.int64(i))
      case .real: .real(try row.double(i))
      case .text: .text(try row.text(i))
      case .blob where i == byteTextColumn: .text(try row.optionalBytes(i) ?? [])
      case .blob: .blob(try row.optionalBytes(i) ?? [])
      case .flag: .integer(try row.bool(i) ? 1 : 0)
      }
    }
  }

  /// Returns the statement that inserts rows, with an array for each column.
  /// - Throws: ``StoreError`` `.invalidEntry` for a value that the column cannot hold.
  func insert(_ rows: [[CopiedValue]]) throws -> (sql: String, parameters: [PostgresParameter]) {
    let names = columns.map(\.name)
    var parameters: [PostgresParameter] = []
    for i in columns.indices { parameters.append(.array(try array(i, rows))) }
    var targets = names, sources = columns.indices.map { "u_\($0)" }
    let marks = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", "), aliases = sources.joined(separator: ", ")
    if let soup {
      targets.append("soup")
      sources.append("$\(columns.count + 1)")
      parameters.append(.int64(soup))
    }
    return (
      "INSERT INTO \(table) (\(targets.joined(separator: ", "))) SELECT \(sources.joined(separator: ", ")) "
        + "FROM unnest(\(marks)) AS u(\(aliases))", parameters
    )
  }

  private func array(_ i: Int, _ rows: [[CopiedValue]]) throws -> PostgresArray {
    var array = PostgresArray(of: columns[i].element)
    for row in rows {
      switch (columns[i], row[i]) {
      case (_, .null): array.appendNull()
      case (.integer, .integer(let value)): array.append(value)
      case (.flag, .integer(let value)): array.append(value != 0)
      case (.real, .real(let value)): array.append(value)
      case (.real, .integer(let value)): array.append(Double(value))
      case (.blob, .blob(let value)), (.blob, .text(let value)): value.withUnsafeBytes { array.append($0) }
      case (.text, .text(let value)), (.text, .blob(let value)):
        try text(value, isIndex: i >= firstIndexColumn).withUnsafeBytes { array.append($0) }
      default: throw StoreError(.invalidEntry, "its column \(columns[i].name) has a value of another type")
      }
    }
    return array
  }

  private func text(_ value: [UInt8], isIndex: Bool) throws -> [UInt8] {
    guard String(validating: value, as: UTF8.self) != nil else { throw StoreError(.invalidEntry, "its text is not valid UTF-8") }
    guard value.contains(0) else { return value }
    guard isIndex else {
      throw StoreError(.invalidEntry, "its text contains the character U+0000, which PostgreSQL cannot store")
    }
    return CopiedValue.withoutNul(value)
  }
}

extension CopiedColumn {
  fileprivate var element: PostgresArray.Element {
    switch self {
    case .integer: .int64
    case .real: .double
    case .text: .text
    case .blob: .bytes
    case .flag: .bool
    }
  }
}
