import Database

/// What one connection remembers between transactions: soups, compiled smart SQL, writers with their statements.
/// Belongs to the current owner of the connection.
final class ConnectionState {
  /// Tells the connections of a store apart; the writer is 0.
  let number: Int
  private var schemaVersion: Int64 = -1
  var soups: [String: Soup] = [:]
  /// By their text, until a soup changes.
  var smartSql: [String: CompiledSmartSql] = [:]
  /// The oldest first.
  var plans: [QueryPlan] = []
  var writers: [String: SoupWriter] = [:]
  /// The ids of the loads that go on without indexes, by soup. Outlives what a rolled-back transaction forgets: a page that comes
  /// again is then taken for a repetition, which is looked at and found to be none.
  var loads: [String: LoadKeys] = [:]
  /// The observers of changes; nil without any, and always on a connection that reads.
  var feed: ChangeFeed?

  /// Of the store, all its connections together.
  let wantedIndexes: WantedIndexes

  init(number: Int, _ wantedIndexes: WantedIndexes) {
    self.number = number
    self.wantedIndexes = wantedIndexes
  }

  /// Forgets what no longer holds when the schema has changed, by this process or another. First thing in a transaction.
  func refresh(_ connection: Connection) throws {
    let version = try connection.schemaVersion()
    if version != schemaVersion {
      forget()
      // SQLite prepares them anew by itself, but not before they are asked for their columns.
      connection.forgetStatements()
    }
    schemaVersion = version
  }

  func forget() {
    schemaVersion = -1
    soups.removeAll()
    smartSql.removeAll()
    plans.removeAll()
    writers.removeAll()
  }
}
