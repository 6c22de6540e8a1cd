import COpenSSL

/// Digests of OpenSSL, which is loaded on first use. Any thread.
package enum Digest {
  /// SHA-256 (FIPS 180-4): 32 bytes.
  package static func sha256(_ bytes: some Sequence<UInt8>) throws(OpenSSLProblem) -> [UInt8] {
    try result(of: bytes, count: TUREEN_SHA256_BYTES, tureen_digest_sha256)
  }

  /// Returns the SHA-256 of a text's UTF-8 as 64 hexadecimal digits.
  package static func sha256Hex(_ text: String) throws(OpenSSLProblem) -> String { hex(try sha256(text.utf8)) }

  /// MD5 (RFC 1321), for checksums that others define: 16 bytes.
  package static func md5(_ bytes: some Sequence<UInt8>) throws(OpenSSLProblem) -> [UInt8] {
    try result(of: bytes, count: TUREEN_MD5_BYTES, tureen_digest_md5)
  }

  /// HMAC with SHA-256 (RFC 2104): 32 bytes.
  package static func hmacSHA256(_ bytes: some Sequence<UInt8>, key: [UInt8]) throws(OpenSSLProblem) -> [UInt8] {
    try result(of: bytes, count: TUREEN_SHA256_BYTES) { data, count, code, message, size in
      tureen_hmac_sha256(key, key.count, data, count, code, message, size)
    }
  }

  /// Compares two codes in a time that depends on their lengths only.
  package static func isEqual(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Returns lower-case hexadecimal digits.
  package static func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private typealias Function = (
    UnsafeRawPointer?, Int, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<CChar>, Int
  ) -> Int32

  private static func result(
    of bytes: some Sequence<UInt8>, count: Int, _ function: Function
  ) throws(OpenSSLProblem) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: count)
    try OpenSSLProblem.ifNil { message, size in
      func fill(_ data: UnsafeBufferPointer<UInt8>) -> Int32 { function(data.baseAddress, data.count, &digest, message, size) }
      let status = bytes.withContiguousStorageIfAvailable(fill) ?? Array(bytes).withUnsafeBufferPointer(fill)
      return status == 1 ? () : nil
    }
    return digest
  }
}
