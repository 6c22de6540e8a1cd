import Database

@testable import SmartStore

/// A test of SQLite's files has a store of another engine: mark it with `.enabled(if: TestEngine.isSQLite, …)`.
struct NotSQLite: Error {}

/// What only the embedded engine has, for tests of its files.
extension StoreSnapshot {
  private func sqlite() throws -> SQLiteSnapshot {
    guard let snapshot = self as? SQLiteSnapshot else { throw NotSQLite() }
    return snapshot
  }

  var connection: Connection { get throws { try sqlite().connection } }

  func soup(_ name: String) throws -> Soup { try sqlite().soup(name) }

  func find(_ name: String) throws -> Soup? { try sqlite().find(name) }

  func ids(_ sql: String, _ values: [SQLValue]) throws -> [Int64] { try sqlite().ids(sql, values) }

  func smartStatement(_ spec: QuerySpec, limit: Int, offset: Int) throws -> Statement {
    try sqlite().smartStatement(spec, limit: limit, offset: offset)
  }

  func longOperations() throws -> [LongOperation] { try sqlite().longOperations() }
}

extension StoreTransaction {
  func perform(_ operation: LongOperation, _ afterStep: (AlterStep) throws -> Void) throws {
    guard let transaction = self as? SQLiteTransaction else { throw NotSQLite() }
    try transaction.perform(operation, afterStep)
  }
}
