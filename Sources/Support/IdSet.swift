/// A set of ids, or of other texts from outside, that are different if their bytes are.
package struct IdSet: Sendable, Equatable, Sequence, ExpressibleByArrayLiteral {
  private var members: Set<ExactText>

  package init() { members = [] }
  package init(_ ids: some Sequence<String>) { members = Set(ids.lazy.map { ExactText($0) }) }
  package init(arrayLiteral ids: String...) { self.init(ids) }

  package var count: Int { members.count }
  package var isEmpty: Bool { members.isEmpty }
  package func contains(_ id: String) -> Bool { members.contains(ExactText(id)) }

  @discardableResult
  package mutating func insert(_ id: String) -> (inserted: Bool, memberAfterInsert: String) {
    let (inserted, member) = members.insert(ExactText(id))
    return (inserted, member.text)
  }

  @discardableResult
  package mutating func remove(_ id: String) -> String? { members.remove(ExactText(id))?.text }

  package mutating func removeAll() { members.removeAll() }
  package mutating func formUnion(_ others: some Sequence<String>) { for id in others { insert(id) } }
  package mutating func subtract(_ others: some Sequence<String>) { for id in others { remove(id) } }

  package func union(_ others: some Sequence<String>) -> IdSet {
    var all = self
    all.formUnion(others)
    return all
  }

  package func subtracting(_ others: some Sequence<String>) -> IdSet {
    var rest = self
    rest.subtract(others)
    return rest
  }

  package func intersection(_ others: some Sequence<String>) -> IdSet { IdSet(others.filter(contains)) }
  package func isDisjoint(with others: some Sequence<String>) -> Bool { !others.contains(where: contains) }
  package func isSubset(of other: IdSet) -> Bool { members.isSubset(of: other.members) }
  package func filter(_ isKept: (String) throws -> Bool) rethrows -> IdSet { IdSet(try members.lazy.map(\.text).filter(isKept)) }

  /// In the order of the bytes.
  package func sorted() -> [String] { members.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }

  package func makeIterator() -> LazyMapSequence<Set<ExactText>, String>.Iterator { members.lazy.map(\.text).makeIterator() }
}

/// Values by id, or by another text from outside; ids are different if their bytes are.
package struct IdMap<Value>: Sequence, ExpressibleByDictionaryLiteral {
  package typealias Element = (key: String, value: Value)

  private var members: [ExactText: Value]

  package init() { members = [:] }
  private init(members: [ExactText: Value]) { self.members = members }
  package init(dictionaryLiteral elements: (String, Value)...) { self.init(elements) { _, last in last } }

  package init(_ elements: some Sequence<(String, Value)>, uniquingKeysWith combine: (Value, Value) throws -> Value) rethrows {
    members = try Dictionary(elements.lazy.map { (ExactText($0), $1) }, uniquingKeysWith: combine)
  }

  package var count: Int { members.count }
  package var isEmpty: Bool { members.isEmpty }
  package var keys: IdSet { IdSet(members.keys.lazy.map(\.text)) }
  package var values: Dictionary<ExactText, Value>.Values { members.values }

  package subscript(id: String) -> Value? {
    get { members[ExactText(id)] }
    // Changes the value in place; with `set` it would be copied.
    _modify { yield &members[ExactText(id)] }
  }

  package subscript(id: String, default value: @autoclosure () -> Value) -> Value {
    get { members[ExactText(id), default: value()] }
    _modify { yield &members[ExactText(id), default: value()] }
  }

  package func mapValues<Other>(_ transform: (Value) throws -> Other) rethrows -> IdMap<Other> {
    IdMap<Other>(members: try members.mapValues(transform))
  }

  package func compactMapValues<Other>(_ transform: (Value) throws -> Other?) rethrows -> IdMap<Other> {
    IdMap<Other>(members: try members.compactMapValues(transform))
  }

  package func filter(_ isKept: (Element) throws -> Bool) rethrows -> IdMap {
    IdMap(members: try members.filter { try isKept((key: $0.key.text, value: $0.value)) })
  }

  package mutating func removeAll() { members.removeAll() }

  @discardableResult
  package mutating func removeValue(forKey id: String) -> Value? { members.removeValue(forKey: ExactText(id)) }

  package mutating func merge(_ other: IdMap<Value>, uniquingKeysWith combine: (Value, Value) throws -> Value) rethrows {
    try members.merge(other.members, uniquingKeysWith: combine)
  }

  package func makeIterator() -> LazyMapSequence<[ExactText: Value], Element>.Iterator {
    members.lazy.map { (key: $0.key.text, value: $0.value) }.makeIterator()
  }
}

extension IdMap: Sendable where Value: Sendable {}
extension IdMap: Equatable where Value: Equatable {}
