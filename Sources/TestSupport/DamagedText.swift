import JSON

/// Good texts with damage, and soups of their pieces: what servers, files and scripts send when they lie.
public struct DamagedText: Sendable {
  public var random: SeededGenerator

  public init(random: SeededGenerator) { self.random = random }

  private static let pieces: [[UInt8]] = [
    "9223372036854775808", "-9223372036854775808", "18446744073709551616", "1e400", "-1", "0", "null", "true", "{}", "[]", "\"\"",
    "{", "}", "[", "]", "\"", "\\", "\\u0000", "\\ud834", "\\u", ",", ":", ";", "=", "<", ">", "%", "%zz", "{since}", "{+a*}",
    "../..", "//", "http://[::1", "é", "\u{1F600}", "\u{202e}", "\0", "\r\n", "\t", " ", "99999999999999999999", "0000-00-00",
    "9999-12-31T23:59:59Z", "+99:99", "Z", "$", "/", ".", "..", "[*]", "'", "T", "-0", "1.5", "\u{FEFF}",
  ].map { Array($0.utf8) }

  public mutating func chance(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &random) == 0 }

  public mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }

  private mutating func range(in count: Int, upTo longest: Int) -> Range<Int> {
    let start = Int.random(in: 0...count, using: &random)
    return start..<min(count, start + Int.random(in: 0...longest, using: &random))
  }

  /// One of the texts, with up to six changes; rarely as it is. Where the text is JSON, half of them leave it JSON.
  public mutating func next(of texts: [[UInt8]]) -> [UInt8] {
    var text = pick(texts)
    if chance(2), let value = try? JSONValue(parsing: text), value.objectValue != nil || value.arrayValue != nil {
      var changed = value
      for _ in 0...Int.random(in: 0...2, using: &random) { changed = next(of: changed) }
      return changed.serialized()
    }
    for _ in 0..<Int.random(in: 0...6, using: &random) {
      let place = range(in: text.count, upTo: 12)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: text.removeSubrange(place)
      case 1: text.insert(contentsOf: Array(text[place]), at: place.lowerBound)
      case 2: text.replaceSubrange(place, with: pick(Self.pieces))
      case 3: text.insert(contentsOf: pick(Self.pieces), at: place.lowerBound)
      case 4:
        for i in place where chance(3) { text[i] = UInt8.random(in: 0...255, using: &random) }
      case 5:
        for i in place where (0x30...0x39).contains(text[i]) { text[i] = UInt8.random(in: 0x30...0x39, using: &random) }
      case 6:
        let other = pick(texts), slice = range(in: other.count, upTo: 40)
        text.insert(contentsOf: Array(other[slice]), at: place.lowerBound)
      default:
        if chance(8) {
          let piece = pick(Self.pieces), count = pick([10, 100, 1_000, 5_000])
          text.insert(contentsOf: Array([[UInt8]](repeating: piece, count: count).joined()), at: place.lowerBound)
        } else if chance(4) {
          text.removeSubrange(place.lowerBound...)
        }
      }
    }
    return text
  }

  private static let values: [JSONValue] = [
    .null, true, false, 0, 1, -1, .integer(.max), .integer(.min), .integer(1 << 53), .number(0.5), .number(-0.0), .number(1e300),
    "",
    "a", "a.b", "..", "$", "{since}", "\0", "\u{202e}", "http://[::1", "9999-12-31T23:59:59Z", [], [[]], [1, "a", nil], [:],
    ["a": ["b": [:]]], .string(String(repeating: "x", count: 5_000)),
  ]

  /// The value with one change somewhere in it.
  private mutating func next(of value: JSONValue) -> JSONValue {
    if chance(5) { return pick(Self.values) }
    switch value {
    case .object(var members) where !members.isEmpty:
      let key = pick(Array(members.keys))
      switch Int.random(in: 0..<8, using: &random) {
      case 0: members[key] = nil
      case 1: members[pick([key.uppercased(), key + " ", "x", ""])] = members[key]
      default: members[key] = members[key].map { next(of: $0) }
      }
      return .object(members)
    case .array(var elements) where !elements.isEmpty:
      let place = Int.random(in: elements.indices, using: &random)
      if chance(6) { elements.append(elements[place]) } else { elements[place] = next(of: elements[place]) }
      return .array(elements)
    case .string(let text) where chance(2): return .string(String(decoding: next(of: [Array(text.utf8)]), as: UTF8.self))
    default: return pick(Self.values)
    }
  }
}
