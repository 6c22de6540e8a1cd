import JSON
import SandboxParse
import Synchronization
import TestSupport
import Testing

@testable import Parse
@testable import RestClient

/// The Swift client of a Parse server, on the wire.
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

  /// Nothing tells whether it was made: it is not sent again, and the error says so.
  @Test(arguments: [true, false]) func create_answerLost_isFoundByItsKeyOrSaidToBeUnknown(hasKey: Bool) async throws {
    try await ParseBench.with { bench async throws in
      let client = try client(bench)
      try bench.server.faults.add(.dropBeforeResponse(), path: "/parse/classes/Book", method: "POST", times: 1)
      let result = try await client.save([ParseObject("Book", ["title": "a"])], clientKeyField: hasKey ? "key" : nil)[0]
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
      let results = try await client.save([ParseObject("Book", ["isbn": isbn.pointer.json]), isbn])
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

  /// The account stays the same when its token changes: syncs go on where they stood.
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
}
