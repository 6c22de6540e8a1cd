import JSON

/// Soups and entries. Every call is one transaction and blocks until it is done. Call from any
/// thread outside the cooperative pool.
extension Store {
  /// Creates a soup. An existing soup stays unchanged, even if its specs differ.
  /// - Throws: ``StoreError`` `.invalidSoupName`, `.invalidIndexSpec`. Nothing is created then.
  public func registerSoup(_ name: String, indexSpecs: [IndexSpec]) throws {
    try Soup.validate(name: name)
    if try soupExists(name) {
      // Validate the specs anyway: otherwise a mistake in them would go unnoticed.
      let known = try self.indexSpecs(ofSoup: name)
      return try wrapped { try IndexSpec.validate(indexSpecs, soup: name, known: known) }
    }
    try writeBlocking(.synced) { try $0.registerSoup(name, indexSpecs) }
  }

  public func soupExists(_ name: String) throws -> Bool { try readBlocking { try $0.soupExists(name) } }

  /// - Throws: ``StoreError`` `.noSuchSoup`.
  public func indexSpecs(ofSoup name: String) throws -> [IndexSpec] { try readBlocking { try $0.indexSpecs(of: name) } }

  /// Returns the names of all soups, sorted.
  public func soupNames() throws -> [String] { try readBlocking { try $0.soupNames() } }

  /// Drops a soup with its entries. Does nothing if it does not exist.
  public func removeSoup(_ name: String) throws {
    try writeBlocking(.synced) { transaction in
      try transaction.noteEmptying(of: name)
      try transaction.removeSoup(name)
    }
  }

  /// Drops every soup in one transaction.
  public func removeAllSoups() throws {
    try writeBlocking(.synced) { transaction in
      for name in try transaction.soupNames() { try transaction.removeSoup(name) }
    }
  }

  /// Removes all entries of a soup; its specs and its id sequence stay.
  /// - Throws: ``StoreError`` `.noSuchSoup`.
  public func clearSoup(_ name: String) throws {
    try writeBlocking(.synced) { transaction in
      try transaction.noteEmptying(of: name)
      try transaction.clearSoup(name)
    }
  }

  /// Inserts or updates entries of a soup, all in one transaction.
  ///
  /// - Parameters:
  ///   - entries: JSON text of an array of objects.
  ///   - soup: The soup's name.
  ///   - externalIdPath: `_soupEntryId`, or an indexed path, such as `Id`, that finds the entry to
  ///     update.
  /// - Returns: The entries as stored, in the same order, as JSON text. `_soupLastModifiedDate` is in ms since 1970 UTC.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.pathNotIndexed`, `.missingExternalId`, `.ambiguousExternalId`, `.noSuchEntry`,
  ///   `.invalidEntry`. Nothing is written then.
  /// - Note: Source: Mobile SDK, `pgUpsertSoupEntries`. iOS 13.2 keeps the entries before the failing one, Android keeps none;
  ///   we keep none.
  public func upsert(
    _ entries: [UInt8], into soup: String, externalIdPath: String = "_soupEntryId"
  ) throws -> [UInt8] {
    try writeBlocking(.synced) { transaction in
      let kept = try transaction.keepingNumbers(of: entries, in: soup)
      return try transaction.upsert(kept, into: soup, externalIdPath: externalIdPath)
    }
  }

  /// Returns entries in the order of the ids; skips ids without an entry.
  /// - Returns: JSON text of an array. An entry whose text is damaged in the file becomes a string,
  ///   as on a query's page.
  /// - Throws: ``StoreError`` `.noSuchSoup`.
  public func retrieve(_ ids: [Int64], from soup: String) throws -> [UInt8] {
    try readBlocking { try $0.page(of: ids, in: soup) }
  }

  /// Removes entries; unknown ids are ignored.
  /// - Throws: ``StoreError`` `.noSuchSoup`.
  public func remove(_ ids: [Int64], from soup: String) throws {
    try writeBlocking(.synced) { transaction in
      try transaction.noteRemoval(of: ids, from: soup)
      try transaction.remove(ids, from: soup)
    }
  }

  /// Removes the entries on the first page of a query: at most its `pageSize`, in its order.
  ///
  /// A smart query runs on a reader first, so that an endless one does not block writes. A
  /// cancelled query removes nothing.
  public func removeEntries(
    matching spec: QuerySpec, from soup: String, cancellation: QueryCancellation = QueryCancellation()
  ) throws {
    if spec.kind == .smart {
      try readBlocking(for: cancellation, isSmart: true) { snapshot in
        _ = try snapshot.indexSpecs(of: soup)
        _ = try snapshot.entryIds(spec, soup: soup, limit: spec.pageSize)
      }
    }
    try writeBlocking(.synced) { transaction in
      _ = try transaction.indexSpecs(of: soup)
      let ids = try transaction.run(for: cancellation) {
        try transaction.entryIds(spec, soup: soup, limit: spec.pageSize)
      }
      try transaction.noteRemoval(of: ids, from: soup)
      try transaction.remove(ids, from: soup)
    }
  }

  private func wrapped<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch { throw StoreError.wrapping(error) }
  }
}
