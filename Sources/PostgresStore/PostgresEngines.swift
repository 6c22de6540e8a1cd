import SmartStore
import Support
import Synchronization

/// The stores of one user, and the global ones, in a PostgreSQL database.
package final class PostgresEngines: StoreEngines {
  private let connector: PostgresConnector
  private let control: PostgresSchema
  private let org: String, user: String
  private let session: PostgresSession
  /// Whether nothing may be created, so that a missing schema has no stores.
  private let looksOnly: Bool

  /// - Parameters:
  ///   - org: The org of the user's stores; empty for none.
  ///   - user: Empty for none.
  ///   - looksOnly: Whether only ``look(_:isGlobal:)`` and the lists of names are used. Nothing is created then.
  package init(_ connector: PostgresConnector, org: String, user: String, looksOnly: Bool = false) {
    let connector = looksOnly ? connector.looking : connector
    self.looksOnly = looksOnly
    self.connector = connector
    control = PostgresSchema(connector.address.schema)
    self.org = org
    self.user = user
    session = PostgresSession(connector, label: "tureen.stores.postgres")
  }

  /// Runs statements of the control schema; creates it first if it is missing. Such calls are rare, so the connection
  /// ends with each.
  private func with<T>(_ body: (PostgresConnection) throws -> T) throws -> T {
    try withConnection { connection in
      try control.open(connection)
      return try body(connection)
    }
  }

  private func withConnection<T>(_ body: (PostgresConnection) throws -> T) throws -> T {
    do {
      return try session.run { link in
        defer { link.drop() }
        return try body(try link.connection())
      }
    } catch {
      throw StoreError.converting(error)
    }
  }

  /// A row of an index has at most about 2,700 bytes; the org and the user are in it, too.
  private func check(_ name: String) throws {
    guard name.utf8.count > Tuning.longestStoreName else { return }
    throw StoreError(
      .invalidStoreName, "a store name in PostgreSQL has at most \(Tuning.longestStoreName) bytes, not \(name.utf8.count)")
  }

  private func key(_ isGlobal: Bool) -> (org: String, user: String) { isGlobal ? ("", "") : (org, user) }

  package func open(_ name: String, isGlobal: Bool) throws -> any StoreEngine {
    try check(name)
    let key = key(isGlobal)
    let (store, hasLoad) = try with { connection in
      let store = try control.openStore(connection, org: key.org, user: key.user, name: name)
      let loading = "SELECT FROM \(PostgresName.quoted(store.schema)).soup_attrs WHERE loading IS NOT NULL LIMIT 1"
      return (store, try connection.query(loading).count > 0)
    }
    let engine = PostgresEngine(name: name, store, control, connector)
    if hasLoad { engine.finishAbandonedLoads() }
    return engine
  }

  package func openCopy(_ name: String, isGlobal: Bool, of source: String) throws -> any StoreEngine {
    try check(name)
    let key = key(isGlobal)
    let store = try with { connection in
      let store = try control.openCopy(connection, org: key.org, user: key.user, name: name, of: source)
      try waitUntilClosed(store, connection, patienceMs: Tuning.copyPatienceMs) {
        StoreError(.storeInUse, "another command copies into store '\(name)'; wait for it, or end it first")
      }
      return store
    }
    return PostgresEngine(name: name, store, control, connector)
  }

  package func look(_ name: String, isGlobal: Bool) throws -> any StoreReading {
    let key = key(isGlobal)
    let found = try withConnection { connection in
      try control.exists(connection)
        ? control.existingStore(connection, org: key.org, user: key.user, name: name) : nil
    }
    guard let found else {
      throw StoreError(.cannotOpenStore, "store '\(name)' does not exist in \(connector.address)")
    }
    return PostgresLook(name: name, found.store, version: found.version, connector.looking)
  }

  private func stores(_ connection: PostgresConnection, _ isGlobal: Bool) throws -> [PostgresSchema.Store] {
    let key = key(isGlobal)
    return try control.stores(connection).filter { $0.org == key.org && $0.user == key.user }
  }

  /// Runs statements that only read the control schema.
  /// - Parameter missing: The result if the schema is missing and must not be created.
  private func looking<T>(_ missing: T, _ body: (PostgresConnection) throws -> T) throws -> T {
    guard looksOnly else { return try with(body) }
    return try withConnection { try control.exists($0) ? body($0) : missing }
  }

  package func names(isGlobal: Bool) throws -> [String] {
    try looking([]) { try stores($0, isGlobal).filter { !$0.isUnfinished }.map(\.name).sorted() }
  }

  package func unfinishedCopies(isGlobal: Bool) throws -> [String] {
    try looking([]) { try stores($0, isGlobal).filter(\.isUnfinished).map(\.name).sorted() }
  }

  /// Returns the stores and unfinished copies of all orgs and users, in the order of their creation.
  package func allStores() throws -> [PostgresSchema.Store] { try looking([]) { try control.stores($0) } }

  /// Removes stores that are not open, all or none.
  /// - Throws: ``StoreError`` `.storeInUse`.
  package func remove(_ stores: [PostgresSchema.Store]) throws {
    guard !stores.isEmpty else { return }
    try with { connection in
      for store in stores {
        try waitUntilClosed(store, connection, patienceMs: Tuning.removalPatienceMs) { inUse(store.name) }
      }
      try control.removeStores(connection, stores)
    }
  }

  package func remove(_ name: String, isGlobal: Bool) throws {
    try with { connection in
      guard let store = try stores(connection, isGlobal).first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return }
      try waitUntilClosed(store, connection, patienceMs: Tuning.removalPatienceMs) { inUse(name) }
      try control.removeStore(connection, store)
    }
  }

  private func inUse(_ name: String) -> StoreError {
    StoreError(
      .storeInUse, "store '\(name)' is open in another process or on another host; close it there first. Nothing was removed")
  }

  /// Waits for sessions that have ended and are still listed.
  private func waitUntilClosed(
    _ store: PostgresSchema.Store, _ connection: PostgresConnection, patienceMs: Int64, _ inUse: () -> StoreError
  ) throws {
    let end = SystemClock.monotonicMilliseconds() + patienceMs
    while try isOpen(store, connection) {
      guard SystemClock.monotonicMilliseconds() < end else { throw inUse() }
      _ = try connection.query("SELECT pg_sleep(0.02)")
    }
  }

  private func isOpen(_ store: PostgresSchema.Store, _ connection: PostgresConnection) throws -> Bool {
    let mark = PostgresEngine.sessionMark(store)
    return try connection.query(
      """
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND right(application_name, $2::int) = $1 LIMIT 1
      """, [.text(mark), .int(mark.utf8.count)]
    ).count > 0
  }

  package func close() { session.close() }
}
