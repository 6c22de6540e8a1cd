/// Unfinished copies of stores: rows of the table of stores with a version that no build opens as a
/// store; older builds take it for a newer one. The table `copy_of` of their schema names the source.
extension PostgresSchema {
  /// Is added to the version of an unfinished copy.
  static let unfinished: Int64 = 1_000_000

  /// Opens an unfinished copy; creates it, in one transaction, if there is no store of this name.
  /// - Throws: ``PostgresError`` `.storeExists`.
  package func openCopy(
    _ connection: PostgresConnection, org: String, user: String, name: String, of source: String
  ) throws -> Store {
    try connection.transaction {
      let known = try connection.query(
        "SELECT id, version FROM \(sql).stores WHERE org = $1 AND usr = $2 AND name = $3 FOR NO KEY UPDATE",
        [.text(org), .text(user), .text(name)])
      if let row = known.first {
        let store = Store(
          id: try row.int64(0), org: org, user: user, name: name, schema: schemaName(try row.int64(0)), isUnfinished: true)
        try checkCopy(store, version: try row.int64(1), of: source, connection)
        return store
      }
      guard let store = try createStore(connection, org, user, name, version: PostgresSchema.unfinished + storeVersion) else {
        throw PostgresError(.storeExists, "another host has just created store '\(name)'; it was left unchanged")
      }
      try connection.execute("CREATE TABLE \(copyTable(store)) (source text NOT NULL)")
      _ = try connection.query("INSERT INTO \(copyTable(store)) (source) VALUES ($1)", [.text(source)])
      return store
    }
  }

  private func copyTable(_ store: Store) -> String { "\(PostgresName.quoted(store.schema)).copy_of" }

  private func source(of store: Store, _ connection: PostgresConnection) throws -> String {
    try connection.query("SELECT source FROM \(copyTable(store))").only().string(0)
  }

  private func checkCopy(
    _ store: Store, version: Int64, of source: String, _ connection: PostgresConnection
  ) throws {
    let title = PostgresSchema.title(store)
    guard version >= PostgresSchema.unfinished else {
      throw PostgresError(
        .storeExists, "\(title) exists already and was left unchanged; choose another name, or remove it first")
    }
    let original = try self.source(of: store, connection)
    guard original.utf8.elementsEqual(source.utf8) else {
      throw PostgresError(
        .storeExists,
        "\(title) is an unfinished copy of another store, \(original); remove it with `tureen store remove`, or finish that copy "
          + "first")
    }
    guard version == PostgresSchema.unfinished + storeVersion else {
      throw PostgresError(
        .storeExists,
        "\(title) is an unfinished copy that another version of Tureen has begun; remove it with `tureen store remove`, and copy "
          + "again")
    }
  }

  /// Refuses an unfinished copy.
  func throwIfUnfinished(_ store: Store, version: Int64, _ connection: PostgresConnection) throws {
    guard version >= PostgresSchema.unfinished else { return }
    throw PostgresError(
      .unfinishedCopy,
      "\(PostgresSchema.title(store)) is an unfinished copy of \(try source(of: store, connection)); run `tureen store copy` "
        + "again to finish it, or remove it with `tureen store remove`")
  }

  private static func title(_ store: Store) -> String {
    store.org.isEmpty ? "the global store '\(store.name)' of the database" : "store '\(store.name)' of the database"
  }

  /// The statements that make an unfinished copy a store.
  func finishing(_ store: Store) -> (drop: String, update: String, parameters: [PostgresParameter]) {
    (
      "DROP TABLE \(copyTable(store))", "UPDATE \(sql).stores SET version = $1 WHERE id = $2",
      [.int64(storeVersion), .int64(store.id)]
    )
  }
}
