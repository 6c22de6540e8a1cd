/// Changes a soup's indexes. The calls block until the change is complete, like every call of a
/// store.
extension Store {
  /// Replaces the index specs of a soup.
  ///
  /// The soup is rebuilt in one transaction, so readers see either the old or the new soup. If the
  /// process dies, the old soup stays, and the next process that opens the store finishes the
  /// change. Entries keep their ids, versions, time
  /// stamps, owners and text; the id sequence continues. Passing the current specs rebuilds the
  /// table.
  ///
  /// - Parameters:
  ///   - name: The soup.
  ///   - indexSpecs: The complete list of new index specs.
  ///   - reIndexData: Fills the columns of paths that are new or have a new type. Otherwise these
  ///     columns stay empty until ``reIndexSoup(_:paths:)``, except that string and full_text
  ///     columns are filled from each other, and columns of any type from json1.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.invalidIndexSpec`. Nothing is changed then.
  public func alterSoup(_ name: String, indexSpecs: [IndexSpec], reIndexData: Bool) throws {
    try alterSoup(name, indexSpecs: indexSpecs, reIndexData: reIndexData) { _ in }
  }

  /// - Parameter afterStep: Called on the store's queue after each step, for tests.
  package func alterSoup(
    _ name: String, indexSpecs: [IndexSpec], reIndexData: Bool, afterStep: (AlterStep) throws -> Void
  ) throws {
    try IndexSpec.validate(indexSpecs, soup: name)
    try checkNotOnWriterQueue()
    try engine.alterSoup(name, indexSpecs: indexSpecs, reIndexData: reIndexData, afterStep: afterStep)
  }

  /// Fills the indexes on `paths` from the entries; ignores paths without an index. Time stamps and
  /// versions stay.
  /// - Throws: ``StoreError`` `.noSuchSoup`.
  public func reIndexSoup(_ name: String, paths: [String]) throws {
    try writeBlocking(.synced) { try $0.reIndexSoup(name, paths: paths) }
  }
}
