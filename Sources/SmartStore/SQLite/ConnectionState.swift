import Database

/// The caches of one connection: soups, compiled smart SQL, and writers with their statements. Used
/// only by the current owner of the connection.
final class ConnectionState {
  /// Distinguishes the connections of a store; the writer is 0.
  let number: Int
  private var schemaVersion: Int64 = -1
  var soups: IdMap<Soup> = [:]
  /// By source text; emptied when a soup changes.
  var smartSql: IdMap<CompiledSmartSql> = [:]
  /// Oldest first.
  var plans: [QueryPlan] = []
  var writers: IdMap<SoupWriter> = [:]
  /// The ids seen by each bulk load, by soup. They survive a rollback: a page that is stored again
  /// then counts as a possible repetition, which a check of the table rules out.
  var loads: IdMap<BulkLoadKeys> = [:]
  /// This connection as the owner of bulk loads.
  let loader = BulkLoad.Owner()
  /// The announced number of records from which a first load is a bulk load.
  var bulkLoadMinimum = Tuning.bulkLoadMinimum
  /// Notifies the observers of changes; nil if there are none, and always nil on a reading
  /// connection.
  var feed: ChangeFeed?

  /// Shared by all connections of the store.
  let wantedIndexes: WantedIndexes

  init(number: Int, _ wantedIndexes: WantedIndexes) {
    self.number = number
    self.wantedIndexes = wantedIndexes
  }

  /// Drops outdated caches if the schema has changed, in this process or another. Call first in a
  /// transaction.
  func refresh(_ connection: Connection) throws {
    let version = try connection.schemaVersion()
    if version != schemaVersion {
      forget()
      // SQLite would prepare them again, but only after their old columns have been used.
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
