import JSON
import SandboxParse
import Testing

@testable import MobileSync
@testable import Parse

/// Tests lists of a Parse server that do not end, and rows that a server suddenly no longer shows.
struct WholeListWireTests {
  private static let include: JSONObject = [
    "include": ["isbn"], "pointers": ["isbn": ["className": "ISBN", "soup": "isbns"]],
  ]

  /// Included objects are guarded like those of the class itself, and their removal is reported.
  @Test func clean_includedClassIsSuddenlyEmpty_isRefusedUnlessForced() async throws {
    try await ParseBench.with(soups: ["books", "isbns"]) { bench async throws in
      let isbns = try await bench.create("ISBN", count: 30) { ["n": .integer(Int64($0))] }
      try await bench.create("Book", count: 30) { n in
        ["n": .integer(Int64(n)), "isbn": ["__type": "Pointer", "className": "ISBN", "objectId": .string(isbns[n % 30])]]
      }
      #expect(try await bench.down("Book", Self.include).status == .done)
      #expect(try bench.ids("isbns").count == 30)
      for id in isbns.prefix(20) { try await bench.call(.DELETE, "/classes/ISBN/\(id)") }
      do {
        _ = try await bench.cleanGhosts()
        Issue.record("20 of 30 included rows were removed")
      } catch let error as SyncError {
        #expect(error.is(.tooManyGhosts) && error.message.contains("20 of 30") && error.message.contains("'ISBN'"))
      }
      #expect(try bench.ids("isbns").count == 30)
      #expect(try await bench.cleanGhosts(force: true) == 20)
      #expect(try bench.ids("isbns").count == 10 && bench.ids().count == 30)
    }
  }
}
