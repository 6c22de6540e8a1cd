import SmartStore

/// Soups, for `async` code: the calls wait outside of the cooperative pool.
extension Store {
  /// Creates a soup with an index for each path. A soup that exists is left as it is, whatever its indexes.
  /// - Throws: ``StoreError`` `.invalidSoupName`, `.invalidIndexSpec`. Nothing is created then.
  public func registerSoup(_ name: String, indexes: [String: IndexType]) async throws {
    let specs = indexes.sorted { $0.key < $1.key }.map { IndexSpec(path: $0.key, type: $0.value) }
    try await Blocking.offPool { try self.registerSoup(name, indexSpecs: specs) }
  }
}
