import SmartStore
import Support

/// The words and signs of smart SQL, after its references have become names. Comments and blanks are gone.
enum SmartSqlToken: Hashable {
  /// A keyword or name, in lower case.
  case word(String)
  case number(String)
  /// With its quotes.
  case string(String)
  /// A name in double quotes, with them.
  case quotedName(String)
  case sign(String)

  var word: String? { if case .word(let word) = self { word } else { nil } }

  func isWord(_ wanted: String) -> Bool { word == wanted }

  /// The text that stands in quotes. By bytes: a quote and an accent after it are one character to Swift.
  static func text(_ quoted: String) -> String {
    var out: [UInt8] = [], isDoubled = false
    for byte in quoted.utf8.dropFirst().dropLast() {
      isDoubled = byte == UInt8(ascii: "'") && !isDoubled
      if !isDoubled { out.append(byte) }
    }
    return String(decoding: out, as: UTF8.self)
  }

  func isSign(_ wanted: String) -> Bool { self == .sign(wanted) }

  /// - Throws: ``StoreError`` `.notOnThisEngine` for signs that PostgreSQL lacks or reads differently.
  static func list(_ sql: String) throws -> [SmartSqlToken] {
    var lexer = Lexer(bytes: Array(sql.utf8))
    var tokens: [SmartSqlToken] = []
    while let token = try lexer.next() { tokens.append(token) }
    return tokens
  }

  private struct Lexer {
    let bytes: [UInt8]
    var i = 0

    private func at(_ offset: Int) -> UInt8? { i + offset < bytes.count ? bytes[i + offset] : nil }

    private mutating func take(_ end: Int) -> String {
      defer { i = end }
      return String(decoding: bytes[i..<end], as: UTF8.self)
    }

    /// The end of a text in quotes, in which a doubled quote is part of the text.
    private func end(ofQuoted quote: UInt8) -> Int {
      var end = i + 1
      while end < bytes.count {
        if bytes[end] == quote {
          guard end + 1 < bytes.count, bytes[end + 1] == quote else { return end + 1 }
          end += 1
        }
        end += 1
      }
      return bytes.count
    }

    private mutating func skipBlanks() {
      while let c = at(0) {
        if c.isASCIIWhitespace {
          i += 1
        } else if c == UInt8(ascii: "-"), at(1) == c {
          while let c = at(0), c != UInt8(ascii: "\n") { i += 1 }
        } else if c == UInt8(ascii: "/"), at(1) == UInt8(ascii: "*") {
          i += 2
          while at(0) != nil, !(at(0) == UInt8(ascii: "*") && at(1) == UInt8(ascii: "/")) { i += 1 }
          i = min(i + 2, bytes.count)
        } else {
          return
        }
      }
    }

    mutating func next() throws -> SmartSqlToken? {
      skipBlanks()
      guard let c = at(0) else { return nil }
      if c == UInt8(ascii: "'") { return .string(take(end(ofQuoted: c))) }
      if c == UInt8(ascii: "\"") { return .quotedName(take(end(ofQuoted: c))) }
      if c.isASCIIDigit || c == UInt8(ascii: ".") && (at(1)?.isASCIIDigit ?? false) { return .number(try number()) }
      if Lexer.isWord(c) {
        var end = i
        while end < bytes.count, Lexer.isWord(bytes[end]) { end += 1 }
        return .word(take(end).lowercased())
      }
      for sign in ["||", "<>", "<=", ">=", "==", "!="] where bytes[i...].starts(with: sign.utf8) {
        i += 2
        return .sign(sign)
      }
      let sign = String(decoding: [c], as: UTF8.self)
      guard "+-*/%=<>(),.?".contains(sign), !bytes[i...].starts(with: "<<".utf8), !bytes[i...].starts(with: ">>".utf8),
        !bytes[i...].starts(with: "->".utf8), c != UInt8(ascii: "?") || !(at(1)?.isASCIIDigit ?? false)
      else { throw StoreError.notOnThisEngine("'\(sign)' in smart SQL") }
      i += 1
      return .sign(sign)
    }

    private mutating func number() throws -> String {
      var end = i
      while end < bytes.count, Lexer.isWord(bytes[end]) || bytes[end] == UInt8(ascii: ".") { end += 1 }
      let text = take(end)
      guard text.utf8.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ".") }) else {
        throw StoreError.notOnThisEngine("the number '\(text)' in smart SQL")
      }
      return text
    }

    private static func isWord(_ c: UInt8) -> Bool { c.isASCIILetter || c.isASCIIDigit || c >= 0x80 || c == UInt8(ascii: "_") }
  }
}
