import SmartStore
import Support

/// How values are stored, and so how they compare.
enum ValueForm: Sendable {
  case text, integer, real
  /// Values of any class: see ``SortKey``.
  case mixed

  /// The elements of an array of such values.
  var element: PostgresArray.Element {
    switch self {
    case .integer: .int64
    case .real: .double
    case .text, .mixed: .text
    }
  }
}

/// A path of a soup in SQL, over a row of its table.
struct SoupValue: Sendable {
  let form: ValueForm
  /// The expression that is compared and sorted. For `.mixed`, a sort key.
  let sql: String
  /// The expression for readers. For `.mixed`, the value after a letter for its class.
  let selected: String
  /// A value of any class as text.
  let asText: String
  /// Whether an index over the beginning of each text may exist.
  let isIndexed: Bool
  /// Whether the value is in a column of its own.
  let isColumn: Bool
  /// Whether an index finds a value at once.
  let hasIndex: Bool
  /// The name that SQLite gives the column.
  let name: String
}

/// The names of a soup's table and columns in the schema of its store.
struct SoupTable: Sendable {
  let soup: Soup
  /// The quoted schema.
  let schema: String
  /// The table with its schema, and without.
  let sql: String, name: String

  /// - Parameter suffix: Ends the name of a table that is not the soup's yet.
  init(_ soup: Soup, _ schema: String, suffix: String = "") {
    self.soup = soup
    self.schema = schema
    name = "table_\(soup.number)\(suffix)"
    sql = "\(schema).\(name)"
  }

  /// Characters of a text that its index holds: long texts do not fit into an index.
  static let indexedCharacters = 300

  func column(_ i: Int) -> String { "table_\(soup.number)_\(i)" }

  func form(_ i: Int) -> ValueForm {
    switch soup.specs[i].type {
    case .string, .fullText: .text
    case .integer: .integer
    case .floating: .real
    case .json1: .mixed
    }
  }

  func columnType(_ i: Int) -> String {
    switch form(i) {
    case .text: "text COLLATE \"C\""
    case .mixed:
      "text COLLATE \"C\" GENERATED ALWAYS AS (\(schema).sort_key(soup, \(JSONPath.literal(soup.specs[i].path)))) STORED"
    case .integer: "bigint"
    case .real: "double precision"
    }
  }

  /// The specs whose values this program computes; the server computes those of json1 paths.
  var projected: [Int] { soup.specs.indices.filter { form($0) != .mixed } }

  /// The definition of a new table. The columns of json1 paths, which SQLite's tables lack, come last.
  var definition: String {
    func columns(isMixed: Bool) -> [String] {
      soup.specs.indices.filter { (form($0) == .mixed) == isMixed }.map { "\(column($0)) \(columnType($0))" }
    }
    let all =
      ["id bigint PRIMARY KEY", "soup text COLLATE \"C\" NOT NULL", "created bigint NOT NULL", "lastModified bigint NOT NULL"]
      + columns(isMixed: false) + ["version bigint NOT NULL DEFAULT 1", "owner bigint"] + columns(isMixed: true)
    // Room for new versions of rows next to the old ones.
    return "CREATE TABLE \(sql) (\(all.joined(separator: ", "))) WITH (fillfactor = 70)"
  }

  /// The name of the index over a path.
  func index(_ i: Int) -> String { "\(name)_\(i)_idx" }

  func createIndex(_ i: Int, unlessExists: Bool = false) -> String {
    let isText = form(i) == .text || form(i) == .mixed
    let key = isText ? "left(\(column(i)), \(SoupTable.indexedCharacters))" : column(i)
    return "CREATE INDEX \(unlessExists ? "IF NOT EXISTS " : "")\(index(i)) ON \(sql) (\(key) NULLS FIRST, id)"
  }

  // MARK: Values

  func value(_ path: String) -> SoupValue {
    func own(_ form: ValueForm, _ column: String, _ name: String) -> SoupValue {
      SoupValue(
        form: form, sql: column, selected: column, asText: SoupValue.text(of: column, form, schema), isIndexed: false,
        isColumn: true, hasIndex: column == "id", name: name)
    }
    switch path {
    case SoupField.entryId: return own(.integer, "id", "id")
    case SoupField.lastModified: return own(.integer, "lastModified", "lastModified")
    case SoupField.created: return own(.integer, "created", "created")
    case SoupField.soup: return own(.text, "soup", "soup")
    default: break
    }
    guard let i = soup.specs.firstIndex(where: { $0.path == path }) else {
      return SoupValue(
        form: .mixed, sql: sortKey(path), selected: typed(path), asText: text(path), isIndexed: true, isColumn: false,
        hasIndex: false, name: path)
    }
    let column = column(i), form = form(i)
    return SoupValue(
      form: form, sql: column, selected: form == .mixed ? typed(path) : column,
      asText: form == .mixed ? text(path) : SoupValue.text(of: column, form, schema), isIndexed: form == .text || form == .mixed,
      isColumn: true, hasIndex: soup.bulkLoad.map { $0.idPath == path } ?? true, name: column)
  }

  /// The value at a path of the entry's text, after a letter for its class.
  func typed(_ path: String) -> String { "\(schema).val(soup, \(JSONPath.literal(path)))" }

  private func text(_ path: String) -> String { "\(schema).txt(soup, \(JSONPath.literal(path))) COLLATE \"C\"" }

  private func sortKey(_ path: String) -> String {
    "\(schema).sort_key(soup, \(JSONPath.literal(path))) COLLATE \"C\""
  }

  /// True for entries with local changes, NULL for those without the flag; see SQLite's engine for the values that count.
  var isDirty: String {
    let value = value(SoupField.local), flags = ["i1", "r1.0", "ttrue", "t1"].map { "'\($0)'" }.joined(separator: ", ")
    switch value.form {
    case .text:
      // The first condition is the index's.
      return "(left(\(value.sql), \(SoupTable.indexedCharacters)) IN ('true', '1') AND \(value.sql) IN ('true', '1'))"
    case .integer:
      return "(\(value.sql) = 1 OR \(value.sql) IS NULL AND \(typed(SoupField.local)) IN ('ttrue', 't1'))"
    case .real, .mixed: return "(\(typed(SoupField.local)) IN (\(flags)))"
    }
  }
}

/// Paths of SQLite's json_extract.
enum JSONPath {
  /// The steps of a path: `.key` and `[n]`. A name in double quotes may contain dots and brackets.
  static func steps(_ path: String) -> [String] {
    var steps: [String] = [], rest = Array(path.unicodeScalars)[...], isName = true
    while let first = rest.first {
      if first == "[", !isName {
        let inside = rest.dropFirst().prefix { $0 != "]" }
        rest = rest.dropFirst(inside.count + 2)
        steps.append("[" + subscript_(String(String.UnicodeScalarView(inside))))
      } else if first == ".", !isName {
        rest = rest.dropFirst()
        isName = true
      } else {
        isName = false
        var name: ArraySlice<Unicode.Scalar>
        if first == "\"" {
          name = rest.dropFirst().prefix { $0 != "\"" }
          rest = rest.dropFirst(name.count + 2)
        } else {
          name = rest.prefix { $0 != "." && $0 != "[" }
          rest = rest.dropFirst(name.count)
          // Neither a name nor a step: SQLite finds nothing there.
          if name.isEmpty { rest = rest.dropFirst() }
        }
        steps.append("." + String(String.UnicodeScalarView(name)))
      }
    }
    return steps
  }

  /// `#` is the position after the last element, `#-n` the n-th from the end.
  private static func subscript_(_ text: String) -> String {
    if text == "#" { return "2147483647" }
    return text.hasPrefix("#-") ? String(text.dropFirst()) : text
  }

  /// The steps as an SQL array.
  static func literal(_ path: String) -> String {
    "ARRAY[" + steps(path).map { literal(text: $0) }.joined(separator: ", ") + "]::text[]"
  }

  /// A text as SQL. One with backslashes has a form that no setting of the server changes. By bytes: a quote and an
  /// accent after it are one character to Swift, and two to PostgreSQL.
  static func literal(text: String) -> String {
    let text = PostgresText.storable(text), hasBackslash = text.utf8.contains(UInt8(ascii: "\\"))
    var out = Array((hasBackslash ? "E'" : "'").utf8)
    for byte in text.utf8 {
      if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\\") { out.append(byte) }
      out.append(byte)
    }
    return String(decoding: out + "'".utf8, as: UTF8.self)
  }
}
