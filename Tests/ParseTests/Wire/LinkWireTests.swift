import JSON
import SandboxParse
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Tests sync downs of included objects and relations.
struct LinkWireTests {
  private static let include: JSONObject = [
    "include": ["isbn"], "pointers": ["isbn": ["className": "ISBN", "soup": "isbns"]],
  ]
  private static func relation(_ more: JSONObject = [:]) -> JSONObject {
    let plain: JSONObject = ["field": "authors", "className": "Author", "linkSoup": "links"]
    return ["relations": [.object(plain.replacing(with: more))]]
  }

  private func link(_ bench: ParseBench, _ book: String, _ operation: String, _ authors: [String]) async throws {
    try await bench.call(
      .PUT, "/classes/Book/\(book)",
      ["authors": ["__op": .string(operation), "objects": .array(authors.map { pointer("Author", $0) })]])
  }

  private func linked(_ bench: ParseBench, _ book: String) throws -> Set<String> {
    Set(try bench.entries("links").filter { $0["ownerId"]?.stringValue == book }.compactMap { $0["relatedId"]?.stringValue })
  }

  /// Row 20.
  @Test func include_objectsGoToTheirOwnSoup_aDanglingPointerStays() async throws {
    try await ParseBench.with(soups: ["books", "isbns"]) { bench async throws in
      let isbn = try await bench.create("ISBN", ["value": "978"]), gone = try await bench.create("ISBN", ["value": "979"])
      let book = try await bench.create("Book", ["title": "a", "isbn": pointer("ISBN", isbn)])
      let dangling = try await bench.create("Book", ["title": "b", "isbn": pointer("ISBN", gone)])
      let bare = try await bench.create("Book", ["title": "c"])
      try await bench.call(.DELETE, "/classes/ISBN/\(gone)")
      let state = try await bench.down("Book", Self.include)
      #expect(state.status == .done && state.counts.fetched == 3)
      #expect(try bench.entry(book)?["isbn"] == pointer("ISBN", isbn))
      #expect(try bench.entry(dangling)?["isbn"] == pointer("ISBN", gone))
      #expect(try bench.entry(bare)?["isbn"] == nil)
      #expect(try bench.ids("isbns") == [isbn])
      #expect(try bench.entry(isbn, "isbns")?["value"] == "978")
      #expect(try bench.entry(isbn, "isbns")?["className"] == nil)
      bench.clock.advance(by: 3600)
      try await bench.call(.PUT, "/classes/Book/\(dangling)", ["title": "b2"])
      try await bench.again()
      #expect(try bench.entry(dangling)?["title"] == "b2" && bench.entry(dangling)?["isbn"] == pointer("ISBN", gone))
    }
  }

  /// A requested column list need not repeat the included pointer.
  @Test func include_besideColumns_bringsItsObjects() async throws {
    try await ParseBench.with(soups: ["books", "isbns"]) { bench async throws in
      let isbn = try await bench.create("ISBN", ["value": "978"])
      let book = try await bench.create("Book", ["title": "a", "year": 1, "isbn": pointer("ISBN", isbn)])
      bench.forgetRequests()
      try await bench.down("Book", Self.include.replacing(with: ["keys": ["title"]]))
      #expect(bench.requests.count == 1)
      #expect(try bench.ids("isbns") == [isbn])
      #expect(try bench.entry(book)?["isbn"] == pointer("ISBN", isbn) && bench.entry(book)?["year"] == nil)
    }
  }

  @Test func include_newerObjectsInside_doNotMoveTheWatermark() async throws {
    try await ParseBench.with(soups: ["books", "isbns"]) { bench async throws in
      let isbn = try await bench.create("ISBN", ["value": "978"])
      try await bench.create("Book", ["title": "a", "isbn": pointer("ISBN", isbn)])
      bench.clock.advance(by: 3600)
      try await bench.call(.PUT, "/classes/ISBN/\(isbn)", ["value": "new"])
      let state = try await bench.down("Book", Self.include)
      let newest = try await bench.objects("Book").compactMap {
        $0["updatedAt"]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
      }
      #expect(state.maxTimeStamp == newest.max())
    }
  }

  /// Row 17.
  @Test func links_followTheServer_afterAddRemoveAndDeletionOfATarget() async throws {
    try await ParseBench.with(links: ["links"]) { bench async throws in
      let authors = try await bench.create("Author", count: 5) { ["name": .string("a\($0)")] }
      let book = try await bench.create("Book", ["title": "a"]), other = try await bench.create("Book", ["title": "b"])
      try await link(bench, book, "AddRelation", Array(authors.prefix(3)))
      try await link(bench, other, "AddRelation", [authors[4]])
      bench.clock.advance(by: 3600)
      let state = try await bench.down("Book", Self.relation())
      #expect(state.status == .done && state.counts.fetched == 2)
      #expect(try linked(bench, book) == Set(authors.prefix(3)) && linked(bench, other) == [authors[4]])
      #expect(try bench.entry(book)?["authors"] == nil, "the mark of the relation is not stored")
      #expect(
        try bench.entries("links").contains {
          $0["linkKey"]?.stringValue == "Book|\(book)|authors|\(authors[0])" && $0["field"] == "authors"
        })
      bench.forgetRequests()
      try await bench.again()
      #expect(bench.requests.count == 1, "owners that have not changed are not looked at")
      bench.clock.advance(by: 60)
      try await link(bench, book, "AddRelation", [authors[3]])
      try await link(bench, book, "RemoveRelation", [authors[0]])
      try await bench.again()
      let server = try await bench.related("Author", to: "Book", book, "authors")
      #expect(server == Set(authors[1...3]))
      #expect(try linked(bench, book) == server)
      try await bench.call(.DELETE, "/classes/Author/\(authors[1])")
      try await bench.call(.PUT, "/classes/Book/\(book)", ["title": "a2"])
      try await bench.again()
      #expect(try linked(bench, book) == Set(authors[2...3]))
      #expect(try linked(bench, other) == [authors[4]])
    }
  }

  @Test func links_withLocalChanges_stay() async throws {
    try await ParseBench.with(links: ["links"]) { bench async throws in
      let authors = try await bench.create("Author", count: 3) { ["name": .string("a\($0)")] }
      let book = try await bench.create("Book", ["title": "a"])
      try await link(bench, book, "AddRelation", [authors[0], authors[1]])
      try await bench.down("Book", Self.relation())
      let removed = try #require(try bench.entries("links").first { $0["relatedId"]?.stringValue == authors[0] })
      try bench.store.upsert(
        JSONValue.array([.object(removed.replacing(with: ["__local__": true, "__locally_deleted__": true]))]).text, into: "links")
      try bench.make(LinkRow("Book", book, "authors", authors[2]).json, "links")
      bench.clock.advance(by: 60)
      try await link(bench, book, "RemoveRelation", [authors[1]])
      try await bench.again()
      let rows = try bench.entries("links")
      #expect(Set(rows.compactMap { $0["relatedId"]?.stringValue }) == [authors[0], authors[2]])
      #expect(rows.allSatisfy { $0["__local__"] == true })
    }
  }

  @Test func links_madeHereAndRemovedByOthers_goWithTheNextRun() async throws {
    try await ParseBench.with(links: ["links"]) { bench async throws in
      let author = try await bench.create("Author", ["name": "a"]), book = try await bench.create("Book", ["title": "a"])
      try await bench.down("Book", Self.relation())
      try bench.make(LinkRow("Book", book, "authors", author).json, "links")
      bench.clock.advance(by: 60)
      try await bench.up("Book", Self.relation(["soup": "authors"]).replacing(with: ["updateFieldlist": ["title"]]))
      #expect(try await bench.related("Author", to: "Book", book, "authors") == [author])
      bench.clock.advance(by: 60)
      try await link(bench, book, "RemoveRelation", [author])
      try await bench.again()
      #expect(try bench.entries("links").isEmpty)
    }
  }

  @Test func idsList_isSortedAndFollowsTheServer() async throws {
    try await ParseBench.with { bench async throws in
      let authors = try await bench.create("Author", count: 3) { ["name": .string("a\($0)")] }
      let book = try await bench.create("Book", ["title": "a"])
      try await link(bench, book, "AddRelation", authors)
      bench.clock.advance(by: 3600)
      let rule: JSONObject = [
        "relations": [["field": "authors", "className": "Author", "store": "ids", "idsField": "authorIds"]]
      ]
      try await bench.down("Book", rule)
      #expect(try bench.entry(book)?["authorIds"] == .array(authors.sorted().map { .string($0) }))
      let state = try await bench.again()
      #expect(state.counts.stored == 0)
      bench.clock.advance(by: 60)
      try await link(bench, book, "RemoveRelation", [authors[1]])
      try await bench.again()
      #expect(try bench.entry(book)?["authorIds"] == .array([authors[0], authors[2]].sorted().map { .string($0) }))
    }
  }

  /// An upload gives the row the object's new time stamp, for which no run has read the links yet.
  @Test func links_changedByOthersBeforeAnUploadFromHere_comeWithTheNextRun() async throws {
    try await ParseBench.with(links: ["links"]) { bench async throws in
      let author = try await bench.create("Author", ["name": "a"]), book = try await bench.create("Book", ["title": "a"])
      try await bench.down("Book", Self.relation())
      bench.clock.advance(by: 60)
      try await link(bench, book, "AddRelation", [author])
      bench.clock.advance(by: 60)
      try bench.edit(book, ["title": "mine"])
      let lists: JSONObject = ["createFieldlist": ["title"], "updateFieldlist": ["title"]]
      #expect(try await bench.up("Book", lists, mode: "OVERWRITE").counts.succeeded == 1)
      #expect(try linked(bench, book) == [])
      try await bench.again()
      #expect(try linked(bench, book) == [author])
    }
  }

  @Test func ghosts_linksOfAnOwnerThatWasDeletedHere_goToo() async throws {
    try await ParseBench.with(links: ["links"]) { bench async throws in
      let author = try await bench.create("Author", ["name": "a"])
      let books = try await bench.create("Book", count: 3) { ["title": .string("\($0)")] }
      for book in books { try await link(bench, book, "AddRelation", [author]) }
      try await bench.down("Book", Self.relation())
      #expect(try bench.entries("links").count == 3)
      try bench.delete(books[0])
      let lists: JSONObject = ["createFieldlist": ["title"], "updateFieldlist": ["title"]]
      #expect(try await bench.up("Book", lists).counts.succeeded == 1)
      _ = try await bench.cleanGhosts()
      #expect(try bench.entries("links").compactMap { $0["ownerId"]?.stringValue }.sorted() == books.dropFirst().sorted())
    }
  }

  /// Row 19.
  @Test func relatedTo_goesWithTheKeysetInsideAnd_neverByCreation() async throws {
    try await ParseBench.with(soups: ["authors"]) { bench async throws in
      let authors = try await bench.create("Author", count: 9) { ["name": .string("a\($0)")] }
      let book = try await bench.create("Book", ["title": "a"])
      try await link(bench, book, "AddRelation", Array(authors.prefix(7)))
      bench.forgetRequests()
      let condition = ParseCondition.related(to: ParsePointer(className: "Book", objectId: book), by: "authors").json
      try await bench.down("Author", ["where": .object(condition), "pageSize": 2], soup: "authors")
      #expect(try bench.ids("authors") == Set(authors.prefix(7)))
      let wheres = bench.requests.compactMap { $0.query.first { $0.hasPrefix("where=") } }
      #expect(wheres.count > 3 && wheres.dropFirst().allSatisfy { $0.hasPrefix(#"where={"$and":[{"$relatedTo":"#) })
      #expect(bench.requests.allSatisfy { $0.query.contains("order=updatedAt,objectId") })
    }
  }

  /// Relation markers are not stored, even for relations that the target does not list.
  @Test func relationMarks_ofOtherColumns_areNotStored() async throws {
    try await ParseBench.with { bench async throws in
      let author = try await bench.create("Author", ["name": "a"])
      let books = try await bench.create("Book", count: 4) { ["title": .string("\"Relation\" \($0)"), "n": .integer(Int64($0))] }
      try await link(bench, books[0], "AddRelation", [author])
      try await bench.down()
      #expect(try bench.ids() == Set(books))
      #expect(try bench.entries().allSatisfy { $0["authors"] == nil && $0["title"] != nil })
    }
  }
}
