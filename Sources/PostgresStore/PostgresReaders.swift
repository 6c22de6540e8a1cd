import SmartStore
import Support
import Synchronization

/// The reading connections of a store: opened on demand, a handful at most, each used by one thread at a time. Smart
/// queries, which may run for long, always leave one to other reads.
///
/// With `reads=standby` in the address, a standby answers if it has all that this process has seen: its own writes, what it
/// read before, and changes that observers were told of. Otherwise the primary does.
final class PostgresReaders: Sendable {
  private final class Link {
    let connection: PostgresConnection
    let role: PostgresConnector.Role
    let caches: StoreCaches

    init(_ connection: PostgresConnection, _ role: PostgresConnector.Role, _ wantedIndexes: WantedIndexes) {
      self.connection = connection
      self.role = role
      caches = StoreCaches(wantedIndexes)
    }
  }

  /// Taken from the pool it has one owner.
  private final class Reader: @unchecked Sendable {
    var primary: Link?, standby: Link?

    /// Closes lost connections.
    func prune() {
      if primary?.connection.isAlive == false { drop(&primary) }
      if standby?.connection.isAlive == false { drop(&standby) }
    }

    func close() {
      drop(&primary)
      drop(&standby)
    }

    private func drop(_ link: inout Link?) {
      link?.connection.close()
      link = nil
    }
  }

  private struct Progress {
    /// The number of the newest commit that this process knows of.
    var seq: Int64 = 0
    /// Standbys are asked again from then on, by the monotonic clock.
    var standbysFromMs: Int64 = 0
  }

  private let connector: PostgresConnector
  private let schema: String
  private let wantedIndexes: WantedIndexes
  /// The version of the store's tables.
  private let version: Int64
  private let turns = ReadTurns<Reader>(most: Tuning.readers, mostSmart: Tuning.readers - 1)
  private let progress = Mutex(Progress())

  /// - Parameters:
  ///   - schema: The quoted schema of the store.
  ///   - version: The version of the store's tables; only those who look read older ones.
  init(
    _ connector: PostgresConnector, schema: String, _ wantedIndexes: WantedIndexes,
    version: Int64 = Int64(StoreTables.migrations.count)
  ) {
    self.version = version
    self.connector = connector
    self.wantedIndexes = wantedIndexes
    self.schema = schema
  }

  /// Later reads see this commit.
  func note(_ seq: Int64) { progress.withLock { $0.seq = max($0.seq, seq) } }

  /// Runs `body` on a snapshot; waits while all readers are in use.
  func read<T>(
    for query: QueryCancellation?, isSmart: Bool, _ body: (PostgresSnapshot) throws -> T
  ) throws -> T {
    try turns.with(query, isSmart: isSmart) {
      let reader = try turns.takeIdle() ?? Reader()
      defer { if !turns.keep(reader) { reader.close() } }
      reader.prune()
      if let standby = standby(of: reader), let snapshot = caughtUp(standby) {
        return try finishing(standby, for: query) { try run(body, on: snapshot, for: query) }
      }
      let primary = try reader.primary ?? link(.primary)
      reader.primary = primary
      return try finishing(primary, for: query) { try run(body, on: snapshot(primary), for: query) }
    }
  }

  private func run<T>(
    _ body: (PostgresSnapshot) throws -> T, on snapshot: PostgresSnapshot, for query: QueryCancellation?
  ) throws -> T {
    if let query { return try snapshot.run(for: query) { try body(snapshot) } }
    return try body(snapshot)
  }

  /// Ends the transaction of `body`.
  private func finishing<T>(
    _ link: Link, for query: QueryCancellation?, _ body: () throws -> T
  ) throws -> T {
    do {
      let result = try body()
      link.connection.rollBack()
      return result
    } catch {
      if link.connection.isUsable { link.connection.rollBack() }
      link.caches.forget()
      if let query, query.isCancelled { try turns.throwIfClosed() }
      pauseStandbys(after: error, link)
      throw error
    }
  }

  /// Begins a transaction.
  private func snapshot(_ link: Link) throws -> PostgresSnapshot {
    var flight = Flight()
    flight.add("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    // Takes no snapshot. Keeps the tables of the soups in place until this transaction ends.
    flight.add("LOCK TABLE \(schema).soup_attrs IN ACCESS SHARE MODE")
    let snapshot = PostgresSnapshot(GatheredTransaction(link.connection, flight), schema: schema, caches: link.caches)
    snapshot.timeoutMs = Tuning.longAnswerMs
    snapshot.version = version
    try snapshot.begin()
    note(snapshot.seq)
    return snapshot
  }

  // MARK: Standbys

  private func standby(of reader: Reader) -> Link? {
    guard connector.address.readsFromStandbys,
      progress.withLock({ SystemClock.monotonicMilliseconds() >= $0.standbysFromMs })
    else { return nil }
    if reader.standby == nil { reader.standby = try? link(.standby) }
    guard let standby = reader.standby else {
      pauseStandbys()
      return nil
    }
    return standby
  }

  /// - Returns: nil if the standby lags behind what this process has seen, or fails: the primary can answer.
  private func caughtUp(_ link: Link) -> PostgresSnapshot? {
    let seen = progress.withLock { $0.seq }
    do {
      let snapshot = try snapshot(link)
      if snapshot.seq >= seen { return snapshot }
    } catch {
      // The standby may also lack the whole store still.
      link.caches.forget()
      pauseStandbys(after: error, link)
    }
    if link.connection.isUsable { link.connection.rollBack() }
    return nil
  }

  /// Sends reads to the primary for a while after a standby was lost, or cancelled the query because of a recovery conflict.
  private func pauseStandbys(after error: any Error, _ link: Link) {
    guard link.role == .standby else { return }
    if !link.connection.isUsable || (error as? PostgresError)?.sqlState == "40001" { pauseStandbys() }
  }

  private func pauseStandbys() {
    progress.withLock { $0.standbysFromMs = SystemClock.monotonicMilliseconds() + Tuning.standbyPauseMs }
  }

  // MARK: Connections

  private func link(_ role: PostgresConnector.Role) throws -> Link {
    let connection = try connector.connect(to: role)
    do {
      // Smart SQL may name the store's own tables, such as soup_attrs.
      try connection.execute("SET search_path = pg_catalog, \(schema)")
    } catch {
      connection.close()
      throw error
    }
    return Link(connection, role, wantedIndexes)
  }

  /// Cancels queries, waits for the readers in use, then closes all. Waiting reads fail with `.storeClosed`.
  func close() {
    for reader in turns.close() { reader.close() }
  }
}
