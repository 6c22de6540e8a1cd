import Database
import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Pages of cursors: their contents equal those found by counting rows, and their cost does not
/// grow with the depth.
struct PagingTests {
  // MARK: What a page holds

  /// Every query that has an order, over values with ties, NULLs, and json1 values of several
  /// types.
  private static let queries: [(spec: String, filter: String, order: String)] = [
    (#""queryType":"range","indexPath":"k","orderPath":"k""#, "1", "{s:k}"),
    (#""queryType":"range","indexPath":"n","orderPath":"n""#, "1", "{s:n}"),
    (#""queryType":"range","indexPath":"f","orderPath":"f""#, "1", "{s:f}"),
    (#""queryType":"range","indexPath":"j","orderPath":"j""#, "1", "{s:j}"),
    (#""queryType":"range","indexPath":"n","beginKey":3,"orderPath":"n""#, "{s:n} >= 3", "{s:n}"),
    (#""queryType":"range","indexPath":"n","endKey":3,"orderPath":"n""#, "{s:n} <= 3", "{s:n}"),
    (#""queryType":"range","indexPath":"k","beginKey":"b","endKey":"d","orderPath":"k""#, "{s:k} BETWEEN 'b' AND 'd'", "{s:k}"),
    (#""queryType":"range","indexPath":"j","beginKey":2,"orderPath":"j""#, "{s:j} >= 2", "{s:j}"),
    (#""queryType":"range","indexPath":"k","beginKey":"b","orderPath":"n""#, "{s:k} >= 'b'", "{s:n}"),
    (#""queryType":"range","indexPath":"k","endKey":"c","orderPath":"_soupEntryId""#, "{s:k} <= 'c'", "{s:_soupEntryId}"),
    (#""queryType":"range","orderPath":"u""#, "1", "{s:u}"),
    (#""queryType":"range","orderPath":"_soupEntryId""#, "1", "{s:_soupEntryId}"),
    (#""queryType":"exact","indexPath":"k","matchKey":"b","orderPath":"k""#, "{s:k} = 'b'", "{s:_soupEntryId}"),
    (#""queryType":"exact","indexPath":"k","matchKey":"b","orderPath":"n""#, "{s:k} = 'b'", "{s:n}"),
    (#""queryType":"exact","indexPath":"u","matchKey":2,"orderPath":"k""#, "{s:u} = 2", "{s:k}"),
    (#""queryType":"like","indexPath":"k","likeKey":"a%","orderPath":"k""#, "{s:k} LIKE 'a%'", "{s:k}"),
    (#""queryType":"like","indexPath":"k","likeKey":"%b%","orderPath":"k""#, "{s:k} LIKE '%b%'", "{s:k}"),
    (#""queryType":"like","indexPath":"k","likeKey":"a%","orderPath":"n""#, "{s:k} LIKE 'a%'", "{s:n}"),
    (#""queryType":"like","indexPath":"n","likeKey":"1%","orderPath":"n""#, "{s:n} LIKE '1%'", "{s:n}"),
    (#""queryType":"match","indexPath":"t","matchKey":"red","orderPath":"k""#, "{s:t} LIKE '%red%'", "{s:k}"),
    (#""queryType":"match","indexPath":"t","matchKey":"red","orderPath":"t""#, "{s:t} LIKE '%red%'", "{s:t}"),
  ]

  private func entry(_ random: inout some RandomNumberGenerator) -> String {
    let texts = ["a", "A", "ab", "Ab", "aB", "b", "bb", "c", "d", "", "é", "ab\u{0}c"]
    let mixed = ["1", "2", "2.0", "2.5", #""2""#, #""x""#, "true", "null", #"{"a":1}"#, "-7", "9007199254740993"]
    var members: [String] = []
    if Int.random(in: 0..<4, using: &random) > 0 {
      members.append("\"k\":" + JSONValue.string(texts.randomElement(using: &random)!).text)
    }
    if Int.random(in: 0..<4, using: &random) > 0 { members.append("\"n\":\(Int.random(in: 0..<14, using: &random))") }
    if Bool.random(using: &random) { members.append("\"f\":\(Int.random(in: -4..<4, using: &random)).5") }
    if Bool.random(using: &random) { members.append("\"j\":\(mixed.randomElement(using: &random)!)") }
    if Bool.random(using: &random) { members.append("\"u\":\(Int.random(in: 0..<3, using: &random))") }
    if Bool.random(using: &random) { members.append("\"t\":\"\(["red", "red green", "blue"].randomElement(using: &random)!)\"") }
    return "{" + members.joined(separator: ",") + "}"
  }

  /// One cursor of each query moves at random while entries are created, changed and removed. Each
  /// page must be the one that SQLite finds by counting at that moment.
  @Test(
    .enabled(if: TestEngine.isSQLite, "its smart SQL has 'WHERE 1', which PostgreSQL refuses"),
    arguments: [11, 12, 13] as [UInt64])
  func move_anywhereWhileEntriesChange_isThePageThatCountingFinds(seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    let temporary = try TemporaryStore(
      soup: "s",
      [.string("k"), .integer("n"), .floating("f"), .json1("j"), IndexSpec(path: "t", type: .fullText)])
    let store = temporary.store
    func add(_ count: Int) throws {
      try store.upsert("[" + (0..<count).map { _ in entry(&random) }.joined(separator: ",") + "]", into: "s")
    }
    try add(150)
    let size = 7
    var cursors: [(id: Int64, pages: Int64, page: Int64, sql: String)] = []
    for query in Self.queries {
      for (word, direction) in [("ascending", "ASC"), ("descending", "DESC")] {
        let text = "{\(query.spec),\"order\":\"\(word)\",\"pageSize\":\(size)}"
        let opened = try JSONValue(parsing: store.openCursor(spec(text), soup: "s"))
        let sql =
          "SELECT {s:_soup} FROM {s} WHERE \(query.filter) ORDER BY \(query.order) \(direction), {s:_soupEntryId} \(direction)"
        cursors.append((opened["cursorId"]!.integerValue!, opened["totalPages"]!.integerValue!, 0, sql))
        #expect(opened["totalEntries"] == .integer(Int64(try store.count(.smart(sql)))), "\(text)")
      }
    }
    for step in 0..<40 {
      for i in cursors.indices where cursors[i].pages > 0 {
        let jump = Int64.random(in: 0..<cursors[i].pages, using: &random)
        cursors[i].page = [jump, cursors[i].page + 1, cursors[i].page - 1].randomElement(using: &random)!
        cursors[i].page = min(max(0, cursors[i].page), cursors[i].pages - 1)
        let page = try JSONValue(parsing: store.moveCursor(cursors[i].id, toPageIndex: cursors[i].page))
        let wanted = try JSONValue(
          parsing: store.query(.smart(cursors[i].sql, pageSize: size), pageIndex: Int(cursors[i].page)))
        let rows = try #require(wanted.arrayValue).map { $0.arrayValue?.first ?? .null }
        #expect(page["currentPageOrderedEntries"] == .array(rows), "step \(step), page \(cursors[i].page): \(cursors[i].sql)")
      }
      switch step % 8 {
      case 3: try add(5)
      case 5: try store.remove((0..<4).map { _ in Int64.random(in: 1...150, using: &random) }, from: "s")
      case 7:
        let ids = try store.readBlocking { try $0.ids("SELECT id FROM TABLE_1 ORDER BY random() LIMIT 3", []) }
        for id in ids {
          try store.upsert("[{\"_soupEntryId\":\(id)," + entry(&random).dropFirst() + "]", into: "s")
        }
      default: break
      }
    }
  }

  @Test func move_rowsWithOneValue_goOnWhereTheLastPageEnded() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    try store.upsert("[" + Array(repeating: #"{"k":"same"}"#, count: 30).joined(separator: ",") + "]", into: "s")
    for (order, first) in [("ascending", 1), ("descending", 30)] as [(String, Int64)] {
      let cursor = try JSONValue(
        parsing: store.openCursor(
          spec(#"{"queryType":"range","indexPath":"k","orderPath":"k","order":"\#(order)","pageSize":4}"#), soup: "s"))
      var ids: [Int64] = []
      for page in 0..<8 {
        let moved = try JSONValue(parsing: store.moveCursor(cursor["cursorId"]!.integerValue!, toPageIndex: Int64(page)))
        ids += store.ids(try #require(moved["currentPageOrderedEntries"]?.arrayValue))
      }
      #expect(ids == (first == 1 ? Array(1...30) : Array((1...30).reversed())))
    }
  }

  @Test func move_keysTooLongToRemember_stillFindsItsPage() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    let long = String(repeating: "x", count: Tuning.anchorBytes)
    try store.upsert("[" + (10..<40).map { #"{"k":"\#(long)\#($0)"}"# }.joined(separator: ",") + "]", into: "s")
    let cursor = try JSONValue(
      parsing: store.openCursor(spec(#"{"queryType":"range","indexPath":"k","orderPath":"k","pageSize":3}"#), soup: "s"))
    for page in [5, 6, 5, 9, 0] as [Int64] {
      let moved = try JSONValue(parsing: store.moveCursor(cursor["cursorId"]!.integerValue!, toPageIndex: page))
      #expect(store.ids(try #require(moved["currentPageOrderedEntries"]?.arrayValue)) == Array((page * 3 + 1)...(page * 3 + 3)))
    }
  }

  // MARK: What a page costs

  /// Counts virtual machine instructions instead of time, so that the result is the same on every
  /// machine.
  private func steps(_ store: Store, _ work: () throws -> Void) throws -> Int {
    // One script uses one reader: the idle one that was used last.
    _ = try store.readBlocking { try $0.connection.takeStepCount() }
    try work()
    return try store.readBlocking { try $0.connection.takeStepCount() }
  }

  private func soup(of rows: Int) throws -> TemporaryStore {
    let temporary = try TemporaryStore(soup: "s", [.string("k"), .json1("j"), .string("Id")])
    var first = 0
    while first < rows {
      let batch = (first..<min(first + 1000, rows)).map {
        #"{"Id":"\#($0 * 7919 % rows)","k":"\#($0 * 31 % 97)","j":\#($0 % 89)}"#
      }
      try temporary.store.upsert("[" + batch.joined(separator: ",") + "]", into: "s")
      first += 1000
    }
    return temporary
  }

  private static let walks = [
    #"{"queryType":"range","indexPath":"k","orderPath":"k","pageSize":10}"#,
    #"{"queryType":"range","indexPath":"k","orderPath":"k","order":"descending","pageSize":10}"#,
    #"{"queryType":"range","indexPath":"Id","orderPath":"Id","pageSize":10}"#,
    #"{"queryType":"range","indexPath":"j","orderPath":"j","pageSize":10}"#,
    #"{"queryType":"range","indexPath":"k","beginKey":"1","orderPath":"k","pageSize":10}"#,
    #"{"queryType":"like","indexPath":"k","likeKey":"1%","orderPath":"k","pageSize":10}"#,
    #"{"queryType":"range","pageSize":10}"#,
  ]

  /// The first page with its total, the next page and the previous one take the same number of
  /// steps in a soup ten times as large.
  @Test(
    .enabled(if: TestEngine.isSQLite, "counts the steps of SQLite"),
    arguments: walks)
  func pages_inASoupTenTimesAsLarge_costTheSame(_ text: String) throws {
    var costs: [[Int]] = []
    for rows in [500, 5000] {
      let temporary = try soup(of: rows), store = temporary.store
      let query = try spec(text)
      _ = try store.query(query, soup: "s")
      let page = try steps(store) { _ = try store.query(query, soup: "s") }
      let opened = try JSONValue(parsing: store.openCursor(query, soup: "s"))
      let id = opened["cursorId"]!.integerValue!, middle = opened["totalPages"]!.integerValue! / 2
      _ = try store.moveCursor(id, toPageIndex: middle)
      let next = try steps(store) { _ = try store.moveCursor(id, toPageIndex: middle + 1) }
      let previous = try steps(store) { _ = try store.moveCursor(id, toPageIndex: middle) }
      let before = try steps(store) { _ = try store.moveCursor(id, toPageIndex: middle - 1) }
      costs.append([page, next, previous, before])
    }
    for (small, large) in zip(costs[0], costs[1]) {
      #expect(large <= small + 60, "steps of first, next, same, previous: \(costs)")
    }
  }

  @Test(.enabled(if: TestEngine.isSQLite, "counts the steps of SQLite"))
  func total_whatFitsOnAPage_isNotCounted() throws {
    let temporary = try soup(of: 2000), store = temporary.store
    let one = try spec(#"{"queryType":"exact","indexPath":"Id","matchKey":"77","pageSize":1}"#)
    _ = try store.openCursor(one, soup: "s")
    _ = try store.query(one, soup: "s")
    let page = try steps(store) { _ = try store.query(one, soup: "s") }
    let opened = try steps(store) { _ = try store.openCursor(one, soup: "s") }
    #expect(opened <= page + 10, "\(opened) steps with the total, \(page) without")
    let rows = QuerySpec.smart("SELECT count(*) FROM {s} WHERE {s:k} > '5'")
    _ = try store.query(rows)
    let once = try steps(store) { _ = try store.query(rows) }
    let cursor = try steps(store) { _ = try store.openCursor(rows, soup: nil) }
    #expect(cursor <= once + 10, "a smart query that fits on a page runs once")
  }

  @Test(.enabled(if: TestEngine.isSQLite, "counts the steps of SQLite"))
  func total_ofAll_isReadOffTheIndex() throws {
    let temporary = try soup(of: 5000), store = temporary.store
    let all = try spec(#"{"queryType":"range","indexPath":"k","orderPath":"k","pageSize":10}"#)
    _ = try store.openCursor(all, soup: "s")
    var total = 0
    let taken = try steps(store) { total = try store.count(all, soup: "s") }
    #expect(total == 5000)
    #expect(taken < 60)
  }

  @Test(.enabled(if: TestEngine.isSQLite, "counts the steps of SQLite"))
  func move_farAway_passesOverTheIndexOnlyFromTheNearestRowKnown() throws {
    let temporary = try soup(of: 10_000), store = temporary.store
    let id = try JSONValue(
      parsing: store.openCursor(spec(#"{"queryType":"range","indexPath":"Id","orderPath":"Id","pageSize":10}"#), soup: "s"))[
        "cursorId"]!.integerValue!
    let far = try steps(store) { _ = try store.moveCursor(id, toPageIndex: 500) }
    let near = try steps(store) { _ = try store.moveCursor(id, toPageIndex: 520) }
    let last = try steps(store) { _ = try store.moveCursor(id, toPageIndex: 999) }
    // Three instructions for a skipped row: its text is not read.
    #expect(far < 5000 * 4)
    #expect(near < 1500)
    #expect(last < 500, "the end is known by the total")
  }

  // MARK: Routes to a page

  private func anchors(_ rows: [Int], total: Int?) -> CursorAnchors {
    var anchors = CursorAnchors()
    if let total {
      anchors.hold(in: .init(reader: 1, version: 1), total: total)
    } else {
      anchors.begin(.init(reader: 1, version: 1))
    }
    for row in rows { anchors.add(row: row, RowKey(value: .null, id: Int64(row))) }
    return anchors
  }

  private func anchor(_ row: Int) -> CursorAnchors.Anchor { .init(row: row, key: RowKey(value: .null, id: Int64(row))) }

  @Test func route_toARow_isTheShortest() {
    let some = anchors([99, 200, 299], total: 1000)
    #expect(some.route(to: 0) == .forwards(nil, skipping: 0))
    #expect(some.route(to: 100) == .forwards(anchor(99), skipping: 0))
    #expect(some.route(to: 200) == .at(anchor(200)))
    #expect(some.route(to: 190) == .backwards(anchor(200), skipping: 9))
    #expect(some.route(to: 110) == .forwards(anchor(99), skipping: 10))
    #expect(some.route(to: 990) == .backwards(nil, skipping: 9))
    #expect(some.route(to: 400) == .forwards(anchor(299), skipping: 100))
    #expect(anchors([], total: nil).route(to: 400) == .forwards(nil, skipping: 400))
    #expect(anchors([], total: 10).route(to: 400) == .forwards(nil, skipping: 400), "behind the end")
  }

  @Test func marks_manyPages_areBoundedAndSpread() {
    let all = anchors(Array(stride(from: 9, to: 100_000, by: 10)), total: nil)
    #expect(all.route(to: 100_000) == .forwards(anchor(99_999), skipping: 0))
    for row in stride(from: 0, to: 100_000, by: 1000) {
      switch all.route(to: row) {
      case .at: break
      case .forwards(_, let skipping), .backwards(_, let skipping): #expect(skipping <= 5000, "row \(row)")
      }
    }
  }

  @Test func marks_otherView_areForgotten() {
    var known = anchors([99], total: 1000)
    known.begin(.init(reader: 1, version: 1))
    #expect(known.route(to: 100) == .forwards(anchor(99), skipping: 0))
    known.begin(.init(reader: 1, version: 2))
    #expect(known.route(to: 100) == .forwards(nil, skipping: 100))
    known = anchors([99], total: 1000)
    known.begin(.init(reader: 2, version: 1))
    #expect(known.route(to: 999) == .forwards(nil, skipping: 999))
  }
}
