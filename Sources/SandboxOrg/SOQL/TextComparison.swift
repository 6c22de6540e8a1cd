import Database

/// Text comparison of SOQL: case-insensitive in all alphabets, accent-sensitive.
///
/// SQLite's NOCASE only folds ASCII. It gives the same results if one side is ASCII, so columns and
/// indexes use it. The functions here serve the rest: literals with other letters, sorting and
/// grouping.
enum TextComparison {
  /// The name of the collation in SQL.
  static let collation = "sandbox_text"
  /// The SQL function `sandbox_like(pattern, value)`; a backslash in the pattern escapes.
  static let likeFunction = "sandbox_like"

  static func register(on connection: Connection) throws(DatabaseError) {
    try connection.addCollation(collation, compare)
    let matcher = PatternMatcher()
    try connection.addTextPredicate(likeFunction) { pattern, value in matcher.matches(value, pattern: pattern) }
  }

  // MARK: Order

  static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int32 {
    var i = 0, j = 0
    while i < a.count, j < b.count {
      let x = next(a, &i), y = next(b, &j)
      if x != y { return x < y ? -1 : 1 }
    }
    return i < a.count ? 1 : j < b.count ? -1 : 0
  }

  /// Returns the folded scalar at `index` and advances it. Bytes that are not UTF-8 stand for
  /// themselves.
  static func next(_ text: UnsafeRawBufferPointer, _ index: inout Int) -> UInt32 {
    let first = text[index]
    index += 1
    if first < 0x80 { return UInt32(first &- UInt8(ascii: "A") < 26 ? first | 0x20 : first) }
    let count = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1
    guard first >= 0xC2, first < 0xF5, index + count <= text.count else { return UInt32(first) }
    var value = UInt32(first) & (0x3F >> UInt32(count))
    for offset in 0..<count { value = value << 6 | UInt32(text[index + offset] & 0x3F) }
    index += count
    return folded(value)
  }

  // MARK: Case

  /// Latin, Greek, Cyrillic and Armenian, which cover most names.
  private static let table: [UInt32] = (0..<0x590).map(looked)

  static func folded(_ value: UInt32) -> UInt32 { value < 0x590 ? table[Int(value)] : looked(value) }

  /// Returns the lower case of a letter's upper case, which unifies σ and ς. A non-ASCII letter is
  /// never folded to ASCII: NOCASE would disagree.
  private static func looked(_ value: UInt32) -> UInt32 {
    guard let scalar = Unicode.Scalar(value) else { return value }
    let upper = single(scalar.properties.uppercaseMapping) ?? scalar
    let lower = (single(upper.properties.lowercaseMapping) ?? upper).value
    return value >= 0x80 && lower < 0x80 ? value : lower
  }

  private static func single(_ text: String) -> Unicode.Scalar? {
    let scalars = text.unicodeScalars
    return scalars.count == 1 ? scalars.first : nil
  }
}

/// Matches LIKE patterns in O(pattern × text) for every pattern.
private final class PatternMatcher {
  private enum Step: Equatable { case one, any, scalar(UInt32) }

  /// The current pattern; a statement matches many values with one pattern, which is compiled once.
  private var source: [UInt8] = []
  private var steps: [Step] = []
  private var text: [UInt32] = []

  func matches(_ value: UnsafeRawBufferPointer, pattern: UnsafeRawBufferPointer) -> Bool {
    if !source.elementsEqual(pattern) { compile(pattern) }
    text.removeAll(keepingCapacity: true)
    var index = 0
    while index < value.count { text.append(TextComparison.next(value, &index)) }
    return run()
  }

  private func compile(_ pattern: UnsafeRawBufferPointer) {
    source = Array(pattern)
    steps = []
    var index = 0
    while index < pattern.count {
      let scalar = TextComparison.next(pattern, &index)
      switch scalar {
      case ("%" as Unicode.Scalar).value: steps.append(.any)
      case ("_" as Unicode.Scalar).value: steps.append(.one)
      case ("\\" as Unicode.Scalar).value where index < pattern.count: steps.append(.scalar(TextComparison.next(pattern, &index)))
      default: steps.append(.scalar(scalar))
      }
    }
  }

  /// Backtracks to the last `%` only: an earlier one cannot match more.
  private func run() -> Bool {
    var step = 0, place = 0
    var lastAny = -1, resume = 0
    while place < text.count {
      if step < steps.count, steps[step] == .any {
        lastAny = step
        resume = place
        step += 1
      } else if step < steps.count, steps[step] == .one || steps[step] == .scalar(text[place]) {
        step += 1
        place += 1
      } else if lastAny >= 0 {
        resume += 1
        place = resume
        step = lastAny + 1
      } else {
        return false
      }
    }
    while step < steps.count, steps[step] == .any { step += 1 }
    return step == steps.count
  }
}
