import SmartStore

extension StoreError {
  /// For what the engine does not do, or not with the same meaning as SQLite.
  /// - Parameter what: The construct, as its user wrote it.
  static func notOnThisEngine(_ what: String, sql: String? = nil) -> StoreError {
    var error = StoreError(.notOnThisEngine, "a store in PostgreSQL does not support \(what)")
    error.sql = sql
    return error
  }

  /// Converts PostgreSQL's errors; passes on others.
  static func converting(_ error: any Error) -> any Error {
    guard let error = error as? PostgresError else { return StoreError.wrapping(error) }
    let code: StoreError.Code =
      switch error.code {
      case .leaseLost: .leaseLost
      case .newerSchema: .newerSchema
      case .storeExists: .storeExists
      case .unfinishedCopy: .unfinishedCopy
      case .cancelled: .cancelled
      case .libraryMissing, .invalidAddress, .cannotConnect, .signInRefused, .unsupportedServer, .readOnlyServer,
        .transactionPooler,
        .foreignSchema:
        .cannotOpenStore
      default: .postgres
      }
    var converted = StoreError(code, error.message)
    converted.sql = error.sql
    converted.isTransient = error.isRetryable
    return converted
  }
}
