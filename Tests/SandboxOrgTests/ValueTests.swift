import SandboxOrg
import Testing

@Suite struct ValueTests {
  @Test(arguments: [
    ("001R00000064wdt", "001R00000064wdtIAA"), ("0037e00001WZ30q", "0037e00001WZ30qAAD"),
    ("012000000000000", "012000000000000AAA"), ("012000000000000AAA", "012000000000000AAA"),
  ])
  func id_shortForm_getsItsChecksum(short: String, full: String) {
    #expect(RecordID.normalized(short) == full)
  }

  @Test(arguments: ["", "001", "001R00000064wd!", "001R00000064wdtIAB", "001R00000064wdtIA", "0’1R00000064wdt"])
  func id_malformed_isNil(text: String) { #expect(RecordID.normalized(text) == nil) }

  @Test func ids_ofOneObject_sortAsTheyWereMade() {
    let ids = [0, 1, 9, 10, 61, 62, 3_843, 3_844, 1_000_000].map { RecordID.make(prefix: "003", sequence: $0) }
    let shorts = ids.map { String($0.prefix(15)) }
    #expect(
      shorts.map { Array($0.utf8) }.elementsEqual(shorts.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }))
    #expect(Set(ids).count == ids.count && ids.allSatisfy { RecordID.normalized($0) == $0 })
  }
}
