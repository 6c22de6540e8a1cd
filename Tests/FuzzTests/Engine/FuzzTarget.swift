import TestSupport

/// A part of the product that gets fuzzed inputs.
///
/// A target states its rules in ``FuzzSession/run(_:)``. Ending at all is one of them: `scripts/dev/fuzz` ends a process that
/// stays on one input, and shows it.
protocol FuzzTarget: Sendable {
  /// The name in `TUREEN_FUZZ_TARGET`, and of the corpus's folder.
  var name: String { get }
  /// Rounds of an ordinary test run: well under a second on a debug build. ``FuzzSettings`` multiplies them.
  var usualRounds: Int { get }
  /// Words that mean something to the target.
  var dictionary: [String] { get }
  /// The parsers behind the target, if there are several. The first line of an input then names one of them.
  var parts: [String] { get }
  /// Inputs after which a new session begins.
  var sessionRounds: Int { get }
  /// Whether an outcome may depend on earlier inputs of the session. A failing input is then stored behind the earlier ones,
  /// so an input must be a list of lines.
  var remembers: Bool { get }

  /// Returns an input made from a grammar; nil if there is none.
  func generated(_ random: inout SeededGenerator) -> [UInt8]?
  /// Returns a changed input.
  func changed(_ input: [UInt8], by mutator: inout FuzzMutator, of pool: FuzzPool) -> [UInt8]
  func open() async throws -> any FuzzSession
}

/// Runs inputs. Used by one thread at a time, which may block.
protocol FuzzSession: AnyObject, Sendable {
  /// - Throws: ``FuzzFailure`` if the input breaks a rule of the target.
  func run(_ input: [UInt8]) throws -> FuzzOutcome
  /// Checks what must hold after the last input.
  /// - Throws: ``FuzzFailure``.
  func finish() throws
  func close() async
}

extension FuzzSession {
  func finish() {}
  func close() async {}
}

/// The result of an input that broke no rule.
struct FuzzOutcome: Sendable, Equatable {
  let isAccepted: Bool
  /// What the result looks like, without its values: an input with a new signal has reached something new.
  let signal: String

  static func accepted(_ signal: String = "") -> FuzzOutcome { FuzzOutcome(isAccepted: true, signal: "+" + signal) }
  static func refused(_ signal: String) -> FuzzOutcome { FuzzOutcome(isAccepted: false, signal: "-" + FuzzSignal.shape(signal)) }
}

/// A rule of a target that an input breaks.
struct FuzzFailure: Error, Sendable, Equatable {
  let message: String
  /// The input, if it is not the one that runs.
  var input: [UInt8]?

  /// - Throws: ``FuzzFailure`` unless `holds`.
  static func unless(_ holds: Bool, _ message: @autoclosure () -> String) throws(FuzzFailure) {
    guard holds else { throw FuzzFailure(message: message()) }
  }
}

extension FuzzTarget {
  var dictionary: [String] { [] }
  var parts: [String] { [] }
  var sessionRounds: Int { .max }
  var remembers: Bool { false }

  func generated(_ random: inout SeededGenerator) -> [UInt8]? { nil }

  func changed(_ input: [UInt8], by mutator: inout FuzzMutator, of pool: FuzzPool) -> [UInt8] {
    guard !parts.isEmpty else { return mutator.changed(input, of: pool) }
    let (part, text) = PartedInput.split(input)
    let others = FuzzPool(inputs: pool.inputs, accepted: pool.accepted) { PartedInput.split($0).text }
    let named = mutator.random.chance(40) ? mutator.random.pick(parts) : part
    return PartedInput.joined(named, mutator.changed(text, of: others))
  }
}

/// An input of a target with several parsers: the name of one, a line feed, the text.
enum PartedInput {
  static func split(_ input: [UInt8]) -> (part: String, text: [UInt8]) {
    let end = input.firstIndex(of: UInt8(ascii: "\n")) ?? input.count
    return (String(decoding: input[..<end], as: UTF8.self), Array(input.dropFirst(end + 1)))
  }

  static func joined(_ part: String, _ text: [UInt8]) -> [UInt8] { Array(part.utf8) + [UInt8(ascii: "\n")] + text }
}
