import JSON
import LuaBridge
import RecordScan
import TestSupport
import Testing

/// Tests that the three readers of JSON accept the same texts and read the same values: the scanner, which decides what is
/// stored, the parser of values, and the decoder for scripts.
@Suite struct JSONParityTests {
  private static let seedTexts = [
    #"{"Id":"003A","Name":"Ann \"X\" \u00e9\n","n":[1,-2.5e3,0,true,false,null],"o":{"k":{"d":[{}]}},"":""}"#,
    #"[{"a":"Göktuğ","b":12345678901234567890},{"a":"한글","c":[[[]]]},{"a":1e400,"a":-1E+999}]"#,
    #" { "x" : [ 1 , 2.0 , "\ud834\udd1e\ud834\udc00\udd1e" ] , "y" : -0.1 } "#,
    #"["\ud800","\udfff","\ud83d\ude00","\ud83dx\ude00","\\ud800\/\b\f"]"#,
  ]
  private static let pool =
    Array(#"{}[]:,"\/bnrtud8cDfF0123456789-+.eEtruefalsn x"#.utf8) + [0x09, 0x0a, 0x00, 0x1f, 0x7f, 0xc3, 0xa9, 0xed, 0xa0, 0xff]
  private static let tokens = [
    "{", "}", "[", "]", ":", ",", "\"a\"", "\"\"", "1", "-1", "0.5", "01", "1e", "1e400", "-0", "true", "nul", " ",
    #""\ud800""#, #""\ud83d\ude00""#, #""\ude00\ud83d""#, #""\u12""#, "18446744073709551616", "\u{feff}",
  ]

  private static func texts() -> [[UInt8]] {
    var random = SeededGenerator(state: 20_261_123), texts = seedTexts.map { Array($0.utf8) }
    for seed in seedTexts {
      for _ in 0..<1500 {
        var bytes = Array(seed.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
          let i = Int.random(in: 0..<bytes.count, using: &random), byte = pool.randomElement(using: &random)!
          switch Int.random(in: 0..<4, using: &random) {
          case 0: bytes[i] = byte
          case 1: bytes.insert(byte, at: i)
          case 2: bytes.remove(at: i)
          default: bytes.removeSubrange(i..<min(bytes.count, i + 4))
          }
        }
        texts.append(bytes)
      }
    }
    for _ in 0..<4000 {
      let count = Int.random(in: 1...7, using: &random)
      texts.append(Array((0..<count).map { _ in tokens.randomElement(using: &random)! }.joined().utf8))
    }
    for levels in [998, 999, 1000, 1001] {
      texts.append(Array((String(repeating: "[", count: levels) + String(repeating: "]", count: levels)).utf8))
      texts.append(Array((String(repeating: #"{"a":"#, count: levels) + "1" + String(repeating: "}", count: levels)).utf8))
    }
    return texts
  }

  private static func scannerTakes(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { raw in
      var walker = JSONWalker(raw)
      return (try? walker.skipValue(depth: 0)) != nil && (try? walker.expectEnd()) != nil
    }
  }

  /// Returns the result of decoding each text in a script: empty if it is refused, `-` for a value without a JSON text (an
  /// infinity), or the value's text.
  private static func decoded(_ texts: [[UInt8]]) throws -> [String] {
    let host = FakeHost()
    func quoted(_ bytes: [UInt8]) -> String {
      "\"" + bytes.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
    }
    for part in stride(from: 0, to: texts.count, by: 500) {
      let list = texts[part..<min(part + 500, texts.count)].map(quoted).joined(separator: ",\n")
      let outcome = try ScriptState(host: host).run(
        text: """
          local tureen = require "tureen"
          for _, text in ipairs { \(list) } do
            local value, err = tureen.json.decode(text)
            local has_text, again = pcall(tureen.json.encode, value)
            tureen.exec(nil, nil, "note", "text", { value = err and "" or has_text and again or "-" })
          end
          """)
      #expect(outcome == .done)
    }
    return host.notes
  }

  @Test func read_anyText_allThreeAgree() throws {
    let texts = Self.texts(), decoded = try Self.decoded(texts)
    try #require(decoded.count == texts.count)
    var taken = 0
    for (text, again) in zip(texts, decoded) {
      let shown = String(decoding: text, as: UTF8.self), parsed = try? JSONValue(parsing: text)
      #expect(Self.scannerTakes(text) == (parsed != nil), "scanner and parser: \(shown)")
      #expect((parsed != nil) == (again != ""), "parser and decoder: \(shown)")
      guard let parsed, again != "", again != "-" else { continue }
      taken += 1
      #expect(try JSONValue(parsing: again).asScriptsHoldIt == parsed.asScriptsHoldIt, "\(shown)")
    }
    #expect(taken > 500, "the texts are not all broken")
  }

  /// The scanner replaces a lone surrogate before the text is stored, and the other readers read the same replacement.
  @Test func replaceLoneSurrogates_anyText_changesNoMeaningAndLeavesNone() {
    for text in Self.texts() where Self.scannerTakes(text) {
      var clean = text
      clean.withUnsafeMutableBytes { JSONStringContents.replaceLoneSurrogates(in: $0) }
      #expect(try! JSONValue(parsing: clean) == JSONValue(parsing: text))
      let hasOne = clean.withUnsafeBytes { raw in
        var walker = JSONWalker(raw)
        _ = try? walker.skipValue(depth: 0)
        return walker.hasLoneSurrogate
      }
      #expect(!hasOne, "\(String(decoding: text, as: UTF8.self))")
    }
  }
}
