import RestClient
import Support

/// Reads and changes the query of a URL pair by pair. Untouched pairs keep their spelling.
enum URLQuery {
  /// Returns the pairs with decoded names and values. A `+` stays a plus, because its meaning
  /// depends on the server.
  static func pairs(of url: String) -> [(name: String, value: String)] {
    (URLReference(url).query ?? "").split(separator: "&").map { pair in
      let mark = pair.firstIndex(of: "=")
      let value = mark.map { pair[pair.index(after: $0)...] } ?? ""
      return (decoded(pair[..<(mark ?? pair.endIndex)]), decoded(value))
    }
  }

  /// Returns the value of the first pair with the given name.
  static func value(of name: String, in url: String) -> String? { pairs(of: url).first { $0.name == name }?.value }

  /// Sets the value of a parameter: replaces the first pair with its name, or appends one.
  static func setting(_ name: String, to value: String, in url: String) -> String {
    let pair = PercentEncoding.encode(name) + "=" + PercentEncoding.encode(value)
    var isSet = false
    let url = changing(url) { raw, found, _ in
      guard found == name else { return raw }
      defer { isSet = true }
      return isSet ? nil : Substring(pair)
    }
    return isSet ? url : adding(pair, to: url)
  }

  /// Appends pairs to the query.
  static func adding(_ pairs: [(name: String, value: String)], to url: String) -> String {
    pairs.isEmpty ? url : adding(PercentEncoding.form(pairs), to: url)
  }

  private static func adding(_ text: String, to url: String) -> String {
    var reference = URLReference(url)
    reference.query = reference.query.map { $0.isEmpty ? text : $0 + "&" + text } ?? text
    return reference.text
  }

  /// Replaces each pair by the result of `change`, or removes it for nil. Names and values are
  /// passed decoded.
  static func changing(
    _ url: String, _ change: (_ pair: Substring, _ name: String, _ value: String) -> Substring?
  ) -> String {
    var reference = URLReference(url)
    guard let query = reference.query else { return url }
    let kept = query.split(separator: "&", omittingEmptySubsequences: false).compactMap { pair in
      let mark = pair.firstIndex(of: "=") ?? pair.endIndex
      return change(pair, decoded(pair[..<mark]), decoded(pair[mark...].dropFirst()))
    }
    reference.query = kept.isEmpty ? nil : kept.joined(separator: "&")
    return reference.text
  }

  /// Decodes percent-encoded bytes; a percent sign without two hexadecimal digits stays.
  static func decoded(_ text: some StringProtocol) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var out: [UInt8] = [], bytes = Array(text.utf8)[...]
    while let byte = bytes.popFirst() {
      guard byte == UInt8(ascii: "%"), bytes.count >= 2, let high = bytes[bytes.startIndex].hexDigitValue,
        let low = bytes[bytes.startIndex + 1].hexDigitValue
      else {
        out.append(byte)
        continue
      }
      out.append(high << 4 | low)
      bytes = bytes.dropFirst(2)
    }
    return String(decoding: out, as: UTF8.self)
  }
}
