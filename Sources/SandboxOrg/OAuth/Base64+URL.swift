import FoundationEssentials

/// The alphabets that OAuth uses.
extension Base64 {
  static func text(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }

  /// The URL alphabet, without padding.
  static func urlText(_ bytes: some Sequence<UInt8>) -> String {
    String(text(bytes).compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
  }

  /// - Returns: nil when there is anything but the URL alphabet in it.
  static func decodedURL(_ text: some StringProtocol) -> [UInt8]? {
    guard text.utf8.allSatisfy({ isURLDigit($0) }) else { return nil }
    return decoded(String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }))
  }

  private static func isURLDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: return true
    default: return false
    }
  }
}
