import SandboxServer

enum URLText {
  /// One segment of a path: everything but letters, digits and `-._~` is escaped.
  static func escaped(_ text: String) -> String { URLCoding.escaped(text).replacing("%7E", with: "~") }
}
