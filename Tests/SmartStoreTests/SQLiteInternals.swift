import Database

@testable import SmartStore

/// What only the embedded engine has, for tests of its files. A store of another engine ends the test.
extension StoreSnapshot {
  private var sqlite: SQLiteSnapshot { self as! SQLiteSnapshot }

  var connection: Connection { sqlite.connection }

  func soup(_ name: String) throws -> Soup { try sqlite.soup(name) }

  func find(_ name: String) throws -> Soup? { try sqlite.find(name) }

  func ids(_ sql: String, _ values: [SQLValue]) throws -> [Int64] { try sqlite.ids(sql, values) }

  func smartStatement(_ spec: QuerySpec, limit: Int, offset: Int) throws -> Statement {
    try sqlite.smartStatement(spec, limit: limit, offset: offset)
  }

  func longOperations() throws -> [LongOperation] { try sqlite.longOperations() }
}

extension StoreTransaction {
  private var sqlite: SQLiteTransaction { self as! SQLiteTransaction }

  func perform(_ operation: LongOperation, _ afterStep: (AlterStep) throws -> Void) throws {
    try sqlite.perform(operation, afterStep)
  }
}
