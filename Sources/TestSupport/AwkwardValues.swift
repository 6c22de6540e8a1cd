/// Texts, numbers, keys and ids that programs often change on the way: forms of one character, halves of characters, control
/// characters, digits beyond a double, spellings of a number.
package enum AwkwardValues {
  /// Forms of é, of Å and of Ohm and Omega that are canonically equivalent, and others.
  package static let forms = ["\u{e9}", "e\u{301}", "\u{212b}", "\u{c5}", "A\u{30a}", "\u{2126}", "\u{3a9}", "K", "\u{212a}"]

  package static let texts: [[UInt16]] =
    (forms
    + forms.map { "a" + $0 + "z" } + [
      "", " ", "null", "true", "0", "7", "007", "-0", "1e2", "1.10", "NaN", "18446744073709551615", "=1+1", " led", "trailed ",
      "\u{a0}", "\t", "\n", "a\r\nb", "a\rb", "\"", "\"\"", "'", "\\", "\\u00e9", "\\n", "a,b;c\td|e", "\u{0}", "a\u{0}b",
      "\u{1}\u{1f}\u{7f}\u{85}", "\u{2028}", "\u{2029}", "\u{feff}", "\u{feff}x", "\u{fffd}", "\u{ffff}", "\u{202e}x", "\u{ad}",
      "\u{1f600}", "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", "\u{10ffff}", "\u{1100}\u{1161}", "\u{ac00}", "\u{fb01}", "ss",
      "\u{df}", "\u{130}", "2024-02-30T25:61:61Z", "2024-01-01T00:00:00.000+0000", "local_1", "__local__", "[]", "{}", "[1]",
      "{\"a\":1.0}", "%41%", "a+b&c=d", "{id}", "{since}", "</script>", "'; DROP TABLE x; --", "e\u{301}\u{301}", "\u{301}",
      String(repeating: "\u{e9}", count: 70),
    ])
    .map { Array($0.utf16) }
    // Halves of characters.
    + [[0xd800], [UInt16(UInt8(ascii: "a")), 0xdc00], [0xde00, 0xd83d]]

  /// Texts that survive trimming and are not empty.
  package static let names: [[UInt16]] = texts.filter { units in
    let text = String(decoding: units, as: UTF16.self)
    return !text.isEmpty && text.first?.isWhitespace == false && text.last?.isWhitespace == false && units.count < 40
  }

  package static let numbers = [
    "0", "-0", "-0.0", "0.0", "1", "1.0", "1.10", "1e2", "1E2", "1e+2", "100", "100.0", "0.1", "0.10", "0.1000000000000000055",
    "9007199254740992", "9007199254740993", "9007199254740993.0", "-9007199254740993", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
    "1180591620717411303424", "12345678901234567.89", "1.7976931348623157e308", "4.9E-324", "1e-400", "1E400", "-1E400",
    "123456789012345678901234567890", "5e-7", "1E-7", "2.5", "2.50", "3",
  ]

  /// Ids that are texts of any kind: as parts of URLs they must be encoded, and no two are equal by their bytes.
  package static let ids =
    forms
    + [
      "a/b", "a b", "a%20b", "a+b", "a?b=c", "a#b", "100%", "..", ".", "a/../b", "%2e", "null", "true", "007", "7", "7.0", "1e2",
      "100",
      "-0", "18446744073709551615", "18446744073709551616", "9007199254740993", "x\"y", "x'y", "x\\y", "x\ty", "x\ny", "\u{1}",
      "\u{2028}", "\u{1f600}", "\u{feff}", "{id}", "{id", "a:b", "@", "~", " ", " 7", "7 ", "X", "x", "\u{df}", "ss", "__proto__",
      "e\u{301}\u{301}", "\u{fffd}", "a,b", "[0]", "*",
    ]

  package static let keys = [
    "a", "A", "\u{e9}", "e\u{301}", "\u{2126}", "\u{3a9}", "", " ", "a.b", ".", "\"", "\\", "__local__", "_soup", "constructor",
    "0",
    "id", "Id", "{", "\n", "\u{1}", "\u{1f600}", "null", "a/b", "a:b", "'", "[0]", "%",
  ].map { Array($0.utf16) }
}

/// Makes awkward values from a seed.
package struct AwkwardSource: Sendable {
  package var random: SeededGenerator
  /// Which keys the members of objects may have.
  package var allowsKey: @Sendable ([UInt16]) -> Bool = { _ in true }

  package init(seed: UInt64) { random = SeededGenerator(state: seed) }

  package mutating func pick<Element>(_ list: [Element]) -> Element { list[Int.random(in: 0..<list.count, using: &random)] }

  package mutating func text() -> PlainJSON { .text(pick(AwkwardValues.texts)) }
  package mutating func number() -> PlainJSON { .number(pick(AwkwardValues.numbers)) }

  /// - Parameter depth: How deep lists and objects are nested at most.
  package mutating func value(depth: Int = 2) -> PlainJSON {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
    case 0, 1: text()
    case 2, 3: number()
    case 4: .literal(pick(["null", "true", "false"]))
    case 5: pick([.object([]), .list([]), text()])
    case 6: .list((0..<Int.random(in: 1...3, using: &random)).map { _ in value(depth: depth - 1) })
    default: object(depth: depth)
    }
  }

  package mutating func object(depth: Int = 2) -> PlainJSON {
    var members: [(key: [UInt16], value: PlainJSON)] = []
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let key = pick(AwkwardValues.keys)
      guard allowsKey(key), !members.contains(where: { $0.key == key }) else { continue }
      members.append((key, value(depth: depth - 1)))
    }
    return .object(members)
  }

  package mutating func list() -> PlainJSON { .list((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: 1) }) }

  package mutating func escapes() -> PlainJSON.Escapes { pick(PlainJSON.Escapes.allCases) }
}
