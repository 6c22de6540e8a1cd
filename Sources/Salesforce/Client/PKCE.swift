import Support

/// A proof key for code exchange: who stole the code of a sign-in cannot exchange it without the verifier.
///
/// - Note: Source: RFC 7636, method S256. Lengths of 43 to 128 characters are allowed there; 32 bytes make 43.
public struct PKCE: Sendable, Equatable {
  /// Secret until the code is exchanged.
  let verifier: String

  public init() { self.init(verifier: RandomToken.make()) }

  init(verifier: String) { self.verifier = verifier }

  /// What goes into the URL: the verifier's hash.
  public var challenge: String { Base64.urlText(SHA2.digest(verifier.utf8)) }
}

extension PKCE: CustomStringConvertible, CustomReflectable {
  public var description: String { "PKCE(\(challenge))" }
  public var customMirror: Mirror { Mirror(self, children: ["challenge": challenge]) }
}

/// Text that cannot be guessed.
enum RandomToken {
  /// 43 characters of the URL alphabet for 32 bytes of the system's generator.
  static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    return Base64.urlText((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }
}
