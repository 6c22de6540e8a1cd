import SmartStore

/// Looks into a store in PostgreSQL: its sessions are read-only and do not count as having the store open, so
/// that a forgotten viewer does not keep others from removing it.
final class PostgresLook: StoreReading {
  let location: String
  private let name: String
  private let schema: String
  private let session: PostgresSession
  private let readers: PostgresReaders

  /// - Parameters:
  ///   - version: The version of the store's tables, which may be an older one.
  ///   - connector: Of sessions that only read.
  init(name: String, _ store: PostgresSchema.Store, version: Int64, _ connector: PostgresConnector) {
    self.name = name
    location = "\(connector.address) (\(store.schema))"
    schema = PostgresName.quoted(store.schema)
    session = PostgresSession(connector, label: "tureen.store.postgres.look.\(name)")
    readers = PostgresReaders(connector, schema: schema, WantedIndexes(), version: version)
  }

  func read<T>(
    on reader: Int?, for query: QueryCancellation?, isSmart: Bool, _ body: (any StoreSnapshot) throws -> T
  ) throws -> T {
    do {
      return try readers.read(for: query, isSmart: isSmart, body)
    } catch {
      throw PostgresEngine.converted(error, store: name)
    }
  }

  var supportsFullText: Bool { false }

  func sizes() throws -> StoreSizes {
    do {
      return StoreSizes(bytes: try PostgresEngine.databaseSize(session, schema: schema))
    } catch {
      throw PostgresEngine.converted(error, store: name)
    }
  }

  func close() {
    session.close()
    readers.close()
  }
}
