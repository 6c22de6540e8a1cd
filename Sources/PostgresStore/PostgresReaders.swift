import SmartStore

/// The reading connections of a store: opened on demand, a handful at most, each used by one thread at a time. Smart
/// queries, which may run for long, always leave one to other reads.
final class PostgresReaders: Sendable {
  /// A connection taken from the pool has one owner.
  private final class Reader: @unchecked Sendable {
    let connection: PostgresConnection
    let caches: StoreCaches

    init(_ connection: PostgresConnection, _ wantedIndexes: WantedIndexes) {
      self.connection = connection
      caches = StoreCaches(wantedIndexes)
    }
  }

  private let connector: PostgresConnector
  private let schema: String
  private let wantedIndexes: WantedIndexes
  private let turns = ReadTurns<Reader>(most: Tuning.readers, mostSmart: Tuning.readers - 1)

  /// - Parameter schema: The quoted schema of the store.
  init(_ connector: PostgresConnector, schema: String, _ wantedIndexes: WantedIndexes) {
    self.connector = connector
    self.wantedIndexes = wantedIndexes
    self.schema = schema
  }

  /// Runs `body` on a snapshot; waits while all readers are in use.
  func read<T>(
    for query: QueryCancellation?, isSmart: Bool, _ body: (PostgresSnapshot) throws -> T
  ) throws -> T {
    try turns.with(query, isSmart: isSmart) {
      let reader = try take()
      defer { if !reader.connection.isUsable || !turns.keep(reader) { reader.connection.close() } }
      return try read(for: query, on: reader, body)
    }
  }

  private func read<T>(for query: QueryCancellation?, on reader: Reader, _ body: (PostgresSnapshot) throws -> T) throws -> T {
    var flight = Flight()
    flight.add("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    let server = GatheredTransaction(reader.connection, flight)
    do {
      let snapshot = PostgresSnapshot(server, schema: schema, caches: reader.caches)
      snapshot.timeoutMs = Tuning.longAnswerMs
      try snapshot.begin()
      let result: T
      if let query { result = try snapshot.run(for: query) { try body(snapshot) } } else { result = try body(snapshot) }
      reader.connection.rollBack()
      return result
    } catch {
      if reader.connection.isUsable { reader.connection.rollBack() }
      reader.caches.forget()
      if let query, query.isCancelled { try turns.throwIfClosed() }
      throw error
    }
  }

  private func take() throws -> Reader {
    while let idle = try turns.takeIdle() {
      if idle.connection.isAlive { return idle }
      idle.connection.close()
    }
    let connection = try connector.connect()
    do {
      // Smart SQL may name the store's own tables, such as soup_attrs.
      try connection.execute("SET search_path = pg_catalog, \(schema)")
    } catch {
      connection.close()
      throw error
    }
    return Reader(connection, wantedIndexes)
  }

  /// Cancels queries, waits for the readers in use, then closes all. Waiting reads fail with `.storeClosed`.
  func close() {
    for reader in turns.close() { reader.connection.close() }
  }
}
