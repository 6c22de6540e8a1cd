import SmartStore
import Support

/// The names of soups in smart SQL on their way to PostgreSQL.
struct PostgresDialect: SQLDialect {
  let tables: [SoupTable]

  init(caches: StoreCaches) { tables = caches.all }

  /// The function whose calls stand for paths without a column that can be compared.
  static let pathFunction = "tureen_str"

  private func table(_ soup: Soup) -> SoupTable { tables.first { $0.soup.number == soup.number } ?? SoupTable(soup, "") }

  func table(of soup: Soup) -> String { table(soup).name }

  func column(of path: String, in soup: Soup) -> String? {
    let value = table(soup).value(path)
    return value.form == .mixed ? nil : value.sql
  }

  func extraction(of path: String, qualifier: String?) -> String {
    "\(PostgresDialect.pathFunction)(\(qualifier.map { $0 + "." } ?? "")soup, \(JSONPath.literal(text: path)))"
  }
}

/// Smart SQL in PostgreSQL's dialect.
struct TranslatedSmartSql {
  let source: String
  /// The SQL between the placeholders.
  let pieces: [String]
  let placeholders: Int
  let columnNames: [String]
  let selectsId: Bool
  /// The columns whose values begin with a letter for their class.
  let typedColumns: Set<Int>
  /// The placeholders that are compared with sort keys.
  let keyPlaceholders: Set<Int>

  var resultColumns: [ResultColumn] {
    columnNames.enumerated().map { ResultColumn(name: $1, isTyped: typedColumns.contains($0)) }
  }

  /// Returns the statement with typed placeholders. SQLite's text order is that of the bytes.
  func sql(_ values: [SQLValue], _ parameters: inout Parameters) -> String {
    var sql = pieces[0]
    for (i, piece) in pieces.dropFirst().enumerated() {
      let value: SQLValue = i < values.count ? values[i] : .null
      let used: SQLValue = keyPlaceholders.contains(i) ? SortKey.encoded(value).map { .text($0) } ?? .null : value
      switch used {
      case .null, .blob: sql += "NULL"
      case .integer(let integer): sql += parameters.add(.int64(integer))
      case .real(let real): sql += parameters.add(.double(real))
      case .text(let text): sql += "(\(parameters.add(text: text)) COLLATE \"C\")"
      }
      sql += piece
    }
    return sql
  }
}

/// Translates SQLite's dialect to PostgreSQL's by rules over tokens. Refuses constructs that PostgreSQL would
/// read differently, and PostgreSQL itself refuses to compare values of different classes.
struct SmartSqlTranslation {
  let tokens: [SmartSqlToken]
  let tables: [SoupTable]
  let schema: String
  var out: [String] = [""]
  var typedColumns: Set<Int> = [], keyPlaceholders: Set<Int> = []
  /// The positions of paths that are columns of the result, and of those that sort it.
  var resultPaths: [Int: Int] = [:], sortingPaths: Set<Int> = []
  private var aliases = 0

  /// - Parameters:
  ///   - sql: The statement in which ``PostgresDialect`` has named the soups; SQLite accepts it.
  ///   - source: The text of the query.
  /// - Throws: ``StoreError`` `.notOnThisEngine`.
  static func translate(
    _ sql: String, source: String, tables: [SoupTable], schema: String, columnNames: [String], placeholders: Int,
    selectsId: Bool
  ) throws -> TranslatedSmartSql {
    var translation = SmartSqlTranslation(tokens: try SmartSqlToken.list(sql), tables: tables, schema: schema)
    do {
      try translation.checkWords()
      translation.findResultPaths()
      try translation.emit(0..<translation.tokens.count)
    } catch var error as StoreError {
      error.sql = source
      throw error
    }
    return TranslatedSmartSql(
      source: source, pieces: translation.out, placeholders: placeholders, columnNames: columnNames, selectsId: selectsId,
      typedColumns: translation.typedColumns, keyPlaceholders: translation.keyPlaceholders)
  }

  private init(tokens: [SmartSqlToken], tables: [SoupTable], schema: String) {
    self.tokens = tokens
    self.tables = tables
    self.schema = schema
  }

  func refused(_ what: String) -> StoreError { .notOnThisEngine("\(what) in smart SQL") }

  // MARK: Words

  static let keywords: Set<String> = [
    "select", "distinct", "all", "from", "where", "group", "by", "having", "order", "asc", "desc", "limit", "offset", "as",
    "join", "inner", "left", "right", "full", "outer", "cross", "on", "using", "and", "or", "not", "in", "is", "null", "like",
    "between", "exists", "case", "when", "then", "else", "end", "union", "except", "isnull", "notnull", "true", "false", "values",
  ]

  /// Words that SQLite and PostgreSQL read differently.
  private static let refusedWords: Set<String> = [
    "match", "glob", "regexp", "rowid", "_rowid_", "oid", "with", "recursive", "collate", "indexed", "over", "window", "filter",
    "partition", "natural", "intersect", "nulls", "escape", "cast", "raise", "explain", "current_date", "current_time",
    "current_timestamp", "current_user", "current_role", "current_catalog", "current_schema", "session_user", "user", "localtime",
    "localtimestamp", "array", "row", "returning", "similar", "ilike", "interval", "timestamp", "date", "time", "ctid", "xmin",
    "tableoid", "lateral", "materialized", "values",
  ]

  private static let functions: Set<String> = [
    "count", "min", "max", "sum", "total", "avg", "lower", "upper", "length", "substr", "trim", "ltrim", "rtrim", "coalesce",
    "ifnull", "nullif", "abs", "replace", "instr", "json_extract", PostgresDialect.pathFunction,
  ]

  private func checkWords() throws {
    var hasUnion = false
    for (i, token) in tokens.enumerated() {
      switch token {
      case .word(let word):
        if Self.refusedWords.contains(word) { throw refused("'\(word.uppercased())'") }
        if word.hasSuffix("_fts") { throw refused("full-text search") }
        if isSign("(", i + 1), !Self.keywords.contains(word), !Self.functions.contains(word) {
          throw refused("the function \(word)()")
        }
        if word == "union" || word == "except" { hasUnion = true }
        if case .string? = at(i + 1), !Self.keywords.contains(word) { throw refused("a text after '\(word)'") }
      case .quotedName(let name):
        guard isWord("as", i - 1) || quotedNamesAfterAs.contains(name) else { throw refused("the name \(name)") }
      default: break
      }
    }
    if hasUnion, let mixed = mixture(0..<tokens.count) { throw refused("UNION or EXCEPT of \(mixed)") }
  }

  private var quotedNamesAfterAs: IdSet {
    var names: IdSet = []
    for (i, token) in tokens.enumerated() {
      if case .quotedName(let name) = token, isWord("as", i - 1) { names.insert(name) }
    }
    return names
  }

  func at(_ i: Int) -> SmartSqlToken? { tokens.indices.contains(i) ? tokens[i] : nil }
  func isWord(_ word: String, _ i: Int) -> Bool { at(i)?.isWord(word) ?? false }
  func isSign(_ sign: String, _ i: Int) -> Bool { at(i)?.isSign(sign) ?? false }

  /// The position of the parenthesis that closes the one at `open`.
  func close(_ open: Int) throws -> Int {
    var depth = 0
    for i in open..<tokens.count {
      if isSign("(", i) { depth += 1 }
      if isSign(")", i) {
        depth -= 1
        if depth == 0 { return i }
      }
    }
    throw refused("a parenthesis without its other half")
  }

  /// The parts of a range between its commas.
  func parts(_ range: Range<Int>) -> [Range<Int>] {
    var parts: [Range<Int>] = [], start = range.lowerBound, depth = 0
    for i in range {
      if isSign("(", i) { depth += 1 }
      if isSign(")", i) { depth -= 1 }
      if depth == 0, isSign(",", i) {
        parts.append(start..<i)
        start = i + 1
      }
    }
    return parts + [start..<range.upperBound]
  }

  // MARK: Classes of numbers

  struct Classes {
    var hasInteger = false, hasReal = false, hasUnknown = false
  }

  /// The classes of the numbers in a range.
  func classes(_ range: Range<Int>) -> Classes {
    var found = Classes()
    for i in range {
      switch tokens[i] {
      case .number(let text): if text.contains(".") { found.hasReal = true } else { found.hasInteger = true }
      case .sign("?"): found.hasUnknown = true
      case .quotedName: found.hasUnknown = true
      case .word(let word):
        if let form = form(ofColumn: word) {
          if form == .integer { found.hasInteger = true }
          if form == .real { found.hasReal = true }
        } else if ["count", "length", "instr"].contains(word) {
          found.hasInteger = true
        } else if ["avg", "total"].contains(word) {
          found.hasReal = true
        } else if !Self.keywords.contains(word), !Self.functions.contains(word), !isSign(".", i + 1), !isTable(word),
          !isWord("as", i - 1)
        {
          found.hasUnknown = true
        }
      default: break
      }
    }
    return found
  }

  /// Why the values of a range could become another class; nil if they cannot.
  func mixture(_ range: Range<Int>) -> String? {
    let found = classes(range)
    if found.hasInteger, found.hasReal { return "whole numbers and fractions" }
    return found.hasUnknown && (found.hasInteger || found.hasReal) ? "numbers of an unknown kind" : nil
  }

  func form(ofColumn word: String) -> ValueForm? {
    switch word {
    case "id", "created", "lastmodified", "version", "owner": return .integer
    case "soup": return .text
    default: break
    }
    for table in tables {
      if let i = table.soup.specs.indices.first(where: { table.column($0) == word }) { return table.form(i) }
    }
    return nil
  }

  func isTable(_ word: String) -> Bool { tables.contains { $0.name == word } }

  // MARK: Output

  mutating func put(_ text: String) { out[out.count - 1] += text + " " }

  mutating func emit(_ range: Range<Int>) throws {
    var i = range.lowerBound
    while i < range.upperBound { i = try step(i, range) }
  }

  /// Emits what begins at a position; returns the position after it.
  mutating func step(_ i: Int, _ range: Range<Int>) throws -> Int {
    switch tokens[i] {
    case .string(let text):
      put("(\(text) COLLATE \"C\")")
      return i + 1
    case .number(let text):
      put(text.contains(".") ? "\(text)::double precision" : text)
      return i + 1
    case .quotedName(let name):
      put(name)
      return i + 1
    case .sign("?"):
      out.append("")
      put("")
      return i + 1
    case .sign("=="):
      put("=")
      return i + 1
    case .sign("+") where isPrefix(i): return i + 1
    case .sign("||"): return try concatenation(i)
    case .sign("*"): return try star(i)
    case .sign("("): return try parenthesis(i)
    case .sign(let sign):
      put(sign)
      return i + 1
    case .word(let word): return try self.word(word, i, range)
    }
  }

  /// Whether a sign has nothing before it that it could join with its right side.
  private func isPrefix(_ i: Int) -> Bool {
    switch at(i - 1) {
    case nil: true
    case .sign(let sign)?: sign != ")" && sign != "?"
    case .word(let word)?: Self.keywords.contains(word)
    default: false
    }
  }

  private mutating func star(_ i: Int) throws -> Int {
    let isColumn: Bool =
      switch at(i - 1) {
      case nil, .word("select")?, .word("distinct")?, .word("all")?, .sign(",")?, .sign(".")?: true
      default: false
      }
    if isColumn, tables.contains(where: { table in table.soup.specs.contains { $0.type == .json1 } }) {
      guard let columns = columns(ofStar: i) else { throw refused("'*' in a store with json1 paths") }
      put(columns)
      return i + 1
    }
    put("*")
    return i + 1
  }

  /// `||` makes texts of numbers, and their forms differ.
  private mutating func concatenation(_ i: Int) throws -> Int {
    func isText(_ token: SmartSqlToken?, isRight: Bool) -> Bool {
      switch token {
      case .string?, .sign("?")?: return true
      case .word(let word)?:
        if form(ofColumn: word) == .text { return true }
        let giveText: Set = ["lower", "upper", "trim", "ltrim", "rtrim", "substr", "replace", PostgresDialect.pathFunction]
        // A table's or an alias's name before a column.
        if isRight, isSign(".", i + 2), case .word(let column)? = at(i + 3) { return form(ofColumn: column) == .text }
        return isRight && giveText.contains(word)
      default: return false
      }
    }
    guard isText(at(i - 1), isRight: false), isText(at(i + 1), isRight: true) else {
      throw refused("'||' with what is not a text")
    }
    put("||")
    return i + 1
  }

  private mutating func parenthesis(_ i: Int) throws -> Int {
    let end = try close(i)
    put("(")
    try emit((i + 1)..<end)
    put(")")
    // PostgreSQL wants a name for the table that a subquery makes.
    let isTable = (isWord("from", i - 1) || isWord("join", i - 1)) && isWord("select", i + 1)
    let isNamed = isWord("as", end + 1) || at(end + 1)?.word.map { !Self.keywords.contains($0) } ?? false
    if isTable, !isNamed {
      aliases += 1
      put("AS tureen_q\(aliases)")
    }
    return end + 1
  }

  private mutating func word(_ word: String, _ i: Int, _ range: Range<Int>) throws -> Int {
    if let call = pathCall(i) { return try path(call) }
    if word == "json_extract" { throw refused("json_extract() of anything but an entry and a path") }
    if isSign("(", i + 1), Self.functions.contains(word) { return try function(word, i) }
    switch word {
    case "like": return try like(i)
    case "is": return try comparison(i)
    case "order" where isWord("by", i + 1): return try ordering(i, range)
    case "limit": return try limit(i, range)
    case "case": return try cases(i)
    default:
      put(isTable(word) && !isSign(".", i + 1) ? "\(schema).\(word)" : word)
      return i + 1
    }
  }

  // MARK: Clauses

  private mutating func like(_ i: Int) throws -> Int {
    switch at(i + 1) {
    case .string?, .sign("?")?: break
    default: throw refused("LIKE with a computed pattern")
    }
    guard !isSign("||", i + 2) else { throw refused("LIKE with a computed pattern") }
    put("ILIKE")
    _ = try step(i + 1, i..<tokens.count)
    put("ESCAPE ''")
    return i + 2
  }

  private mutating func comparison(_ i: Int) throws -> Int {
    let isNot = isWord("not", i + 1), next = at(isNot ? i + 2 : i + 1)
    if let word = next?.word, ["null", "true", "false"].contains(word) {
      put(isNot ? "IS NOT" : "IS")
    } else if next?.isWord("distinct") ?? true {
      throw refused("IS DISTINCT")
    } else {
      put(isNot ? "IS DISTINCT FROM" : "IS NOT DISTINCT FROM")
    }
    return isNot ? i + 2 : i + 1
  }

  /// The end of a list such as that of ORDER BY.
  private func endOfList(_ start: Int, _ range: Range<Int>) -> Int {
    var depth = 0
    for i in start..<range.upperBound {
      if isSign("(", i) { depth += 1 }
      if isSign(")", i) { depth -= 1 }
      if depth < 0 { return i }
      if depth == 0, let word = tokens[i].word, ["limit", "offset", "union", "except"].contains(word) { return i }
    }
    return range.upperBound
  }

  /// NULLs come first in SQLite.
  private mutating func ordering(_ i: Int, _ range: Range<Int>) throws -> Int {
    put("order by")
    let end = endOfList(i + 2, range)
    for (n, part) in parts((i + 2)..<end).enumerated() {
      if n > 0 { put(",") }
      let last = part.isEmpty ? nil : tokens[part.upperBound - 1].word
      let hasDirection = last == "asc" || last == "desc"
      let item = hasDirection ? part.dropLast() : part
      if let first = item.first, let call = pathCall(first), call.end == item.upperBound { sortingPaths.insert(first) }
      try emit(item)
      put(last == "desc" ? "DESC NULLS LAST" : "ASC NULLS FIRST")
    }
    return end
  }

  private mutating func limit(_ i: Int, _ range: Range<Int>) throws -> Int {
    let items = parts((i + 1)..<endOfLimit(i + 1, range))
    guard items.count == 2 else {
      put("limit")
      return i + 1
    }
    guard !items[0].contains(where: { isSign("?", $0) }) else { throw refused("LIMIT ?, n") }
    put("limit")
    try emit(items[1])
    put("offset")
    try emit(items[0])
    return items[1].upperBound
  }

  private func endOfLimit(_ start: Int, _ range: Range<Int>) -> Int {
    (start..<range.upperBound).first { isSign(")", $0) || isWord("offset", $0) } ?? range.upperBound
  }

  private mutating func cases(_ i: Int) throws -> Int {
    // The results of CASE must be of one class; conditions may be of any.
    var depth = 0, results: [Int] = [], isResult = false
    for n in i..<tokens.count {
      if isWord("case", n) { depth += 1 }
      if isWord("end", n) {
        depth -= 1
        if depth == 0 { break }
      }
      if depth == 1 {
        if isWord("then", n) || isWord("else", n) { isResult = true } else if isWord("when", n) { isResult = false }
      }
      if isResult { results.append(n) }
    }
    var found = Classes()
    for n in results {
      let one = classes(n..<(n + 1))
      found.hasInteger = found.hasInteger || one.hasInteger
      found.hasReal = found.hasReal || one.hasReal
      found.hasUnknown = found.hasUnknown || one.hasUnknown
    }
    if found.hasReal && (found.hasInteger || found.hasUnknown) || found.hasUnknown && found.hasInteger {
      throw refused("CASE with numbers of different kinds")
    }
    put("case")
    return i + 1
  }
}
