import JSON
import SandboxParse
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Tests that new records are created once, in the right order, and without duplicate names.
struct CreateWireTests {
  private static let named: JSONObject = ["createFieldlist": ["name", "next"], "updateFieldlist": ["name", "next"]]
  private static let keyed = named.replacing(with: ["externalIdFieldName": "clientKey"])

  /// Row 22.
  @Test(arguments: [1, 3]) func create_answerLost_makesOneObject(count: Int) async throws {
    try await ParseBench.with { bench async throws in
      for n in 0..<count { try bench.make(["objectId": .string("local_\(n)"), "name": .string("n\(n)")]) }
      try bench.server.faults.add(.dropBeforeResponse(), method: "POST", times: 1)
      let state = try await bench.up("Author", Self.keyed)
      #expect(state.status == .failed)
      #expect(try await bench.objects("Author").count == count)
      let again = try await bench.again("up")
      #expect(again.status == .done && again.counts.succeeded == count && again.totalSize == count, "\(again.counts)")
      let objects = try await bench.objects("Author")
      #expect(objects.count == count)
      for object in objects {
        let entry = try bench.entry(object["objectId"]?.stringValue ?? "")
        #expect(entry?["createdAt"] == object["createdAt"] && entry?["updatedAt"] == object["updatedAt"])
      }
      #expect(
        try Set(bench.entries().compactMap { $0["objectId"]?.stringValue })
          == Set(objects.compactMap { $0["objectId"]?.stringValue }))
      #expect(try bench.entries().allSatisfy { $0["__local__"] == false })
    }
  }

  /// Row 22: nothing arrived, so it is sent again after the server has had time to finish.
  @Test func create_requestLost_isSentAgain() async throws {
    try await ParseBench.with { bench async throws in
      try bench.make(["objectId": "local_1", "name": "a"])
      try bench.server.faults.add(.dropBeforeHandling(), method: "POST", times: 1)
      #expect(try await bench.up("Author", Self.keyed.replacing(with: ["lostCreateWaitMs": 1000])).status == .failed)
      bench.clock.advance(by: 5)
      try await bench.again("up")
      bench.clock.advance(by: 5)
      try await bench.again("up")
      let objects = try await bench.objects("Author")
      #expect(objects.count == 1 && objects[0]["clientKey"]?.stringValue?.utf8.count == 36)
      #expect(try bench.entry(objects[0]["objectId"]!.stringValue!)?["clientKey"] == objects[0]["clientKey"])
    }
  }

  /// Row 22: without a client key, the unique fields decide.
  @Test func create_answerLost_isFoundByItsUniqueFields() async throws {
    try await ParseBench.with { bench async throws in
      try bench.make(["objectId": "local_1", "name": "a"])
      try bench.server.faults.add(.dropBeforeResponse(), path: "/parse/classes/Author", method: "POST", times: 1)
      #expect(try await bench.up("Author", Self.named.replacing(with: ["uniqueBy": [["name"]]])).status == .failed)
      let again = try await bench.again("up")
      #expect(again.status == .done && again.counts.succeeded == 1)
      let objects = try await bench.objects("Author")
      #expect(objects.count == 1)
      let entry = try bench.entries()[0]
      #expect(entry["__local__"] == false && entry["updatedAt"] == objects[0]["updatedAt"])
      // Nobody else has changed it.
      try bench.edit(objects[0]["objectId"]?.stringValue ?? "", ["name": "b"])
      let next = try await bench.again("up")
      #expect(next.counts.succeeded == 1 && next.counts.conflicting == 0)
    }
  }

  /// Row 22: an internal error is inconclusive, so a create is looked for before it is sent again.
  @Test(arguments: [true, false]) func create_internalError_isLookedForAndSentAgain(executed: Bool) async throws {
    try await ParseBench.with { bench async throws in
      try bench.make(["objectId": "local_1", "name": "a"])
      try bench.server.faults.add(
        Fault("internalError", ["executed": .bool(executed)]), path: "/parse/classes/Author", method: "POST", times: 1)
      let state = try await bench.up("Author", Self.keyed)
      #expect(state.status == .done && state.counts.succeeded == 1)
      #expect(try await bench.objects("Author").count == 1)
      #expect(try bench.entries()[0]["__local__"] == false)
    }
  }

  /// Nothing identifies these creates. If no object has the same values, none was created; an
  /// object with the same values may be another client's.
  @Test(arguments: [1, 3], [true, false])
  func create_internalErrorWithoutAKey_isSentAgainOnlyWhereNothingWasMade(count: Int, executed: Bool) async throws {
    try await ParseBench.with { bench async throws in
      for n in 0..<count { try bench.make(["objectId": .string("local_\(n)"), "name": .string("n\(n)")]) }
      try bench.server.faults.add(Fault("internalError", ["executed": .bool(executed)]), method: "POST", times: 1)
      let state = try await bench.up("Author", Self.named.replacing(with: ["transaction": true]))
      #expect(state.status == .done && state.counts.succeeded == (executed ? 0 : count))
      try await bench.again("up")
      #expect(try await bench.objects("Author").count == count)
      #expect(try bench.entries().allSatisfy { $0["__local__"] == .bool(executed) })
      let doubtful = try bench.store.readBlocking { try $0.unsettledUploads(in: "books").filter(\.inDoubt).count }
      #expect(doubtful == (executed ? count : 0))
    }
  }

  /// Row 29: the response is the same if the server fails after the last write of a transaction.
  @Test func transaction_answeredWithAnErrorAlthoughItWasCarriedOut_makesNothingTwice() async throws {
    try await ParseBench.with { bench async throws in
      for n in 0..<3 { try bench.make(["objectId": .string("local_\(n)"), "name": .string("n\(n)")]) }
      try bench.server.faults.add(Fault("internalError", ["executed": true]), path: "/parse/batch", times: 1)
      let state = try await bench.up("Author", Self.keyed.replacing(with: ["transaction": true]))
      #expect(state.status == .done && state.counts.succeeded == 3)
      #expect(try await bench.objects("Author").count == 3)
      #expect(try bench.entries().allSatisfy { $0["__local__"] == false })
    }
  }

  /// The look-up of the first create fails, so the others are not looked up in that run.
  @Test func transaction_carriedOutAndNotToBeLookedAt_makesNothingTwice() async throws {
    try await ParseBench.with { bench async throws in
      for n in 0..<3 { try bench.make(["objectId": .string("local_\(n)"), "name": .string("n\(n)")]) }
      try bench.server.faults.add(Fault("internalError", ["executed": true]))
      let target = Self.keyed.replacing(with: ["transaction": true])
      #expect(try await bench.up("Author", target).status == .failed)
      bench.server.faults.clear()
      #expect(try await bench.objects("Author").count == 3)
      bench.clock.advance(by: 700)
      #expect(try await bench.up("Author", target, name: "again").status == .done)
      #expect(try await bench.objects("Author").count == 3)
      #expect(try bench.entries().allSatisfy { $0["__local__"] == false })
    }
  }

  /// Row 14.
  @Test func deepSave_isbnFirst_aFailedOneLeavesTheBookWaiting() async throws {
    try await ParseBench.with(soups: ["isbns", "books"]) { bench async throws in
      let isbns: JSONObject = ["createFieldlist": ["value"], "updateFieldlist": ["value"]]
      let books = UploadWireTests.lists.replacing(with: ["pointers": ["isbn": ["className": "ISBN", "soup": "isbns"]]])
      try await bench.create("ISBN", ["value": "text"])
      try bench.make(["objectId": "local_good", "value": "978"], "isbns")
      try bench.make(["objectId": "local_bad", "value": 978], "isbns")
      try bench.make(["objectId": "local_1", "title": "a", "isbn": pointer("ISBN", "local_good")])
      try bench.make(["objectId": "local_2", "title": "b", "isbn": pointer("ISBN", "local_bad")])
      try await bench.up("ISBN", isbns, soup: "isbns", name: "isbns")
      let state = try await bench.up("Book", books, name: "books")
      #expect(state.status == .done && state.counts.succeeded == 1 && state.counts.failed == 1)
      let isbn = try #require(try await bench.objects("ISBN").first { $0["value"] == "978" }?["objectId"]?.stringValue)
      #expect(try await bench.objects("Book").map { $0["isbn"] } == [pointer("ISBN", isbn)])
      let waiting = try #require(try bench.entry("local_2"))
      #expect(try bench.lastError(waiting)["error"] == "waiting for ISBN/local_bad")
      #expect(waiting["__locally_created__"] == true)
      try bench.edit("local_bad", ["value": "979"], "isbns")
      try await bench.again("isbns")
      try await bench.again("books")
      #expect(try await bench.objects("Book").count == 2 && bench.entries().allSatisfy { $0["__local__"] == false })
    }
  }

  /// Row 14: records of one soup that refer to each other in a chain, the last one first.
  @Test func chain_inOneSoup_isCreatedFromItsEnd() async throws {
    try await ParseBench.with { bench async throws in
      let target = Self.named.replacing(with: ["pointers": ["next": ["className": "Author", "soup": "books"]]])
      for n in 0..<5 {
        var record: JSONObject = ["objectId": .string("local_\(n)"), "name": .string("n\(n)")]
        if n < 4 { record["next"] = pointer("Author", "local_\(n + 1)") }
        try bench.make(record)
      }
      bench.forgetRequests()
      let state = try await bench.up("Author", target)
      #expect(state.status == .done && state.counts.succeeded == 5)
      #expect(bench.requests.count == 5 && bench.requests.allSatisfy { $0.method == "POST" }, "each names one that is there")
      let objects = try await bench.objects("Author")
      for n in 0..<4 {
        let next = objects.first { $0["name"] == .string("n\(n + 1)") }?["objectId"]?.stringValue ?? ""
        #expect(objects.first { $0["name"] == .string("n\(n)") }?["next"] == pointer("Author", next))
      }
    }
  }

  /// Row 15.
  @Test func circle_ofTwoNewObjects_isPushedAndLinked() async throws {
    try await ParseBench.with { bench async throws in
      let target = Self.named.replacing(with: ["pointers": ["next": ["className": "Author", "soup": "books"]]])
      try bench.make(["objectId": "local_a", "name": "a", "next": pointer("Author", "local_b")])
      try bench.make(["objectId": "local_b", "name": "b", "next": pointer("Author", "local_a")])
      let state = try await bench.up("Author", target)
      #expect(state.status == .done && state.counts.succeeded == 2 && state.counts.failed == 0)
      let objects = try await bench.objects("Author")
      let a = try #require(objects.first { $0["name"] == "a" }), b = try #require(objects.first { $0["name"] == "b" })
      #expect(
        a["next"] == pointer("Author", b["objectId"]!.stringValue!) && b["next"] == pointer("Author", a["objectId"]!.stringValue!)
      )
      for object in [a, b] {
        let entry = try #require(try bench.entry(object["objectId"]!.stringValue!))
        #expect(entry["__local__"] == false && entry["next"] == object["next"])
      }
    }
  }

  /// Row 15, over two soups.
  @Test func circle_overTwoSoups_isPushedAndLinked() async throws {
    try await ParseBench.with(soups: ["books", "isbns"]) { bench async throws in
      let books = UploadWireTests.lists.replacing(with: ["pointers": ["isbn": ["className": "ISBN", "soup": "isbns"]]])
      let isbns: JSONObject = [
        "createFieldlist": ["book"], "updateFieldlist": ["book"], "pointers": ["book": ["className": "Book", "soup": "books"]],
      ]
      try bench.make(["objectId": "local_b", "title": "a", "isbn": pointer("ISBN", "local_i")])
      try bench.make(["objectId": "local_i", "book": pointer("Book", "local_b")], "isbns")
      try await bench.up("Book", books, name: "books")
      #expect(try await bench.objects("Book").count == 1)
      try await bench.up("ISBN", isbns, soup: "isbns", name: "isbns")
      try await bench.again("books")
      let book = try #require(try await bench.objects("Book").first), isbn = try #require(try await bench.objects("ISBN").first)
      #expect(book["isbn"] == pointer("ISBN", isbn["objectId"]!.stringValue!))
      #expect(isbn["book"] == pointer("Book", book["objectId"]!.stringValue!))
      #expect(try (bench.entries() + bench.entries("isbns")).allSatisfy { $0["__local__"] == false })
    }
  }

  /// Row 23.
  @Test func unique_takenName_isRefusedOrAdopted() async throws {
    try await ParseBench.with { bench async throws in
      let there = try await bench.create("Author", ["name": "Ana", "next": "old"])
      let target = Self.named.replacing(with: ["uniqueBy": [["name"]]])
      try bench.make(["objectId": "local_1", "name": "Ana", "next": "new"])
      try bench.make(["objectId": "local_2", "name": "Bo"])
      try bench.make(["objectId": "local_3", "name": "Bo"])
      let state = try await bench.up("Author", target)
      #expect(state.status == .done && state.counts.succeeded == 1 && state.counts.failed == 2)
      #expect(try await bench.objects("Author").count == 2)
      for id in ["local_1", "local_3"] { #expect(try bench.lastError(bench.entry(id))["code"] == 137, "\(id)") }
      try bench.store.upsert(
        JSONValue.array([.object(try bench.entry("local_3")!.replacing(with: ["name": "Cy"]))]).text, into: "books")
      let adopting = try await bench.up("Author", target.replacing(with: ["onDuplicate": "adopt"]), name: "adopt")
      #expect(adopting.status == .done && adopting.counts.succeeded == 2)
      #expect(try await bench.object("Author", there)["next"] == "new")
      #expect(try bench.entry(there)?["__local__"] == false && bench.entry(there)?["next"] == "new")
      #expect(try await bench.objects("Author").count == 3)
    }
  }

  /// Row 23: a check without an answer does not mean "unique".
  @Test func unique_checkThatFails_createsNothing() async throws {
    try await ParseBench.with { bench async throws in
      try await bench.create("Author", ["name": "Ana"])
      try bench.make(["objectId": "local_1", "name": "Ana"])
      let target = Self.named.replacing(with: ["uniqueBy": [["name"]]])
      try bench.server.faults.add(.dropBeforeHandling(), method: "GET")
      #expect(try await bench.up("Author", target).status == .failed)
      bench.server.faults.clear()
      try bench.server.faults.add(Fault("lockedClass", ["className": "Author"]), method: "GET")
      #expect(try await bench.again("up").counts.failed == 1)
      bench.server.faults.clear()
      #expect(try await bench.objects("Author").count == 1)
      #expect(try bench.entry("local_1")?["__locally_created__"] == true)
      #expect(try bench.lastError(bench.entry("local_1"))["code"] == 119)
    }
  }

  @Test func password_ofAUser_isNotKeptHere() async throws {
    try await ParseBench.with(soups: ["users"]) { bench async throws in
      try bench.make(["objectId": "local_1", "username": "u", "password": "CANARY"], "users")
      let lists: JSONObject = ["createFieldlist": ["username", "password"], "updateFieldlist": ["username"]]
      let state = try await bench.up("_User", lists, soup: "users")
      #expect(state.status == .done && state.counts.succeeded == 1)
      let entry = try #require(try bench.entries("users").first)
      #expect(entry["password"] == nil && entry["sessionToken"] == nil && entry["__local__"] == false)
      #expect(try await bench.call(.POST, "/login", ["username": "u", "password": "CANARY"])["objectId"] == entry["objectId"])
    }
  }

  /// The object's creator may be looking for it by its key.
  @Test func adoption_leavesTheKeyOfTheObject() async throws {
    try await ParseBench.with { bench async throws in
      let there = try await bench.create("Author", ["name": "Ana", "key": "theirs"])
      try bench.make(["objectId": "local_1", "name": "Ana", "next": "new"])
      try bench.make(["objectId": "local_2", "name": "Bo"])
      let target: JSONObject = [
        "createFieldlist": ["name", "next"], "updateFieldlist": ["name", "next"], "uniqueBy": [["name"]], "onDuplicate": "adopt",
        "externalIdFieldName": "key",
      ]
      let state = try await bench.up("Author", target)
      #expect(state.status == .done && state.counts.succeeded == 2)
      let object = try await bench.object("Author", there)
      #expect(object["key"] == "theirs" && object["next"] == "new")
      let entry = try #require(try bench.entry(there))
      #expect(entry["key"] == nil && entry["__local__"] == false, "\(JSONValue.object(entry).text)")
    }
  }
}
