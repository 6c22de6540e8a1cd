import JSON
import RestClient
import Testing

@testable import Parse

struct ServerAddressTests {
  @Test(
    arguments: [
      ("https://h.example/parse/", "https://h.example/parse", "/parse"), ("https://h.example/1", "https://h.example/1", "/1"),
      ("https://parseapi.back4app.com/", "https://parseapi.back4app.com", ""),
      ("http://127.0.0.1:1337", "http://127.0.0.1:1337", ""),
      ("https://h.example/a/parse//", "https://h.example/a/parse", "/a/parse"),
    ])
  func address_ofEachMount(text: String, url: String, mountPath: String) throws {
    let address = try ServerAddress(text)
    #expect(address.url == url && address.mountPath == mountPath)
  }

  @Test func address_thatCannotBe_isRefusedWithoutItsQuery() {
    for text in ["parse.example", "ftp://h/parse", "https://", "https://h/parse?key=s3cret", "https://h/parse#x"] {
      let problem = #expect(throws: ParseProblem.self, "\(text)") { _ = try ServerAddress(text) }
      #expect(problem?.description.contains("s3cret") == false)
    }
  }

  @Test func credentials_areSentAndNeverShown() {
    var credentials = ParseCredentials(applicationId: "app", restAPIKey: "rest", sessionToken: "r:0a")
    #expect(
      credentials.headers().map { "\($0.name)=\($0.value)" } == [
        "X-Parse-Application-Id=app", "X-Parse-REST-API-Key=rest", "X-Parse-Session-Token=r:0a",
      ])
    #expect(!credentials.headers(forLogin: true).contains { $0.name == "X-Parse-Session-Token" })
    credentials.masterKey = "master"
    #expect("\(credentials)" == "Parse credentials with Application-Id, REST-API-Key, Session-Token, Master-Key")
  }
}

struct BatchRequestTests {
  private let server = try! ServerAddress("http://127.0.0.1/parse")

  private func creates(_ count: Int) throws -> [ObjectRequest] {
    try (0..<count).map { try .create("Author", ["name": .string("a\($0)")]) }
  }

  @Test func request_ofEachVerb() throws {
    let update = try ObjectRequest.update("Book", "x1", ["title": "T"]), delete = try ObjectRequest.delete("_User", "u1")
    #expect(update.request.method == .PUT && update.request.path == "/classes/Book/x1" && update.request.isRepeatable)
    #expect(delete.request.method == .DELETE && delete.request.path == "/users/u1" && delete.request.body == nil)
    #expect(try !ObjectRequest.create("Book", [:]).request.isRepeatable)
    #expect(try !ObjectRequest.update("Book", "x1", ["n": FieldOperation.increment(1).json]).request.isRepeatable)
    #expect(try !ObjectRequest.update("_User", "u1", ["password": "p"]).request.isRepeatable)
    #expect(try ObjectRequest.update("Book", "x1", ["password": "p"]).request.isRepeatable)
  }

  @Test func request_withAFieldOfTheServer_isRefused() {
    for key in ["objectId", "createdAt", "updatedAt", "_SessionToken", "_method"] {
      #expect(throws: ParseProblem.self, "\(key)") { _ = try ObjectRequest.update("Book", "x1", JSONObject([(key, "x")])) }
    }
    #expect(throws: ParseProblem.self) { _ = try ObjectRequest.delete("Book", "local_1") }
    #expect(throws: ParseProblem.self) { _ = try ObjectRequest.create("a b", [:]) }
  }

  @Test(arguments: [("http://h.localhost/parse", "/parse"), ("http://h.localhost/1", "/1"), ("http://h.localhost", "")])
  func batch_pathsBeginWithTheMount(url: String, mount: String) throws {
    let items = try [ObjectRequest.create("Author", ["name": "Ana"]), .delete("Book", "x9")]
    let request = BatchRequest(items: items).request(on: try ServerAddress(url))
    #expect(request.method == .POST && request.path == "/batch" && !request.isRepeatable)
    #expect(
      String(decoding: request.body ?? [], as: UTF8.self)
        == #"{"requests":[{"method":"POST","path":"\#(mount)/classes/Author","body":{"name":"Ana"}},{"method":"DELETE","path":"\#(mount)/classes/Book/x9"}]}"#
    )
  }

  @Test func transaction_isSaidForTwoItemsOrMore() throws {
    for (count, isSaid) in [(1, false), (2, true)] {
      let request = BatchRequest(items: try creates(count), isTransaction: true).request(on: server)
      #expect((try JSONValue(parsing: request.body ?? [])["transaction"] == true) == isSaid)
    }
  }

  @Test func chunks_holdFiftyAndKeepTheOrder() throws {
    let items = try creates(120)
    let batches = BatchRequest.chunks(items)
    #expect(batches.map(\.items.count) == [50, 50, 20] && batches.flatMap(\.items) == items)
    #expect(BatchRequest.chunks([]).isEmpty && BatchRequest.chunks(items, size: 0).count == 120)
  }

  @Test func chunks_neverHoldTwoWritesOfOneObject() throws {
    let items = try [
      ObjectRequest.update("Book", "x1", ["a": 1]), .update("Book", "x2", ["a": 1]), .update("Book", "x1", ["a": 2]),
      .delete("Book", "x2"),
    ]
    #expect(BatchRequest.chunks(items).map(\.items) == [Array(items[0...1]), Array(items[2...3])])
  }

  @Test func halves_keepEveryItem() throws {
    let batch = BatchRequest(items: try creates(5), isTransaction: true)
    #expect(batch.halves?.map(\.items.count) == [3, 2] && batch.halves?.flatMap(\.items) == batch.items)
    #expect(batch.halves?.allSatisfy(\.isTransaction) == true)
    #expect(BatchRequest(items: try creates(1)).halves == nil)
  }

  @Test func results_standInTheOrderOfTheItems() throws {
    let batch = BatchRequest(items: try creates(3))
    let answer = try JSONValue(
      parsing:
        #"[{"success":{"objectId":"a9"}},{"error":{"code":101,"error":"Object not found."}},{"error":{"error":"Cannot read"}}]"#)
    let results = try batch.results(answer)
    #expect(try results[0].get() == ["objectId": "a9"])
    #expect(results[1] == .failure(ServerRefusal(status: nil, code: 101, message: "Object not found.")))
    #expect(results[2] == .failure(ServerRefusal(status: nil, code: nil, message: "Cannot read")))
  }

  @Test(arguments: ["{}", "[]", #"[{"success":{}},{}]"#, #"[{"success":{}},{"success":5}]"#])
  func results_ofAnotherShape_areRefused(text: String) throws {
    let batch = BatchRequest(items: try creates(2))
    let answer = try JSONValue(parsing: text)
    #expect(throws: ParseProblem.self) { _ = try batch.results(answer) }
  }
}
