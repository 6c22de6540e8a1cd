/// A JSON value as its text says it: texts by their code units, numbers by their digits.
///
/// It has a reader and a writer of its own, so that tests can compare with it what the product made of a text.
package indirect enum PlainJSON: Sendable {
  /// `null`, `true` or `false`.
  case literal(String)
  case number(String)
  /// UTF-16.
  case text([UInt16])
  case list([PlainJSON])
  case object([(key: [UInt16], value: PlainJSON)])

  package static func text(_ text: String) -> PlainJSON { .text(Array(text.utf16)) }
  package static let null = PlainJSON.literal("null")

  package struct Malformed: Error {
    package let offset: Int
  }

  package init(parsing text: some Sequence<UInt8>) throws(Malformed) {
    var reader = PlainReader(bytes: Array(text))
    self = try reader.value()
    try reader.end()
  }

  package init(parsing text: String) throws(Malformed) { try self.init(parsing: text.utf8) }

  // MARK: Members

  package var members: [(key: [UInt16], value: PlainJSON)] { if case .object(let members) = self { members } else { [] } }
  package var elements: [PlainJSON] { if case .list(let elements) = self { elements } else { [] } }
  package var isNull: Bool { if case .literal(let word) = self { word.utf8.first == UInt8(ascii: "n") } else { false } }
  package var isTrue: Bool { if case .literal(let word) = self { word.utf8.first == UInt8(ascii: "t") } else { false } }
  /// The text of a string without unpaired halves, and the digits of a number.
  package var plain: String {
    switch self {
    case .text(let units): String(decoding: units, as: UTF16.self)
    case .number(let digits): digits
    default: canonical
    }
  }

  package subscript(key: String) -> PlainJSON? {
    get { members.last { $0.key == Array(key.utf16) }?.value }
    set {
      guard case .object(var members) = self else { return }
      let units = Array(key.utf16), place = members.firstIndex { $0.key == units }
      switch (place, newValue) {
      case (let place?, let value?): members[place].value = value
      case (let place?, nil): members.remove(at: place)
      case (nil, let value?): members.append((units, value))
      case (nil, nil): break
      }
      self = .object(members)
    }
  }

  // MARK: Writing

  /// How texts are written.
  package enum Escapes: CaseIterable, Sendable { case few, all }

  /// Writes the value. Unpaired halves of characters are always escaped, because UTF-8 has no form for them.
  package func wire(_ escapes: Escapes) -> String {
    switch self {
    case .literal(let word): word
    case .number(let digits): digits
    case .text(let units): Self.quoted(units, escapes)
    case .list(let elements): "[" + elements.map { $0.wire(escapes) }.joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { Self.quoted($0.key, escapes) + ":" + $0.value.wire(escapes) }.joined(separator: ",") + "}"
    }
  }

  private static let blank = UInt16(UInt8(ascii: " ")), quote = UInt16(UInt8(ascii: "\""))
  private static let backslash = UInt16(UInt8(ascii: "\\")), tilde = UInt16(UInt8(ascii: "~"))

  private static func quoted(_ units: [UInt16], _ escapes: Escapes) -> String {
    var out = "\"", i = 0
    func escaped(_ unit: UInt16) -> String {
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    while i < units.count {
      let unit = units[i]
      let isPair = unit & 0xfc00 == 0xd800 && i + 1 < units.count && units[i + 1] & 0xfc00 == 0xdc00
      let isHalf = !isPair && unit & 0xf800 == 0xd800
      if isHalf || unit < Self.blank || unit == Self.quote || unit == Self.backslash || escapes == .all && unit > Self.tilde {
        out += escaped(unit)
      } else {
        out += String(decoding: isPair ? [unit, units[i + 1]] : [unit], as: UTF16.self)
        if isPair { i += 1 }
      }
      i += 1
    }
    return out + "\""
  }

  // MARK: Comparing

  /// A text in ASCII that is the same for values with the same texts, digits and members, in any order of the members.
  /// Stores keep U+FFFD for half a character, so these are the same here.
  package var canonical: String {
    switch self {
    case .literal(let word): word
    case .number(let digits): digits
    case .text(let units): Self.quoted(Self.repaired(units), .all)
    case .list(let elements): "[" + elements.map(\.canonical).joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.map { (Self.quoted(Self.repaired($0.key), .all), $0.value) }.sorted { $0.0 < $1.0 }
        .map { $0 + ":" + $1.canonical }.joined(separator: ",") + "}"
    }
  }

  private static func repaired(_ units: [UInt16]) -> [UInt16] { Array(String(decoding: units, as: UTF16.self).utf16) }

  /// Whether a value that was set means the same as the one that is stored: in texts every code unit, in numbers the value. A
  /// double has no more digits than it can hold.
  /// - Parameter isScript: Whether a script has set it, which has doubles for numbers beyond 64 bits.
  package func means(_ other: PlainJSON, isScript: Bool = false) -> Bool {
    switch (self, other) {
    case (.number(let a), .number(let b)):
      if Decimal(a) == Decimal(b) { return true }
      let mayDiffer = isScript && (Int64(a) == nil || Int64(b) == nil) || Self.isOfDouble(a) || Self.isOfDouble(b)
      return mayDiffer && Double(a) == Double(b)
    case (.list(let a), .list(let b)): return a.count == b.count && zip(a, b).allSatisfy { $0.means($1, isScript: isScript) }
    case (.object(let a), .object(let b)):
      return a.count == b.count
        && a.allSatisfy { one in b.contains { $0.key == one.key && one.value.means($0.value, isScript: isScript) } }
    default: return canonical == other.canonical
    }
  }

  fileprivate static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
  private static func isExponent(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") }

  /// Whether a double is written so.
  private static func isOfDouble(_ text: String) -> Bool {
    var digits = text.utf8.prefix { !isExponent($0) }.filter(isDigit)[...]
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    return digits.count <= 17 && text.utf8.contains { $0 == UInt8(ascii: ".") || isExponent($0) }
  }

  /// A number as digits without zeros at either end, and the power of ten of the first.
  private struct Decimal: Equatable {
    var isNegative = false
    var digits: [UInt8] = []
    var power = 0

    init(_ text: String) {
      var isFraction = false, exponent = 0, bytes = Array(text.utf8)[...]
      while let byte = bytes.popFirst() {
        switch byte {
        case UInt8(ascii: "-"): isNegative = true
        case UInt8(ascii: "."): isFraction = true
        case UInt8(ascii: "e"), UInt8(ascii: "E"):
          let rest = String(decoding: bytes, as: UTF8.self)
          exponent = Int(rest.hasPrefix("+") ? String(rest.dropFirst()) : rest) ?? 0
          bytes = []
        default:
          if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte) }
          if !isFraction, !digits.isEmpty { power += 1 }
          if isFraction, digits.isEmpty { power -= 1 }
        }
      }
      while digits.last == UInt8(ascii: "0") { digits.removeLast() }
      power = digits.isEmpty ? 0 : power + exponent
      isNegative = isNegative && !digits.isEmpty
    }
  }
}

/// Reads JSON; lenient where tests need not care.
private struct PlainReader {
  let bytes: [UInt8]
  var at = 0

  private var failure: PlainJSON.Malformed { PlainJSON.Malformed(offset: at) }

  private mutating func skipBlanks() {
    while at < bytes.count, " \t\n\r".utf8.contains(bytes[at]) { at += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard at < bytes.count, bytes[at] == byte else { return false }
    at += 1
    return true
  }

  mutating func end() throws(PlainJSON.Malformed) {
    skipBlanks()
    guard at == bytes.count else { throw failure }
  }

  mutating func value() throws(PlainJSON.Malformed) -> PlainJSON {
    skipBlanks()
    guard at < bytes.count else { throw failure }
    switch bytes[at] {
    case UInt8(ascii: "\""): return .text(try text())
    case UInt8(ascii: "["):
      at += 1
      var elements: [PlainJSON] = []
      if take(UInt8(ascii: "]")) { return .list([]) }
      repeat { elements.append(try value()) } while take(UInt8(ascii: ","))
      guard take(UInt8(ascii: "]")) else { throw failure }
      return .list(elements)
    case UInt8(ascii: "{"):
      at += 1
      var members: [(key: [UInt16], value: PlainJSON)] = []
      if take(UInt8(ascii: "}")) { return .object([]) }
      repeat {
        skipBlanks()
        let key = try text()
        guard take(UInt8(ascii: ":")) else { throw failure }
        let value = try value()
        members.removeAll { $0.key == key }
        members.append((key, value))
      } while take(UInt8(ascii: ","))
      guard take(UInt8(ascii: "}")) else { throw failure }
      return .object(members)
    default:
      let start = at
      while at < bytes.count, !",]} \t\r\n".utf8.contains(bytes[at]) { at += 1 }
      let word = String(decoding: bytes[start..<at], as: UTF8.self)
      if ["null", "true", "false"].contains(word) { return .literal(word) }
      guard let first = word.utf8.first, first == UInt8(ascii: "-") || PlainJSON.isDigit(first) else { throw failure }
      return .number(word)
    }
  }

  private mutating func text() throws(PlainJSON.Malformed) -> [UInt16] {
    guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { throw failure }
    at += 1
    var units: [UInt16] = [], from = at
    func flushed(_ end: Int) -> [UInt16] { Array(String(decoding: bytes[from..<end], as: UTF8.self).utf16) }
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "\""):
        units += flushed(at)
        at += 1
        return units
      case UInt8(ascii: "\\"):
        units += flushed(at)
        guard at + 1 < bytes.count else { throw failure }
        let letter = bytes[at + 1]
        at += 2
        switch letter {
        case UInt8(ascii: "u"):
          guard at + 4 <= bytes.count, let unit = UInt16(String(decoding: bytes[at..<(at + 4)], as: UTF8.self), radix: 16) else {
            throw failure
          }
          units.append(unit)
          at += 4
        case UInt8(ascii: "n"): units.append(10)
        case UInt8(ascii: "t"): units.append(9)
        case UInt8(ascii: "r"): units.append(13)
        case UInt8(ascii: "b"): units.append(8)
        case UInt8(ascii: "f"): units.append(12)
        default: units.append(UInt16(letter))
        }
        from = at
      default: at += 1
      }
    }
    throw failure
  }
}
