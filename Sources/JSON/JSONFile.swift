/// The text of a JSON file with what its messages need: its name, and the lines its keys stand on.
public struct JSONFile: Sendable {
  /// As shown to people.
  public let name: String
  public let text: [UInt8]
  public let value: JSONValue

  /// What is wrong with a file, in one sentence that begins with the file and the line.
  public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
  }

  /// - Throws: ``Problem`` with line and column when the text is not JSON.
  public init(name: String, text: [UInt8]) throws(Problem) {
    self.name = name
    self.text = text
    do {
      value = try JSONValue(parsing: text)
    } catch {
      let place = error.position(in: text)
      throw Problem(description: "\(name):\(place.line):\(place.column): not valid JSON: \(error.message)")
    }
  }

  /// A problem with a key: `file:line: 'key' what`.
  public func problem(key: String, _ what: String) -> Problem {
    Problem(description: "\(name)\(line(ofKey: key).map { ":\($0)" } ?? ""): '\(key)' \(what)")
  }

  /// A problem with the file as a whole.
  public func problem(_ what: String) -> Problem { Problem(description: "\(name): \(what)") }

  /// The line, counted from 1, of the first member with this key; nil when there is none.
  public func line(ofKey key: String) -> Int? {
    var quoted: [UInt8] = []
    JSONText.appendQuoted(key, to: &quoted)
    var i = 0
    while i + quoted.count <= text.count {
      if text[i..<(i + quoted.count)].elementsEqual(quoted) {
        let rest = text[(i + quoted.count)...].drop { $0 == 0x20 || ($0 >= 0x09 && $0 <= 0x0d) }
        if rest.first == 0x3a { return text[..<i].reduce(1) { $1 == 0x0a ? $0 + 1 : $0 } }
      }
      i += 1
    }
    return nil
  }
}
