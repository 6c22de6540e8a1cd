import JSON
import SandboxParse
import Synchronization
import Testing

@testable import MobileSync
@testable import Parse

/// Tests what a script can read without the server, and how it learns of the end of a sync.
struct OfflineWireTests {
  /// Row 31: books with their ISBN, the authors of a book, the books of an author, and a look-up by
  /// value.
  @Test func reads_withTheServerDown_comeFromTheSoups() async throws {
    try await ParseBench.with(soups: ["books", "isbns", "authors"], links: ["links"]) { bench async throws in
      let isbn = try await bench.create("ISBN", ["value": "978"])
      let authors = try await bench.create("Author", count: 2) { ["name": .string("a\($0)")] }
      let book = try await bench.create("Book", ["title": "Dune", "isbn": pointer("ISBN", isbn)])
      try await bench.call(
        .PUT, "/classes/Book/\(book)",
        ["authors": ["__op": "AddRelation", "objects": .array(authors.map { pointer("Author", $0) })]])
      try await bench.down("Author", [:], soup: "authors", name: "authors")
      try await bench.down(
        "Book",
        [
          "include": ["isbn"], "pointers": ["isbn": ["className": "ISBN", "soup": "isbns"]],
          "relations": [["field": "authors", "className": "Author", "linkSoup": "links"]],
        ])
      await bench.server.stop()
      func rows(_ sql: String) throws -> String { try bench.store.rows(sql) }
      #expect(
        try rows(
          """
          SELECT json_extract({books:_soup}, '$.title'), json_extract({isbns:_soup}, '$.value') FROM {books}, {isbns}
          WHERE json_extract({books:_soup}, '$.isbn.objectId') = {isbns:objectId}
          """
        ).contains(#"["Dune","978"]"#))
      let names = try rows(
        """
        SELECT json_extract({authors:_soup}, '$.name') FROM {links}, {authors}
        WHERE {links:ownerId} = '\(book)' AND json_extract({links:_soup}, '$.relatedId') = {authors:objectId} ORDER BY 1
        """)
      #expect(names.contains(#"["a0"]"#) && names.contains(#"["a1"]"#))
      #expect(
        try rows(
          "SELECT {links:ownerId} FROM {links} WHERE json_extract({links:_soup}, '$.relatedId') = '\(authors[1])'"
        ).contains(book))
      #expect(
        try rows("SELECT {isbns:objectId} FROM {isbns} WHERE json_extract({isbns:_soup}, '$.value') = '978'").contains(isbn))
      #expect(try await bench.again().status == .failed)
      #expect(try bench.ids() == [book] && bench.entries("links").count == 2, "a failed run takes nothing away")
    }
  }

  /// Row 32.
  @Test func syncUp_runsOffTheCaller_andEndsOnce() async throws {
    try await ParseBench.with { bench async throws in
      for n in 0..<60 { try bench.make(["objectId": .string("local_\(n)"), "title": .string("t\(n)")]) }
      let ends = Mutex<[SyncStatus]>([]),
        target: JSONObject = [
          "type": "parse", "className": "Book", "createFieldlist": ["title"], "updateFieldlist": ["title"],
        ]
      try bench.server.faults.add(.latency(milliseconds: 1_000, clock: .org), times: 1)
      let (done, finish) = AsyncStream<Void>.makeStream()
      let state = try bench.manager.syncUp(target: target, soupName: "books", syncName: "up") { state in
        guard state.status != .running else { return }
        ends.withLock { $0.append(state.status) }
        finish.finish()
      }
      #expect(state.status == .running && ends.withLock { $0.isEmpty }, "the call returns before anything is sent")
      await bench.clock.hasSleepers()
      bench.clock.advance(by: 2)
      for await _ in done {}
      await bench.manager.shutdown()
      #expect(ends.withLock { $0 } == [.done])
      #expect(try await bench.objects("Book").count == 60)
    }
  }
}
