import Foundation
import Support
import TestSupport
import Testing

@testable import Salesforce

/// Tests what OpenSSL does for us against known values, and what damaged keys lead to.
@Suite struct OpenSSLTests {
  private func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.utf8.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  // MARK: Digests

  /// FIPS 180-4.
  @Test func sha256_knownVectors() throws {
    #expect(try Digest.sha256Hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(try Digest.sha256Hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      try Digest.sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    #expect(
      try Digest.sha256Hex(String(repeating: "a", count: 1_000_000))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test func sha256_ofAnySequence_isThatOfItsBytes() throws {
    let expected = try Digest.sha256("abc".utf8)
    #expect(try Digest.sha256(AnySequence(Array("abc".utf8))) == expected)
    #expect(try Digest.sha256(Array("xabcx".utf8)[1..<4]) == expected)
    #expect(try Digest.sha256(EmptyCollection()) == Digest.sha256([]))
  }

  /// RFC 1321, section A.5.
  @Test func md5_knownVectors() throws {
    #expect(try Digest.hex(Digest.md5([])) == "d41d8cd98f00b204e9800998ecf8427e")
    #expect(try Digest.hex(Digest.md5("message digest".utf8)) == "f96b697d7cb7938d525a2f31aaf161d0")
  }

  /// RFC 4231, sections 4.2, 4.3, 4.7 and 4.8; the keys of the latter are longer than a block.
  @Test func hmac_knownVectors() throws {
    let long = [UInt8](repeating: 0xaa, count: 131)
    let cases: [(key: [UInt8], text: String, code: String)] = [
      (
        [UInt8](repeating: 0x0b, count: 20), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        Array("Jefe".utf8), "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        long, "Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
      ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ]
    for (key, text, code) in cases { #expect(try Digest.hex(Digest.hmacSHA256(text.utf8, key: key)) == code) }
  }

  @Test func equal_codes_areToldApart() {
    #expect(Digest.isEqual([1, 2], [1, 2]) && Digest.isEqual([], []))
    #expect(!Digest.isEqual([1, 2], [1, 3]) && !Digest.isEqual([1, 2], [1]) && !Digest.isEqual([], [0]))
  }

  // MARK: RS256

  /// RFC 7515, appendix A.2.
  private static let modulus = """
    ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMs\
    D1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdV\
    MTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ
    """
  private static let signed =
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
  private static let signature = """
    cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZ\
    cAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-e\
    OkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
    """

  @Test func rs256_theStandardsExample_verifies() throws {
    let key = try TestKeys.publicKey(modulus: try #require(Base64.decodeURL(Self.modulus)), exponent: [1, 0, 1])
    let signature = try #require(Base64.decodeURL(Self.signature)), signed = Array(Self.signed.utf8)
    #expect(key.isRSA && key.bits == 2_048)
    #expect(key.isValid(signature: signature, of: signed))
    for at in [0, 100, signature.count - 1] {
      var other = signature
      other[at] ^= 1
      #expect(!key.isValid(signature: other, of: signed))
    }
    #expect(!key.isValid(signature: signature, of: signed + [0]) && !key.isValid(signature: [], of: signed))
    #expect(
      !key.isValid(signature: signature + [0], of: signed) && !key.isValid(signature: Array(signature.dropLast()), of: signed))
    #expect(!key.isValid(signature: [UInt8](repeating: 0xff, count: 5_000), of: signed))
  }

  @Test func rs256_ownSignature_verifiesWithEachFormOfTheKey() throws {
    let key = try PrivateKey.makeRSA(), signature = try key.signature(of: Array("text".utf8))
    let numbers = try key.publicNumbers()
    #expect(numbers.modulus.count == 256 && numbers.exponent == [1, 0, 1])
    let certificate = try TestIdentity(isSelfSigned: true, key: key).chain
    let others = [
      try PublicKey(pem: key.publicPEM()), try PublicKey(pem: certificate),
      try PublicKey(pem: "a comment\n" + certificate + (try PrivateKey.makeRSA().publicPEM())),
      try TestKeys.publicKey(modulus: numbers.modulus, exponent: numbers.exponent),
    ]
    for other in others { #expect(other.isValid(signature: signature, of: Array("text".utf8))) }
    #expect(try PrivateKey(pem: TestKeys.pkcs1(key)).publicPEM() == key.publicPEM())
    #expect(try PrivateKey(pem: key.pem()).publicPEM() == key.publicPEM())
  }

  @Test func rs256_keyOfACurve_neitherSignsNorVerifies() throws {
    let key = try PrivateKey.makeEC()
    #expect(!key.isRSA)
    #expect(throws: OpenSSLProblem("the key cannot sign")) { try key.signature(of: []) }
    #expect(try !PublicKey(pem: key.publicPEM()).isValid(signature: [0], of: []))
    #expect(throws: OpenSSLProblem.self) { try key.publicNumbers() }
  }

  // MARK: Damaged keys

  @Test func key_damagedAnywhere_isRefusedOrStillSigns() throws {
    let key = try PrivateKey.makeRSA(), pem = try TestKeys.pkcs1(key)
    let body = Base64.decodeLenient(pem.split(separator: "\n").dropFirst().dropLast().joined()) ?? []
    #expect(body.count > 1_000)
    var generator = SeededGenerator(state: 36)
    for _ in 0..<400 {
      var damaged = body
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: damaged[Int.random(in: damaged.indices, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 1: damaged[Int.random(in: 0..<12, using: &generator)] = .random(in: 0...255, using: &generator)
      case 2: damaged.removeLast(Int.random(in: 1...damaged.count, using: &generator))
      default:
        let start = Int.random(in: damaged.indices, using: &generator)
        for at in start..<min(start + 40, damaged.count) { damaged[at] = 0 }
      }
      let text = Array(TestKeys.pem("RSA PRIVATE KEY", damaged).utf8)
      let read = text.withUnsafeBytes { pem in Result { () throws(SigningKey.Problem) in try SigningKey(pem: pem) } }
      // OpenSSL computes with the rest of the key if only a part is wrong.
      guard case .success(let kept) = read else { continue }
      #expect(try kept.signature(of: "text").count >= 256)
    }
  }

  @Test func key_otherTexts_areRefused() throws {
    let identity = try TestIdentity(), key = try PrivateKey.makeRSA()
    for text in [
      "", "-----BEGIN PRIVATE KEY-----", identity.chain, try key.publicPEM(), "\0", String(repeating: "A", count: 100_000),
    ] {
      #expect(throws: OpenSSLProblem.self) { try PrivateKey(pem: text) }
    }
    for text in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", try key.pem(), "\0"] {
      #expect(throws: OpenSSLProblem.self) { try PublicKey(pem: text) }
    }
  }

  /// A key whose numbers do not belong together: the modulus of one key, the rest of another.
  @Test func key_withTheModulusOfAnother_isDamaged() throws {
    let key = try PrivateKey.makeRSA(), other = try PrivateKey.makeRSA()
    let body = Base64.decodeLenient(try TestKeys.pkcs1(key).split(separator: "\n").dropFirst().dropLast().joined()) ?? []
    let own = try key.publicNumbers().modulus, foreign = try other.publicNumbers().modulus
    let at = try #require(body.indices.first { body[$0...].starts(with: own) })
    let mixed = Array(body[..<at]) + foreign + body[(at + own.count)...]
    let text = Array(TestKeys.pem("RSA PRIVATE KEY", mixed).utf8)
    let problem = #expect(throws: SigningKey.Problem.self) { try text.withUnsafeBytes { try SigningKey(pem: $0) } }
    #expect(problem?.description.hasPrefix("it is damaged") == true)
  }

  // MARK: Certificates

  @Test func certificate_endIsKnown() throws {
    for until in [7_200, 400 * 86_400, -60] {
      let left = try Certificate.secondsLeft(TestIdentity(seconds: -86_400..<until).chain)
      #expect(abs(Int(left) - until) < 60)
    }
    #expect(throws: OpenSSLProblem.self) { try Certificate.secondsLeft("no certificate") }
  }

  @Test func certificate_namesThatAreNone_areRefused() throws {
    #expect(throws: OpenSSLProblem.self) { try TestIdentity(names: ["IP:localhost"]) }
    #expect(throws: OpenSSLProblem.self) { try TestIdentity(names: ["nonsense"]) }
    #expect(throws: OpenSSLProblem.self) { try TestIdentity(names: []) }
  }
}
