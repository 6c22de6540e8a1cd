/// A path with wildcards: `*` stands for any text without a slash, `**` for any text. Case is
/// ignored.
///
/// A pattern that starts with a slash matches whole paths; any other matches the end of a path,
/// after a slash: `composite/sobjects`.
struct PathPattern: Sendable, Equatable {
  private enum Part: Equatable { case byte(UInt8), name, any }

  let text: String
  private let parts: [Part]

  /// - Throws: ``SandboxError`` `INVALID_FAULT` if the pattern is empty or too long.
  init(_ text: String) throws(SandboxError) {
    guard (1...ServerTuning.faultPatternBytes).contains(text.utf8.count) else {
      throw .fault("path", "must be a pattern of 1 to \(ServerTuning.faultPatternBytes) bytes such as /services/data/**")
    }
    self.text = text
    var parts: [Part] = text.hasPrefix("/") || text.hasPrefix("**") ? [] : [.any, .byte(UInt8(ascii: "/"))]
    let bytes = Array(text.lowercased().utf8)
    var index = 0
    while index < bytes.count {
      let isDouble = bytes[index] == UInt8(ascii: "*") && index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "*")
      parts.append(isDouble ? .any : bytes[index] == UInt8(ascii: "*") ? .name : .byte(bytes[index]))
      index += isDouble ? 2 : 1
    }
    self.parts = parts
  }

  /// Runs in O(path × pattern) for every pattern.
  func matches(_ path: String) -> Bool {
    // fits[j]: the first j parts match the path read so far.
    var fits = [Bool](repeating: false, count: parts.count + 1)
    fits[0] = true
    skipEmpty(&fits)
    for byte in path.lowercased().utf8 {
      var next = [Bool](repeating: false, count: parts.count + 1)
      for (index, part) in parts.enumerated() {
        switch part {
        case .byte(let wanted): if fits[index], wanted == byte { next[index + 1] = true }
        case .name: if byte != UInt8(ascii: "/"), fits[index] || fits[index + 1] { next[index + 1] = true }
        case .any: if fits[index] || fits[index + 1] { next[index + 1] = true }
        }
      }
      skipEmpty(&next)
      fits = next
    }
    return fits[parts.count]
  }

  /// Lets wildcards match the empty text.
  private func skipEmpty(_ fits: inout [Bool]) {
    for (index, part) in parts.enumerated() where fits[index] {
      if case .byte = part { continue }
      fits[index + 1] = true
    }
  }
}
