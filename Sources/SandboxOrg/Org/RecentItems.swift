/// The records that users worked with most recently, newest first. Kept while the org runs.
struct RecentItems {
  struct Item: Equatable {
    let object: String
    let id: String
  }

  private var byUser: [String: [Item]] = [:]

  /// Moves a record to the top of a user's list if its object is tracked there.
  mutating func touch(_ id: String, of object: ObjectSchema, by user: String) {
    guard object.traits.contains(.recent) else { return }
    let item = Item(object: object.name, id: id)
    var list = byUser[user] ?? []
    if list.first == item { return }
    list.removeAll { $0 == item }
    list.insert(item, at: 0)
    byUser[user] = bounded(list, object.name)
  }

  /// Drops the oldest item of an object that exceeds `Tuning.recentItems`.
  private func bounded(_ list: [Item], _ object: String) -> [Item] {
    var list = list
    if list.count(where: { $0.object == object }) > Tuning.recentItems,
      let oldest = list.lastIndex(where: { $0.object == object })
    {
      list.remove(at: oldest)
    }
    return list
  }

  /// Returns the ids of one object's recent records.
  func ids(_ object: String, of user: String) -> [String] {
    (byUser[user] ?? []).filter { $0.object == object }.map(\.id)
  }

  /// Returns recent records of all objects.
  func all(of user: String) -> [Item] { byUser[user] ?? [] }
}
