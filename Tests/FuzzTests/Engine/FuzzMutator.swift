import JSON
import TestSupport

extension SeededGenerator {
  /// True once in `n` times.
  mutating func chance(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &self) == 0 }
  mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &self)] }
  mutating func below(_ n: Int) -> Int { n > 0 ? Int.random(in: 0..<n, using: &self) : 0 }

  /// Returns a range of at most `longest` elements, which may be empty and lie at the end.
  mutating func range(in count: Int, upTo longest: Int) -> Range<Int> {
    let start = Int.random(in: 0...count, using: &self)
    return start..<min(count, start + Int.random(in: 0...longest, using: &self))
  }
}

/// The inputs so far: what is changed, and what pieces are taken from.
struct FuzzPool: Sendable {
  let inputs: [[UInt8]]
  /// Those that the target has accepted. They are picked half of the time, because most errors end a parser early.
  let accepted: [[UInt8]]
  /// Returns the part of an input that may be changed.
  var text: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  func pick(_ random: inout SeededGenerator) -> [UInt8] {
    let list = accepted.isEmpty || random.chance(2) ? inputs : accepted
    return list.isEmpty ? [] : text(random.pick(list))
  }
}

/// Damages inputs. The same seed gives the same inputs on every machine.
struct FuzzMutator: Sendable {
  var random: SeededGenerator
  /// What to splice in: words of the target, and ``always``.
  let words: [[UInt8]]
  /// Bytes beyond which an input is cut.
  static let mostBytes = 64 << 10

  init(random: SeededGenerator, dictionary: [String]) {
    self.random = random
    words = dictionary.map { Array($0.utf8) } + Self.always
  }

  private static let always: [[UInt8]] = [
    "null", "true", "{}", "[]", "\"\"", "{", "}", "[", "]", "(", ")", "\"", "'", "\\", "\\u0000", "\\ud834", "\\u", ",", ":", ";",
    "=", "<", ">", "%", "%zz", "%00", "../..", "//", "http://[::1", "é", "\u{1F600}", "\u{202e}", "\u{1b}[2J", "\0", "\r\n",
    "\r\n\r\n", "\t", " ", "$", "/", ".", "..", "*", "?", "&", "#", "@", "+", "-", "|", "`", "\u{FEFF}",
  ].map { Array($0.utf8) }

  /// Numbers at the limits of types and of formats.
  private static let numbers: [[UInt8]] = [
    "0", "-0", "-1", "1", "127", "128", "255", "256", "32767", "65535", "65536", "2147483647", "2147483648", "-2147483649",
    "4294967295", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "18446744073709551615", "18446744073709551616", "99999999999999999999999", "1e400", "-1e-400", "1.5",
    "0x10", "00", "1e999999999999", "0000-00-00", "9999-12-31T23:59:59Z", "+99:99", "NaN", "Infinity",
  ].map { Array($0.utf8) }

  /// Bytes that are not UTF-8: lone continuations, overlong forms, surrogates, beyond U+10FFFF, cut sequences.
  private static let invalid: [[UInt8]] = [
    [0x80], [0xbf], [0xc0, 0x80], [0xc1, 0xbf], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf],
    [0xf0, 0x80, 0x80, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf5], [0xff], [0xfe, 0xff], [0xe2, 0x82], [0xf0, 0x9f, 0x98],
  ]

  private static let nests: [(open: String, close: String)] = [
    ("[", "]"), ("{\"a\":", "}"), ("(", ")"), ("(SELECT ", ")"), ("NOT ", ""), ("-", ""), ("<", ">"), ("{", "}"),
    ("{\"$or\":[", "]}"),
  ]

  /// Returns the input with up to six changes, rarely unchanged. About half of the results from JSON are still JSON.
  mutating func changed(_ input: [UInt8], of corpus: FuzzPool) -> [UInt8] {
    if random.chance(2), let value = try? JSONValue(parsing: input), value.objectValue != nil || value.arrayValue != nil {
      var value = value
      for _ in 0...random.below(3) { value = changed(value) }
      return Array(value.serialized().prefix(Self.mostBytes))
    }
    var text = input
    for _ in 0..<random.below(7) {
      change(&text, corpus)
      if text.count > Self.mostBytes { text.removeSubrange(Self.mostBytes...) }
    }
    return text
  }

  private mutating func change(_ text: inout [UInt8], _ corpus: FuzzPool) {
    let place = random.range(in: text.count, upTo: 12)
    switch random.below(14) {
    case 0: for i in place where random.chance(3) { text[i] ^= 1 << UInt8(random.below(8)) }
    case 1: for i in place where random.chance(3) { text[i] = UInt8(random.below(256)) }
    case 2: text.removeSubrange(place)
    case 3: text.insert(contentsOf: Array(text[place]), at: place.lowerBound)
    case 4: text.replaceSubrange(place, with: random.pick(words))
    case 5, 6: text.insert(contentsOf: random.pick(words), at: place.lowerBound)
    case 7: cross(&text, with: corpus.pick(&random))
    case 8: replaceNumber(in: &text, near: place.lowerBound)
    case 9: text.insert(contentsOf: random.pick(Self.invalid), at: place.lowerBound)
    case 10: exchange(&text)
    case 11: for i in place where Self.isLetter(text[i]) { text[i] ^= 0x20 }
    case 12:
      guard random.chance(3) else { return }
      if random.chance(2) { text.removeSubrange(place.lowerBound...) } else { text.removeSubrange(..<place.lowerBound) }
    default:
      guard random.chance(6) else { return }
      if random.chance(2) { nest(&text, around: place) } else { repeatPiece(&text, at: place) }
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// Takes a piece, or the rest, of another input.
  private mutating func cross(_ text: inout [UInt8], with other: [UInt8]) {
    let at = random.below(text.count + 1)
    if random.chance(3) {
      text.replaceSubrange(at..., with: other[random.below(other.count + 1)...])
    } else {
      text.insert(contentsOf: Array(other[random.range(in: other.count, upTo: 40)]), at: at)
    }
  }

  /// Replaces the next number; without one, inserts it.
  private mutating func replaceNumber(in text: inout [UInt8], near start: Int) {
    let number = random.pick(Self.numbers)
    guard let first = text[start...].firstIndex(where: Self.isDigit) else { return text.insert(contentsOf: number, at: start) }
    let end = text[first...].firstIndex { !Self.isDigit($0) } ?? text.count
    text.replaceSubrange(first..<end, with: number)
  }

  private mutating func exchange(_ text: inout [UInt8]) {
    let first = random.range(in: text.count, upTo: 20), second = random.range(in: text.count, upTo: 20)
    let (low, high) = first.lowerBound < second.lowerBound ? (first, second) : (second, first)
    guard low.upperBound <= high.lowerBound else { return }
    let moved = Array(text[high]), back = Array(text[low])
    text.replaceSubrange(high, with: back)
    text.replaceSubrange(low, with: moved)
  }

  private mutating func nest(_ text: inout [UInt8], around place: Range<Int>) {
    let (open, close) = random.pick(Self.nests), depth = random.pick([3, 30, 300, 1_001, 3_000])
    let inner = Array(text[place])
    text.replaceSubrange(
      place,
      with: Array(String(repeating: open, count: depth).utf8) + inner + Array(String(repeating: close, count: depth).utf8))
  }

  private mutating func repeatPiece(_ text: inout [UInt8], at place: Range<Int>) {
    let piece = place.isEmpty || random.chance(2) ? random.pick(words) : Array(text[place])
    let count = min(random.pick([10, 100, 1_000, 5_000, 30_000]), Self.mostBytes / max(1, piece.count))
    text.insert(contentsOf: Array([[UInt8]](repeating: piece, count: count).joined()), at: place.lowerBound)
  }

  // MARK: Values

  private static let values: [JSONValue] = [
    .null, true, false, 0, 1, -1, .integer(.max), .integer(.min), .integer(1 << 53), .number(0.5), .number(-0.0), .number(1e300),
    "", "a", "a.b", "..", "$", "{since}", "\0", "\r\nX: y", "\u{202e}", "http://[::1", "9999-12-31T23:59:59Z", [], [[]],
    [1, "a", nil], [:], ["a": ["b": [:]]], .string(String(repeating: "x", count: 5_000)),
  ]

  /// Returns the value with one change at a random place.
  mutating func changed(_ value: JSONValue) -> JSONValue {
    if random.chance(6) { return replacement() }
    switch value {
    case .object(var members) where !members.isEmpty:
      let key = random.pick(Array(members.keys))
      switch random.below(8) {
      case 0: members[key] = nil
      case 1: members[random.pick([key.uppercased(), key + " ", "x", ""])] = members[key]
      default: members[key] = members[key].map { changed($0) }
      }
      return .object(members)
    case .array(var elements) where !elements.isEmpty:
      let place = random.below(elements.count)
      if random.chance(6) { elements.append(elements[place]) } else { elements[place] = changed(elements[place]) }
      return .array(elements)
    case .string(let text) where !random.chance(3):
      var bytes = Array(text.utf8)
      for _ in 0...random.below(2) { change(&bytes, FuzzPool(inputs: [], accepted: [])) }
      return .string(String(decoding: bytes.prefix(Self.mostBytes), as: UTF8.self))
    default: return replacement()
    }
  }

  private mutating func replacement() -> JSONValue {
    random.chance(3) ? .string(String(decoding: random.pick(words), as: UTF8.self)) : random.pick(Self.values)
  }
}
