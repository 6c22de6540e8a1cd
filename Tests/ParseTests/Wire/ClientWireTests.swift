import JSON
import SandboxParse
import Synchronization
import TestSupport
import Testing

@testable import Parse
@testable import RestClient

/// Tests the Swift client of a Parse server over the wire.
struct ClientWireTests {
  private func client(_ bench: ParseBench) throws -> ParseClient {
    try ParseClient(bench.connections.connection(named: "default"))
  }

  @Test func objects_areSavedFetchedFoundCountedAndDeleted() async throws {
    try await ParseBench.with { bench async throws in
      let client = try client(bench)
      var book = try await client.save(ParseObject("Book", ["title": "a", "year": 1, "tags": ["x"]]))
      #expect(!book.isNew && book["createdAt"] != nil && book.changes.isEmpty)
      book.increment("year", by: 2)
      book.addUnique(["x", "y"], to: "tags")
      book["title"] = nil
      book = try await client.save(book)
      let found = try await client.fetch("Book", book.objectId)
      #expect(found["year"] == 3 && found["tags"] == ["x", "y"] && found["title"] == nil)
      #expect(try await client.first(ParseQuery("Book", .equal("year", 3)))?.objectId == book.objectId)
      #expect(try await client.count(ParseQuery("Book")) == 1)
      try await client.delete("Book", book.objectId)
      try await client.delete("Book", book.objectId)
      let error = await #expect(throws: RestError.self) { try await client.fetch("Book", book.objectId) }
      #expect(error?.parseCode == 101)
    }
  }

  @Test func save_deep_sendsThoseThatArePointedToFirst_andLinksBehind() async throws {
    try await ParseBench.with { bench async throws in
      let client = try client(bench)
      let isbn = ParseObject("ISBN", ["value": "978"]), author = ParseObject("Author", ["name": "Ann"])
      var book = ParseObject("Book", ["title": "a", "isbn": isbn.pointer.json])
      book.link("authors", [author.pointer])
      bench.forgetRequests()
      let saved = try await client.save([book, isbn, author]).map { try $0.get() }
      #expect(bench.requests.map(\.method) == ["POST", "POST", "PUT"], "a batch of two, the book, its links")
      #expect(saved[0]["isbn"] == nil || saved[0]["isbn"]?["objectId"]?.stringValue == saved[1].objectId)
      let related = try await client.related("Author", to: saved[0].pointer, by: "authors")
      #expect(related.map(\.objectId) == [saved[2].objectId])
    }
  }

  /// Nothing shows whether the object was created: it is not sent again, and the error says so.
  @Test(arguments: [true, false]) func create_answerLost_isFoundByItsKeyOrSaidToBeUnknown(hasKey: Bool) async throws {
    try await ParseBench.with { bench async throws in
      let client = try client(bench)
      try bench.server.faults.add(.dropBeforeResponse(), path: "/parse/classes/Book", method: "POST", times: 1)
      let result = await client.save([ParseObject("Book", ["title": "a"])], clientKeyField: hasKey ? "key" : nil)[0]
      switch result {
      case .success(let book): #expect(hasKey && !book.isNew)
      case .failure(let error): #expect(!hasKey && error.isUnknown && error.cause?.outcome == .unknown)
      }
      #expect(try await bench.objects("Book").count == 1)
    }
  }

  @Test func request_thatNeverArrives_saysSoForThatObjectAndThoseBehindIt() async throws {
    try await ParseBench.with { bench async throws in
      let client = try client(bench), isbn = ParseObject("ISBN", ["value": "978"])
      try bench.server.faults.add(.htmlPage(status: 502), path: "/parse/classes/ISBN")
      let results = await client.save([ParseObject("Book", ["isbn": isbn.pointer.json]), isbn])
      for result in results {
        guard case .failure(let error) = result else {
          Issue.record("saved")
          return
        }
        #expect(error.cause?.status == 502)
      }
      bench.server.faults.clear()
      let books = try await bench.objects("Book"), isbns = try await bench.objects("ISBN")
      #expect(books.isEmpty && isbns.isEmpty)
    }
  }

  @Test func completion_isCalledOnceWithTheResult() async throws {
    try await ParseBench.with { bench async throws in
      let client = try client(bench)
      try await bench.create("Book", ["title": "a"])
      let titles = try await withCheckedThrowingContinuation { continuation in
        client.find(try! ParseQuery("Book")) { result in
          continuation.resume(with: result.map { $0.compactMap { $0["title"]?.stringValue } })
        }
      }
      #expect(titles == ["a"])
      let refused = await withCheckedContinuation { continuation in
        client.save(ParseObject("a b")) { continuation.resume(returning: $0) }
      }
      guard case .failure(let error as ParseSaveError) = refused else {
        Issue.record("saved")
        return
      }
      #expect(error.message.hasPrefix("class name 'a b' is not valid"))
    }
  }

  @Test func users_signUpChangeTheirPasswordAndGoOn() async throws {
    try await ParseBench.with { bench async throws in
      let client = try client(bench)
      let user = try await client.signUp(["username": "ada", "password": "one"])
      #expect(user["sessionToken"] == nil && user["password"] == nil)
      var changed = user
      changed["password"] = "two"
      changed = try await client.save(changed)
      #expect(changed["sessionToken"] == nil)
      #expect(try await client.currentUser()?["username"] == "ada")
      try await client.logOut()
      try await client.logOut()
      #expect(try await client.currentUser() == nil)
      let error = await #expect(throws: RestError.self) { try await client.logIn("ada", "one") }
      #expect(error?.parseCode == 101)
      #expect(try await client.logIn("ada", "two").objectId == user.objectId)
    }
  }

  /// The account stays the same when its token changes, so syncs continue where they stopped.
  @Test func accountMark_isTheUsers_notTheTokens() async throws {
    try await ParseBench.with { bench async throws in
      let client = try client(bench), salt = "s"
      let nobody = try await client.connection.accountMark(salt: salt)
      var user = try await client.signUp(["username": "ada", "password": "one"])
      let first = try await client.connection.accountMark(salt: salt)
      user["password"] = "two"
      _ = try await client.save(user)
      #expect(try await client.connection.accountMark(salt: salt) == first && first != nobody)
      _ = try await client.signUp(["username": "eve", "password": "one"])
      #expect(try await client.connection.accountMark(salt: salt) != first)
    }
  }

  /// Rows 39 and 40, for programs.
  @Test func dottedNames_changePartsOfAColumn_andTheRestStays() async throws {
    try await ParseBench.with { bench async throws in
      let client = try client(bench)
      var book = try await client.save(ParseObject("Book", ["stats": ["reads": 1, "kept": ["deep": true]], "title": "a"]))
      book.increment("stats.reads", by: 4)
      book["stats.kept.more"] = "x"
      #expect(book["stats"] == ["reads": 5, "kept": ["deep": true, "more": "x"]])
      bench.forgetRequests()
      book = try await client.save(book)
      #expect(bench.requests.first?.body == #"{"stats.reads":{"__op":"Increment","amount":4},"stats.kept.more":"x"}"#)
      #expect(book["stats"] == ["reads": 5, "kept": ["deep": true, "more": "x"]])
      book["stats.kept"] = nil
      book = try await client.save(book)
      #expect(book["stats"] == ["reads": 5])
      #expect(try await client.fetch("Book", book.objectId)["stats"] == ["reads": 5])
      // A new object sends the whole column, and so does one that is set next to its parts.
      var other = ParseObject("Book")
      other["stats.reads"] = 2
      other.increment("stats.reads")
      other = try await client.save(other)
      #expect(try await client.fetch("Book", other.objectId)["stats"] == ["reads": 3])
      other["stats.reads"] = 9
      other["stats"] = ["other": 1]
      other.increment("stats.other", by: 1.5)
      _ = try await client.save(other)
      #expect(try await client.fetch("Book", other.objectId)["stats"] == ["other": 2.5])
    }
  }

  @Test func operations_onOneField_allCount() async throws {
    try await ParseBench.with { bench async throws in
      let client = try client(bench)
      var book = try await client.save(ParseObject("Book", ["tags": ["a", "b"], "n": 10]))
      book.remove(["a"], from: "tags")
      book.add(["c"], to: "tags")
      book["n"] = nil
      book.increment("n", by: 2.5)
      book.increment("n", by: 1)
      book = try await client.save(book)
      var found = try await client.fetch("Book", book.objectId)
      #expect(found["tags"] == ["b", "c"] && found["n"] == 3.5)
      found.addUnique(["c", "d"], to: "tags")
      found.addUnique(["d"], to: "tags")
      #expect(try await client.save(found)["tags"] == ["b", "c", "d"])
    }
  }

  /// The list is not known locally: sending the local result would replace the server's.
  @Test func operations_thatClash_onAnUnknownValue_areRefused() async throws {
    try await ParseBench.with { bench async throws in
      let client = try client(bench)
      let id = try await bench.create("Book", ["tags": ["a", "b"]])
      var book = ParseObject("Book", objectId: id)
      book.remove(["a"], from: "tags")
      book.add(["c"], to: "tags")
      let error = await #expect(throws: ParseSaveError.self) { try await client.save(book) }
      #expect(error?.message.contains("fetch the object first") == true)
      #expect(try await bench.object("Book", id)["tags"] == ["a", "b"])
      let unknown = ParseObject("Book", objectId: id, changes: ["tags": ["__op": "Shuffle"]])
      let other = await #expect(throws: ParseSaveError.self) { try await client.save(unknown) }
      #expect(other?.message.contains("operation 'Shuffle' is not known") == true)
    }
  }

  /// Section 22: an operation must not be sent twice; the server's values show whether it was
  /// executed.
  @Test(arguments: [true, false]) func operation_answerLost_isComparedWithTheServer(isKnown: Bool) async throws {
    try await ParseBench.with { bench async throws in
      let client = try client(bench)
      let id = try await bench.create("Book", ["n": 10])
      var book = isKnown ? try await client.fetch("Book", id) : ParseObject("Book", objectId: id)
      bench.clock.advance(by: 1)
      book.increment("n", by: 5)
      try bench.server.faults.add(.dropBeforeResponse(), path: "/parse/classes/Book/\(id)", method: "PUT", times: 1)
      let result = await client.save([book])[0]
      switch result {
      case .success(let saved): #expect(isKnown && saved["n"] == 15)
      case .failure(let error): #expect(!isKnown && error.isUnknown)
      }
      #expect(try await bench.object("Book", id)["n"] == 15, "once")
      // An internal error before the write was executed: the time stamp is unchanged, so it is sent
      // again.
      guard isKnown, case .success(var again) = result else { return }
      again.increment("n", by: 1)
      try bench.server.faults.add(Fault("internalError"), path: "/parse/classes/Book/\(id)", method: "PUT", times: 1)
      #expect(try await client.save(again)["n"] == 16)
    }
  }
}
