import Dispatch
import SmartStore
import Support

/// A store in a schema of a PostgreSQL database.
///
/// One connection writes, on a serial queue; a few others read, each on its own snapshot. Any number of hosts may have
/// the store open: their writing transactions run one at a time, in the order in which they lock the store's state.
package final class PostgresEngine: StoreEngine, @unchecked Sendable {
  /// The address without password, and the store's schema.
  package let location: String
  package let writerQueue: DispatchQueue
  package let history = StoreHistory()
  private let name: String
  private let schema: String
  private let store: PostgresSchema.Store
  let control: PostgresSchema
  private let session: PostgresSession
  private let writer: Writer
  private let bulkLoadMinimum: Int
  /// How often a transaction that has not begun waits for another host's.
  private let lockAttempts: Int
  let readers: PostgresReaders
  // Used on `writerQueue` only:
  private let caches: StoreCaches
  private var feed: PostgresFeed?
  private var isClosed = false

  /// - Parameters:
  ///   - name: The store's name, for messages.
  ///   - store: Opened in the control schema.
  ///   - bulkLoadMinimum: The announced number of records from which a first load builds its
  ///     indexes afterwards; tests load fewer.
  package init(
    name: String, _ store: PostgresSchema.Store, _ control: PostgresSchema, _ connector: PostgresConnector,
    bulkLoadMinimum: Int? = nil
  ) {
    self.name = name
    self.bulkLoadMinimum = bulkLoadMinimum ?? Tuning.bulkLoadMinimum
    lockAttempts = connector.lockAttempts
    (self.store, self.control) = (store, control)
    location = "\(connector.address) (\(store.schema))"
    schema = PostgresName.quoted(store.schema)
    writerQueue = DispatchQueue(label: "tureen.store.writer.\(name)")
    let connector = PostgresEngine.naming(connector, store)
    session = PostgresSession(connector, label: "tureen.store.postgres.\(name)")
    writer = Writer(session, control)
    let wantedIndexes = WantedIndexes()
    caches = StoreCaches(wantedIndexes)
    readers = PostgresReaders(connector, schema: schema, wantedIndexes)
  }

  /// The sessions of a store have its schema in their name, so that others see that it is open.
  private static func naming(_ connector: PostgresConnector, _ store: PostgresSchema.Store) -> PostgresConnector {
    var address = connector.address
    let own = address.options["application_name"] ?? "tureen"
    // PostgreSQL cuts the name at 63 bytes, and may write others than ASCII with four.
    let mark = sessionMark(store)
    address.options["application_name"] = own.filter(\.isASCII).prefix(min(20, 63 - mark.utf8.count)) + mark
    return connector.with(address)
  }

  static func sessionMark(_ store: PostgresSchema.Store) -> String { "/\(store.schema)" }

  private func requireOpen() throws {
    guard !isClosed else { throw StoreError(.storeClosed, "store '\(name)' is closed") }
  }

  // MARK: Transactions

  package func write<T>(_ durability: Durability, _ body: (any StoreTransaction) throws -> T) throws -> T {
    try transact(durability, body)
  }

  private func transact<T>(_ durability: Durability, _ body: (PostgresTransaction) throws -> T) throws -> T {
    try requireOpen()
    var attempts = 0
    while true {
      var hasBegun = false, rows: HistoryRows?, commit: GatheredTransaction?
      attempts += 1
      do {
        let (result, seq) = try writer.gathered(durability: durability == .synced ? .synced : .pulled) { server in
          let transaction = PostgresTransaction(server, schema: schema, caches: caches)
          transaction.bulkLoadMinimum = bulkLoadMinimum
          transaction.history = history.begin { [unowned transaction] in transaction.lastRun }
          (rows, commit) = (transaction.history, server)
          try transaction.begin()
          hasBegun = true
          let result = try body(transaction)
          try transaction.finish()
          return (result, transaction.seq)
        }
        readers.note(seq)
        if let rows {
          rows.failure = rows.failure ?? commit.flatMap(PostgresTransaction.historyFailure)
          history.committed(rows)
        }
        feed?.look()
        return result
      } catch {
        // Soups that the transaction created no longer exist.
        caches.forget()
        // Another host has the store for long, such as while it builds indexes.
        let isBusy = !hasBegun && (error as? PostgresError)?.sqlState == "55P03"
        guard isBusy, attempts < lockAttempts else { throw converted(error) }
      }
    }
  }

  package func read<T>(
    on reader: Int?, for query: QueryCancellation?, isSmart: Bool, _ body: (any StoreSnapshot) throws -> T
  ) throws -> T {
    do {
      return try readers.read(for: query, isSmart: isSmart, body)
    } catch {
      throw converted(error)
    }
  }

  /// The change is one transaction of this process: if the process dies, the old soup stays, and no other
  /// process finishes the change.
  package func alterSoup(
    _ name: String, indexSpecs: [IndexSpec], reIndexData: Bool, afterStep: (AlterStep) throws -> Void
  ) throws {
    try writerQueue.sync {
      try transact(.synced) { transaction in
        _ = try transaction.table(name)
        try afterStep(.starting)
        try transaction.alterSoup(name, indexSpecs: indexSpecs, reIndexData: reIndexData, afterStep: afterStep)
      }
    }
  }

  private func converted(_ error: any Error) -> any Error { PostgresEngine.converted(error, store: name) }

  static func converted(_ error: any Error, store name: String) -> any Error {
    guard let error = error as? PostgresError else { return StoreError.wrapping(error) }
    if error.sqlState == "55P03" {
      var busy = StoreError(.postgres, "another host is writing to store '\(name)' (\(error.message)); try again")
      busy.isTransient = true
      return busy
    }
    if error.sqlState == "42P01", error.message.contains("copy_of") { return StoreError.copyEnded }
    // The schema, or a table that every store has.
    if error.sqlState == "3F000" || error.sqlState == "42P01" {
      return StoreError(.postgres, "store '\(name)' was removed from the database (\(error.message))")
    }
    return StoreError.converting(error)
  }

  // MARK: Observers

  package func startObserving(_ inbox: ChangeInbox) throws {
    try requireOpen()
    do {
      let feed = try self.feed ?? PostgresFeed(session, schema: schema, queue: writerQueue, readers)
      self.feed = feed
      feed.add(inbox)
    } catch {
      throw converted(error)
    }
  }

  package func forgetEndedObservers() {
    guard let feed, !feed.prune() else { return }
    feed.stop()
    self.feed = nil
  }

  /// A `match` query needs words, which have no index here.
  package var supportsFullText: Bool { false }

  package func finishCopy() throws {
    let finishing = control.finishing(store)
    try writerQueue.sync {
      try transact(.synced) { transaction in
        // In the order of those who open the store.
        transaction.add(finishing.update, finishing.parameters)
        transaction.add(finishing.drop)
      }
    }
  }

  package func databaseSize() throws -> Int64 {
    try requireOpen()
    do {
      return try PostgresEngine.databaseSize(session, schema: schema)
    } catch {
      throw converted(error)
    }
  }

  /// - Parameter schema: The quoted schema of the store.
  static func databaseSize(_ session: PostgresSession, schema: String) throws -> Int64 {
    try session.query(
      """
      SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
      WHERE c.relnamespace = $1::text::regnamespace AND c.relkind = 'r'
      """, [.text(schema)]
    ).only().int64(0)
  }

  package func close() {
    writerQueue.sync {
      isClosed = true
      feed?.close()
      feed = nil
      caches.forget()
      session.close()
    }
    readers.close()
  }
}
