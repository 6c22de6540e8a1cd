import SmartStore

/// What a transaction does to the entries of its soups, for the change feed.
struct ChangeNotes {
  struct Soup {
    let name: String
    var changes = EntryChanges()
  }

  /// By number.
  private(set) var soups: [Int64: Soup] = [:]

  mutating func note(_ kind: EntryChanges.Kind, _ ids: some Sequence<Int64>, in table: SoupTable) {
    for id in ids { soups[table.soup.number, default: Soup(name: table.soup.name)].changes.note(kind, id) }
  }

  mutating func noteAll(_ table: SoupTable) {
    soups[table.soup.number, default: Soup(name: table.soup.name)].changes.noteAll()
  }
}
