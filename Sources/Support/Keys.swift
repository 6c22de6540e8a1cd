import COpenSSL

/// A private key, which signs with RS256 if it is one of RSA. Any thread.
package final class PrivateKey: @unchecked Sendable {  // OpenSSL changes no key, and counts references atomically
  let key: OpaquePointer

  private init(_ key: OpaquePointer) { self.key = key }

  /// Reads the first private key of a PEM text: PKCS#8 without a pass phrase, PKCS#1, or the older form of EC.
  package init(pem: UnsafeRawBufferPointer) throws(OpenSSLProblem) {
    key = try OpenSSLProblem.ifNil { message, size in
      pem.baseAddress.flatMap { tureen_key_read_private($0, pem.count, message, size) }
    }
  }

  package convenience init(pem: String) throws(OpenSSLProblem) {
    let bytes = Array(pem.utf8)
    let read = bytes.withUnsafeBytes { pem in
      Result { () throws(OpenSSLProblem) in
        try OpenSSLProblem.ifNil { message, size in
          // An empty text has no address.
          tureen_key_read_private(pem.baseAddress ?? UnsafeRawPointer(message), pem.count, message, size)
        }
      }
    }
    self.init(try read.get())
  }

  package static func makeRSA(bits: Int = 2_048) throws(OpenSSLProblem) -> PrivateKey {
    PrivateKey(try OpenSSLProblem.ifNil { tureen_key_make_rsa(UInt32(clamping: bits), $0, $1) })
  }

  /// Makes a key on the curve P-256.
  package static func makeEC() throws(OpenSSLProblem) -> PrivateKey {
    PrivateKey(try OpenSSLProblem.ifNil { tureen_key_make_ec($0, $1) })
  }

  deinit { tureen_key_free(key) }

  package var isRSA: Bool { tureen_key_is_rsa(key) == 1 }
  package var bits: Int { Int(tureen_key_bits(key)) }

  /// PKCS#8 as PEM. A secret.
  package func pem() throws(OpenSSLProblem) -> String {
    String(decoding: try OpenSSLProblem.bytes { tureen_key_write_private(key, $0, $1, $2) }, as: UTF8.self)
  }

  /// The public key as PEM, without an end of line.
  package func publicPEM() throws(OpenSSLProblem) -> String {
    let text = String(decoding: try OpenSSLProblem.bytes { tureen_key_write_public(key, $0, $1, $2) }, as: UTF8.self)
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  /// The modulus and the public exponent of an RSA key, most significant byte first.
  package func publicNumbers() throws(OpenSSLProblem) -> (modulus: [UInt8], exponent: [UInt8]) {
    (
      try OpenSSLProblem.bytes { tureen_key_number(key, "n", $0, $1, $2) },
      try OpenSSLProblem.bytes { tureen_key_number(key, "e", $0, $1, $2) }
    )
  }

  /// Returns the RS256 signature.
  ///
  /// - Throws: If it is not an RSA key, or its numbers do not fit.
  package func signature(of bytes: [UInt8]) throws(OpenSSLProblem) -> [UInt8] {
    try OpenSSLProblem.bytes { tureen_key_sign(key, bytes, bytes.count, $0, $1, $2) }
  }
}

/// A public key, which verifies RS256 if it is one of RSA. Any thread.
package final class PublicKey: @unchecked Sendable {  // as above
  private let key: OpaquePointer

  /// Reads the key of the first certificate, or else the first public key, of a PEM text.
  package init(pem: String) throws(OpenSSLProblem) {
    let bytes = Array(pem.utf8)
    key = try OpenSSLProblem.ifNil { message, size in tureen_key_read_public(bytes, bytes.count, message, size) }
  }

  deinit { tureen_key_free(key) }

  package var isRSA: Bool { tureen_key_is_rsa(key) == 1 }
  package var bits: Int { Int(tureen_key_bits(key)) }

  /// Returns whether it is the RS256 signature of the bytes.
  package func isValid(signature: [UInt8], of bytes: [UInt8]) -> Bool {
    tureen_key_verify(key, bytes, bytes.count, signature, signature.count) == 1
  }
}
