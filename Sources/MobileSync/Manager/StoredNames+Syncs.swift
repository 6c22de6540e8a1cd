import SmartStore

extension StoredNames {
  /// Returns the names of the saved syncs that have one.
  package func syncs() -> [String] { texts(of: "name", in: SyncsSoup.name) }

  /// Returns the names of all soups except the one that holds the syncs, sorted.
  package func recordSoups() -> [String] { soups().filter { $0 != SyncsSoup.name } }
}
