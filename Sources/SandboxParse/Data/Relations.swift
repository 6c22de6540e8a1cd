/// The hidden join tables: the pairs of owner and target of each relation column.
struct Relations: Sendable {
  struct Column: Hashable, Sendable {
    let className: String, name: String
  }
  private struct Table: Sendable {
    var targets: IdMap<IdSet> = [:]
    var owners: IdMap<IdSet> = [:]
  }

  private var tables: [Column: Table] = [:]

  mutating func add(_ column: Column, _ owner: String, _ target: String) {
    tables[column, default: Table()].targets[owner, default: []].insert(target)
    tables[column]?.owners[target, default: []].insert(owner)
  }

  mutating func remove(_ column: Column, _ owner: String, _ target: String) {
    tables[column]?.targets[owner]?.remove(target)
    tables[column]?.owners[target]?.remove(owner)
  }

  func targets(_ column: Column, of owner: String) -> IdSet { tables[column]?.targets[owner] ?? [] }
  func owners(_ column: Column, of target: String) -> IdSet { tables[column]?.owners[target] ?? [] }

  mutating func drop(_ column: Column) { tables[column] = nil }
  mutating func drop(className: String) { for column in tables.keys where column.className == className { tables[column] = nil } }
}
