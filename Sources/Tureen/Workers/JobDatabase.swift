import PostgresStore

/// The database that keeps stores and jobs, and the schema in it.
struct JobDatabase: Sendable {
  let database: StoreDatabase
  let connector: PostgresConnector
  let schema: PostgresSchema

  /// - Parameter settings: The final settings of a host.
  /// - Throws: ``HostError`` `.invalidConfiguration` if the stores are files.
  init(_ settings: HostSettings) throws(HostError) {
    guard let store = settings.store else {
      throw HostError(
        .invalidConfiguration,
        "jobs are kept in the PostgreSQL database of the stores, and none is set: set TUREEN_STORE to an address such as "
          + "postgres://tureen@db.example.com/tureen, or 'store' in bootconfig.json")
    }
    database = store
    connector = store.connector(settings.storePassword)
    schema = PostgresSchema(store.address.schema)
  }

  var ledger: JobLedger { JobLedger(schema, claimMs: Tuning.jobClaimMs) }
}
