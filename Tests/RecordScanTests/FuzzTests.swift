import Foundation
import JSON
import RecordScan
import TestSupport
import Testing

/// Compares random texts with Foundation's parser. The seeds are fixed, so that failures can be
/// repeated.
struct FuzzTests {
  private static let seedTexts = [
    #"{"Id":"003A","Name":"Ann \"X\" \u00e9\n","n":[1,-2.5e3,0,true,false,null],"o":{"k":{"d":[{}]}},"":""}"#,
    #"[{"a":"Göktuğ","b":12345678},{"a":"한글","c":[[[]]]},{}]"#,
    #" { "x" : [ 1 , 2.0 , "\ud834\udd1e" ] , "y" : -0.1 } "#,
  ]

  private static let pool =
    Array(#"{}[]:,"\/bnrtu0123456789-+.eEtruefalsn x"#.utf8) + [0x09, 0x0a, 0x00, 0x1f, 0x7f, 0xc3, 0xa9, 0xff]

  /// Returns false for texts on which the two parsers differ; RFC 8259 decides there. Foundation
  /// accepts a comma before a closing bracket, a byte order mark and other Unicode encodings; it
  /// rejects lone surrogates and numbers that no double can hold.
  private func isComparable(_ bytes: [UInt8]) -> Bool {
    !bytes.contains(0) && !bytes.starts(with: [0xef, 0xbb, 0xbf]) && !bytes.starts(with: [0xff, 0xfe])
      && !bytes.starts(with: [0xfe, 0xff]) && !holdsSurrogateEscape(bytes) && !holdsLongExponent(bytes)
      && !holdsCommaBeforeBracket(bytes)
  }

  private func holdsCommaBeforeBracket(_ bytes: [UInt8]) -> Bool {
    let dense = bytes.filter { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
    return dense.indices.dropLast().contains { dense[$0] == 0x2c && (dense[$0 + 1] == 0x5d || dense[$0 + 1] == 0x7d) }
  }

  private func holdsSurrogateEscape(_ bytes: [UInt8]) -> Bool {
    bytes.indices.dropLast(2).contains {
      bytes[$0] == 0x5c && bytes[$0 + 1] == 0x75 && bytes[$0 + 2] | 0x20 == 0x64
    }
  }

  private func holdsLongExponent(_ bytes: [UInt8]) -> Bool {
    bytes.indices.dropLast(3).contains { i in
      bytes[i] | 0x20 == 0x65 && bytes[(i + 1)...].prefix(4).filter { $0 >= 0x30 && $0 <= 0x39 }.count >= 3
    }
  }

  private func foundation(_ bytes: [UInt8]) -> Any? {
    try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
  }

  private func compare(_ bytes: [UInt8]) {
    guard isComparable(bytes) else { return }
    let theirs = foundation(bytes), error = refusal(bytes)
    let shown = String(decoding: bytes, as: UTF8.self)
    #expect((error == nil) == (theirs != nil), "\(shown) \(bytes): \(String(describing: error))")
    if let theirs, let ours = try? JSONValue(parsing: bytes) { #expect(same(ours, theirs), "\(shown)") }
  }

  /// Returns whether two parsers read the same value; of members with the same key either may win.
  private func same(_ ours: JSONValue, _ theirs: Any) -> Bool {
    switch ours {
    case .null: return theirs is NSNull
    case .bool(let value): return (theirs as? NSNumber)?.boolValue == value
    case .integer(let value): return (theirs as? NSNumber)?.int64Value == value
    case .number, .decimal:
      guard let value = ours.doubleValue, let other = (theirs as? NSNumber)?.doubleValue else { return false }
      return other == value || abs(other - value) <= abs(value) * 1e-12
    case .string(let value): return (theirs as? String).map { Array($0.utf8) == Array(value.utf8) } ?? false
    case .array(let elements):
      guard let others = theirs as? [Any], others.count == elements.count else { return false }
      return zip(elements, others).allSatisfy { same($0, $1) }
    case .object(let members):
      guard let others = theirs as? [String: Any] else { return false }
      return others.count == members.count && members.allSatisfy { others[$0.key] != nil }
    }
  }

  @Test func parse_mutatedTexts_agreeWithFoundation() {
    var random = SeededGenerator(state: 20_240_817)
    for text in FuzzTests.seedTexts {
      for _ in 0..<3000 {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let i = Int.random(in: 0..<bytes.count, using: &random), byte = FuzzTests.pool.randomElement(using: &random)!
          switch Int.random(in: 0..<4, using: &random) {
          case 0: bytes[i] = byte
          case 1: bytes.insert(byte, at: i)
          case 2: bytes.remove(at: i)
          default: bytes.removeSubrange(i..<min(bytes.count, i + 4))
          }
          if bytes.isEmpty { bytes = [0x20] }
        }
        compare(bytes)
      }
    }
  }

  @Test func parse_randomTokens_agreeWithFoundation() {
    var random = SeededGenerator(state: 7)
    let tokens = ["{", "}", "[", "]", ":", ",", "\"a\"", "\"\"", "1", "-1", "0.5", "01", "true", "nul", " ", "\"\\n\"", "1e3"]
    for _ in 0..<10_000 {
      let count = Int.random(in: 1...9, using: &random)
      compare(Array((0..<count).map { _ in tokens.randomElement(using: &random)! }.joined().utf8))
    }
  }

  @Test func scan_randomBytes_neverLeavesTheBuffer() {
    var random = SeededGenerator(state: 99)
    for _ in 0..<5000 {
      var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in FuzzTests.pool.randomElement(using: &random)! }
      if Bool.random(using: &random) { bytes = Array(#"{"records":[{"a":"#.utf8) + bytes }
      let exact = bytes.withUnsafeBytes { Array($0) }
      if let scan = try? Scan(exact, paths: ["a", "a.b", "x"], owned: ["_a"], recordsKey: "records", envelope: ["e"]) {
        #expect(refusal(exact) == nil)
        #expect(scan.records.allSatisfy { refusal($0) == nil })
      }
    }
  }

  /// The fields that the scanner finds equal those of a full parse.
  @Test func scan_generatedRecords_fieldsMatchAFullParse() throws {
    var random = SeededGenerator(state: 4711)
    let paths = ["a", "b", "a.b", "a.b.a", "b.a"]
    for _ in 0..<1500 {
      let record = JSONValue.object(randomObject(depth: 0, &random)), text = "[\(record.text)]"
      let fields = try Scan(text, paths: paths).fields[0]
      for (path, field) in zip(paths, fields) {
        let keys = path.split(separator: ".").map(String.init)
        #expect(expected(record, keys[...]) == field, "\(path) of \(record.text)")
      }
    }
  }

  private func randomObject(depth: Int, _ random: inout SeededGenerator) -> JSONObject {
    var members = JSONObject()
    for key in ["b", "a", "c"].shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)) {
      switch Int.random(in: 0..<(depth < 4 ? 8 : 5), using: &random) {
      case 0: members[key] = .integer(Int64.random(in: -99...99, using: &random))
      case 1: members[key] = .string("é\"\(Int.random(in: 0...9, using: &random))")
      case 2: members[key] = .null
      case 3: members[key] = .bool(Bool.random(using: &random))
      case 4: members[key] = .array([.integer(1), .object([:])])
      default: members[key] = .object(randomObject(depth: depth + 1, &random))
      }
    }
    return members
  }

  private func expected(_ value: JSONValue?, _ keys: ArraySlice<String>) -> String {
    guard let value else { return "missing" }
    guard let key = keys.first else {
      switch value {
      case .null: return "null:null"
      case .bool(let flag): return "\(flag):\(flag)"
      case .string: return "escapedString:" + value.text.dropFirst().dropLast()
      case .integer, .number, .decimal: return "number:\(value.text)"
      case .array: return "array:\(value.text)"
      case .object: return "object:\(value.text)"
      }
    }
    if value.arrayValue != nil { return "arrayStep" }
    return expected(value[key], keys.dropFirst())
  }
}
