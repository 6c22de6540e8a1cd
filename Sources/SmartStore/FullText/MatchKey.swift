import Support

/// What a `match` query looks for: the FTS5 language, with its terms tied to one path when the query names one.
///
/// - Note: Source: Mobile SDK, `QuerySpec.qualifyMatchKey`; phrases in double quotes are one piece here, and a word with an
///   apostrophe, a hyphen or the like stands for the words it is made of instead of being a syntax error.
enum MatchKey {
  /// - Parameter reference: `{soup:path}`, put in front of every term; nil leaves the terms to all columns.
  static func qualify(_ key: String, with reference: String?) -> String {
    let bytes = Array(key.utf8)
    var out: [UInt8] = [], i = 0
    while i < bytes.count {
      guard !isSeparator(bytes[i]) else {
        out.append(bytes[i])
        i += 1
        continue
      }
      let end = pieceEnd(bytes, i), piece = Array(bytes[i..<end])
      if isOperator(piece) || piece[0] == UInt8(ascii: "{") {
        out.append(contentsOf: piece)
      } else {
        if let reference { out.append(contentsOf: "\(reference):".utf8) }
        out.append(contentsOf: readable(piece))
      }
      i = end
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Words as a person types them, none of them an operator or syntax: each in double quotes.
  static func quote(_ words: String) -> String {
    words.split { $0.isWhitespace || $0 == "\0" }
      .map { "\"" + $0.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\"" }
      .joined(separator: " ")
  }

  private static func isSeparator(_ c: UInt8) -> Bool { c.isASCIIWhitespace || "()".utf8.contains(c) }

  /// A piece ends at a blank or parenthesis, outside double quotes and braces.
  private static func pieceEnd(_ bytes: [UInt8], _ start: Int) -> Int {
    var i = start
    while i < bytes.count, !isSeparator(bytes[i]) {
      let close: UInt8? =
        switch bytes[i] {
        case UInt8(ascii: "\""): UInt8(ascii: "\"")
        case UInt8(ascii: "{"): UInt8(ascii: "}")
        default: nil
        }
      if let close { i = bytes[(i + 1)...].firstIndex(of: close) ?? bytes.count - 1 }
      i += 1
    }
    return i
  }

  private static func isOperator(_ piece: [UInt8]) -> Bool {
    ["and", "or", "not"].contains(String(decoding: piece, as: UTF8.self).lowercased())
  }

  /// A term that FTS5 would stumble over in double quotes, with its `*` behind them; terms with syntax of FTS5 stay as they are.
  private static func readable(_ piece: [UInt8]) -> [UInt8] {
    let isPrefix = piece.last == UInt8(ascii: "*"), word = isPrefix ? piece.dropLast() : piece[...]
    guard word.first != UInt8(ascii: "-"), !word.contains(where: isSyntax), !word.allSatisfy(isWord) else { return piece }
    return Array("\"".utf8) + word + Array((isPrefix ? "\"*" : "\"").utf8)
  }

  private static func isWord(_ c: UInt8) -> Bool {
    c.isASCIILetter || c.isASCIIDigit || c >= 0x80 || c == UInt8(ascii: "_") || c == 0x1a
  }

  private static func isSyntax(_ c: UInt8) -> Bool { "\"*+,:^{}".utf8.contains(c) }
}
