import JSON
import SandboxParse
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Tests uploads of links that were added and removed locally.
struct LinkUploadWireTests {
  private static let target: JSONObject = [
    "createFieldlist": ["title"], "updateFieldlist": ["title"],
    "relations": [
      ["field": "authors", "className": "Author", "soup": "authors", "linkSoup": "links"],
      ["field": "publishers", "className": "Publisher", "linkSoup": "links"],
    ],
  ]

  private func mark(_ bench: ParseBench, _ key: String, deleted: Bool) throws {
    let row = try #require(try bench.entries("links").first { $0["linkKey"]?.stringValue == key })
    try bench.store.upsert(
      JSONValue.array([.object(row.replacing(with: ["__local__": true, "__locally_deleted__": .bool(deleted)]))]).text,
      into: "links")
  }

  /// Row 16.
  @Test func links_ofTwoFields_goOutAsOnePut_andMayBeRepeated() async throws {
    try await ParseBench.with(links: ["links"]) { bench async throws in
      let authors = try await bench.create("Author", count: 3) { ["name": .string("a\($0)")] }
      let publisher = try await bench.create("Publisher", ["name": "p"]), book = try await bench.create("Book", ["title": "a"])
      try await bench.call(
        .PUT, "/classes/Book/\(book)", ["authors": ["__op": "AddRelation", "objects": [pointer("Author", authors[0])]]])
      try await bench.down("Book", ["relations": Self.target["relations"]!])
      try mark(bench, "Book|\(book)|authors|\(authors[0])", deleted: true)
      for id in authors.dropFirst() { try bench.make(LinkRow("Book", book, "authors", id).json, "links") }
      try bench.make(LinkRow("Book", book, "publishers", publisher).json, "links")
      bench.clock.advance(by: 60)
      try bench.server.faults.add(Fault("internalError", ["executed": true]), method: "PUT", times: 1)
      bench.forgetRequests()
      let state = try await bench.up("Book", Self.target)
      #expect(state.status == .done && state.counts.succeeded == 4)
      let puts = bench.requests.filter { $0.method == "PUT" }
      #expect(puts.count == 2 && puts[0].body == puts[1].body, "the same once more")
      #expect(puts[0].body.contains("RemoveRelation") && puts[0].body.contains("publishers") && !puts[0].body.contains("[]"))
      #expect(try await bench.related("Author", to: "Book", book, "authors") == Set(authors.dropFirst()))
      #expect(try await bench.related("Publisher", to: "Book", book, "publishers") == [publisher])
      let rows = try bench.entries("links")
      #expect(rows.count == 3 && rows.allSatisfy { $0["__local__"] == false })
      bench.forgetRequests()
      try await bench.again("up")
      #expect(bench.requests.isEmpty, "nothing is left to send")
      try bench.edit(book, ["title": "b"])
      let next = try await bench.again("up")
      #expect(next.counts.conflicting == 0, "our own links are no change by others")
      #expect(try await bench.object("Book", book)["title"] == "b")
    }
  }

  @Test func link_ofABookThatWasMadeAndDeletedHere_isDone() async throws {
    try await ParseBench.with(links: ["links"]) { bench async throws in
      let author = try await bench.create("Author", ["name": "a"])
      try bench.make(["objectId": "local_1", "title": "a"])
      try await bench.up("Book", Self.target)
      let book = try #require(try bench.entries().first?["objectId"]?.stringValue)
      try bench.make(LinkRow("Book", "local_1", "authors", author).json, "links")
      try bench.delete(book)
      let state = try await bench.again("up")
      #expect(state.counts.failed == 0)
      #expect(try bench.entries("links").allSatisfy { $0["__local__"] == false && $0["ownerId"]?.stringValue == book })
    }
  }

  /// The server answers 101 for an owner that the user may not write, as for a missing one.
  @Test func removedLink_ofAnOwnerThatMayNotBeWritten_isNotDone() async throws {
    try await ParseBench.with(links: ["links"]) { bench async throws in
      let author = try await bench.create("Author", ["name": "a"]), book = try await bench.create("Book", ["title": "a"])
      let link: JSONObject = ["authors": ["__op": "AddRelation", "objects": [pointer("Author", author)]]]
      try await bench.call(.PUT, "/classes/Book/\(book)", .object(link.replacing(with: ["ACL": ["*": ["read": true]]])))
      try await bench.down("Book", ["relations": Self.target["relations"]!])
      try mark(bench, "Book|\(book)|authors|\(author)", deleted: true)
      let state = try await bench.up("Book", Self.target)
      #expect(state.counts.succeeded == 0)
      let row = try #require(try bench.entries("links").first)
      #expect(row["__locally_deleted__"] == true)
      #expect(
        try bench.lastError(row)["error"] == "its owner is readable, but may not be changed (Object not found.)")
      #expect(try await bench.related("Author", to: "Book", book, "authors") == [author])
    }
  }

  /// Row 16: a new book with links, in one sync.
  @Test func links_ofNewRecords_waitForBothEnds() async throws {
    try await ParseBench.with(soups: ["books", "authors"], links: ["links"]) { bench async throws in
      try bench.make(["objectId": "local_b", "title": "a"])
      try bench.make(["objectId": "local_a", "name": "Ana"], "authors")
      try bench.make(LinkRow("Book", "local_b", "authors", "local_a").json, "links")
      let state = try await bench.up("Book", Self.target)
      #expect(state.status == .done && state.counts.succeeded == 1 && state.counts.failed == 1)
      #expect(try bench.lastError(bench.entries("links")[0])["error"] == "waiting for Author/local_a")
      try await bench.up("Author", ["createFieldlist": ["name"], "updateFieldlist": ["name"]], soup: "authors", name: "authors")
      #expect(try await bench.again("up").counts.succeeded == 1)
      let book = try #require(try await bench.objects("Book").first?["objectId"]?.stringValue)
      let author = try #require(try await bench.objects("Author").first?["objectId"]?.stringValue)
      #expect(try await bench.related("Author", to: "Book", book, "authors") == [author])
      let row = try #require(try bench.entries("links").first)
      #expect(row["linkKey"] == .string("Book|\(book)|authors|\(author)") && row["ownerId"] == .string(book))
      #expect(row["relatedId"] == .string(author) && row["__local__"] == false)
    }
  }

  @Test func idsList_differenceGoesWithTheRecord() async throws {
    try await ParseBench.with { bench async throws in
      let target: JSONObject = [
        "createFieldlist": ["title"], "updateFieldlist": ["title"],
        "relations": [["field": "authors", "className": "Author", "store": "ids", "idsField": "authorIds"]],
      ]
      let authors = try await bench.create("Author", count: 3) { ["name": .string("a\($0)")] }
      let book = try await bench.create("Book", ["title": "a"])
      try await bench.call(
        .PUT, "/classes/Book/\(book)",
        ["authors": ["__op": "AddRelation", "objects": [pointer("Author", authors[0]), pointer("Author", authors[1])]]])
      try await bench.down("Book", ["relations": target["relations"]!])
      try bench.edit(book, ["title": "b", "authorIds": .array([.string(authors[1]), .string(authors[2])])])
      try bench.make(["objectId": "local_n", "title": "new", "authorIds": .array([.string(authors[0])])])
      bench.forgetRequests()
      let state = try await bench.up("Book", target)
      #expect(state.status == .done && state.counts.succeeded == 2)
      #expect(try await bench.related("Author", to: "Book", book, "authors") == Set(authors[1...2]))
      #expect(try await bench.object("Book", book)["title"] == "b")
      let made = try #require(try await bench.objects("Book").first { $0["title"] == "new" }?["objectId"]?.stringValue)
      #expect(try await bench.related("Author", to: "Book", made, "authors") == [authors[0]])
      #expect(try bench.entries().allSatisfy { $0["__local__"] == false })
    }
  }

  /// Row 18.
  @Test func mirror_followsThePointer() async throws {
    try await ParseBench.with(links: ["genreBooks"]) { bench async throws in
      let target: JSONObject = [
        "createFieldlist": ["title", "genre"], "updateFieldlist": ["title", "genre"],
        "pointers": ["genre": ["className": "Genre"]],
        "relations": [
          ["field": "books", "className": "Book", "linkSoup": "genreBooks", "mirrorOf": ["className": "Book", "field": "genre"]]
        ],
      ]
      let genres = try await bench.create("Genre", count: 2) { ["name": .string("g\($0)")] }
      func books(_ genre: Int) async throws -> Set<String> {
        try await bench.related("Book", to: "Genre", genres[genre], "books")
      }
      try bench.make(["objectId": "local_1", "title": "a", "genre": pointer("Genre", genres[0])])
      #expect(try await bench.up("Book", target).status == .done)
      let book = try #require(try await bench.objects("Book").first?["objectId"]?.stringValue)
      #expect(try await books(0) == [book])
      try bench.edit(book, ["genre": pointer("Genre", genres[1])])
      try await bench.again("up")
      #expect(try await books(0).isEmpty)
      #expect(try await books(1) == [book])
      try bench.edit(book, ["genre": nil])
      try await bench.again("up")
      #expect(try await books(1).isEmpty)
      #expect(try bench.entries("genreBooks").isEmpty)
      try bench.edit(book, ["genre": pointer("Genre", genres[0])])
      try await bench.again("up")
      try bench.delete(book)
      try await bench.again("up")
      #expect(try bench.entries("genreBooks").isEmpty && bench.entries().isEmpty)
    }
  }

  /// A link must not be on the server before the pointer that it mirrors, and not at all if the
  /// pointer is reverted.
  @Test func mirror_ofAPointerThatIsRefused_waits_andGoesWhenItIsTakenBack() async throws {
    try await ParseBench.with(links: ["genreBooks"]) { bench async throws in
      let target: JSONObject = [
        "createFieldlist": ["title", "genre"], "updateFieldlist": ["title", "genre"],
        "pointers": ["genre": ["className": "Genre"]],
        "relations": [
          ["field": "books", "className": "Book", "linkSoup": "genreBooks", "mirrorOf": ["className": "Book", "field": "genre"]]
        ],
      ]
      let genres = try await bench.create("Genre", count: 2) { ["name": .string("g\($0)")] }
      func books() async throws -> [Set<String>] {
        var all: [Set<String>] = []
        for genre in genres { all.append(try await bench.related("Book", to: "Genre", genre, "books")) }
        return all
      }
      try bench.make(["objectId": "local_1", "title": "a", "genre": pointer("Genre", genres[0])])
      try await bench.up("Book", target)
      let book = try #require(try await bench.objects("Book").first?["objectId"]?.stringValue)
      for isTakenBack in [true, false] {
        try bench.edit(book, ["genre": pointer("Genre", genres[1])])
        try bench.server.faults.add(
          .answer(status: 400, body: #"{"code":142,"error":"no"}"#), path: "/parse/classes/Book/\(book)", method: "PUT", times: 1)
        let state = try await bench.again("up")
        #expect(state.status == .done && state.counts.failed == 3, "the book, and two links that wait for it")
        #expect(try await books() == [[book], []])
        try bench.edit(book, isTakenBack ? ["genre": pointer("Genre", genres[0])] : ["title": "b"])
        #expect(try await bench.again("up").status == .done)
        try await bench.again("up")
        #expect(try await books() == (isTakenBack ? [[book], []] : [[], [book]]))
        #expect(try bench.entries("genreBooks").count == 1)
        #expect(try bench.entries("genreBooks").allSatisfy { $0["__local__"] == false }, "\(isTakenBack)")
      }
    }
  }
}
