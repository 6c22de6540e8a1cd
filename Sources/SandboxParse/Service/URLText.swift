import SandboxServer

enum URLText {
  /// Escapes one segment of a path: all bytes except letters, digits and `-._~`.
  static func escaped(_ text: String) -> String { URLCoding.escaped(text).replacing("%7E", with: "~") }
}
