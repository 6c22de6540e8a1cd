import JSON

/// Reads and validates the members of one settings object.
struct MemberReader {
  let members: JSONObject
  /// The keys that lead to the object.
  let keys: [String]

  init(_ members: JSONObject, at keys: [String] = []) {
    self.members = members
    self.keys = keys
  }

  func problem(_ key: String, _ what: String) -> ConnectionProblem { ConnectionProblem(keys + [key], what) }

  func allow(_ names: [String]) throws(ConnectionProblem) {
    if let unknown = KnownKeys(names).unknown(in: members) { throw problem(unknown.key, unknown.complaint) }
  }

  /// Returns nil if the member is missing. Null is passed on and rejected by the readers, since it
  /// would silently mean the default.
  func value(_ key: String) -> JSONValue? { members[key] }

  func string(_ key: String) throws(ConnectionProblem) -> String? {
    guard let value = members[key] else { return nil }
    guard let text = value.stringValue else { throw problem(key, "must be a string, not \(value.kindName)") }
    guard !text.isEmpty else { throw problem(key, "must not be empty") }
    return text
  }

  func required(_ key: String) throws(ConnectionProblem) -> String {
    guard let text = try string(key) else { throw ConnectionProblem(keys, "lacks '\(key)'") }
    return text
  }

  /// Reads text that is valid as a header value.
  func headerText(_ key: String) throws(ConnectionProblem) -> String? {
    guard let text = try string(key) else { return nil }
    guard text.utf8.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 }) else {
      throw problem(key, "must not contain a line break or another control character")
    }
    return text
  }

  func bool(_ key: String) throws(ConnectionProblem) -> Bool? {
    guard let value = members[key] else { return nil }
    guard let flag = value.boolValue else { throw problem(key, "must be true or false, not \(value.kindName)") }
    return flag
  }

  func integer(_ key: String, _ range: ClosedRange<Int>) throws(ConnectionProblem) -> Int? {
    guard let value = members[key] else { return nil }
    guard let number = value.integerValue.flatMap({ Int(exactly: $0) }), range.contains(number) else {
      throw problem(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound), not \(shown(value))")
    }
    return number
  }

  func number(_ key: String, _ range: ClosedRange<Double>) throws(ConnectionProblem) -> Double? {
    guard let value = members[key] else { return nil }
    guard let number = value.doubleValue, range.contains(number) else {
      let bounds = [range.lowerBound, range.upperBound].map { JSONValue.number($0).text }
      throw problem(key, "must be a number from \(bounds[0]) to \(bounds[1]), not \(shown(value))")
    }
    return number
  }

  /// Reads one of the raw values of an enumeration.
  func word<Word: RawRepresentable & CaseIterable>(_ key: String, _ type: Word.Type) throws(ConnectionProblem) -> Word?
  where Word.RawValue == String {
    guard let text = try string(key) else { return nil }
    guard let word = Word(rawValue: text) else {
      throw problem(key, "'\(text)' is not known here" + NearestName.hint(for: text, among: Word.allCases.map(\.rawValue)))
    }
    return word
  }

  func strings(_ key: String) throws(ConnectionProblem) -> [String]? {
    guard let value = members[key] else { return nil }
    let texts = (value.arrayValue ?? []).compactMap(\.stringValue)
    guard let list = value.arrayValue, texts.count == list.count, !texts.contains("") else {
      throw problem(key, "must be a list of strings")
    }
    return texts
  }

  func object(_ key: String) throws(ConnectionProblem) -> MemberReader? {
    guard let value = members[key] else { return nil }
    guard let members = value.objectValue else { throw problem(key, "must be an object, not \(value.kindName)") }
    return MemberReader(members, at: keys + [key])
  }

  /// Formats a number literally, but any other value only by kind: text in its place may be a
  /// secret.
  private func shown(_ value: JSONValue) -> String { value.doubleValue == nil ? value.kindName : value.text }
}
