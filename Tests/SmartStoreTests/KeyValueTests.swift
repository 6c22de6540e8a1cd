import Database
import TestSupport
import Testing

@testable import SmartStore

/// Key-value stores next to the soups.
struct KeyValueTests {
  private let store: TemporaryStore
  private let values: KeyValueStore

  init() throws {
    store = try TemporaryStore()
    values = try store.store.keyValueStore(named: "settings")
  }

  @Test(
    arguments: [
      [], [0], Array("text with a // comment\r\n and a second line".utf8), [0xff, 0xfe, 0x00, 0x80], Array("é\u{0}日".utf8),
    ] as [[UInt8]])
  func put_anyBytes_comeBack(_ value: [UInt8]) throws {
    try values.put(value, for: "k")
    try store.reopen()
    #expect(try store.store.keyValueStore(named: "settings").get("k") == value)
  }

  @Test func put_fiveMegabytes_comeBack() throws {
    let value = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
    try values.put(value, for: "big")
    #expect(try values.get("big") == value)
  }

  @Test func put_again_replacesAndKeepsTheCount() throws {
    try values.put([1], for: "a")
    try values.put([2], for: "a")
    try values.put([3], for: "b")
    #expect(try values.get("a") == [2])
    #expect(try values.count() == 2)
  }

  @Test(arguments: ["k", "a b/../c", "é", "e\u{301}", "%", "*", "a\u{0}b", String(repeating: "long", count: 5000)])
  func put_anyKey_isThatKeyAlone(_ key: String) throws {
    try values.put(Array(key.utf8), for: key)
    #expect(try values.get(key) == Array(key.utf8))
    #expect(try values.contains(key))
    #expect(try values.keys().map { Array($0.utf8) } == [Array(key.utf8)])
    #expect(try values.remove(key))
    #expect(try !values.contains(key))
  }

  @Test func emptyKey_isRefusedAndHasNoValue() throws {
    #expect(code { try values.put([1], for: "") } == .invalidKey)
    #expect(try values.get("") == nil)
    #expect(try values.remove("") == false)
  }

  @Test func remove_missingKey_saysSo() throws {
    #expect(try values.remove("k") == false)
    try values.put([1], for: "k")
    #expect(try values.remove("k"))
    #expect(try values.remove("k") == false)
    #expect(try values.get("k") == nil)
    #expect(try values.count() == 0)
  }

  @Test func clear_takesItsOwnKeysOnly() throws {
    let other = try store.store.keyValueStore(named: "settings2")
    try values.clear()
    for (kv, key) in [(values, "a"), (values, "b"), (other, "a")] { try kv.put([1], for: key) }
    #expect(try store.store.keyValueStoreNames() == ["settings", "settings2"])
    try values.clear()
    #expect(try values.count() == 0)
    #expect(try values.keys() == [])
    #expect(try other.count() == 1)
    #expect(try store.store.keyValueStoreNames() == ["settings2"])
  }

  @Test(
    arguments: [
      (nil, ["[x]", "a?c", "abc", "first", "fourth", "x*y"]), ("*", ["[x]", "a?c", "abc", "first", "fourth", "x*y"]),
      ("f*", ["first", "fourth"]), ("*t*", ["first", "fourth"]), ("*h", ["fourth"]), ("z*", []), ("*zz*", []), ("abc", ["abc"]),
      ("a?c", ["a?c"]), ("[x]", ["[x]"]), ("[*", ["[x]"]), ("", []),
    ] as [(String?, [String])])
  func keys_pattern_onlyTheStarIsSpecial(_ pattern: String?, _ expected: [String]) throws {
    for key in ["first", "fourth", "abc", "a?c", "[x]", "x*y"] { try values.put([], for: key) }
    #expect(try values.keys(matching: pattern) == expected)
  }

  @Test(arguments: ["", "a b", "a-b", "é", "../x", String(repeating: "a", count: 97)])
  func store_badName_isRefused(_ name: String) {
    #expect(code { _ = try store.store.keyValueStore(named: name) } == .invalidStoreName)
  }

  @Test func store_longestName_works() throws {
    let longest = try store.store.keyValueStore(named: String(repeating: "aZ_9", count: 24))
    try longest.put([1], for: "k")
    #expect(try longest.count() == 1)
  }

  @Test(.enabled(if: TestEngine.isSQLite, "reads SQLite's files"))
  func stores_nothingPut_leaveNoTraceInTheFile() throws {
    #expect(try values.get("k") == nil)
    #expect(try values.count() == 0)
    #expect(try values.keys() == [])
    #expect(try store.store.keyValueStoreNames() == [])
    #expect(try store.store.rows("SELECT count(*) FROM sqlite_master WHERE name = 'keyvalue'") == "[[0]]")
  }

  @Test func closedStore_everyCallSaysSo() throws {
    try values.put([1], for: "k")
    store.store.close()
    #expect(code { try values.put([1], for: "k") } == .storeClosed)
    #expect(code { _ = try values.get("k") } == .storeClosed)
    #expect(code { _ = try values.keys() } == .storeClosed)
  }

  @Test(.enabled(if: TestEngine.isSQLite, "reads SQLite's files"))
  func put_withSoups_bothLiveInOneFile() throws {
    try store.store.registerSoup("s", indexSpecs: [.string("k")])
    try values.put([1], for: "k")
    try store.store.upsert(#"[{"k":"a"}]"#, into: "s")
    try store.store.removeSoup("s")
    #expect(try values.get("k") == [1])
    let reader = try Connection(store: store.path, mode: .readOnly)
    #expect(try reader.firstValue("SELECT value FROM keyvalue WHERE store = 'settings' AND key = 'k'") == .blob([1]))
  }
}
