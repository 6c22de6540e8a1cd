import JSON
import TestSupport

/// A parser without a state.
struct FuzzedParser: Sendable {
  let name: String
  /// Parses a text. It throws the parser's error for a text that it refuses, and ``FuzzFailure`` for a broken rule.
  /// - Returns: A signal of the result.
  let read: @Sendable ([UInt8]) throws -> String

  init(_ name: String, _ read: @escaping @Sendable ([UInt8]) throws -> String) {
    self.name = name
    self.read = read
  }

  /// A parser of text.
  static func text(_ name: String, _ read: @escaping @Sendable (String) throws -> String) -> FuzzedParser {
    FuzzedParser(name) { try read(String(decoding: $0, as: UTF8.self)) }
  }

  /// A parser of JSON objects; other texts are refused before it is called.
  static func object(_ name: String, _ read: @escaping @Sendable (JSONObject) throws -> String) -> FuzzedParser {
    FuzzedParser(name) { bytes in
      guard let object = try JSONValue(parsing: bytes).objectValue else { throw Refused("not an object") }
      return try read(object)
    }
  }

  /// A text that a parser refuses without an error of its own.
  struct Refused: Error, CustomStringConvertible {
    let description: String
    init(_ description: String = "refused") { self.description = description }
  }
}

/// A target of one or several parsers. With one, the whole input is its text.
struct ParserTarget: FuzzTarget {
  let name: String
  var usualRounds: Int
  var dictionary: [String]
  let parts: [String]
  private let makeParsers: @Sendable () throws -> [FuzzedParser]

  init(_ name: String, usualRounds: Int, dictionary: [String] = [], _ parsers: [FuzzedParser]) {
    self.init(name, usualRounds: usualRounds, dictionary: dictionary, parts: parsers.count > 1 ? parsers.map(\.name) : []) {
      parsers
    }
  }

  /// - Parameter makeParsers: Makes the parsers of a session, which may share a folder.
  init(
    _ name: String, usualRounds: Int, dictionary: [String], parts: [String],
    _ makeParsers: @escaping @Sendable () throws -> [FuzzedParser]
  ) {
    self.name = name
    self.usualRounds = usualRounds
    self.dictionary = dictionary
    self.parts = parts
    self.makeParsers = makeParsers
  }

  func open() throws -> any FuzzSession { Session(parsers: try makeParsers()) }

  private final class Session: FuzzSession {
    private let parsers: [FuzzedParser]
    init(parsers: [FuzzedParser]) { self.parsers = parsers }

    func run(_ input: [UInt8]) throws -> FuzzOutcome {
      let (part, text) = parsers.count > 1 ? PartedInput.split(input) : (parsers[0].name, input)
      guard let parser = parsers.first(where: { $0.name == part }) else { return .refused("no such part") }
      do {
        return .accepted(part + " " + (try parser.read(text)))
      } catch let failure as FuzzFailure {
        throw FuzzFailure(message: "\(part): \(failure.message)")
      } catch {
        let message = "\(error)"
        try FuzzFailure.unless(!message.isEmpty, "\(part): an error without a message")
        // It may quote a name, but not again and again.
        try FuzzFailure.unless(
          message.utf8.count <= 4_000 + 4 * text.count, "\(part): an error of \(message.utf8.count) bytes: \(message.prefix(300))"
        )
        return .refused(part + " " + message)
      }
    }
  }
}
