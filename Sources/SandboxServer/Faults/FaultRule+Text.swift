import JSON

// Text forms of rules: JSON objects, and words on a command line.
extension FaultRule {
  /// Reads a rule such as
  /// `{"kind":"latency","milliseconds":500,"path":"/services/data/**","nth":3}`.
  ///
  /// - Throws: ``SandboxError`` `INVALID_FAULT`, which names the field. Adding the rule checks its
  ///   parameters.
  public init(json: JSONValue) throws(SandboxError) {
    guard let object = json.objectValue else { throw .fault("rule", "must be an object, got \(json.kindName)") }
    guard let kind = object["kind"]?.stringValue else { throw .fault("kind", "is missing; it must be a string") }
    var parameters: JSONObject = [:]
    for (name, value) in object where !Self.keys.contains(name) { parameters[name] = value }
    self.init(Fault(kind, parameters), when: try Self.condition(object))
    path = try Self.text(object, "path")
    method = try Self.text(object, "method")
    host = try Self.text(object, "host")
    session = try Self.text(object, "session")
    contains = try Self.text(object, "contains")
    times = try Self.count(object, "times")
  }

  /// Reads a rule such as `latency milliseconds=200-900 every=3 path=/services/data/**`: the kind,
  /// then `name=value` words.
  ///
  /// - Throws: ``SandboxError`` `INVALID_FAULT`, which names the field.
  public init(text: String, kinds: [FaultKind]) throws(SandboxError) {
    let words = text.split(separator: " ").map(String.init)
    guard let name = words.first, let kind = kinds.first(where: { $0.name == name }) else {
      throw .fault(
        "kind", "must come first and be one of \(kinds.map(\.name).joined(separator: ", ")), got \"\(words.first ?? "")\"")
    }
    var object: JSONObject = ["kind": .string(name)]
    for word in words.dropFirst() {
      guard let equals = word.firstIndex(of: "="), equals != word.startIndex else {
        throw .fault(word, "must have the form name=value")
      }
      let key = String(word[..<equals]), value = String(word[word.index(after: equals)...])
      guard object[key] == nil else { throw .fault(key, "is given twice") }
      object[key] = Self.value(of: key, value, kind)
    }
    try self.init(json: .object(object))
  }

  private static func value(of key: String, _ word: String, _ kind: FaultKind) -> JSONValue {
    if let parameter = kind.parameters.first(where: { $0.name == key }) { return parameter.value(ofWord: word) }
    switch key {
    case "nth":
      let numbers = word.split(separator: ",", omittingEmptySubsequences: false).map { Int64($0) }
      return numbers.contains(nil) ? .string(word) : .array(numbers.map { .integer($0 ?? 0) })
    case "every", "first", "after", "times": return Int64(word).map { .integer($0) } ?? .string(word)
    case "probability": return Double(word).map { .number($0) } ?? .string(word)
    default: return .string(word)
    }
  }

  /// - Throws: ``SandboxError`` `INVALID_FAULT` if a bench with these kinds would refuse the rule.
  public func check(_ kinds: [FaultKind]) throws(SandboxError) { _ = try CompiledRule(self, kinds) }

  /// The rule in the form that `init(json:)` reads.
  public var json: JSONObject {
    var object: JSONObject = ["kind": .string(fault.kind)]
    for (name, value) in fault.parameters { object[name] = value }
    switch condition {
    case .always: break
    case .numbers(let numbers): object["nth"] = .array(numbers.map { .integer(Int64($0)) })
    case .every(let step): object["every"] = .integer(Int64(step))
    case .first(let count): object["first"] = .integer(Int64(count))
    case .after(let count): object["after"] = .integer(Int64(count))
    case .probability(let share): object["probability"] = .number(share)
    }
    for (key, value) in [("path", path), ("method", method), ("host", host), ("session", session), ("contains", contains)] {
      if let value { object[key] = .string(value) }
    }
    if let times { object["times"] = .integer(Int64(times)) }
    return object
  }

  // MARK: Fields

  private static func condition(_ object: JSONObject) throws(SandboxError) -> FaultCondition {
    let given = conditionKeys.filter { object[$0] != nil }
    guard given.count <= 1 else {
      throw .fault(given[1], "cannot be combined with '\(given[0])'; use only one of \(conditionKeys.joined(separator: ", "))")
    }
    guard let key = given.first else { return .always }
    switch key {
    case "every": return .every(try count(object, key) ?? 0)
    case "first": return .first(try count(object, key) ?? 0)
    case "after": return .after(try count(object, key) ?? 0)
    case "nth":
      let numbers = (object[key]?.arrayValue ?? [object[key] ?? .null]).map { $0.integerValue.map { Int(clamping: $0) } ?? 0 }
      return .numbers(numbers)
    default:
      guard let share = object[key]?.doubleValue else { throw .fault(key, "must be a number, 0 to 1") }
      return .probability(share)
    }
  }

  private static func text(_ object: JSONObject, _ key: String) throws(SandboxError) -> String? {
    guard let value = object[key], !value.isNull else { return nil }
    guard let text = value.stringValue else { throw .fault(key, "must be a string, got \(value.kindName)") }
    return text
  }

  private static func count(_ object: JSONObject, _ key: String) throws(SandboxError) -> Int? {
    guard let value = object[key], !value.isNull else { return nil }
    guard let number = value.integerValue else {
      throw .fault(key, "must be an integer, 1 to \(ServerTuning.faultCount), got \(value.text)")
    }
    return Int(number)
  }
}
