/// The members of a JSON object, in order. Look-ups are linear: these objects are options and
/// states with a dozen keys.
public struct JSONObject: Sendable, Equatable, Sequence, ExpressibleByDictionaryLiteral {
  public typealias Element = (key: String, value: JSONValue)

  private var members: [(key: String, value: JSONValue)] = []

  public init() {}

  /// Creates an object. If a key occurs more than once, the last value wins, at the position of the
  /// first.
  public init(_ elements: [(String, JSONValue)]) {
    for (key, value) in elements { self[key] = value }
  }

  public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }

  public var count: Int { members.count }
  public var isEmpty: Bool { members.isEmpty }
  public var keys: [String] { members.map(\.key) }

  /// Setting an existing key keeps its position; setting nil removes the member.
  public subscript(key: String) -> JSONValue? {
    get { position(key).map { members[$0].value } }
    set {
      let i = position(key)
      switch (i, newValue) {
      case (let i?, let value?): members[i].value = value
      case (let i?, nil): members.remove(at: i)
      case (nil, let value?): members.append((key, value))
      case (nil, nil): break
      }
    }
  }

  /// Two keys are equal if their bytes are.
  private func position(_ key: String) -> Int? {
    members.firstIndex { $0.key.hasSameBytes(as: key) }
  }

  /// Returns the members that satisfy `isKept`, in order.
  public func filtered(_ isKept: (Element) throws -> Bool) rethrows -> JSONObject {
    var kept = self
    kept.members = try members.filter(isKept)
    return kept
  }

  /// Returns this object with the members of the other one: existing keys keep their position, new
  /// keys follow at the end.
  public func replacing(with other: JSONObject) -> JSONObject {
    var merged = self
    for (key, value) in other { merged[key] = value }
    return merged
  }

  /// Appends a member without looking for an earlier one with the same key; for a parser that has
  /// checked.
  mutating func append(_ key: String, _ value: JSONValue) { members.append((key, value)) }

  public func makeIterator() -> IndexingIterator<[Element]> { members.makeIterator() }

  /// Two objects are equal if they hold the same members, in any order.
  public static func == (a: JSONObject, b: JSONObject) -> Bool {
    a.count == b.count && a.allSatisfy { b[$0.key] == $0.value }
  }
}
