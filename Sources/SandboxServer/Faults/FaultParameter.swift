import JSON

/// Describes one parameter of a kind of fault.
public struct FaultParameter: Sendable {
  public enum Form: Sendable {
    case integer(ClosedRange<Int>)
    /// An integer, or a pair: each request draws a random number between the two.
    case range(ClosedRange<Int>)
    /// A number, 0...1.
    case share
    case boolean
    case text
    case choice([String])
    case integers(ClosedRange<Int>)
    case texts
  }

  public let name: String
  public let form: Form
  /// The default value; null if there is none.
  public let fallback: JSONValue
  public let meaning: String

  package init(_ name: String, _ form: Form, _ fallback: JSONValue = .null, _ meaning: String) {
    self.name = name
    self.form = form
    self.fallback = fallback
    self.meaning = meaning
  }

  /// The allowed values, in words.
  public var allowed: String {
    switch form {
    case .integer(let range): "an integer, \(range.lowerBound) to \(range.upperBound)"
    case .range(let range): "an integer or a pair [least, most], \(range.lowerBound) to \(range.upperBound)"
    case .share: "a number, 0 to 1"
    case .boolean: "true or false"
    case .text: "a string"
    case .choice(let values): "one of \(values.joined(separator: ", "))"
    case .integers(let range): "an array of integers, \(range.lowerBound) to \(range.upperBound)"
    case .texts: "an array of strings"
    }
  }

  /// - Throws: ``SandboxError`` `INVALID_FAULT`, which names the parameter and its allowed values.
  func checked(_ value: JSONValue) throws(SandboxError) -> JSONValue {
    switch form {
    case .integer(let range): return try integer(value, range, of: value)
    case .range(let range):
      guard let pair = value.arrayValue else {
        let one = try integer(value, range, of: value)
        return .array([one, one])
      }
      guard pair.count == 2 else { throw wrong(value) }
      let low = try integer(pair[0], range, of: value), high = try integer(pair[1], range, of: value)
      guard (low.integerValue ?? 0) <= (high.integerValue ?? 0) else { throw wrong(value) }
      return .array([low, high])
    case .share:
      guard let number = value.doubleValue, (0...1).contains(number) else { throw wrong(value) }
      return .number(number)
    case .boolean: guard value.boolValue != nil else { throw wrong(value) }
    case .text: guard value.stringValue != nil else { throw wrong(value) }
    case .choice(let values):
      guard let text = value.stringValue, values.contains(text) else { throw wrong(value) }
    case .integers(let range):
      guard let list = value.arrayValue else { throw wrong(value) }
      for element in list { _ = try integer(element, range, of: value) }
    case .texts:
      guard let list = value.arrayValue, list.allSatisfy({ $0.stringValue != nil }) else { throw wrong(value) }
    }
    return value
  }

  private func integer(_ value: JSONValue, _ range: ClosedRange<Int>, of whole: JSONValue) throws(SandboxError) -> JSONValue {
    guard let number = value.integerValue, range.contains(Int(number)) else { throw wrong(whole) }
    return .integer(number)
  }

  private func wrong(_ value: JSONValue) -> SandboxError { .fault(name, "must be \(allowed), got \(value.text)") }

  /// Converts a word of the short form, such as `200-900` or `a,b`. An unsuitable word stays a
  /// string, which `checked` refuses.
  func value(ofWord word: String) -> JSONValue {
    switch form {
    case .integer: return Self.integer(word)
    case .range:
      let ends = word.split(separator: "-", omittingEmptySubsequences: false).map { Self.integer(String($0)) }
      return ends.count == 2 ? .array(ends) : Self.integer(word)
    case .share: return Double(word).map { .number($0) } ?? .string(word)
    case .boolean: return word == "true" ? true : word == "false" ? false : .string(word)
    case .text, .choice: return .string(word)
    case .integers: return .array(word.split(separator: ",").map { Self.integer(String($0)) })
    case .texts: return .array(word.split(separator: ",").map { .string(String($0)) })
    }
  }

  private static func integer(_ word: String) -> JSONValue { Int64(word).map { .integer($0) } ?? .string(word) }
}

extension SandboxError {
  /// Reports an invalid fault rule: the field and its allowed values.
  package static func fault(_ field: String, _ problem: String) -> Self {
    Self(status: 400, code: "INVALID_FAULT", message: "'\(field)' \(problem)", fields: [field])
  }
}
