import Database
import Foundation
import TestSupport
import Testing

struct DatabaseTests {
  private func memory() throws -> Connection { try Connection(path: ":memory:", mode: .readWriteCreate) }

  @Test func values_everyClass_comeBackTheSame() throws {
    let connection = try memory()
    try connection.execute("CREATE TABLE t (v)")
    let values: [SQLValue] = [
      .null, .integer(.max), .integer(.min), .real(0.1), .real(-0.0), .text(""), .text("é\u{0}x"), .blob([]), .blob([0, 255]),
    ]
    for value in values { try connection.run("INSERT INTO t VALUES (?)", [value]) }
    let statement = try connection.statement("SELECT v FROM t ORDER BY rowid")
    var found: [SQLValue] = []
    while try statement.step() { found.append(statement.value(0)) }
    #expect(found == values)
  }

  @Test func bindText_emptyAndNull_areDistinct() throws {
    let statement = try memory().statementOwner("SELECT ?1 IS NULL, ?2 IS NULL, length(?2)")
    statement.1.bindNull(1)
    statement.1.bind(2, text: UnsafeRawBufferPointer(start: nil, count: 0))
    #expect(try statement.1.step())
    #expect([statement.1.int64(0), statement.1.int64(1), statement.1.int64(2)] == [1, 0, 0])
  }

  @Test func statement_fromTheCache_isResetAndUnbound() throws {
    let connection = try memory()
    let first = try connection.statement("SELECT ?")
    first.bind(1, "kept")
    #expect(try first.step())
    let second = try connection.statement("SELECT ?")
    #expect(first === second)
    #expect(try second.step())
    #expect(second.isNull(0))
  }

  @Test func statement_manyTexts_stayUsable() throws {
    let connection = try memory()
    let held = try connection.statement("SELECT 1 UNION SELECT 2")
    #expect(try held.step())
    for i in 0..<600 { #expect(try connection.firstValue("SELECT \(i)") == .integer(Int64(i))) }
    #expect(try held.step())
    #expect(held.int64(0) == 2)
  }

  @Test func prepare_severalStatements_isRefused() throws {
    let connection = try memory()
    try connection.execute("CREATE TABLE t (v); INSERT INTO t VALUES (1);")
    #expect(throws: DatabaseError.self) { try connection.prepare("SELECT 1; DELETE FROM t") }
    #expect(throws: DatabaseError.self) { try connection.prepare("") }
    #expect(throws: Never.self) { try connection.prepare("SELECT 1; \n") }
    #expect(try connection.firstValue("SELECT count(*) FROM t") == .integer(1))
  }

  @Test func bind_moreValuesThanPlaceholders_isRefused() throws {
    let connection = try memory()
    #expect(throws: DatabaseError.self) { try connection.firstValue("SELECT ?", [.null, .null]) }
    #expect(try connection.firstValue("SELECT ?2", [.integer(1)]) == .null)
  }

  @Test func transaction_thatThrows_isRolledBack() throws {
    struct Stop: Error {}
    let connection = try memory()
    try connection.execute("CREATE TABLE t (v)")
    #expect(throws: Stop.self) {
      try connection.transaction(.immediate) {
        try connection.run("INSERT INTO t VALUES (1)")
        #expect(connection.isInTransaction)
        throw Stop()
      }
    }
    #expect(!connection.isInTransaction)
    #expect(try connection.firstValue("SELECT count(*) FROM t") == .integer(0))
    try connection.transaction(.deferred) { try connection.run("INSERT INTO t VALUES (1)") }
    #expect(connection.changes == 1)
    #expect(connection.lastInsertRowID == 1)
  }

  @Test func error_carriesStatementNotValues() throws {
    let connection = try memory()
    try connection.execute("CREATE TABLE t (v UNIQUE)")
    try connection.run("INSERT INTO t VALUES (?)", [.text("secret")])
    do {
      try connection.run("INSERT INTO t VALUES (?)", [.text("secret")])
      Issue.record("a second equal value was taken")
    } catch {
      #expect(error.code == 2067)
      #expect(error.primaryCode == 19)
      #expect(error.sql == "INSERT INTO t VALUES (?)")
      #expect(!error.description.contains("secret"))
      #expect(!error.isBusy && !error.isCorrupt)
    }
  }

  @Test func open_missingFolder_throws() throws {
    let folder = try TemporaryFolder()
    #expect(throws: DatabaseError.self) { try Connection(path: folder.path + "/none/a.sqlite", mode: .readWriteCreate) }
    #expect(throws: DatabaseError.self) { try Connection(path: folder.path + "/a.sqlite", mode: .readOnly) }
  }

  @Test func execute_fileThatIsNoDatabase_isCorrupt() throws {
    let folder = try TemporaryFolder()
    try Data(repeating: 0x41, count: 5000).write(to: URL(fileURLWithPath: folder.path + "/a.sqlite"))
    let connection = try Connection(path: folder.path + "/a.sqlite", mode: .readWrite)
    do {
      try connection.execute("SELECT * FROM sqlite_master")
      Issue.record("no error")
    } catch { #expect(error.isCorrupt) }
  }

  @Test func write_whileAnotherWrites_isBusy() throws {
    let folder = try TemporaryFolder()
    let a = try Connection(path: folder.path + "/a.sqlite", mode: .readWriteCreate)
    try a.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (v)")
    let b = try Connection(path: folder.path + "/a.sqlite", mode: .readWrite)
    try a.transaction(.immediate) {
      do {
        try b.transaction(.immediate) {}
        Issue.record("two writers at once")
      } catch let error as DatabaseError { #expect(error.isBusy) }
    }
    try b.transaction(.immediate) {}
  }

  @Test func close_twiceWithOpenStatements_isSafe() throws {
    let connection = try memory()
    let statement = try connection.prepare("SELECT 1")
    #expect(try statement.step())
    connection.close()
    connection.close()
  }

  @Test(arguments: [
    "INSERT INTO t VALUES (1)", "DELETE FROM t", "UPDATE t SET v = 1", "DROP TABLE t", "CREATE TABLE u (v)",
    "CREATE TEMP TABLE u (v)", "PRAGMA user_version = 7", "PRAGMA query_only = 0", "PRAGMA journal_mode = DELETE",
    "PRAGMA schema_version = 9", "ATTACH ':memory:' AS x", "VACUUM", "REINDEX", "ANALYZE", "SAVEPOINT a",
    "SELECT load_extension('x')", "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", "SELECT fts3_tokenizer('simple')",
    "UPDATE sqlite_master SET sql = ''", "DELETE FROM sqlite_master", "REPLACE INTO t VALUES (2)", "CREATE VIEW w AS SELECT 1",
    "ALTER TABLE t RENAME TO u",
  ])
  func restricted_anythingButReading_isRefused(_ sql: String) throws {
    let folder = try TemporaryFolder()
    let writer = try Connection(path: folder.path + "/a.sqlite", mode: .readWriteCreate)
    try writer.execute("CREATE TABLE t (v); CREATE INDEX i ON t (v); INSERT INTO t VALUES (5)")
    let reader = try Connection(path: folder.path + "/a.sqlite", mode: .readWrite)
    try reader.restrictToReading()
    #expect(throws: DatabaseError.self) { try reader.execute(sql) }
    #expect(try writer.firstValue("SELECT group_concat(v) FROM t") == .text("5"))
    #expect(try writer.firstValue("PRAGMA user_version") == .integer(0))
  }

  @Test(arguments: [
    "SELECT v FROM t", "SELECT value FROM json_each('[5]')", "WITH RECURSIVE c(v) AS (SELECT 5) SELECT v FROM c",
    "SELECT max(v) FROM (SELECT v FROM t UNION SELECT 1)", "SELECT count(*) + 4 FROM sqlite_master",
  ])
  func restricted_reading_works(_ sql: String) throws {
    let connection = try memory()
    try connection.execute("CREATE TABLE t (v); INSERT INTO t VALUES (5)")
    try connection.restrictToReading()
    #expect(try connection.firstValue(sql) == .integer(5))
  }
}

extension Connection {
  /// Returns a statement together with the connection that keeps it alive.
  fileprivate func statementOwner(_ sql: String) throws -> (Connection, Statement) { (self, try prepare(sql)) }
}
