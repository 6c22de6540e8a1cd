import RestClient
import Support

/// The query of a URL, pair by pair. Pairs that are not touched stay as they are spelled.
enum URLQuery {
  /// The pairs, names and values decoded. A `+` stays a plus: what it means is the server's affair.
  static func pairs(of url: String) -> [(name: String, value: String)] {
    (URLReference(url).query ?? "").split(separator: "&").map { pair in
      let mark = pair.firstIndex(of: "=")
      let value = mark.map { pair[pair.index(after: $0)...] } ?? ""
      return (decoded(pair[..<(mark ?? pair.endIndex)]), decoded(value))
    }
  }

  /// The value of the first pair with that name.
  static func value(of name: String, in url: String) -> String? { pairs(of: url).first { $0.name == name }?.value }

  /// The URL with a pair of that name: in the place of the first one there is, at the end otherwise.
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

  /// The URL with the pairs behind those it has.
  static func adding(_ pairs: [(name: String, value: String)], to url: String) -> String {
    pairs.isEmpty ? url : adding(PercentEncoding.form(pairs), to: url)
  }

  private static func adding(_ text: String, to url: String) -> String {
    var reference = URLReference(url)
    reference.query = reference.query.map { $0.isEmpty ? text : $0 + "&" + text } ?? text
    return reference.text
  }

  /// The URL with each pair changed, or left out for nil. Names and values are decoded.
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

  /// Percent-encoded bytes undone; a percent sign without two digits behind it stays.
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
