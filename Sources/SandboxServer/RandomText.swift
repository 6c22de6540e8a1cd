/// Random tokens and passwords.
package enum RandomText {
  /// Returns random letters and digits from the system's generator. Tokens protect the loopback
  /// port from other users of the computer.
  package static func make(_ length: Int) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    var generator = SystemRandomNumberGenerator()
    return String((0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
  }
}
