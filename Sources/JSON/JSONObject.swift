/// The members of a JSON object, in order. Look-ups are linear: objects here are options and states with a dozen keys.
public struct JSONObject: Sendable, Equatable, Sequence, ExpressibleByDictionaryLiteral {
  public typealias Element = (key: String, value: JSONValue)

  private var members: [(key: String, value: JSONValue)] = []

  public init() {}

  /// The last of several members with one key wins, at the place of the first.
  public init(_ elements: [(String, JSONValue)]) {
    for (key, value) in elements { self[key] = value }
  }

  public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }

  public var count: Int { members.count }
  public var isEmpty: Bool { members.isEmpty }
  public var keys: [String] { members.map(\.key) }

  /// Setting a key that exists keeps its place; nil removes it.
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

  /// Keys are the same when their bytes are.
  private func position(_ key: String) -> Int? {
    members.firstIndex { $0.key.hasSameBytes(as: key) }
  }

  /// The members that are to be kept, in their order.
  public func filtered(_ isKept: (Element) throws -> Bool) rethrows -> JSONObject {
    var kept = self
    kept.members = try members.filter(isKept)
    return kept
  }

  /// Members of the other object in the place of these; those that are not here follow.
  public func replacing(with other: JSONObject) -> JSONObject {
    var merged = self
    for (key, value) in other { merged[key] = value }
    return merged
  }

  /// Without a search for an earlier member: for a parser that has checked.
  mutating func append(_ key: String, _ value: JSONValue) { members.append((key, value)) }

  public func makeIterator() -> IndexingIterator<[Element]> { members.makeIterator() }

  /// Objects are equal when they hold the same members, in whatever order.
  public static func == (a: JSONObject, b: JSONObject) -> Bool {
    a.count == b.count && a.allSatisfy { b[$0.key] == $0.value }
  }
}
