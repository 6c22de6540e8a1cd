import Database
import Glibc
import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Processes that die while they alter or re-index a soup. Each runs as a child of the test and is
/// really killed.
@Suite(.enabled(if: TestEngine.isSQLite, "reads SQLite's files after a kill; PostgreSQL alters in one transaction"))
struct AlterRecoveryTests {
  private static let old: [IndexSpec] = [.string("a"), .fullText("b"), .json1("j")]
  private static let new: [IndexSpec] = [.fullText("a"), .integer("n"), .string("j")]

  private func filled() throws -> TemporaryStore {
    let temporary = try TemporaryStore(soup: "s", AlterRecoveryTests.old)
    let entries = (0..<80).map {
      "{\"a\":\"a\($0)\",\"b\":\"b \($0)\",\"j\":\($0),\"n\":\($0),\"fill\":\"\(String(repeating: "x", count: 300))\"}"
    }
    try temporary.store.upsert("[\(entries.joined(separator: ","))]", into: "s")
    try temporary.store.remove([79, 80], from: "s")
    temporary.store.close()
    return temporary
  }

  /// Returns everything that a soup consists of.
  private func contents(_ store: Store) throws -> [String] {
    try [
      "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE '%fts\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite%' ORDER BY 1, 2",
      "SELECT * FROM soup_index_map", "SELECT * FROM {s} ORDER BY 1", "SELECT rowid, * FROM {s}_fts ORDER BY 1",
      "SELECT name, seq FROM sqlite_sequence WHERE name LIKE 'TABLE%'", "SELECT type, details FROM long_operations_status",
    ].map { try store.rows($0) }
  }

  private func status(_ path: String) throws -> [String] {
    let connection = try Connection(store: path, mode: .readWrite)
    defer { connection.close() }
    let statement = try connection.prepare("SELECT type, status FROM long_operations_status")
    var rows: [String] = []
    while try statement.step() { rows.append("\(statement.string(0)) \(statement.string(1))") }
    return rows
  }

  @Test(arguments: AlterStep.allCases)
  func alter_killedAfterAStep_isFinishedWhenTheStoreIsOpened(_ step: AlterStep) async throws {
    let temporary = try filled(), path = temporary.path, word = step.rawValue
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, word = word as String] in
      let store = try Store(name: "test", isGlobal: false, path: path)
      try store.alterSoup("s", indexSpecs: AlterRecoveryTests.new, reIndexData: true) { step in
        if step.rawValue == word { kill(getpid(), SIGKILL) }
      }
    }
    #expect(try status(path) == ["alterSoup STARTING"])
    try temporary.reopen()
    #expect(try status(path) == [])
    let finished = try contents(temporary.store)
    #expect(try temporary.store.indexSpecs(ofSoup: "s") == AlterRecoveryTests.new)

    let straight = try filled()
    try straight.reopen()
    let stamps = "UPDATE TABLE_1 SET created = 0, lastModified = 0, soup = json_remove(soup, '$._soupLastModifiedDate')"
    try straight.store.alterSoup("s", indexSpecs: AlterRecoveryTests.new, reIndexData: true)
    for store in [straight.store, temporary.store] { try store.writeBlocking(.synced) { try $0.connection.execute(stamps) } }
    #expect(try contents(temporary.store) == contents(straight.store), "as if nothing had happened")
    #expect(finished.count == 6)
    #expect(try temporary.store.ids(temporary.store.upsert("[{}]", into: "s")) == [81])
  }

  /// A limit on the size of the write-ahead log kills the child at the write that would exceed it:
  /// at each page in turn.
  @Test func alter_killedAtAnyWrite_leavesTheOldOrTheNewSoup() async throws {
    var outcomes: Set<String> = []
    for pages in 0..<200 where !outcomes.contains("new") {
      let temporary = try filled(), path = temporary.path
      try temporary.reopen()
      let before = try contents(temporary.store)
      temporary.store.close()
      let limit = pages * (8192 + 24) + 32 + 100
      let result = await #expect(processExitsWith: .failure) { [path = path as String, limit = limit as Int] in
        try AlterRecoveryTests.limitFiles(to: limit, path) {
          try $0.alterSoup("s", indexSpecs: AlterRecoveryTests.new, reIndexData: true)
        }
      }
      guard let result else { return }
      let waiting = try status(path)
      try temporary.reopen()
      let isOld = try temporary.store.indexSpecs(ofSoup: "s") == AlterRecoveryTests.old
      if isOld {
        #expect(try contents(temporary.store) == before, "limit of \(pages) pages")
        #expect(waiting.isEmpty, "not even begun")
      } else {
        #expect(try temporary.store.indexSpecs(ofSoup: "s") == AlterRecoveryTests.new)
        #expect(try temporary.store.rows("SELECT count({s:a}), count({s:n}), count({s:j}) FROM {s}") == "[[78,78,78]]")
        #expect(try temporary.store.strays("TABLE_1_0") == "[]")
      }
      outcomes.insert(isOld ? "old" : waiting.isEmpty ? "new" : "resumed")
      #expect(result.exitStatus == .signal(SIGXFSZ) || result.exitStatus == .exitCode(3), "\(result.exitStatus)")
    }
    #expect(outcomes == ["old", "resumed", "new"])
  }

  @Test func reIndex_killedAtAnyWrite_hasAllOrNone() async throws {
    var outcomes: Set<String> = []
    for pages in 0..<200 where !outcomes.contains("all") {
      let temporary = try filled(), path = temporary.path
      try temporary.reopen()
      try temporary.store.alterSoup("s", indexSpecs: [.string("a"), .integer("n"), .fullText("fill")], reIndexData: false)
      temporary.store.close()
      let limit = pages * (8192 + 24) + 32 + 100
      await #expect(processExitsWith: .failure) { [path = path as String, limit = limit as Int] in
        try AlterRecoveryTests.limitFiles(to: limit, path) { try $0.reIndexSoup("s", paths: ["n", "fill"]) }
      }
      try temporary.reopen()
      let counts = try temporary.store.rows("SELECT count({s:n}), count({s:fill}) FROM {s}")
      #expect(["[[0,0]]", "[[78,78]]"].contains(counts), "limit of \(pages) pages")
      #expect(try temporary.store.strays("TABLE_1_2") == "[]")
      outcomes.insert(counts == "[[0,0]]" ? "none" : "all")
    }
    #expect(outcomes == ["none", "all"])
  }

  /// Runs `body` on the store with files limited to `limit` bytes, and exits with 3 if it
  /// completes.
  static func limitFiles(to limit: Int, _ path: String, _ body: (Store) throws -> Void) throws {
    let store = try Store(name: "test", isGlobal: false, path: path)
    var core = rlimit(rlim_cur: 0, rlim_max: 0), size = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
    // The parent process may ignore the signal, and threads of a pool block signals.
    signal(SIGXFSZ, SIG_DFL)  // in a process of its own
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGXFSZ)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    setrlimit(__rlimit_resource_t(4), &core)  // in a process of its own
    setrlimit(__rlimit_resource_t(1), &size)  // in a process of its own
    try body(store)
    _exit(3)
  }

  @Test func open_alterOfALivingProcess_isLeftToIt() throws {
    let temporary = try filled()
    try temporary.reopen()
    let store = temporary.store
    try store.alterSoup("s", indexSpecs: AlterRecoveryTests.new, reIndexData: true) { step in
      guard step == .starting else { return }
      let other = try temporary.another()
      defer { other.close() }
      #expect(try other.indexSpecs(ofSoup: "s") == AlterRecoveryTests.old)
      #expect(try other.rows("SELECT status FROM long_operations_status") == #"[["STARTING"]]"#)
    }
    #expect(try store.indexSpecs(ofSoup: "s") == AlterRecoveryTests.new)
    #expect(try store.rows("SELECT * FROM long_operations_status") == "[]")
  }

  /// Writes the record that a process leaves when it dies; `process` in the format of
  /// ``ProcessIdentity``.
  private func note(_ store: Store, _ specs: [IndexSpec], process: String, table: String = "TABLE_1") throws {
    let details: JSONObject = [
      "soupName": "s", "soupTableName": .string(table), "oldIndexSpecs": [], "newIndexSpecs": .array(specs.map(\.json)),
      "reIndexData": true, "process": .string(process),
    ]
    try store.writeBlocking(.synced) {
      try $0.connection.run(
        "INSERT INTO long_operations_status (type, details, status) VALUES ('alterSoup', ?, 'STARTING')", [.text(details.text)])
    }
  }

  @Test func open_afterTheMachineStartedAnew_finishesTheAlter() throws {
    let temporary = try filled()
    try temporary.reopen()
    try note(temporary.store, AlterRecoveryTests.new, process: "another-boot:1:1")
    try temporary.reopen()
    #expect(try temporary.store.indexSpecs(ofSoup: "s") == AlterRecoveryTests.new)
    #expect(try temporary.store.rows("SELECT * FROM long_operations_status") == "[]")
  }

  @Test func open_alterThatCannotBeFinished_isGivenUp() throws {
    let temporary = try filled()
    try temporary.reopen()
    try note(temporary.store, [.json1("a[")], process: "another-boot:1:1")
    try note(temporary.store, [.string("gone")], process: "another-boot:1:1", table: "TABLE_99")
    try temporary.reopen()
    #expect(try temporary.store.indexSpecs(ofSoup: "s") == AlterRecoveryTests.old)
    #expect(try temporary.store.rows("SELECT * FROM long_operations_status") == "[]")
  }

  @Test func alter_afterOneThatDied_takesItsPlace() throws {
    let temporary = try filled()
    try temporary.reopen()
    try note(temporary.store, [.string("dead")], process: "another-boot:1:1")
    try temporary.store.alterSoup("s", indexSpecs: AlterRecoveryTests.new, reIndexData: false)
    try temporary.reopen()
    #expect(try temporary.store.indexSpecs(ofSoup: "s") == AlterRecoveryTests.new)
  }

  @Test func alter_finishedByAnotherMeanwhile_isDone() throws {
    let temporary = try filled()
    try temporary.reopen()
    try temporary.store.alterSoup("s", indexSpecs: AlterRecoveryTests.new, reIndexData: true) { step in
      guard step == .starting else { return }
      let other = try temporary.another()
      defer { other.close() }
      try other.writeBlocking(.synced) { transaction in
        let waiting = try #require(transaction.longOperations().first)
        try transaction.perform(waiting) { _ in }
      }
    }
    #expect(try temporary.store.indexSpecs(ofSoup: "s") == AlterRecoveryTests.new)
    #expect(try temporary.store.strays("TABLE_1_0") == "[]")
  }
}
