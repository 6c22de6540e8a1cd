import JSON

/// The type of the values in a column of a CSV file.
package enum CellType: String, Sendable, CaseIterable {
  case text, number, boolean, json

  /// The type of an existing value; nil for null.
  package init?(of value: JSONValue) {
    switch value {
    case .null: return nil
    case .string: self = .text
    case .integer, .number, .decimal: self = .number
    case .bool: self = .boolean
    case .array, .object: self = .json
    }
  }

  package init?(indexType word: String) {
    switch word {
    case "integer", "floating": self = .number
    case "string", "full_text": self = .text
    default: return nil
    }
  }

  /// Converts the text of a cell to a value.
  /// - Parameter cell: A text that is not empty.
  /// - Throws: ``ImportProblem``, naming the column.
  package func value(of cell: String, column: String) throws(ImportProblem) -> JSONValue {
    switch self {
    case .text: return .string(cell)
    case .number:
      let digits = cell.hasPrefix("+") ? String(cell.dropFirst()) : cell
      guard let value = try? JSONValue(parsing: digits), value.doubleValue?.isFinite ?? false else {
        throw ImportProblem("column '\(column)': '\(cell.prefix(40))' is not a number")
      }
      return value
    case .boolean:
      switch cell.lowercased() {
      case "true": return true
      case "false": return false
      default: throw ImportProblem("column '\(column)': '\(cell.prefix(40))' is not true or false")
      }
    case .json:
      do {
        return try JSONValue(parsing: cell)
      } catch {
        throw ImportProblem("column '\(column)': '\(cell.prefix(40))' is not JSON: \(error.message)")
      }
    }
  }
}
