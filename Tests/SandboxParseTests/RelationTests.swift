import JSON
import SandboxParse
import Testing

/// Relations: section 6.
@Suite struct RelationTests {
  private func operation(_ name: String, _ ids: [String], _ className: String = "Author") -> JSONValue {
    ["__op": .string(name), "objects": .array(ids.map { pointer(className, $0) })]
  }

  private func related(_ client: ParseClient, _ book: String, _ key: String = "authors") async throws -> ParseClient.Answer {
    try await client.find(
      "Author", where: ["$relatedTo": ["object": pointer("Book", book), "key": .string(key)]])
  }

  /// Creates a book and three authors.
  private func library(_ client: ParseClient) async throws -> (book: String, authors: [String]) {
    var authors: [String] = []
    for name in ["a", "b", "c"] { authors.append(try await client.create("Author", ["name": .string(name)])) }
    return (try await client.create("Book", ["title": "T"]), authors)
  }

  @Test func addAndRemove_moveTheOwnersStampAlone() async throws {
    try await withParse { _, client, clock in
      let (book, authors) = try await library(client)
      clock.advance(by: 10)
      let linked = try await client.put("/classes/Book/\(book)", ["authors": operation("AddRelation", Array(authors.prefix(2)))])
      #expect(linked.text == #"{"updatedAt":"2026-03-02T09:00:10.000Z"}"#)
      #expect(Set(try await related(client, book).column("name")) == ["a", "b"])
      #expect(try await client.get("/classes/Author/\(authors[0])").json["updatedAt"] == "2026-03-02T09:00:00.000Z")
      let both: JSONValue = [
        "__op": "Batch",
        "ops": [operation("AddRelation", [authors[2]]), operation("RemoveRelation", [authors[0], "never"])],
      ]
      #expect(try await client.put("/classes/Book/\(book)", ["authors": both]).status == 200)
      #expect(Set(try await related(client, book).column("name")) == ["b", "c"])
      #expect(try await client.put("/classes/Book/\(book)", ["authors": both]).status == 200, "a repeat is harmless")
      #expect(Set(try await related(client, book).column("name")) == ["b", "c"])
    }
  }

  @Test func marker_standsOnEveryObjectAndChangesNothing() async throws {
    try await withParse { _, client, _ in
      let (book, authors) = try await library(client)
      _ = try await client.put("/classes/Book/\(book)", ["authors": operation("AddRelation", authors)])
      let other = try await client.create("Book", ["title": "U"])
      let marker: JSONValue = ["__type": "Relation", "className": "Author"]
      #expect(try await client.get("/classes/Book/\(other)").json["authors"] == marker)
      #expect(try await client.put("/classes/Book/\(book)", ["authors": marker]).status == 200)
      #expect(try await client.put("/classes/Book/\(book)", ["authors": ["__op": "Delete"]]).status == 200)
      #expect(try await related(client, book).results.count == 3)
    }
  }

  @Test func wrongOperations_areRefused() async throws {
    try await withParse { _, client, _ in
      let (book, authors) = try await library(client)
      _ = try await client.put("/classes/Book/\(book)", ["authors": operation("AddRelation", authors)])
      let path = "/classes/Book/\(book)"
      #expect(try await client.put(path, ["authors": operation("AddRelation", ["x"], "Genre")]).code == 111)
      #expect(try await client.put(path, ["authors": operation("AddRelation", [])]).status == 500)
      #expect(try await client.put(path, ["authors": ["__op": "Batch", "ops": []]]).code == 1)
      #expect(try await client.put(path, ["authors": "text"]).code == 111)
    }
  }

  @Test func relation_inACreate_andOrphans() async throws {
    try await withParse { _, client, _ in
      let (_, authors) = try await library(client)
      let book = try await client.create("Book", ["authors": operation("AddRelation", authors + ["ghost"])])
      #expect(try await related(client, book).results.count == 3, "targets are not checked")
      _ = try await client.delete("/classes/Author/\(authors[0])")
      #expect(Set(try await related(client, book).column("name")) == ["b", "c"])
    }
  }

  @Test func ownersOfATarget_byBarePointerAndLists() async throws {
    try await withParse { _, client, _ in
      let (book, authors) = try await library(client)
      _ = try await client.put("/classes/Book/\(book)", ["authors": operation("AddRelation", Array(authors.prefix(2)))])
      let other = try await client.create("Book", ["authors": operation("AddRelation", [authors[2]])])
      let a = pointer("Author", authors[0])
      for (constraint, ids) in [
        (a, [book]), (["$in": [a, pointer("Author", authors[2])]], [book, other]), (["$nin": [a]], [other]),
        (["$ne": a], [other]),
        (["$eq": a], []), (["$exists": true], []), (["$all": [a]], []),
      ] as [(JSONValue, [String])] {
        let found = try await client.find("Book", where: ["authors": constraint])
        #expect(found.column("objectId") == ids, "\(constraint.text): \(found.text)")
      }
      let nested = try await client.find("Book", where: ["$or": [["authors": a], ["title": "none"]]])
      #expect(nested.column("objectId") == [book])
    }
  }

  @Test func relatedTo_besideOr_isNotExpanded() async throws {
    try await withParse { _, client, _ in
      let (book, authors) = try await library(client)
      _ = try await client.put("/classes/Book/\(book)", ["authors": operation("AddRelation", authors)])
      let related: JSONValue = ["object": pointer("Book", book), "key": "authors"]
      let beside: JSONValue = ["$relatedTo": related, "$or": [["name": "a"], ["name": "b"]]]
      #expect(try await client.find("Author", where: beside).code == 105)
      #expect(try await client.master.find("Author", where: beside).code == 1)
      let wrapped: JSONValue = ["$and": [["$relatedTo": related], ["$or": [["name": "a"], ["name": "b"]]]]]
      #expect(Set(try await client.find("Author", where: wrapped).column("name")) == ["a", "b"])
      let ordered = try await client.find("/classes/Author", ["where": ["$relatedTo": related], "order": "-name", "limit": 2])
      #expect(ordered.column("name") == ["c", "b"])
    }
  }

  @Test func relatedTo_unknownKeyOrOwner_isEmpty() async throws {
    try await withParse { _, client, _ in
      let (book, _) = try await library(client)
      #expect(try await related(client, book, "nothing").text == #"{"results":[]}"#)
      #expect(try await related(client, "gone").text == #"{"results":[]}"#)
    }
  }
}
