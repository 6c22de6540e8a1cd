import JSON
import SandboxServer

/// Timestamps in Parse's format, `2024-05-01T10:20:30.123Z`, in milliseconds since 1970 UTC.
enum ParseTime {
  static func text(_ milliseconds: Int64) -> String {
    let rest = (milliseconds % 1_000 + 1_000) % 1_000
    return Timestamp.text((milliseconds - rest) / 1_000).prefix(19) + "." + String(1_000 + rest).dropFirst() + "Z"
  }

  static func json(_ milliseconds: Int64) -> JSONValue { .string(text(milliseconds)) }
  static func date(_ milliseconds: Int64) -> JSONValue { ["__type": "Date", "iso": json(milliseconds)] }

  /// Reads a timestamp with any offset, or a date; nil for any other text.
  static func milliseconds(parsing text: String) -> Int64? {
    if text.utf8.count == 10 { return Timestamp.milliseconds(parsing: text + "T00:00:00Z") }
    return Timestamp.milliseconds(parsing: text)
  }

  /// Reads a `Date` in wire form; nil for any other value.
  static func milliseconds(of value: JSONValue?) -> Int64? {
    guard value?["__type"] == "Date", let iso = value?["iso"]?.stringValue else { return nil }
    return milliseconds(parsing: iso)
  }
}
