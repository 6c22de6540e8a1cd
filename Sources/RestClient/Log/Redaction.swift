import JSON

/// Takes secrets out of what is logged or kept: by the names of headers, parameters and members, and by their known values.
///
/// At most the last four characters of a secret stay, so that two of them can be told apart.
package struct Redaction: Sendable {
  /// Values that are secrets wherever they stand.
  private let secrets: [String]

  /// - Parameter secrets: Those shorter than four characters are left: they would be found in words.
  package init(secrets: [String] = []) {
    // As text, in a URL or a form, and in JSON.
    let forms = secrets.flatMap { [$0, PercentEncoding.encode($0), String(JSONValue.string($0).text.dropFirst().dropLast())] }
    self.secrets = Set(forms).filter { $0.utf8.count >= 4 }
      .sorted { $0.utf8.count > $1.utf8.count }
  }

  /// `…` with the last characters of a long value.
  package static func masked(_ secret: String) -> String {
    // Of a short secret four characters would be most of it.
    secret.count >= 16 ? "…" + secret.suffix(4) : "…"
  }

  package func header(_ name: String, _ value: String) -> String {
    guard SecretNames.isSecret(header: name) else { return known(value) }
    // "Bearer " is no secret, and tells what kind of one follows.
    if let blank = value.firstIndex(of: " "), name.lowercased().hasSuffix("authorization") {
      return value[...blank] + Redaction.masked(String(value[value.index(after: blank)...]))
    }
    return Redaction.masked(value)
  }

  package func url(_ url: String) -> String { known(Redaction.url(url)) }

  /// A URL without the values of secret parameters.
  package static func url(_ url: String) -> String {
    guard let mark = url.firstIndex(of: "?") else { return url }
    return url[...mark] + form(String(url[url.index(after: mark)...]))
  }

  /// `a=1&token=…`
  static func form(_ text: String) -> String {
    text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
      guard let mark = pair.firstIndex(of: "=") else { return String(pair) }
      let name = PercentEncoding.decode(pair[..<mark]) ?? String(pair[..<mark])
      guard SecretNames.isSecret(parameter: name) else { return String(pair) }
      return pair[...mark] + masked(String(pair[pair.index(after: mark)...]))
    }.joined(separator: "&")
  }

  /// The beginning of a body, for a log.
  ///
  /// - Parameter type: Its `Content-Type`.
  package func body(_ bytes: [UInt8], type: String?, limit: Int) -> String {
    let isForm =
      type.map { $0.lowercased().hasPrefix("application/x-www-form-urlencoded") } ?? !"{[\"".utf8.contains(bytes.first ?? 0)
    // Redacted before it is cut: a secret that the cut splits would not be recognised.
    let whole = bytes.prefix(Tuning.largestRedactedBody)
    let text =
      isForm ? Redaction.form(String(decoding: whole, as: UTF8.self)) : JSONRedaction.text(whole)
    let clean = known(text)
    guard clean.utf8.count > limit || whole.count < bytes.count else { return clean }
    return String(decoding: clean.utf8.prefix(limit), as: UTF8.self) + "… (\(bytes.count) bytes)"
  }

  /// Replaces the secrets whose values are known.
  package func known(_ text: String) -> String {
    var result = text
    for secret in secrets where result.containsASCII(secret) {
      var parts = "", rest = result[...]
      while let range = String(rest).firstRange(ofASCII: secret) {
        let copy = String(rest)
        parts += copy[..<range.lowerBound] + Redaction.masked(secret)
        rest = Substring(copy[range.upperBound...])
      }
      result = parts + rest
    }
    return result
  }
}

/// Finds secret members in the text of a JSON value, whole or cut short, and masks their values. Other text stays as it is.
enum JSONRedaction {
  static func text(_ bytes: ArraySlice<UInt8>) -> String {
    var result: [UInt8] = [], at = bytes.startIndex
    while at < bytes.endIndex {
      guard bytes[at] == UInt8(ascii: "\"") else {
        result.append(bytes[at])
        at += 1
        continue
      }
      let end = endOfString(bytes, from: at)
      let content = bytes[at..<end]
      result += content
      at = end
      let colon = bytes[at...].drop { isBlank($0) }.startIndex
      guard colon < bytes.endIndex, bytes[colon] == UInt8(ascii: ":"), isSecret(content) else { continue }
      let value = bytes[(colon + 1)...].drop { isBlank($0) }.startIndex
      result += bytes[at..<value]
      at = mask(bytes, from: value, into: &result)
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Masks the value that begins at a place. - Returns: Where it ends.
  private static func mask(_ bytes: ArraySlice<UInt8>, from start: Int, into result: inout [UInt8]) -> Int {
    guard start < bytes.endIndex else { return start }
    if bytes[start] == UInt8(ascii: "\"") {
      let end = endOfString(bytes, from: start)
      let isWhole = end - start >= 2 && bytes[end - 1] == UInt8(ascii: "\"")
      let secret = String(decoding: bytes[(start + 1)..<(isWhole ? end - 1 : end)], as: UTF8.self)
      result += Array("\"\(isWhole ? Redaction.masked(secret) : "…")\"".utf8)
      return end
    }
    if bytes[start] == UInt8(ascii: "{") || bytes[start] == UInt8(ascii: "[") {
      result += Array("\"…\"".utf8)
      return endOfContainer(bytes, from: start)
    }
    let end = bytes[start...].firstIndex { ",}] \n\r\t".utf8.contains($0) } ?? bytes.endIndex
    let isPlain = ["null", "true", "false"].contains(String(decoding: bytes[start..<end], as: UTF8.self))
    result += isPlain ? Array(bytes[start..<end]) : Array("\"…\"".utf8)
    return end
  }

  private static func isSecret(_ quoted: ArraySlice<UInt8>) -> Bool {
    guard let name = (try? JSONValue(parsing: Array(quoted)))?.stringValue else { return false }
    return SecretNames.isSecret(member: name)
  }

  private static func endOfString(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
    var at = start + 1
    while at < bytes.endIndex {
      if bytes[at] == UInt8(ascii: "\\") { at += 1 } else if bytes[at] == UInt8(ascii: "\"") { return at + 1 }
      at += 1
    }
    return bytes.endIndex
  }

  private static func endOfContainer(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
    var depth = 0, at = start
    while at < bytes.endIndex {
      switch bytes[at] {
      case UInt8(ascii: "\""):
        at = endOfString(bytes, from: at)
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return at + 1 }
      default: break
      }
      at += 1
    }
    return bytes.endIndex
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
