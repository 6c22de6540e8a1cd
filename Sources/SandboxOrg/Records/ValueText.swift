import Database
import JSON
import Support

/// Renders columns as JSON text.
enum ValueText {
  static let null = Array("null".utf8)
  private static let trueText = Array("true".utf8), falseText = Array("false".utf8)

  /// Appends one column of a statement's current row.
  static func append(_ row: Statement, _ column: Int32, _ form: JSONForm, to out: inout [UInt8]) {
    // Flags are never null in an existing row.
    if form == .boolean {
      out.append(contentsOf: row.int64(column) != 0 ? trueText : falseText)
      return
    }
    guard !row.isNull(column) else {
      out.append(contentsOf: null)
      return
    }
    switch form {
    case .plainText:
      out.append(UInt8(ascii: "\""))
      out.append(contentsOf: row.bytes(column))
      out.append(UInt8(ascii: "\""))
    case .text: appendQuoted(row.bytes(column), to: &out)
    case .json: out.append(contentsOf: row.bytes(column))
    // Only the renderer knows the row's id, which the path needs.
    case .bytes: out.append(contentsOf: null)
    case .integer, .boolean: appendInteger(row.int64(column), to: &out)
    case .real: appendReal(row.double(column), to: &out)
    default: JSONText.appendQuoted(DisplayText.text(row, column, form), to: &out)
    }
  }

  /// Copies the text unless it needs escapes, which is rare.
  private static func appendQuoted(_ text: UnsafeRawBufferPointer, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "\""))
    if text.contains(where: { $0 < UInt8(ascii: " ") || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
      JSONText.appendEscaped(text.assumingMemoryBound(to: UInt8.self), to: &out)
    } else {
      out.append(contentsOf: text)
    }
    out.append(UInt8(ascii: "\""))
  }

  private static func appendInteger(_ value: Int64, to out: inout [UInt8]) {
    var rest = value.magnitude
    if value < 0 { out.append(UInt8(ascii: "-")) }
    let start = out.count
    repeat {
      out.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    out[start...].reverse()
  }

  /// Renders integral values, which are most common, without searching for the shortest form.
  private static func appendReal(_ value: Double, to out: inout [UInt8]) {
    guard abs(value) < 1e15, value == value.rounded(.towardZero), value.sign == .plus || value != 0 else {
      JSONText.append(value, to: &out)
      return
    }
    appendInteger(Int64(saturating: value), to: &out)
    out.append(UInt8(ascii: "."))
    out.append(UInt8(ascii: "0"))
  }
}

/// The output of FORMAT for the locale en_US.
enum DisplayText {
  static func text(_ row: Statement, _ column: Int32, _ form: JSONForm) -> String {
    switch form {
    case .numberText(let scale): return number(row.double(column), scale: scale)
    case .currencyText(let scale):
      let value = row.double(column)
      return (value < 0 ? "-$" : "$") + number(abs(value), scale: scale)
    case .dateText: return date(row.string(column))
    case .dateTimeText:
      let text = row.string(column)
      return date(text) + ", " + clock(text.dropFirst(11).prefix(5))
    default: return row.string(column)
    }
  }

  /// Returns a text such as `1,234.50`, rounded half away from zero to `scale` digits.
  private static func number(_ value: Double, scale: Int) -> String {
    let factor = (0..<max(0, min(scale, 9))).reduce(1.0) { product, _ in product * 10 }
    let scaled = (abs(value) * factor).rounded(.toNearestOrAwayFromZero)
    guard scaled < 9e15 else { return "\(value)" }
    let whole = Int64(saturating: scaled) / Int64(saturating: factor),
      fraction = Int64(saturating: scaled) % Int64(saturating: factor)
    var digits = Array(String(whole))
    var index = digits.count - 3
    while index > 0 {
      digits.insert(",", at: index)
      index -= 3
    }
    let sign = value < 0 && scaled > 0 ? "-" : ""
    let tail = factor > 1 ? "." + String(Int64(saturating: factor) + fraction).dropFirst() : ""
    return sign + String(digits) + tail
  }

  /// Converts `2026-03-02…` to `3/2/2026`.
  private static func date(_ text: String) -> String {
    guard let day = CivilDate(parsing: text.prefix(10)) else { return text }
    return "\(day.month)/\(day.day)/\(day.year)"
  }

  /// Converts `09:00` to `9:00 AM`.
  private static func clock(_ text: Substring) -> String {
    let hour = Int(text.prefix(2)) ?? 0
    return "\((hour + 11) % 12 + 1):\(text.suffix(2)) \(hour < 12 ? "AM" : "PM")"
  }
}
