import Database
import Dispatch
import Foundation
import JSON
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// Endless queries, and queries beyond the limits.
@Suite(.enabled(if: TestEngine.isSQLite, "PostgreSQL refuses WITH RECURSIVE, and its limits are others"))
struct EndlessQueryTests {
  private static let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
  private static let endlessIds = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) AS id FROM c"

  /// A query on its own thread.
  private final class Running: Sendable {
    let cancellation: QueryCancellation
    private let started = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
    private let error = Mutex<StoreError?>(nil)

    /// Returns when the query is running, unless `waits` is true.
    init(waits: Bool = false, _ body: @escaping @Sendable (QueryCancellation) throws -> Void) {
      let started = started
      cancellation = QueryCancellation(isRunning: { started.signal() })
      Thread.detach { [self] in
        do {
          try body(cancellation)
        } catch let thrown {
          error.withLock { $0 = thrown as? StoreError }
        }
        ended.signal()
      }
      if !waits { started.wait() }
    }

    /// Waits for the end of the query and returns its error.
    func end() -> StoreError.Code? {
      ended.wait()
      return error.withLock { $0?.code }
    }
  }

  private func run(_ store: Store, waits: Bool = false) -> Running {
    Running(waits: waits) { _ = try store.openCursor(.smart(Self.endless), soup: nil, cancellation: $0) }
  }

  @Test func cancel_everyKindOfCall_endsIt() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    let spec = QuerySpec.smart(Self.endless), ids = QuerySpec.smart(Self.endlessIds)
    let calls: [@Sendable (QueryCancellation) throws -> Void] = [
      { _ = try store.openCursor(spec, soup: nil, cancellation: $0) }, { _ = try store.query(spec, cancellation: $0) },
      { _ = try store.count(spec, cancellation: $0) },
      { try store.removeEntries(matching: ids, from: "s", cancellation: $0) },
      { _ = try store.observe(query: spec, cancellation: $0, onNews: { _ in }) },
    ]
    for call in calls {
      let running = Running(call)
      running.cancellation.cancel()
      #expect(running.end() == .cancelled)
    }
    #expect(try store.soupNames() == ["s"], "the readers are as good as before")
    let late = QueryCancellation()
    late.cancel()
    #expect(code { _ = try store.query(.smart("SELECT 1"), cancellation: late) } == .cancelled)
  }

  @Test func moveCursor_endlessPage_isCancelled() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    try store.upsert("[{},{}]", into: "s")
    // The second page takes forever, the first one does not.
    let sql = "SELECT {s:_soupEntryId}, CASE WHEN {s:_soupEntryId} < 3 THEN 1 ELSE (\(Self.endless)) END FROM {s}"
    let answer = try store.openCursor(.smart(sql, pageSize: 1), soup: nil)
    let id = try #require(JSONValue(parsing: answer)["cursorId"]?.integerValue)
    try store.upsert("[{}]", into: "s")
    let running = Running { _ = try store.moveCursor(id, toPageIndex: 1, cancellation: $0) }
    running.cancellation.cancel()
    #expect(running.end() == .cancelled)
  }

  @Test func close_whileQueriesRunAndWait_endsThemAll() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    let running = (0..<Tuning.smartReaders).map { _ in run(store) }
    let waiting = run(store, waits: true)
    store.close()
    for query in running + [waiting] { #expect(query.end() == .storeClosed) }
  }

  @Test func readers_takenByEndlessQueries_leaveOneToOtherCalls() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    let running = (0..<Tuning.smartReaders).map { _ in run(store) }
    let waiting = run(store, waits: true)
    try store.upsert(#"[{"k":"a"}]"#, into: "s")
    #expect(try store.found(#"{"queryType":"exact","indexPath":"k","matchKey":"a"}"#, in: "s").contains(#""k":"a""#))
    #expect(try store.soupNames() == ["s"])
    waiting.cancellation.cancel()
    #expect(waiting.end() == .cancelled)
    for query in running {
      query.cancellation.cancel()
      #expect(query.end() == .cancelled)
    }
    #expect(try store.rows("SELECT 1") == "[[1]]")
  }

  /// A query that finds all readers in use runs when one is free.
  @Test func smartQuery_afterItsTurn_isAnswered() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    let running = (0..<Tuning.smartReaders).map { _ in run(store) }
    let waiting = Running(waits: true) { _ = try store.query(.smart("SELECT 1"), cancellation: $0) }
    running[0].cancellation.cancel()
    #expect(waiting.end() == nil)
    for query in running { query.cancellation.cancel() }
    for query in running { #expect(query.end() == .cancelled) }
  }

  @Test func removal_withoutAnEnd_keepsNobodyFromWriting() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    let running = Running { try store.removeEntries(matching: .smart(Self.endlessIds), from: "s", cancellation: $0) }
    try store.upsert("[{}]", into: "s")
    running.cancellation.endSoon()
    #expect(running.end() == .cancelled)
    #expect(try store.count(of: "s") == 1)
  }

  @Test func endSoon_removalOfUsualLength_isCarriedOut() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    try store.upsert("[{},{},{}]", into: "s")
    let cancellation = QueryCancellation()
    cancellation.endSoon()
    try store.removeEntries(
      matching: .smart("SELECT {s:_soupEntryId} FROM {s}"), from: "s", cancellation: cancellation)
    #expect(try store.count(of: "s") == 0)
  }

  @Test(arguments: [
    "SELECT \(String(repeating: "1+", count: 1500))1",
    "SELECT \(String(repeating: "(", count: 150))1\(String(repeating: ")", count: 150))",
    "SELECT 'a' LIKE '\(String(repeating: "%a", count: 600))'", "SELECT zeroblob(300000000)",
    "SELECT replace(hex(zeroblob(100000)), '0', hex(zeroblob(10000)))",
    "SELECT '\(String(repeating: "x", count: 1_000_001))'",
    "SELECT 1 \(String(repeating: " UNION ALL SELECT 1", count: 600))",
    "SELECT \(Array(repeating: "1", count: 2500).joined(separator: ","))",
    // The stack of the thread would overflow: in the last one with every version of SQLite, in the others with newer ones.
    nested("SELECT * FROM (", "SELECT 1", ")", times: 20_000), nested("WITH a AS (", "SELECT 1", ") SELECT 1", times: 20_000),
    "SELECT 1 FROM \(nested("{s} JOIN (", "{s}", ")", times: 20_000))",
    nested("SELECT * FROM (", "SELECT 1", ")" + String(repeating: " UNION ALL SELECT 1", count: 499), times: 80),
    "WITH c0 AS (SELECT 1 AS x)\((1...25_000).map { ", c\($0) AS (SELECT x FROM c\($0 - 1))" }.joined()) SELECT x FROM c25000",
    // SQLite replaces the names of CTEs by their queries before anything can interrupt it.
    doubling("SELECT x FROM c# UNION ALL SELECT x FROM c#", times: 40), doubling("SELECT a.x FROM c# a JOIN c# b", times: 40),
    doubling("SELECT x FROM c# WHERE x IN c# OR x IN (SELECT x FROM \"C#\")", times: 40),
    doubling("SELECT x FROM (WITH d AS (SELECT x FROM c#) SELECT x FROM d UNION ALL SELECT x FROM [d])", times: 40),
    "WITH c0 AS (SELECT 1 AS x), a AS (SELECT x FROM c0 WHERE x IN (\(many("1", times: 300_000)))) "
      + "SELECT 1 FROM a WHERE 1 IN a AND 2 IN a AND 3 IN a AND 4 IN a AND 5 IN a AND 6 IN a AND 7 IN a",
    // The time to prepare these grows with the square of their number, or faster.
    "SELECT \(many("sum({s:_soupEntryId}) OVER (ORDER BY {s:_soupEntryId} + #)", times: 250)) FROM {s}",
    "SELECT 1 FROM {s} WHERE \(grouped("{s:_soupEntryId} <> #", " AND ", times: 90_000))",
    "SELECT \(grouped("sum({s:_soupEntryId} + #)", " + ", times: 40_000)) FROM {s}",
    "SELECT 1 FROM {s}_fts WHERE {s}_fts MATCH '\(nested("(", "a", ")", times: 300))'",
  ])
  func query_beyondALimit_saysSo(_ sql: String) throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k"), IndexSpec(path: "t", type: .fullText)])
    let error = failure { _ = try temporary.store.rows(sql) }
    #expect(error?.code == .queryLimit, "\(error?.message ?? "no error") for \(sql.prefix(60))")
    #expect(error?.isRetryable == false)
    #expect(try temporary.store.rows("SELECT 1") == "[[1]]")
  }

  /// CTEs of which each is made of the previous one, whose name is `c#`.
  private static func doubling(_ query: String, times: Int) -> String {
    let more = (1...times).map { ", c\($0) AS (\(query.replacing("#", with: "\($0 - 1)")))" }.joined()
    return "WITH c0 AS (SELECT 1 AS x)\(more) SELECT count(*) FROM c\(times)"
  }

  private static func many(_ part: String, times: Int) -> String {
    (0..<times).map { part.replacing("#", with: "\($0)") }.joined(separator: ", ")
  }

  /// Within SQLite's limit on the depth of an expression.
  private static func grouped(_ part: String, _ separator: String, times: Int) -> String {
    let parts = (0..<times).map { part.replacing("#", with: "\($0)") }
    return stride(from: 0, to: times, by: 800).map {
      "(" + parts[$0..<min(times, $0 + 800)].joined(separator: separator) + ")"
    }.joined(separator: separator)
  }

  private static func nested(_ before: String, _ inner: String, _ after: String, times: Int) -> String {
    String(repeating: before, count: times) + inner + String(repeating: after, count: times)
  }

  @Test func page_rowsWithoutEnd_isRefusedBeyondItsLimit() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")])
    let error = failure {
      try temporary.store.readBlocking { snapshot in
        let endless = QuerySpec.smart("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c")
        let statement = try snapshot.smartStatement(endless, limit: .max, offset: 0)
        defer { statement.reset() }
        var page = RowText(statement, columns: 1, form: PageForm(row: .columns, limit: 10_000))
        while try statement.step() { try page.append(statement) }
      }
    }
    #expect(error?.code == .queryLimit)
    #expect(error?.message == "a page of 1587 rows has more than 10000 bytes; ask for fewer rows with 'pageSize'")
  }

  /// The memory of all pages together is limited: the second page finds too little left.
  @Test func pageMemory_ofManyPages_isLimited() throws {
    let most = 1 << 40  // no other test gets near
    var first: PageMemory? = PageMemory(most: most)
    try first?.grow(to: most / 2 - (1 << 32))
    let second = PageMemory(most: most)
    #expect(failure { try second.grow(to: 1 << 33) }?.code == .queryLimit)
    first = nil
    try second.grow(to: 1 << 33)
    #expect(second.enough == 1 << 34)
  }

  /// A value of control characters takes six times its bytes, which are counted before it is added.
  @Test func page_escapesOfALargeValue_countTowardsTheLimit() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")])
    let error = failure {
      try temporary.store.readBlocking { snapshot in
        let statement = try snapshot.smartStatement(
          .smart("SELECT replace(hex(zeroblob(1000000)), '00', char(1, 1))"), limit: 1, offset: 0)
        defer { statement.reset() }
        #expect(try statement.step())
        var page = RowText(statement, columns: 1, form: PageForm(row: .columns, limit: 10_000_000))
        try page.append(statement)
      }
    }
    #expect(error?.code == .queryLimit)
  }

  @Test func attach_isRefused() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")])
    #expect(code { _ = try temporary.store.rows("ATTACH DATABASE ':memory:' AS x") } == .notReadOnly)
  }
}

extension Thread {
  fileprivate static func detach(_ body: @escaping @Sendable () -> Void) { Thread(block: body).start() }
}
