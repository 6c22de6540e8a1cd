import JSON

/// Writes commands that a person can copy into a shell.
package enum CommandText {
  /// Quotes a word where a shell would not take it as it is.
  package static func quoted(_ word: String) -> String {
    let plain = word.utf8.allSatisfy { c in
      switch c {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "-_./:@%+=,".utf8.contains(c)
      }
    }
    guard !plain || word.isEmpty else { return word }
    // By bytes: an accent after a quote would be one character with it.
    var text = [UInt8(ascii: "'")]
    for byte in word.utf8 {
      if byte == UInt8(ascii: "'") { text += Array(#"'\'"#.utf8) }
      text.append(byte)
    }
    return String(decoding: text + [UInt8(ascii: "'")], as: UTF8.self)
  }

  /// Returns a command line of `tureen` for a store.
  static func line(_ words: [String], of store: StoreLook) -> String {
    (["tureen"] + words + store.storeOptions).map(quoted).joined(separator: " ")
  }
}
