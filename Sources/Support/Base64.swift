import FoundationEssentials

/// Base64 (RFC 4648) of bytes that travel as text.
package enum Base64 {
  /// The standard alphabet, with padding.
  package static func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] { Array(Data(bytes).base64EncodedData()) }

  /// The standard alphabet, with padding.
  package static func text(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }

  /// The URL alphabet, without padding.
  package static func urlText(_ bytes: some Sequence<UInt8>) -> String {
    String(text(bytes).compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
  }

  /// The bytes of text in the standard alphabet with its padding; nil if anything else is in it.
  package static func decode(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map(Array.init) }

  /// The same for text as files travel in JSON: line ends are skipped, padding may be missing.
  package static func decodeLenient(_ text: String) -> [UInt8]? {
    var digits = text.utf8.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    while digits.last == UInt8(ascii: "=") { digits.removeLast() }
    guard digits.count % 4 != 1 else { return nil }
    while digits.count % 4 != 0 { digits.append(UInt8(ascii: "=")) }
    return Data(base64Encoded: Data(digits)).map(Array.init)
  }

  /// The bytes of text in the URL alphabet; nil if anything else, padding included, is in it.
  package static func decodeURL(_ text: some StringProtocol) -> [UInt8]? {
    guard text.utf8.allSatisfy({ isURLDigit($0) }) else { return nil }
    return decodeLenient(String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }))
  }

  private static func isURLDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      return true
    default: return false
    }
  }
}
