extension StringProtocol {
  /// Returns the text in quotes, with the quotes in it doubled, as SQL and FTS5 read it.
  ///
  /// By bytes, as they do: to Swift, a quote and an accent after it are one character, which equals no quote.
  package func quoted(with quote: UInt8) -> String {
    var out = [quote]
    for byte in utf8 {
      if byte == quote { out.append(quote) }
      out.append(byte)
    }
    out.append(quote)
    return String(decoding: out, as: UTF8.self)
  }

  /// Returns the text with one text in place of another, compared by bytes.
  package func replacingBytes(_ old: StaticString, with new: StaticString) -> String {
    let old = Array(String(describing: old).utf8), new = Array(String(describing: new).utf8)
    return String(decoding: Array(utf8).replacing(old, with: new), as: UTF8.self)
  }
}
