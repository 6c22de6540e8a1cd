import Database

/// A part of a store as rows of a table in its file.
struct SQLiteCopyTable {
  let table: String
  let columns: [CopiedColumn]
  private let names: [String]
  let keyColumns: Int
  /// The part's rows among those of the table; values follow in `values`.
  let condition: String?
  let values: [SQLValue]
  /// A column that every row of the part has, with its value.
  let fixed: (name: String, value: SQLValue)?

  init(_ part: StorePart, _ soup: Soup?) {
    keyColumns = part.keyColumns
    var fixed: (name: String, value: SQLValue)?, condition: String?, values: [SQLValue] = []
    switch part {
    case .entries:
      let specs = soup.map { soup in soup.specs.indices.compactMap { i in soup.column(i).map { (soup.specs[i].type, $0) } } }
      columns =
        [.integer("id"), .text("soup"), .integer("created"), .integer("lastModified"), .integer("version"), .integer("owner")]
        + (specs ?? []).map { type, name in
          switch type {
          case .integer: .integer(name)
          case .floating: .real(name)
          case .string, .fullText, .json1: .text(name)
          }
        }
      table = soup?.table ?? ""
      names = columns.map(\.name)
    default:
      table = part.table?.name ?? ""
      columns = part.table?.columns ?? []
      names = columns.map(\.name)
      if let soup {
        condition = "soup = ?"
        values = [.integer(soup.number)]
        fixed = ("soup", .integer(soup.number))
      }
    }
    (self.condition, self.values, self.fixed) = (condition, values, fixed)
  }

  private var keyNames: String { "(" + names.prefix(keyColumns).joined(separator: ", ") + ")" }

  var order: String { names.prefix(keyColumns).joined(separator: ", ") }

  /// Returns the condition for the rows of a range, and its values.
  func rows(in range: CopiedRange) -> (sql: String, values: [SQLValue]) {
    var conditions = [condition].compactMap { $0 }, values = values
    let marks = "(" + Array(repeating: "?", count: keyColumns).joined(separator: ", ") + ")"
    for (key, sign) in [(range.after, ">"), (range.through, "<=")] {
      guard let key else { continue }
      conditions.append("\(keyNames) \(sign) \(marks)")
      values += key.map { stored($0) }
    }
    return (conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "), values)
  }

  /// Returns a value of the key as the table has it.
  private func stored(_ value: CopiedValue) -> SQLValue {
    switch value {
    case .null: .null
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .text(let value): .text(String(decoding: value, as: UTF8.self))
    case .blob(let value): .blob(value)
    }
  }

  var select: String { "SELECT \(names.joined(separator: ", ")) FROM \(table)" }

  var insert: String {
    let names = names + (fixed.map { [$0.name] } ?? [])
    let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
    return "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(marks))"
  }
}
