import SmartStore

/// Functions for soups in `async` code. They block no thread of the cooperative pool.
extension Store {
  /// Creates a soup with an index for each path. An existing soup is not changed, even if its indexes differ.
  /// - Throws: ``StoreError`` `.invalidSoupName`, `.invalidIndexSpec`. Then nothing is created.
  public func registerSoup(_ name: String, indexes: [String: IndexType]) async throws {
    let specs = indexes.sorted { $0.key < $1.key }.map { IndexSpec(path: $0.key, type: $0.value) }
    try await Blocking.offPool { try self.registerSoup(name, indexSpecs: specs) }
  }
}
