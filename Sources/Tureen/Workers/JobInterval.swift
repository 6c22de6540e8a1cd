/// A span of time as people write it: `90s`, `15m`, `2h`, `1d`, `1w`, or several of them, such as `1h30m`.
package struct JobInterval: Sendable, Equatable, CustomStringConvertible {
  package let milliseconds: Int64

  private static let units: [(letter: String, milliseconds: Int64)] = [
    ("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
  ]

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Returns nil unless the text is a sum of numbers with different units, the largest first, of at most ten years.
  package init?(_ text: String) {
    var rest = text[...], total: Int64 = 0, next = 0
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }, letters = rest.dropFirst(digits.count).prefix { !$0.isNumber }
      guard let number = Int64(digits), let unit = Self.units[next...].firstIndex(where: { $0.letter == letters }) else {
        return nil
      }
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: Self.units[unit].milliseconds)
      guard !isTooLarge, product <= Tuning.longestJobIntervalMs - total else { return nil }
      total += product
      next = unit + 1
      rest = rest.dropFirst(digits.count + letters.count)
    }
    guard total > 0 else { return nil }
    milliseconds = total
  }

  /// How to write one, for messages.
  package static let shape = "a time such as 90s, 15m, 2h, 1d or 1h30m"

  /// The shortest form that ``init(_:)`` reads.
  package var description: String {
    var rest = milliseconds, text = ""
    // Whole weeks are weeks; eight days are not 1w1d.
    for (letter, size) in Self.units where letter != "w" || (rest > 0 && rest % size == 0) {
      if rest >= size { text += "\(rest / size)\(letter)" }
      rest %= size
    }
    return text.isEmpty ? "0s" : text
  }
}
