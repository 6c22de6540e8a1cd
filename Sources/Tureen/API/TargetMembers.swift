import JSON

/// Takes the members of a target's JSON form one by one. Typed targets cannot represent the members that are left.
struct TargetMembers {
  private var left: JSONObject

  init(_ json: JSONObject) { left = json }

  /// Whether all members were taken.
  var isEmpty: Bool { left.isEmpty }
  /// The members that were not taken.
  var others: JSONObject { left }

  /// Takes and returns all members that are left.
  mutating func takeOthers() -> JSONObject {
    defer { left = [:] }
    return left
  }

  mutating func text(_ key: String) -> String? { take(key, \.stringValue) }
  mutating func object(_ key: String) -> JSONObject? { take(key, \.objectValue) }
  mutating func bool(_ key: String) -> Bool? { take(key, \.boolValue) }
  mutating func int(_ key: String) -> Int? { take(key) { $0.integerValue.flatMap { Int(exactly: $0) } } }
  mutating func array(_ key: String) -> [JSONValue]? { take(key, \.arrayValue) }

  mutating func texts(_ key: String) -> [String]? {
    take(key) { value in
      guard let all = value.arrayValue else { return nil }
      let texts = all.compactMap(\.stringValue)
      return texts.count == all.count ? texts : nil
    }
  }

  /// Takes a member if `read` can convert it. Other members are left, so that they are not lost.
  private mutating func take<T>(_ key: String, _ read: (JSONValue) -> T?) -> T? {
    guard let found = left[key].flatMap(read) else { return nil }
    left[key] = nil
    return found
  }
}

extension JSONObject {
  /// Sets a member; nil does nothing.
  mutating func set(_ key: String, _ value: String?) { if let value { self[key] = .string(value) } }
  mutating func set(_ key: String, _ value: Int?) { if let value { self[key] = .integer(Int64(value)) } }
  mutating func set(_ key: String, _ value: Bool?) { if let value { self[key] = .bool(value) } }
  mutating func set(_ key: String, _ value: [String]?) { if let value { self[key] = .array(value.map { .string($0) }) } }
  mutating func set(_ key: String, _ value: JSONObject?) { if let value { self[key] = .object(value) } }
}
