import JSON
import SandboxParse
import Testing

@testable import MobileSync
@testable import Parse

/// Rows 36 to 39 for Parse servers: objects are read in the order of their ids.
struct VerifyWireTests {
  private func expectEqual(_ bench: ParseBench, _ count: Int, after what: String) async throws {
    for level in VerifyLevel.allCases {
      bench.forgetRequests()
      let result = try await bench.manager.verifySync(.name("s"), level: level)
      #expect(result.isEqual && result.server == count, "\(level) after \(what): \(JSONValue.object(result.json).text)")
      #expect(result.requests == bench.requests.count)
    }
  }

  @Test(arguments: [[:], ["keys": ["title"]], ["where": ["title": ["$exists": true]]]] as [JSONObject])
  func row36_class_isEqualAfterEachRun(members: JSONObject) async throws {
    try await ParseBench.with { bench async throws in
      let ids = try await bench.create("Book", count: 25) { ["title": .string("Book \($0)")] }
      let target = members.replacing(with: ["pageSize": 10])
      #expect(try await bench.down("Book", target).status == .done)
      try await expectEqual(bench, 25, after: "a load")
      try await bench.call(.PUT, "/classes/Book/\(ids[3])", ["title": "there"])
      try await bench.create("Book", ["title": "new"])
      #expect(try await bench.again().status == .done)
      try await expectEqual(bench, 26, after: "a re-sync")
      try bench.edit(ids[4], ["title": "here"])
      #expect(try await bench.up("Book", ["createFieldlist": ["title"], "updateFieldlist": ["title"]]).counts.succeeded == 1)
      try await expectEqual(bench, 26, after: "an upload")
      try await bench.call(.DELETE, "/classes/Book/\(ids[0])")
      #expect(try await bench.cleanGhosts() == 1)
      try await expectEqual(bench, 25, after: "ghosts")
    }
  }

  @Test func row36_includedObjects_areComparedAsWell() async throws {
    let include: JSONObject = ["include": ["isbn"], "pointers": ["isbn": ["className": "ISBN", "soup": "isbns"]]]
    try await ParseBench.with(soups: ["books", "isbns"]) { bench async throws in
      let isbns = try await bench.create("ISBN", count: 3) { ["n": .integer(Int64($0))] }
      try await bench.create("Book", count: 3) { n in
        ["n": .integer(Int64(n)), "isbn": ["__type": "Pointer", "className": "ISBN", "objectId": .string(isbns[n])]]
      }
      #expect(try await bench.down("Book", include).status == .done)
      #expect(try await bench.manager.verifySync(.name("s")).isEqual)
      try await bench.call(.PUT, "/classes/ISBN/\(isbns[1])", ["n": 7])
      let result = try await bench.manager.verifySync(.name("s"))
      #expect(result.different.map(\.recordId) == [isbns[1]] && result.different[0].soupName == "isbns", "\(result)")
      #expect(try await bench.manager.verifySync(.name("s"), level: .ids).isEqual, "ids are those of the class alone")
    }
  }

  @Test func row37_row39_reasons_areMended() async throws {
    try await ParseBench.with { bench async throws in
      let ids = try await bench.create("Book", count: 40) { ["title": .string("Book \($0)")] }
      bench.clock.advance(by: 600)
      #expect(try await bench.down().status == .done)
      let all = try bench.entries()
      func entryId(_ id: String) -> Int64 { all.first { $0["objectId"]?.stringValue == id }?["_soupEntryId"]?.integerValue ?? 0 }
      try bench.store.remove([entryId(ids[1])], from: "books")
      try await bench.call(.DELETE, "/classes/Book/\(ids[2])")
      try bench.edit(ids[3], ["title": "mine"])
      bench.forgetRequests()
      let result = try await bench.manager.verifySync(.name("s"), repair: true)
      #expect(result.counts == [.missing: 1, .extra: 1, .dirty: 1], "\(JSONValue.object(result.json).text)")
      #expect(result.missing.map(\.recordId) == [ids[1]] && result.extra.map(\.text) == ["deleted on the server"])
      #expect(result.repair == VerifyResult.Repair(stored: 1, removed: 1) && result.requests == bench.requests.count)
      #expect(try await bench.manager.verifySync(.name("s")).isEqual)
      #expect(try bench.entry(ids[3])?["title"] == "mine")
    }
  }
}
