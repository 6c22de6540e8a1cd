/// Escapes text from servers, scripts and files for terminals and logs.
public enum TerminalText {
  /// Escapes characters that control a terminal: ASCII and Unicode control characters, and marks that change the writing
  /// direction. Keeps line breaks and tabs.
  public static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isCommand) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if isCommand(scalar) {
        result += "\\u{" + String(scalar.value, radix: 16) + "}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Does the same and escapes line breaks, for one line of a log or a display.
  public static func line(_ text: some StringProtocol) -> String {
    escaped(String(text)).replacing("\n", with: "\\n")
  }

  /// Escapes JSON text with JSON escapes, so that it still parses to the same value.
  public static func escapedJSON(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isCommand) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if isCommand(scalar) {
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func isCommand(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 9, 10: false
    case 0..<0x20, 0x7F..<0xA0: true
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
