import Support
import Synchronization

/// Numbers exchanges from 1.
enum ExchangeNumber {
  private static let last = Atomic<Int>(0)
  static func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}

package enum LogText {
  /// Returns one line in which control characters, including Unicode's, and marks that change the
  /// writing direction are escaped.
  static func escaped(_ line: String) -> String {
    guard line.unicodeScalars.contains(where: isCommand) else { return line }
    var result = ""
    for scalar in line.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where isCommand(scalar): result += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Does the same in JSON text, with JSON's escapes, so that it parses to the same value.
  static func escapedJSON(_ text: String) -> String {
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
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// The first and the last millisecond of the years with four digits.
  private static let firstMs = -62_167_219_200_000, lastMs = 253_402_300_799_999

  /// For example: `2026-11-23T08:46:02.125Z`. A time beyond the years 0 to 9999 is shown as the first
  /// or the last one.
  package static func time(_ seconds: Double) -> String {
    let milliseconds = min(max(firstMs, Int(saturating: (seconds * 1000).rounded(.down))), lastMs)
    let rest = CivilDay.floorModulo(milliseconds, 86_400_000)
    let date = CivilDay(number: CivilDay.floorDivide(milliseconds, 86_400_000))
    return padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2) + "T" + padded(rest / 3_600_000, 2)
      + ":"
      + padded(rest / 60_000 % 60, 2) + ":" + padded(rest / 1000 % 60, 2) + "." + padded(rest % 1000, 3) + "Z"
  }

  /// For example: `1.5 s`, rounded to tenths.
  static func seconds(_ seconds: Double) -> String {
    let tenths = Int(saturating: (seconds * 10).rounded())
    return "\(tenths / 10)" + (tenths % 10 == 0 ? "" : ".\(tenths % 10)") + " s"
  }

  private static func padded(_ number: Int, _ digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }
}
