/// Records users worked with last, newest first. Kept while the org runs.
struct RecentItems {
  struct Item: Equatable {
    let object: String
    let id: String
  }

  private var byUser: [String: [Item]] = [:]

  /// Moves a row to the head of a user's list, when its object has a place there.
  mutating func touch(_ id: String, of object: ObjectSchema, by user: String) {
    guard object.traits.contains(.recent) else { return }
    let item = Item(object: object.name, id: id)
    var list = byUser[user] ?? []
    if list.first == item { return }
    list.removeAll { $0 == item }
    list.insert(item, at: 0)
    byUser[user] = bounded(list, object.name)
  }

  /// The longest lists of one object keep `Tuning.recentItems`.
  private func bounded(_ list: [Item], _ object: String) -> [Item] {
    var list = list
    if list.count(where: { $0.object == object }) > Tuning.recentItems,
      let oldest = list.lastIndex(where: { $0.object == object })
    {
      list.remove(at: oldest)
    }
    return list
  }

  /// Ids of one object's rows.
  func ids(_ object: String, of user: String) -> [String] {
    (byUser[user] ?? []).filter { $0.object == object }.map(\.id)
  }

  /// Rows of every object.
  func all(of user: String) -> [Item] { byUser[user] ?? [] }
}
