import Support

/// Turns smart SQL into SQL: `{soup}` and `{soup:path}` become tables, columns and expressions.
///
/// One pass from left to right that understands strings, quoted names and comments. References inside a string stay text,
/// except in the string behind `MATCH`, where column filters of full-text queries stand. A semicolon behind the statement goes.
/// - Note: Source: Mobile SDK, `SmartSqlHelper`; same results on everything its tests convert.
struct SmartSql {
  private let text: [UInt8]
  private let soup: (String) throws -> Soup?
  private var out: [UInt8] = []
  private var i = 0
  /// Where the output ended when the statement did: nothing but blanks and comments may follow.
  private var end: Int?
  private var isStatement = true

  /// - Parameters:
  ///   - isStatement: It is all of a statement. A part of one, made from a query spec, may hold anything in its names.
  ///   - soup: Finds a soup by name, nil when there is none.
  /// - Throws: ``StoreError`` `.invalidSmartSql`, `.noSuchSoup`, `.notReadOnly`, `.queryLimit`.
  static func convert(
    _ smartSql: String, isStatement: Bool = true, soup: @escaping (String) throws -> Soup?
  ) throws -> String {
    guard smartSql.utf8.count <= Tuning.querySqlBytes else {
      throw StoreError(
        .queryLimit, "the smart SQL has \(smartSql.utf8.count) bytes; at most \(Tuning.querySqlBytes). Values belong into 'args'")
    }
    var converter = SmartSql(text: Array(smartSql.utf8), soup: soup)
    guard !converter.text.contains(0) else { throw StoreError(.invalidSmartSql, "smart SQL holds a zero byte") }
    converter.isStatement = isStatement
    if isStatement { try converter.refuseWrites() }
    while converter.i < converter.text.count { try converter.step() }
    if let end = converter.end { converter.out.removeSubrange(end...) }
    return String(decoding: converter.out, as: UTF8.self)
  }

  private init(text: [UInt8], soup: @escaping (String) throws -> Soup?) {
    self.text = text
    self.soup = soup
  }

  /// A clear word for the likeliest mistakes. What really keeps queries from writing is SQLite's own authorizer.
  private func refuseWrites() throws {
    let start = text[(SmartSql.startOfStatement(text))...]
    let word = String(decoding: start.prefix { $0.isASCIILetter }, as: UTF8.self).lowercased()
    let writing: Set = [
      "insert", "update", "delete", "replace", "create", "drop", "alter", "pragma", "attach", "detach", "vacuum", "reindex",
      "begin", "commit", "rollback", "savepoint", "release", "analyze",
    ]
    guard !writing.contains(word) else { throw StoreError(.notReadOnly, "Only SELECT are supported") }
  }

  /// The position of the first byte that is neither a blank nor in a comment.
  private static func startOfStatement(_ text: [UInt8]) -> Int {
    var skipper = SmartSql(text: text, soup: { _ in nil })
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
          .invalidSmartSql, "smart SQL holds more than one statement; a second one begins at character \(character(i))")
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
      out.append(text[i])
      i += 1
    }
  }

  private var next: UInt8? { i + 1 < text.count ? text[i + 1] : nil }

  /// Copies a quoted name; a doubled quote inside belongs to it.
  private mutating func copy(until close: UInt8) {
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

  /// True when what was written so far ends in the word MATCH and blanks.
  private var followsMatch: Bool {
    let before = out.reversed().drop { $0.isASCIIWhitespace }
    guard before.count < out.count else { return false }
    return String(decoding: before.prefix(5).reversed(), as: UTF8.self).lowercased() == "match"
  }

  /// Position of a byte, in characters from 0.
  private func character(_ offset: Int) -> Int { text[..<offset].reduce(0) { $1 & 0xc0 == 0x80 ? $0 : $0 + 1 } }

  /// - Parameter isMatched: It stands in the text behind `MATCH`, where only full_text columns are known.
  private mutating func reference(isMatched: Bool = false) throws {
    guard let close = text[i...].firstIndex(of: UInt8(ascii: "}")), close > i + 1 else {
      out.append(text[i])
      i += 1
      return
    }
    let inner = String(decoding: text[(i + 1)..<close], as: UTF8.self)
    let parts = inner.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard let soup = try soup(parts[0]) else {
      throw StoreError(.noSuchSoup, "Unknown soup \(parts[0]) at character \(character(i))")
    }
    guard parts.count <= 2 else {
      throw StoreError(.invalidSmartSql, "Invalid soup/path reference {\(inner)} at character \(character(i))")
    }
    i = close + 1
    guard parts.count == 2 else {
      guard !namesFullText || soup.hasFullText else {
        throw StoreError(.pathNotIndexed, "soup \(soup.name) has no full_text index")
      }
      out.append(contentsOf: soup.table.utf8)
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
    let expression = soup.expression(path), isQualified = out.last == UInt8(ascii: ".")
    switch path {
    case SoupField.entryId, SoupField.lastModified, SoupField.created, SoupField.soup:
      out.append(contentsOf: (isQualified ? expression : "\(soup.table).\(expression)").utf8)
    default:
      guard isQualified, expression.hasPrefix("json_extract(soup") else {
        out.append(contentsOf: expression.utf8)
        return
      }
      out.removeLast()
      let qualifier = takeQualifier()
      out.append(contentsOf: Soup.extract(path, qualifier: qualifier).utf8)
    }
  }

  /// Takes the name in front of a dot back out of the output: a word, or a quoted name.
  private mutating func takeQualifier() -> String {
    var start = out.count
    if let quote = out.last, "\"'`".utf8.contains(quote) {
      start -= 1
      while start > 0, out[start - 1] != quote { start -= 1 }
      start = max(0, start - 1)
    } else if out.last == UInt8(ascii: "]") {
      start = out.lastIndex(of: UInt8(ascii: "[")) ?? 0
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
