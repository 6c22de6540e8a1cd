import JSON
import SandboxParse
import TestSupport
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Tests sync downs of a class: paging, later runs, and the requests.
struct DownWireTests {
  /// Row 7.
  @Test func syncDown_equalStampsAndLoweredLimit_bringsEachRowOnce() async throws {
    var settings = ParseSettings()
    settings.maxLimit = 100
    try await ParseBench.with(settings: settings) { bench async throws in
      try bench.server.faults.add(Fault("tiedStamps", ["milliseconds": 86_400_000]))
      let ids = try await bench.create("Book", count: 1001) { ["n": .integer(Int64($0))] }
      bench.server.faults.clear()
      #expect(
        Set(
          try await bench.call(.GET, "/classes/Book?limit=1000&keys=updatedAt")["results"]!.arrayValue!
            .compactMap { $0["updatedAt"]?.stringValue }
        ).count == 1)
      bench.forgetRequests()
      let state = try await bench.down()
      #expect(state.status == .done && state.counts.fetched == 1001 && state.totalSize == 1001)
      #expect(try bench.ids() == Set(ids))
      #expect(try bench.entries().count == 1001)
      #expect(bench.requests.count == 11, "the last page is short, and the count says that it is the last")
    }
  }

  /// Row 7: without permission to count, only an empty page ends the list.
  @Test func syncDown_countRefused_goesOnToAnEmptyPage() async throws {
    try await ParseBench.with { bench async throws in
      try await bench.create("Book", count: 7) { ["n": .integer(Int64($0))] }
      try bench.server.faults.add(Fault("lockedClass", ["action": "count"]), contains: "count", times: 1)
      bench.forgetRequests()
      #expect(try await bench.down("Book", ["pageSize": 5]).status == .done)
      #expect(try bench.ids().count == 7)
      #expect(bench.requests.map(\.status) == [400, 200, 200, 200])
      bench.forgetRequests()
      #expect(try await bench.again().status == .done)
      #expect(bench.requests.allSatisfy { !$0.query.contains("count=1") }, "it is remembered")
    }
  }

  /// Row 8: a row changed between two pages moves to the end and arrives in its newest version.
  @Test func syncDown_rowsChangedWhilePaging_areThereInTheirNewestVersion() async throws {
    try await ParseBench.with { bench async throws in
      let ids = try await bench.create("Book", count: 20) { ["n": .integer(Int64($0))] }
      try bench.server.faults.add(
        .latency(milliseconds: 1_000, clock: .org), when: .nth(2), path: "/parse/classes/Book", method: "GET")
      async let run = bench.down("Book", ["pageSize": 8])
      await bench.clock.hasSleepers()
      for id in [ids[0], ids[10], ids[19]] { try await bench.call(.PUT, "/classes/Book/\(id)", ["n": 100]) }
      bench.clock.advance(by: 2)
      #expect(try await run.status == .done)
      let values = Dictionary(uniqueKeysWithValues: try bench.entries().map { ($0["objectId"]!.stringValue!, $0["n"]) })
      #expect(values.count == 20)
      for (i, id) in ids.enumerated() {
        #expect(values[id] == .some(.integer([0, 10, 19].contains(i) ? 100 : Int64(i))), "row \(i)")
      }
    }
  }

  /// Row 9.
  @Test func condition_withPlusQuotesAndOtherLetters_findsTheSameByGetAndPost() async throws {
    try await ParseBench.with(soups: ["books", "others"]) { bench async throws in
      let title = #"a+b "c" & Ä ü 猫 %41=?"#
      let id = try await bench.create("Book", ["title": .string(title)])
      try await bench.create("Book", ["title": "a b"])
      try await bench.down("Book", ["where": ["title": .string(title)]])
      #expect(try bench.ids() == [id])
      let long = JSONValue.array((0..<200).map { .string("another title \($0)") } + [.string(title)])
      bench.forgetRequests()
      try await bench.down("Book", ["where": ["title": ["$in": long]]], soup: "others", name: "long")
      #expect(try bench.ids("others") == [id])
      #expect(bench.requests.allSatisfy { $0.method == "POST" && $0.body.contains(#""_method":"GET""#) })
    }
  }

  /// Row 10.
  @Test func reSync_rowStampedBeforeTheWatermark_arrives() async throws {
    try await ParseBench.with { bench async throws in
      try await bench.create("Book", ["n": 1])
      bench.clock.advance(by: 60)
      try await bench.create("Book", ["n": 2])
      try await bench.down()
      try bench.server.faults.add(Fault("staleStamps", ["milliseconds": 10_000]), times: 1)
      let late = try await bench.create("Book", ["n": 3])
      bench.clock.advance(by: 3600)
      let state = try await bench.again()
      #expect(state.counts.fetched == 1 && state.counts.stored == 1)
      #expect(try bench.ids().contains(late) && bench.ids().count == 3)
    }
  }

  /// Row 11.
  @Test func reSync_unchangedClass_costsOneQueryAndWritesNothing() async throws {
    try await ParseBench.with { bench async throws in
      try await bench.create("Book", count: 120) { ["n": .integer(Int64($0))] }
      bench.clock.advance(by: 3600)
      try await bench.down()
      let before = try bench.store.rows("SELECT {books:_soup}, {books:_soupLastModifiedDate} FROM {books}")
      bench.forgetRequests()
      bench.clock.advance(by: 60)
      let state = try await bench.again()
      #expect(state.status == .done && state.counts.fetched == 0 && state.counts.stored == 0)
      #expect(bench.requests.count == 1)
      #expect(try bench.store.rows("SELECT {books:_soup}, {books:_soupLastModifiedDate} FROM {books}") == before)
    }
  }

  /// Row 12.
  @Test func syncDown_endedAfterPageThree_goesOnAtPageFour() async throws {
    try await ParseBench.with { bench async throws in
      try bench.server.faults.add(Fault("tiedStamps", ["milliseconds": 86_400_000]))
      try await bench.create("Book", count: 50) { ["n": .integer(Int64($0))] }
      bench.server.faults.clear()
      bench.clock.advance(by: 3600)
      try bench.server.faults.add(Fault("lockedClass"), when: .nth(4), path: "/parse/classes/Book", method: "GET")
      #expect(try await bench.down("Book", ["pageSize": 10]).status == .failed)
      #expect(try bench.ids().count == 30)
      try await bench.reopen()
      bench.forgetRequests()
      let state = try await bench.again()
      #expect(state.status == .done)
      #expect(try bench.ids().count == 50 && bench.entries().count == 50)
      #expect(bench.requests.count == 3, "pages four and five, and an empty one or none")
      #expect(bench.requests.first?.query.contains { $0.contains(#""$gt""#) } == true)
    }
  }

  @Test func maxPages_thenMore_bringsTheRest() async throws {
    try await ParseBench.with { bench async throws in
      try await bench.create("Book", count: 25) { ["n": .integer(Int64($0))] }
      let state = try await bench.down("Book", ["pageSize": 10], options: ["maxPages": 1])
      #expect(state.hasMore)
      #expect(try bench.ids().count == 10)
      for count in [20, 25] {
        _ = try await bench.manager.more(.name("s"))
        #expect(try bench.ids().count == count)
      }
    }
  }

  /// Row 2: only the URL determines where paths start; batches are in UploadWireTests.
  @Test(arguments: ["/parse", "/1", ""]) func mountPath_any_isRead(mount: String) async throws {
    try await ParseBench.with(mount: mount) { bench async throws in
      try await bench.create("Book", count: 3) { ["n": .integer(Int64($0))] }
      try await bench.down()
      #expect(try bench.ids().count == 3)
      #expect(bench.requests.last?.path == mount + "/classes/Book")
    }
  }

  @Test func keys_absentMembersGoOnlyIfListed() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await bench.create("Book", ["a": 1, "b": 2, "c": 3])
      try await bench.down("Book", [:], name: "all")
      bench.clock.advance(by: 60)
      try await bench.call(.PUT, "/classes/Book/\(id)", ["a": 5, "b": ["__op": "Delete"], "c": 6])
      try await bench.down("Book", ["keys": ["a", "b"]], name: "some")
      let entry = try #require(try bench.entry(id))
      #expect(entry["a"] == 5 && entry["b"] == nil && entry["c"] == 3)
      #expect(entry["updatedAt"] != nil && entry["createdAt"] != nil)
    }
  }

  @Test func deletedField_marksGo_andStayAwayFromTheSoup() async throws {
    try await ParseBench.with { bench async throws in
      let ids = try await bench.create("Book", count: 3) { ["n": .integer(Int64($0))] }
      try await bench.down("Book", ["deletedField": "gone"])
      bench.clock.advance(by: 60)
      try await bench.call(.PUT, "/classes/Book/\(ids[1])", ["gone": true])
      let state = try await bench.again()
      #expect(try bench.ids() == [ids[0], ids[2]])
      #expect(state.counts.removed == 1)
    }
  }

  @Test func otherAccount_readsEverythingAgain() async throws {
    try await ParseBench.with(["sessionToken": ["env": "TOKEN"]]) { bench async throws in
      let first = try await bench.call(.POST, "/users", ["username": "a", "password": "p"])
      let second = try await bench.call(.POST, "/users", ["username": "b", "password": "p"])
      let secret: JSONValue = ["ACL": [second["objectId"]!.stringValue!: ["read": true]] as JSONValue, "n": 1]
      try await bench.create("Book", secret)
      bench.clock.advance(by: 600)
      try await bench.create("Book", ["n": 2])
      bench.secrets["TOKEN"] = first["sessionToken"]?.stringValue
      try await bench.down()
      #expect(try bench.ids().count == 1)
      bench.secrets["TOKEN"] = second["sessionToken"]?.stringValue
      try bench.server.faults.add(Fault("invalidToken"), when: .nth(1))
      #expect(try await bench.again().status == .done)
      #expect(try bench.ids().count == 2, "the older one is visible to the other user")
    }
  }

  /// Rows 38 and 50: a typo is an error before any request.
  @Test func target_mistakes_areToldBeforeAnyRequest() async throws {
    try await ParseBench.with { bench async throws in
      for (members, part) in [
        (["className": "9a"], "class name '9a' is not valid"), (["classname": "Book"], "'classname' is not known here"),
        (["ordr": "a"], "'ordr' is not known here"), (["where": ["$orr": []]], "'$orr' is neither a field nor one of"),
        (["keys": ["a.b"]], "field name 'a.b' of class Book is not valid"),
        (["pageSize": 1001], "'pageSize' must be an integer from 1 to 1000"),
        (["include": ["isbn"]], "'pointers' must list with its 'soup'"),
        (["ghosts": "all"], "'ghosts' must be one of 'walk', 'check', 'none'"),
        (["relations": [["field": "authors", "className": "Author"]]], "'linkSoup' is missing"),
        (["relations": [["field": "authors", "className": "Author", "store": "rows"]]], "'store' must be 'links' or 'ids'"),
        (["pointers": ["isbn": ["classname": "ISBN"]]], "'classname' is not known here"),
        (["idFieldName": "Id"], "'idFieldName' is always 'objectId'"),
        (
          [
            "relations": [["field": "authors", "className": "Author", "linkSoup": "links"]],
            "where": ["authors": ["$exists": true]],
          ], "$exists finds nothing on the relation 'authors'"
        ),
      ] as [(JSONObject, String)] {
        let error = try await syncError { try await bench.down("Book", members) }
        #expect(error.code == "invalidTarget" && error.message.contains(part), "\(error.message)")
      }
      #expect(bench.requests.isEmpty)
    }
  }

  @Test func usersWithoutASession_areWarnedAbout() async throws {
    try await ParseBench.with(soups: ["users"]) { bench async throws in
      try await bench.call(.POST, "/users", ["username": "a", "password": "p"])
      let state = try await bench.down("_User", [:], soup: "users")
      #expect(state.status == .done && state.warnings.contains { $0.contains("users are private") })
      let all = try await bench.down("_User", ["connection": "admin"], soup: "users", name: "admin")
      #expect(all.warnings.isEmpty)
      #expect(try bench.entries("users").count == 1)
      #expect(try bench.entries("users").allSatisfy { $0["sessionToken"] == nil })
    }
  }
}
