import Support

/// The members of a JSON object, in order. Most are options and states with a dozen keys, where
/// look-ups are linear; a large object has an index.
public struct JSONObject: Sendable, Equatable, Sequence, ExpressibleByDictionaryLiteral {
  public typealias Element = (key: String, value: JSONValue)

  private var members: [(key: String, value: JSONValue)] = []
  /// The positions of the keys; nil for a small object, and after a removal until the next addition.
  private var index: [ExactText: Int]?

  /// Members up to which comparing every key is faster than an index.
  private static let fewMembers = 16

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
      case (let i?, nil):
        members.remove(at: i)
        index = nil
      case (nil, let value?): append(key, value)
      case (nil, nil): break
      }
    }
  }

  /// Two keys are equal if their bytes are.
  private func position(_ key: String) -> Int? {
    if let index { return index[ExactText(key)] }
    return members.firstIndex { $0.key == key }
  }

  /// Makes the index of an object that needs one.
  private mutating func reindex() {
    index = nil
    guard members.count > Self.fewMembers else { return }
    index = Dictionary(members.enumerated().map { (ExactText($1.key), $0) }) { first, _ in first }
  }

  /// Returns the members that satisfy `isKept`, in order.
  public func filtered(_ isKept: (Element) throws -> Bool) rethrows -> JSONObject {
    var kept = self
    kept.members = try members.filter(isKept)
    kept.reindex()
    return kept
  }

  /// Returns this object with the members of the other one: existing keys keep their position, new
  /// keys follow at the end.
  public func replacing(with other: JSONObject) -> JSONObject {
    var merged = self
    for (key, value) in other { merged[key] = value }
    return merged
  }

  /// Appends a member whose key is new.
  private mutating func append(_ key: String, _ value: JSONValue) {
    members.append((key, value))
    if index != nil { index?[ExactText(key)] = members.count - 1 } else if members.count > Self.fewMembers { reindex() }
  }

  public func makeIterator() -> IndexingIterator<[Element]> { members.makeIterator() }

  /// Two objects are equal if they hold the same members, in any order.
  public static func == (a: JSONObject, b: JSONObject) -> Bool {
    a.count == b.count && a.allSatisfy { b[$0.key] == $0.value }
  }
}
