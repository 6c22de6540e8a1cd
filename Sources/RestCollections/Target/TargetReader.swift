import JSON

/// What is wrong with the definition of a target.
struct RestTargetError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Names the object and the key: `rest target, paging: 'stile' is not known here; did you mean
  /// 'style'?`.
  let description: String
  /// The location of the error in the target.
  let place: [JSONFile.Step]
}

/// Reads and validates the members of one object in a target. A null member counts as missing.
struct TargetReader {
  let json: JSONObject
  /// Such as `rest target, paging`.
  let label: String
  let place: [JSONFile.Step]

  /// - Throws: ``RestTargetError`` for an unknown key, with the nearest known one.
  init(_ json: JSONObject, label: String, at place: [JSONFile.Step] = [], known: [String]) throws(RestTargetError) {
    self.json = json
    self.label = label
    self.place = place
    if let found = KnownKeys(known).unknown(in: json) { throw error(found.key, found.complaint) }
  }

  func error(_ key: String, _ complaint: String) -> RestTargetError {
    RestTargetError(description: "\(label): '\(key)' \(complaint)", place: place + [.key(key)])
  }

  /// Makes an error about a combination of keys.
  func refusal(_ key: String, _ sentence: String) -> RestTargetError {
    RestTargetError(description: "\(label): \(sentence)", place: place + [.key(key)])
  }

  subscript(_ key: String) -> JSONValue? { json[key].flatMap { $0.isNull ? Optional.none : $0 } }

  func has(_ key: String) -> Bool { self[key] != nil }

  private func read<T>(_ key: String, _ what: String, _ read: (JSONValue) -> T?) throws(RestTargetError) -> T? {
    guard let value = self[key] else { return nil }
    guard let result = read(value) else { throw error(key, "must be \(what), not \(TargetReader.article(value.kindName))") }
    return result
  }

  static func article(_ kind: String) -> String { (kind == "array" || kind == "object" ? "an " : "a ") + kind }

  func text(_ key: String) throws(RestTargetError) -> String? { try read(key, "text", \.stringValue) }

  func nonEmptyText(_ key: String) throws(RestTargetError) -> String? {
    guard let text = try text(key) else { return nil }
    guard !text.isEmpty else { throw error(key, "must not be empty") }
    return text
  }

  func required<T>(_ key: String, _ value: T?, because reason: String = "") throws(RestTargetError) -> T {
    guard let value else { throw error(key, "is missing" + (reason.isEmpty ? "" : "; \(reason)")) }
    return value
  }

  func flag(_ key: String) throws(RestTargetError) -> Bool? { try read(key, "true or false", \.boolValue) }

  func integer(_ key: String, atLeast minimum: Int64, atMost maximum: Int64 = .max) throws(RestTargetError) -> Int64? {
    guard let number = try read(key, "a whole number", \.integerValue) else { return nil }
    guard number >= minimum else { throw error(key, "must be at least \(minimum), not \(number)") }
    guard number <= maximum else { throw error(key, "must be at most \(maximum), not \(number)") }
    return number
  }

  func count(_ key: String, atLeast minimum: Int64 = 0) throws(RestTargetError) -> Int? {
    try integer(key, atLeast: minimum, atMost: Int64(Int32.max)).map { Int($0) }
  }

  func object(_ key: String) throws(RestTargetError) -> JSONObject? { try read(key, "an object", \.objectValue) }

  func list(_ key: String) throws(RestTargetError) -> [JSONValue]? { try read(key, "a list", \.arrayValue) }

  /// Returns a reader for the object under a key.
  func inside(_ key: String, known: [String]) throws(RestTargetError) -> TargetReader? {
    guard let object = try object(key) else { return nil }
    return try TargetReader(object, label: "\(label), \(key)", at: place + [.key(key)], known: known)
  }

  /// Returns a reader for the object under a key; for an empty object if the key is missing.
  func insideOrEmpty(_ key: String, known: [String]) throws(RestTargetError) -> TargetReader {
    if let reader = try inside(key, known: known) { return reader }
    return try TargetReader([:], label: "\(label), \(key)", at: place + [.key(key)], known: known)
  }

  /// Returns readers for the objects in a list.
  func insideEach(_ key: String, known: [String]) throws(RestTargetError) -> [TargetReader] {
    var readers: [TargetReader] = []
    for (i, value) in (try list(key) ?? []).enumerated() {
      guard let object = value.objectValue else { throw error(key, "must be a list of objects") }
      readers.append(
        try TargetReader(
          object, label: "\(label), \(key)[\(i + 1)]", at: place + [.key(key), .position(i)], known: known))
    }
    return readers
  }

  func texts(_ key: String) throws(RestTargetError) -> [String]? {
    guard let list = try list(key) else { return nil }
    let texts = list.compactMap(\.stringValue)
    guard texts.count == list.count, !texts.contains("") else { throw error(key, "must be a list of texts") }
    return texts
  }

  /// Returns the members of an object whose values are texts, in order.
  func pairs(_ key: String) throws(RestTargetError) -> [TextPair]? {
    guard let object = try object(key) else { return nil }
    var pairs: [TextPair] = []
    for (name, value) in object {
      guard let text = value.stringValue, !name.isEmpty else {
        throw error(key, "must hold texts; '\(name)' is \(TargetReader.article(value.kindName))")
      }
      pairs.append(TextPair(name: name, value: text))
    }
    return pairs
  }

  func choice<T: RawRepresentable & CaseIterable>(
    _ key: String, of type: T.Type = T.self
  ) throws(RestTargetError) -> T? where T.RawValue == String {
    guard let text = try text(key) else { return nil }
    guard let choice = T(rawValue: text) else {
      throw error(key, "cannot be '\(text)'" + NearestName.hint(for: text, among: T.allCases.map(\.rawValue)))
    }
    return choice
  }

  func path(_ key: String, taking forms: ValuePath.Forms = []) throws(RestTargetError) -> ValuePath? {
    guard let text = try text(key) else { return nil }
    return try path(text, key, taking: forms)
  }

  /// Returns the path under a key, or the default path `text` if the key is missing.
  func path(_ key: String, orElse text: String) throws(RestTargetError) -> ValuePath {
    if let path = try path(key) { return path }
    return try path(text, key)
  }

  func path(_ text: String, _ key: String, taking forms: ValuePath.Forms = []) throws(RestTargetError) -> ValuePath {
    do {
      return try ValuePath(text, taking: forms)
    } catch {
      throw self.error(key, "is not a path: '\(text)' \(error.description)")
    }
  }

  func template(_ key: String, for place: URITemplate.Place = .url) throws(RestTargetError) -> URITemplate? {
    guard let text = try text(key) else { return nil }
    return try template(text, key, for: place)
  }

  func template(_ text: String, _ key: String, for place: URITemplate.Place) throws(RestTargetError) -> URITemplate {
    do {
      return try URITemplate(text, for: place)
    } catch {
      throw self.error(key, "is not a template: '\(text)' \(error.description)")
    }
  }

  /// Reads a list of HTTP error statuses.
  func statuses(_ key: String) throws(RestTargetError) -> [Int]? {
    guard let list = try list(key) else { return nil }
    var statuses: [Int] = []
    for value in list {
      guard let status = value.integerValue, (400...599).contains(status) else {
        throw error(key, "must be a list of HTTP statuses from 400 to 599")
      }
      statuses.append(Int(status))
    }
    return statuses
  }

  /// Rejects keys that have no meaning with another choice.
  func refuse(_ keys: [String], with choice: String) throws(RestTargetError) {
    for key in keys where has(key) { throw error(key, "has no meaning with \(choice)") }
  }
}

/// A name and a text value, such as a query parameter.
struct TextPair: Sendable, Equatable {
  let name: String
  let value: String
}
