import RecordScan
import Support

/// The text of a JSON file, with its name and the line numbers that error messages need.
public struct JSONFile: Sendable {
  /// The name shown to users.
  public let name: String
  public let text: [UInt8]
  public let value: JSONValue

  /// A problem with a file, in one sentence that starts with the file name and the line.
  public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
  }

  /// - Parameters:
  ///   - name: The name for messages.
  ///   - text: May begin with a byte order mark, as editors of Windows write it.
  /// - Throws: ``Problem`` with line and column if the text is not valid JSON.
  public init(name: String, text: [UInt8]) throws(Problem) {
    let text = text.starts(with: [0xef, 0xbb, 0xbf]) ? Array(text.dropFirst(3)) : text
    self.name = name
    self.text = text
    do {
      value = try JSONValue(parsing: text)
    } catch {
      let place = error.position(in: text)
      throw Problem(description: "\(name):\(place.line):\(place.column): not valid JSON: \(error.message)")
    }
  }

  /// Returns a problem with a key: `file:line: 'key' what`.
  public func problem(key: String, _ what: String) -> Problem {
    Problem(description: "\(name)\(line(ofKey: key).map { ":\($0)" } ?? ""): '\(key)' \(what)")
  }

  /// Returns a problem with a key of one element, counted from 0, of a first-level list. If the
  /// element lacks the key, the line is that of the element.
  public func problem(key: String, of position: Int, in list: String, _ what: String) -> Problem {
    problem(at: [.key(list), .position(position), .key(key)], "'\(key)' \(what)")
  }

  /// Returns a problem with the value at a path. If only a prefix of the path exists, the line is
  /// where that prefix ends.
  public func problem(at path: [Step], _ what: String) -> Problem {
    Problem(description: "\(name):\(line(at: offset(of: path))): \(what)")
  }

  /// One step into a value: a member of an object, or an element of an array, counted from 0.
  public enum Step: Sendable, Equatable {
    case key(String)
    case position(Int)
  }

  /// Returns a problem with the file as a whole.
  public func problem(_ what: String) -> Problem { Problem(description: "\(name): \(what)") }

  /// Returns the line, counted from 1, of the first member with this key; nil if there is none.
  public func line(ofKey key: String) -> Int? { offset(ofKey: key, in: 0..<text.count).map(line) }

  private func line(at offset: Int) -> Int { text[..<offset].reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 } }

  private func offset(ofKey key: String, in place: Range<Int>) -> Int? {
    var quoted: [UInt8] = []
    JSONText.appendQuoted(key, to: &quoted)
    var i = place.lowerBound
    while i + quoted.count <= place.upperBound {
      if text[i..<(i + quoted.count)].elementsEqual(quoted) {
        let rest = text[(i + quoted.count)...].drop { $0.isASCIIWhitespace }
        if rest.first == UInt8(ascii: ":") { return i }
      }
      i += 1
    }
    return nil
  }

  /// Returns the offset of the key, or the element, that the path's last step leads to.
  private func offset(of path: [Step]) -> Int {
    text.withUnsafeBytes { bytes in
      var walker = JSONWalker(bytes), found = 0
      for step in path {
        guard let next = try? walker.enter(step) else { break }
        found = next
      }
      return found
    }
  }
}

extension JSONWalker {
  /// Moves from the container at the current position to the value that the step leads to.
  /// - Returns: The offset of the member's key, or of the element.
  fileprivate mutating func enter(_ step: JSONFile.Step) throws(ScanError) -> Int {
    skipWhitespace()
    switch step {
    case .key(let wanted): return try enterMember(Array(wanted.utf8))
    case .position(let position): return try enterElement(position)
    }
  }

  private mutating func enterMember(_ wanted: [UInt8]) throws(ScanError) -> Int {
    try expect(UInt8(ascii: "{"), "expected an object")
    while true {
      skipWhitespace()
      let start = offset
      let isWanted = try key() == wanted
      skipWhitespace()
      if isWanted { return start }
      _ = try skipValue(depth: 1)
      skipWhitespace()
      try expect(UInt8(ascii: ","), "',' is missing")
    }
  }

  private mutating func enterElement(_ position: Int) throws(ScanError) -> Int {
    try expect(UInt8(ascii: "["), "expected an array")
    for _ in 0..<position {
      _ = try skipValue(depth: 1)
      skipWhitespace()
      try expect(UInt8(ascii: ","), "',' is missing")
    }
    skipWhitespace()
    return offset
  }
}
