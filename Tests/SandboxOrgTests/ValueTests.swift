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
  func id_malformed_isNone(text: String) { #expect(RecordID.normalized(text) == nil) }

  @Test func ids_ofOneObject_sortAsTheyWereMade() {
    let ids = [0, 1, 9, 10, 61, 62, 3_843, 3_844, 1_000_000].map { RecordID.make(prefix: "003", sequence: $0) }
    let shorts = ids.map { String($0.prefix(15)) }
    #expect(
      shorts.map { Array($0.utf8) }.elementsEqual(shorts.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }))
    #expect(Set(ids).count == ids.count && ids.allSatisfy { RecordID.normalized($0) == $0 })
  }

  @Test func sha256_publishedVectors_match() {
    func hex(_ bytes: [UInt8]) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
    #expect(hex(SHA256.digest([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(hex(SHA256.digest(Array("abc".utf8))) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    let code = SHA256.authenticationCode(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
    #expect(hex(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }
}
