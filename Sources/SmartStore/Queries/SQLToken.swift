import Support

/// A word, a quoted text or a sign of SQL. Comments and blanks are left out.
struct SQLToken {
  /// In lower case and without quotes; SQLite also takes a text for a name.
  let text: String
  let isQuoted: Bool
  let bytes: Int

  func isWord(_ word: String) -> Bool { !isQuoted && text == word }
  func isSign(_ sign: String) -> Bool { !isQuoted && text == sign }

  /// nil for signs and numbers.
  var name: String? {
    guard let first = text.utf8.first else { return nil }
    return isQuoted || first.isASCIILetter || first >= 0x80 || first == UInt8(ascii: "_") ? text : nil
  }

  static func list(_ sql: [UInt8]) -> [SQLToken] {
    var tokens: [SQLToken] = [], i = 0
    while i < sql.count {
      let start = i, c = sql[i]
      i = end(sql, i)
      if c.isASCIIWhitespace || isComment(sql, start) { continue }
      let isQuoted = "'\"`[".utf8.contains(c)
      let raw = isQuoted ? unquoted(sql[(start + 1)..<max(start + 1, i - 1)], c) : Array(sql[start..<i])
      let lower = raw.map { $0.isASCIIUppercase ? $0 | UInt8.caseBit : $0 }
      tokens.append(SQLToken(text: String(decoding: lower, as: UTF8.self), isQuoted: isQuoted, bytes: i - start))
    }
    return tokens
  }

  private static func unquoted(_ inner: ArraySlice<UInt8>, _ quote: UInt8) -> [UInt8] {
    var out: [UInt8] = [], isDoubled = false
    for byte in inner {
      isDoubled = byte == quote && quote != UInt8(ascii: "[") && !isDoubled
      if !isDoubled { out.append(byte) }
    }
    return out
  }

  private static func isComment(_ sql: [UInt8], _ i: Int) -> Bool {
    guard i + 1 < sql.count else { return false }
    return sql[i] == UInt8(ascii: "-") && sql[i + 1] == sql[i] || sql[i] == UInt8(ascii: "/") && sql[i + 1] == UInt8(ascii: "*")
  }

  /// The position after what begins at `start`.
  private static func end(_ sql: [UInt8], _ start: Int) -> Int {
    let c = sql[start]
    var i = start + 1
    if isComment(sql, start) {
      if c == UInt8(ascii: "-") { return sql[i...].firstIndex(of: UInt8(ascii: "\n")) ?? sql.count }
      i = start + 2
      while i < sql.count, !(sql[i] == UInt8(ascii: "*") && i + 1 < sql.count && sql[i + 1] == UInt8(ascii: "/")) { i += 1 }
      return min(sql.count, i + 2)
    }
    if "'\"`[".utf8.contains(c) {
      let close = c == UInt8(ascii: "[") ? UInt8(ascii: "]") : c
      while i < sql.count {
        i += 1
        guard sql[i - 1] == close else { continue }
        guard i < sql.count, sql[i] == close, c != UInt8(ascii: "[") else { return i }
        i += 1
      }
      return i
    }
    guard isWord(c) else { return i }
    while i < sql.count, isWord(sql[i]) { i += 1 }
    return i
  }

  private static func isWord(_ c: UInt8) -> Bool {
    c.isASCIILetter || c.isASCIIDigit || c >= 0x80 || c == UInt8(ascii: "_") || c == UInt8(ascii: "$")
  }
}
