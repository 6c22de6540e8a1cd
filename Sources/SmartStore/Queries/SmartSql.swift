import Support

/// The names that an engine gives the tables and columns of soups in its SQL.
package protocol SQLDialect: Sendable {
  func table(of soup: Soup) -> String
  /// Returns the column that holds the values of a path; nil if they are read from the entries'
  /// texts.
  func column(of path: String, in soup: Soup) -> String?
  /// Returns the expression that reads a path from the entries' texts.
  /// - Parameter qualifier: The name of the table or its alias; nil if the column is unambiguous.
  func extraction(of path: String, qualifier: String?) -> String
}

/// Translates smart SQL into SQL: `{soup}` and `{soup:path}` become tables, columns and
/// expressions.
///
/// One pass from left to right that recognizes strings, quoted names and comments. References
/// inside a string stay text, except in the string after `MATCH`, which holds the column filters of
/// full-text queries. A semicolon after the statement is removed.
/// - Note: Source: Mobile SDK, `SmartSqlHelper`; the results equal those in its tests.
package struct SmartSql {
  private let text: [UInt8]
  /// The position of the last brace that closes; -1 without one. Braces after it need no search.
  private let lastClose: Int
  private let dialect: any SQLDialect
  private let soup: (String) throws -> Soup?
  private var out: [UInt8] = []
  private var i = 0
  /// The place in the output of the last name or text in quotes: going back to its start would take the time of the
  /// whole output for each reference after one that nothing opened.
  private var lastQuoted = 0..<0
  /// The length of the output at the end of the statement; only blanks and comments may follow.
  private var end: Int?
  private var isStatement = true
  private var nesting = QueryNesting(), hasWith = false
  /// The columns in the output that hold texts.
  private var textColumns = IdSet()

  /// - Parameters:
  ///   - isStatement: Whether the text is a complete statement. A fragment, made from a query spec,
  ///     may contain anything in its names.
  ///   - dialect: The names of tables and columns.
  ///   - soup: Finds a soup by name; returns nil if there is none.
  /// - Throws: ``StoreError`` `.invalidSmartSql`, `.noSuchSoup`, `.notReadOnly`, `.queryLimit`.
  package static func convert(
    _ smartSql: String, isStatement: Bool = true, dialect: any SQLDialect, soup: @escaping (String) throws -> Soup?
  ) throws -> String {
    String(decoding: try converted(smartSql, isStatement: isStatement, dialect: dialect, soup: soup).out, as: UTF8.self)
  }

  /// Returns the placeholders, counted from 0, that are compared with a string or full-text index.
  /// - Throws: See ``convert(_:isStatement:dialect:soup:)``.
  static func textPlaceholders(
    in smartSql: String, dialect: any SQLDialect, soup: @escaping (String) throws -> Soup?
  ) throws -> Set<Int> {
    let converter = try converted(smartSql, isStatement: true, dialect: dialect, soup: soup)
    return ComparedPlaceholders(SQLToken.list(converter.out)).indexes(comparedWith: converter.textColumns)
  }

  private static func converted(
    _ smartSql: String, isStatement: Bool, dialect: any SQLDialect, soup: @escaping (String) throws -> Soup?
  ) throws -> SmartSql {
    guard smartSql.utf8.count <= Tuning.querySqlBytes else {
      throw StoreError(
        .queryLimit,
        "the smart SQL has \(smartSql.utf8.count) bytes; the limit is \(Tuning.querySqlBytes). Pass values in 'args'")
    }
    var converter = SmartSql(text: Array(smartSql.utf8), dialect: dialect, soup: soup)
    guard !converter.text.contains(0) else { throw StoreError(.invalidSmartSql, "smart SQL contains a zero byte") }
    converter.isStatement = isStatement
    if isStatement { try converter.refuseWrites() }
    while converter.i < converter.text.count { try converter.step() }
    if let end = converter.end { converter.out.removeSubrange(end...) }
    if converter.hasWith { try QueryExpansion(converter.out).check() }
    return converter
  }

  private init(text: [UInt8], dialect: any SQLDialect, soup: @escaping (String) throws -> Soup?) {
    self.text = text
    lastClose = text.lastIndex(of: UInt8(ascii: "}")) ?? -1
    self.dialect = dialect
    self.soup = soup
  }

  /// Reports the likeliest mistakes clearly. SQLite's authorizer is what actually keeps queries
  /// from writing.
  private func refuseWrites() throws {
    let start = text[startOfStatement...]
    let word = String(decoding: start.prefix { $0.isASCIILetter }, as: UTF8.self).lowercased()
    let writing: Set = [
      "insert", "update", "delete", "replace", "create", "drop", "alter", "pragma", "attach", "detach", "vacuum", "reindex",
      "begin", "commit", "rollback", "savepoint", "release", "analyze",
    ]
    guard !writing.contains(word) else { throw StoreError(.notReadOnly, "Only SELECT are supported") }
  }

  /// Returns the position of the first byte outside of blanks and comments.
  private var startOfStatement: Int {
    var skipper = SmartSql(text: text, dialect: dialect, soup: { _ in nil })
    while skipper.i < text.count {
      switch text[skipper.i] {
      case let c where c.isASCIIWhitespace: skipper.i += 1
      case UInt8(ascii: "-") where skipper.next == UInt8(ascii: "-"): skipper.copyLine()
      case UInt8(ascii: "/") where skipper.next == UInt8(ascii: "*"): skipper.copyBlockComment()
      default: return skipper.i
      }
    }
    return text.count
  }

  private mutating func step() throws {
    switch text[i] {
    case let c where c.isASCIIWhitespace:
      out.append(text[i])
      i += 1
    case UInt8(ascii: "-") where next == UInt8(ascii: "-"): copyLine()
    case UInt8(ascii: "/") where next == UInt8(ascii: "*"): copyBlockComment()
    case UInt8(ascii: ";") where isStatement:
      end = end ?? out.count
      i += 1
    default:
      guard end == nil else {
        throw StoreError(
          .invalidSmartSql, "smart SQL contains more than one statement; the second one begins at character \(character(i))")
      }
      try stepInStatement()
    }
  }

  private mutating func stepInStatement() throws {
    switch text[i] {
    case UInt8(ascii: "'"): try string()
    case UInt8(ascii: "\""), UInt8(ascii: "`"): copy(until: text[i])
    case UInt8(ascii: "["): copy(until: UInt8(ascii: "]"))
    case UInt8(ascii: "{"): try reference()
    default:
      try countNesting()
      out.append(text[i])
      i += 1
    }
  }

  /// Counts what opens, closes or begins at this byte.
  private mutating func countNesting() throws {
    switch text[i] {
    case UInt8(ascii: "("):
      try nesting.open()
      if followsWord { try nesting.addCall() }
    case UInt8(ascii: ")"): nesting.close()
    case UInt8(ascii: "s"), UInt8(ascii: "S"): if isAtWord("select") { try nesting.addSelect() }
    case UInt8(ascii: "v"), UInt8(ascii: "V"): if isAtWord("values") { try nesting.addSelect() }
    case UInt8(ascii: "a"), UInt8(ascii: "A"): if isAtWord("and") { try nesting.addTerm() }
    case UInt8(ascii: "o"), UInt8(ascii: "O"): if isAtWord("over") { try nesting.addWindow() }
    case UInt8(ascii: "w"), UInt8(ascii: "W"): if isAtWord("with") { hasWith = true }
    default: break
    }
  }

  /// Whether a word, a name in quotes or a comment stands before the next byte.
  private var followsWord: Bool {
    guard let last = out.last(where: { !$0.isASCIIWhitespace }) else { return false }
    return SmartSql.isWord(last) || "\"`]/".utf8.contains(last)
  }

  /// - Parameter word: In lower case.
  private func isAtWord(_ word: String) -> Bool {
    let end = i + word.utf8.count
    guard end <= text.count, i == 0 || !SmartSql.isWord(text[i - 1]), end == text.count || !SmartSql.isWord(text[end]) else {
      return false
    }
    return zip(text[i..<end], word.utf8).allSatisfy { $0 | UInt8.caseBit == $1 }
  }

  private var next: UInt8? { i + 1 < text.count ? text[i + 1] : nil }

  /// Copies a quoted name; a doubled quote is part of the name.
  private mutating func copy(until close: UInt8) {
    let start = out.count
    defer { lastQuoted = start..<out.count }
    out.append(text[i])
    i += 1
    while i < text.count {
      let c = text[i]
      out.append(c)
      i += 1
      if c == close {
        guard i < text.count, text[i] == close, close != UInt8(ascii: "]") else { return }
        out.append(text[i])
        i += 1
      }
    }
  }

  private mutating func copyLine() {
    while i < text.count, text[i] != UInt8(ascii: "\n") {
      out.append(text[i])
      i += 1
    }
  }

  private mutating func copyBlockComment() {
    let start = i
    while i < text.count, i < start + 2 || !(text[i] == UInt8(ascii: "*") && next == UInt8(ascii: "/")) {
      out.append(text[i])
      i += 1
    }
    for _ in 0..<2 where i < text.count {
      out.append(text[i])
      i += 1
    }
  }

  private mutating func string() throws {
    guard followsMatch else { return copy(until: UInt8(ascii: "'")) }
    out.append(text[i])
    i += 1
    var isInPhrase = false
    while i < text.count {
      if text[i] == UInt8(ascii: "{"), !isInPhrase {
        try reference(isMatched: true)
        continue
      }
      let c = text[i]
      if c == UInt8(ascii: "\"") { isInPhrase.toggle() }
      out.append(c)
      i += 1
      if c == UInt8(ascii: "'") {
        guard i < text.count, text[i] == UInt8(ascii: "'") else { return }
        out.append(UInt8(ascii: "'"))
        i += 1
      }
    }
  }

  /// True if the output so far ends in the word MATCH and blanks.
  private var followsMatch: Bool {
    let before = out.reversed().drop { $0.isASCIIWhitespace }
    guard before.count < out.count else { return false }
    return String(decoding: before.prefix(5).reversed(), as: UTF8.self).lowercased() == "match"
  }

  /// Returns the position of a byte in characters, counted from 0.
  private func character(_ offset: Int) -> Int { text[..<offset].reduce(0) { $1 & 0xc0 == 0x80 ? $0 : $0 + 1 } }

  /// Translates a reference.
  /// - Parameter isMatched: Whether it is in the text after `MATCH`, where only full_text columns
  ///   exist.
  private mutating func reference(isMatched: Bool = false) throws {
    guard i < lastClose, let close = text[i...].firstIndex(of: UInt8(ascii: "}")), close > i + 1 else {
      out.append(text[i])
      i += 1
      return
    }
    let inner = String(decoding: text[(i + 1)..<close], as: UTF8.self)
    // Names of soups have no colon; paths may have one.
    let parts = inner.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let soup = try soup(parts[0]) else {
      throw StoreError(.noSuchSoup, "Unknown soup \(parts[0]) at character \(character(i))")
    }
    guard parts.count < 2 || !parts[1].contains(":") || soup.specs.contains(where: { $0.path == parts[1] }) else {
      throw StoreError(.invalidSmartSql, "Invalid soup/path reference {\(inner)} at character \(character(i))")
    }
    i = close + 1
    guard parts.count == 2 else {
      guard !namesFullText || soup.hasFullText else {
        throw StoreError(.pathNotIndexed, "soup \(soup.name) has no full_text index")
      }
      out.append(contentsOf: dialect.table(of: soup).utf8)
      return
    }
    guard !isMatched || soup.specs.contains(where: { $0.path == parts[1] && $0.type == .fullText }) else {
      throw StoreError(.pathNotIndexed, "\(soup.name) does not have a full_text index on \(parts[1])")
    }
    write(soup, parts[1])
  }

  /// True before the `_fts` of `{soup}_fts`.
  private var namesFullText: Bool {
    let rest = text[i...].prefix(5)
    return rest.starts(with: "_fts".utf8) && (rest.count == 4 || !SmartSql.isWord(rest.last ?? 0))
  }

  private mutating func write(_ soup: Soup, _ path: String) {
    let column = dialect.column(of: path, in: soup), isQualified = out.last == UInt8(ascii: ".")
    switch path {
    case SoupField.entryId, SoupField.lastModified, SoupField.created, SoupField.soup:
      let name = column ?? path
      out.append(contentsOf: (isQualified ? name : "\(dialect.table(of: soup)).\(name)").utf8)
    default:
      if let column {
        if soup.specs.contains(where: { $0.path == path && $0.type.holdsTexts }),
          let name = SQLToken.list(Array(column.utf8)).last
        {
          textColumns.insert(name.text)
        }
        out.append(contentsOf: column.utf8)
        return
      }
      var qualifier: String?
      if isQualified {
        out.removeLast()
        qualifier = takeQualifier()
      }
      out.append(contentsOf: dialect.extraction(of: path, qualifier: qualifier).utf8)
    }
  }

  /// Removes the name before a dot from the output and returns it: a word or a quoted name.
  private mutating func takeQualifier() -> String {
    var start = out.count
    if lastQuoted.upperBound == start {
      start = lastQuoted.lowerBound
    } else {
      while start > 0, SmartSql.isWord(out[start - 1]) { start -= 1 }
    }
    let name = String(decoding: out[start...], as: UTF8.self)
    out.removeSubrange(start...)
    return name
  }

  private static func isWord(_ c: UInt8) -> Bool {
    c.isASCIILetter || c.isASCIIDigit || c >= 0x80 || c == UInt8(ascii: "_")
  }
}
