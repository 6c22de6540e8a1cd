import JSON

/// What is wrong with the definition of a target.
struct RestTargetError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Names the object and the key: `rest target, paging: 'stile' is not known here; did you mean 'style'?`.
  let description: String
  /// Where it stands, from the target on.
  let place: [JSONFile.Step]
}

/// Reads the members of one object of a target. A key that is absent and one that is null are the same.
struct TargetReader {
  let json: JSONObject
  /// Such as `rest target, paging`.
  let label: String
  let place: [JSONFile.Step]

  /// - Throws: ``RestTargetError`` for a key that is not known, with the nearest one that is.
  init(_ json: JSONObject, label: String, at place: [JSONFile.Step] = [], known: [String]) throws(RestTargetError) {
    self.json = json
    self.label = label
    self.place = place
    if let found = KnownKeys(known).unknown(in: json) { throw error(found.key, found.complaint) }
  }

  func error(_ key: String, _ complaint: String) -> RestTargetError {
    RestTargetError(description: "\(label): '\(key)' \(complaint)", place: place + [.key(key)])
  }

  /// An error about the combination of several keys.
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

  /// The object under a key, to be read on.
  func inside(_ key: String, known: [String]) throws(RestTargetError) -> TargetReader? {
    guard let object = try object(key) else { return nil }
    return try TargetReader(object, label: "\(label), \(key)", at: place + [.key(key)], known: known)
  }

  /// The same; an empty object where the key is absent.
  func insideOrEmpty(_ key: String, known: [String]) throws(RestTargetError) -> TargetReader {
    if let reader = try inside(key, known: known) { return reader }
    return try TargetReader([:], label: "\(label), \(key)", at: place + [.key(key)], known: known)
  }

  /// The objects of a list, to be read on.
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

  /// The members of an object whose values are texts, in order.
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

  /// The path, or the one that `text` is when the key is absent.
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

  /// HTTP statuses of errors.
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

  /// Keys that mean nothing with what was chosen.
  func refuse(_ keys: [String], with choice: String) throws(RestTargetError) {
    for key in keys where has(key) { throw error(key, "has no meaning with \(choice)") }
  }
}

/// A name and a text, such as a parameter of a query.
struct TextPair: Sendable, Equatable {
  let name: String
  let value: String
}
