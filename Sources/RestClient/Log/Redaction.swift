import JSON

/// Masks secrets in text for logs and files, by the names of headers, parameters and members, and
/// by known values.
///
/// At most the last four characters of a secret remain, so that two secrets can be told apart.
package struct Redaction: Sendable {
  /// Values that are masked anywhere in a text.
  private let secrets: [String]

  /// - Parameter secrets: Known values. Those shorter than four characters are ignored, because
  ///   they would match parts of words.
  package init(secrets: [String] = []) {
    // Secrets appear as plain text, percent-encoded in a URL or form, and escaped in JSON.
    let forms = secrets.flatMap { [$0, PercentEncoding.encode($0), String(JSONValue.string($0).text.dropFirst().dropLast())] }
    self.secrets = Set(forms).filter { $0.utf8.count >= 4 }
      .sorted { $0.utf8.count > $1.utf8.count }
  }

  /// Returns `…`, followed by the last four characters of a long value.
  package static func masked(_ secret: String) -> String {
    // Four characters would be most of a short secret.
    secret.count >= 16 ? "…" + secret.suffix(4) : "…"
  }

  package func header(_ name: String, _ value: String) -> String {
    guard SecretNames.isSecret(header: name) else { return known(value) }
    // The scheme, such as "Bearer ", is not secret and tells the kind of credential.
    if let blank = value.firstIndex(of: " "), name.lowercased().hasSuffix("authorization") {
      return value[...blank] + Redaction.masked(String(value[value.index(after: blank)...]))
    }
    return Redaction.masked(value)
  }

  package func url(_ url: String) -> String { known(Redaction.url(url)) }

  /// Masks the values of secret parameters in a URL.
  package static func url(_ url: String) -> String {
    guard let mark = url.firstIndex(of: "?") else { return url }
    return url[...mark] + form(String(url[url.index(after: mark)...]))
  }

  /// Masks the values of secret fields in a form, such as `a=1&token=…`.
  static func form(_ text: String) -> String {
    text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
      guard let mark = pair.firstIndex(of: "=") else { return String(pair) }
      let name = PercentEncoding.decode(pair[..<mark]) ?? String(pair[..<mark])
      guard SecretNames.isSecret(parameter: name) else { return String(pair) }
      return pair[...mark] + masked(String(pair[pair.index(after: mark)...]))
    }.joined(separator: "&")
  }

  /// Returns the beginning of a body, for the log.
  ///
  /// - Parameters:
  ///   - type: The body's `Content-Type`.
  ///   - limit: The length to keep, in bytes.
  package func body(_ bytes: [UInt8], type: String?, limit: Int) -> String {
    let isForm =
      type.map { $0.lowercased().hasPrefix("application/x-www-form-urlencoded") } ?? !"{[\"".utf8.contains(bytes.first ?? 0)
    // Redact before truncating: a secret that is cut in two would not be recognised.
    let whole = bytes.prefix(Tuning.largestRedactedBody)
    let text =
      isForm ? Redaction.form(String(decoding: whole, as: UTF8.self)) : JSONRedaction.text(whole)
    let clean = known(text)
    guard clean.utf8.count > limit || whole.count < bytes.count else { return clean }
    return String(decoding: clean.utf8.prefix(limit), as: UTF8.self) + "… (\(bytes.count) bytes)"
  }

  /// Masks the secrets given to ``init(secrets:)``.
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

/// Masks the values of secret members in JSON text, which may be truncated. Leaves other text
/// unchanged.
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

  /// Masks the value that starts at `start`.
  ///
  /// - Returns: The index after the value.
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

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte) }
}
