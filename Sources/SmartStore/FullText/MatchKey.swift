import Support

/// Prepares the key of a `match` query: FTS5 syntax, with its terms limited to one path if the
/// query names one.
///
/// - Note: Source: Mobile SDK, `QuerySpec.qualifyMatchKey`. Here, a phrase in double quotes is one
///   term, and a word with an apostrophe, a hyphen or the like stands for its parts instead of
///   causing a syntax error.
enum MatchKey {
  /// - Parameter reference: `{soup:path}`, which limits every term; nil searches all columns.
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

  /// Quotes each word of a user's input, so that none is read as an operator or syntax.
  static func quote(_ words: String) -> String {
    words.split { $0.isWhitespace || $0 == "\0" }
      .map { $0.quoted(with: UInt8(ascii: "\"")) }
      .joined(separator: " ")
  }

  private static func isSeparator(_ c: UInt8) -> Bool { c.isASCIIWhitespace || "()".utf8.contains(c) }

  /// Returns the end of a term: the next blank or parenthesis outside double quotes and braces.
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

  /// Quotes a term that FTS5 would reject, keeping a `*` after it. Terms with FTS5 syntax stay
  /// unchanged.
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
