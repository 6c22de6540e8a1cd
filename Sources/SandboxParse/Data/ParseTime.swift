import JSON
import SandboxServer

/// Moments as Parse spells them: `2024-05-01T10:20:30.123Z`. Milliseconds since 1970 UTC.
enum ParseTime {
  static func text(_ milliseconds: Int64) -> String {
    let rest = (milliseconds % 1_000 + 1_000) % 1_000
    return Timestamp.text((milliseconds - rest) / 1_000).prefix(19) + "." + String(1_000 + rest).dropFirst() + "Z"
  }

  static func json(_ milliseconds: Int64) -> JSONValue { .string(text(milliseconds)) }
  static func date(_ milliseconds: Int64) -> JSONValue { ["__type": "Date", "iso": json(milliseconds)] }

  /// Reads a moment with any offset, also a day alone; nil for anything else.
  static func milliseconds(parsing text: String) -> Int64? {
    if text.utf8.count == 10 { return Timestamp.milliseconds(parsing: text + "T00:00:00Z") }
    return Timestamp.milliseconds(parsing: text)
  }

  /// The moment of a value in wire form; nil for anything else.
  static func milliseconds(of value: JSONValue?) -> Int64? {
    guard value?["__type"] == "Date", let iso = value?["iso"]?.stringValue else { return nil }
    return milliseconds(parsing: iso)
  }
}
