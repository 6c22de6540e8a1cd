import RestClient
import Support

/// A proof key for code exchange: a stolen authorization code is useless without the verifier.
///
/// - Note: Source: RFC 7636, method S256. Lengths of 43 to 128 characters are allowed there; 32 bytes make 43.
public struct PKCE: Sendable, Equatable {
  /// Secret until the code is exchanged.
  let verifier: String
  /// The hash of the verifier, which goes into the URL.
  public let challenge: String

  /// - Throws: ``RestError`` `.notAuthenticated` if OpenSSL is missing.
  public init() throws(RestError) { try self.init(verifier: RandomToken.make()) }

  init(verifier: String) throws(RestError) {
    self.verifier = verifier
    do throws(OpenSSLProblem) {
      challenge = Base64.urlText(try Digest.sha256(verifier.utf8))
    } catch {
      throw RestError(code: .notAuthenticated, message: "\(error)", outcome: .notSent)
    }
  }
}

extension PKCE: CustomStringConvertible, CustomReflectable {
  public var description: String { "PKCE(\(challenge))" }
  public var customMirror: Mirror { Mirror(self, children: ["challenge": challenge]) }
}

/// Generates texts that cannot be guessed.
enum RandomToken {
  /// Returns 32 bytes of the system's random number generator as 43 characters of URL-safe Base64.
  static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    return Base64.urlText((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }
}
