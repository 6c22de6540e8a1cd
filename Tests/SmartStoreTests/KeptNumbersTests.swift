import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Tests that entries which a script has read and saves again keep the digits of the numbers that it left alone.
@Suite struct KeptNumbersTests {
  private static let item =
    #"{"id":"1","u":18446744073709551615,"d":1.10,"e":1e3,"l":[0.1000000000000000055,{"x":12345678901234567.89}],"t":"a"}"#

  /// Saves the entry as a script does that holds numbers as integers of 64 bits and doubles.
  private func saved(_ text: String, in store: Store, changing change: (inout JSONObject) -> Void = { _ in }) throws -> String {
    let id = try #require(try JSONValue(parsing: store.upsert(Array("[\(text)]".utf8), into: "s")).arrayValue?.first)
    var entry = try #require(Self.rounded(id).objectValue)
    change(&entry)
    let stored = try store.upsert(JSONValue.array([.object(entry)]).serialized(), into: "s")
    return String(decoding: stored, as: UTF8.self)
  }

  private static func rounded(_ value: JSONValue) -> JSONValue {
    switch value {
    case .decimal: .number(value.doubleValue ?? 0)
    case .array(let list): .array(list.map(rounded))
    case .object(let object): .object(JSONObject(object.map { ($0.key, rounded($0.value)) }))
    default: value
    }
  }

  @Test func upsert_ofAReadEntry_keepsTheNumbersLeftAlone() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("id")])
    let text = try saved(Self.item, in: temporary.store) { $0["t"] = "b" }
    for number in ["18446744073709551615", "1.10", "1e3", "0.1000000000000000055", "12345678901234567.89"] {
      #expect(text.contains(number), "\(number) in \(text)")
    }
    #expect(text.contains(#""t":"b""#))
  }

  /// What Lua writes for doubles, and numbers that say more digits.
  @Test func isOfDouble_isWhatScriptsWrite() {
    for text in ["1.5", "-0.5", "-0.0", "12345678901234568.0", "1.8446744073709552e+19", "1e+20", "100.0"] {
      #expect(KeptNumbers.isOfDouble(text), "\(text)")
    }
    for text in ["5", "18446744073709551615", "12345678901234567.89", "123456789012345678.0"] {
      #expect(!KeptNumbers.isOfDouble(text), "\(text)")
    }
  }

  @Test func upsert_ofChangedNumbers_writesThem() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("id")])
    let text = try saved(Self.item, in: temporary.store) {
      $0["u"] = 5
      $0["d"] = 1.25
      $0["l"] = [0.5]
      $0["e"] = nil
    }
    for member in [#""u":5,"#, #""d":1.25,"#, #""l":[0.5]"#] { #expect(text.contains(member), "\(member) in \(text)") }
    #expect(!text.contains(#""e""#))
  }

  /// No script writes so many digits: they are an edit, also if the nearest double is the same.
  @Test func upsert_ofOtherDigitsOfTheSameDouble_writesThem() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("id")]), store = temporary.store
    _ = try store.upsert(Array(#"[{"id":"1","u":18446744073709551615,"v":0.1000000000000000055,"w":1.10}]"#.utf8), into: "s")
    let edited = #"[{"_soupEntryId":1,"id":"1","u":18446744073709551616,"v":0.1000000000000000054,"w":1.1}]"#
    let stored = String(decoding: try store.upsert(Array(edited.utf8), into: "s"), as: UTF8.self)
    for member in [#""u":18446744073709551616"#, #""v":0.1000000000000000054"#, #""w":1.10"#] { #expect(stored.contains(member)) }
  }

  @Test func upsert_ofSeveralEntries_keepsTheTextOfTheOthers() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("id")]), store = temporary.store
    _ = try store.upsert(Array(#"[{"id":"1","u":1.10},{"id":"2","u":2}]"#.utf8), into: "s")
    let again =
      #"[ {"_soupEntryId":2,"id":"2","u":2.50,"x":"\u00e9"} , {"_soupEntryId":1,"id":"1","u":1.1} , {"id":"3","u":1.10} ]"#
    let stored = String(decoding: try store.upsert(Array(again.utf8), into: "s"), as: UTF8.self)
    #expect(stored.contains(#""u":2.50,"x":"\u00e9""#) && stored.contains(#""id":"1","u":1.10"#), "\(stored)")
  }

  @Test(arguments: [#"[{"_soupEntryId":1,"u":1.1]"#, "1.5", #"{"_soupEntryId":1.5}"#, "[1.5,\"_soupEntryId\"]"])
  func upsert_ofSomethingElse_isTheSameError(text: String) throws {
    let temporary = try TemporaryStore(soup: "s", [.string("id")])
    #expect(throws: (any Error).self) { try temporary.store.upsert(Array(text.utf8), into: "s") }
  }
}
