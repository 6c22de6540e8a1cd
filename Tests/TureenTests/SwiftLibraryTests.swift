import SandboxOrg
import TestSupport
import Testing
import Tureen

@testable import RestClient

/// Tests the Swift library with only `import Tureen`, against a sandbox org.
@Suite struct SwiftLibraryTests {
  private struct Account: Codable, Sendable, Equatable {
    var id: String?
    var name: String

    enum CodingKeys: String, CodingKey {
      case id = "Id"
      case name = "Name"
    }
  }

  private struct Named: Decodable, Sendable, Equatable {
    let name: String
  }

  private struct Bed {
    let runner: ScriptRunner
    let host: Host

    init() async throws {
      runner = try await ScriptRunner()
      host = runner.makeHost()
    }

    func close() async {
      await host.close()
      await runner.server.stop()
    }
  }

  @Test func syncsWithValues_downEditUp() async throws {
    let bed = try await Bed()
    let store = try await bed.host.store(), syncs = try await bed.host.syncManager()
    try await store.registerSoup("accounts", indexes: ["Id": .string, "Name": .string])
    let down = try await syncs.syncDown(.soql("SELECT Id, Name FROM Account"), into: "accounts", named: "down")
    #expect(down.status == .done && down.downTarget != nil && down.upTarget == nil && down.name == "down")
    let records = store.records(in: "accounts", type: "Account")
    let local = try await records.create(Account(name: "Aardvark"))
    #expect(local.hasPrefix("local_"))
    var first: Named?
    for try await row in store.rows(Named.self, "SELECT {accounts:Name} AS name FROM {accounts} ORDER BY {accounts:Name}") {
      first = row
      break
    }
    #expect(first == Named(name: "Aardvark"))
    let up = try await syncs.syncUp(
      .collection(UploadFields(create: ["Name"], update: ["Name"])), from: "accounts",
      options: SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Name"]))
    #expect(up.status == .done && up.counts.succeeded == 1, "\(up.error)")
    #expect(try await records.record(local, as: Account.self) == nil, "it has the server's id now")
    let found = try await bed.host.restClient.send(
      request: bed.host.restClient.requestForQuery("SELECT Id, Name FROM Account WHERE Name = 'Aardvark'"))
    struct Found: Decodable { let records: [Account] }
    let there = try #require(try found.decoded(as: Found.self).records.first)
    #expect(try await records.record(there.id ?? "", as: Account.self) == there)
    await bed.close()
  }

  @Test func setUp_twice_keepsTheFirst() async throws {
    let bed = try await Bed()
    let syncs = try await bed.host.syncManager()
    try await bed.host.store().registerSoup("accounts", indexes: ["Id": .string])
    let first = try await syncs.setUp("down", down: .soql("SELECT Id FROM Account"), into: "accounts")
    let second = try await syncs.setUp("down", down: .soql("SELECT Id, Name FROM Account"), into: "accounts")
    #expect(first == second && first.status == .new)
    #expect(try await syncs.state(of: .name("down")) == first)
    await #expect(throws: SyncError.self) {
      try await syncs.setUp("wrong", down: .json(["type": "soql"]), into: "accounts")
    }
    await bed.close()
  }

  // MARK: Records

  @Test func records_editedOffline_haveTheFlagsOfASyncUp() async throws {
    let bed = try await Bed()
    let store = try await bed.host.store()
    try await store.registerSoup("accounts", indexes: ["Id": .string])
    let records = store.records(in: "accounts", type: "Account")
    func flags(_ id: String) async throws -> [Bool] {
      struct Flags: Decodable, Sendable {
        let __local__: Bool
        let __locally_created__: Bool
        let __locally_updated__: Bool
        let __locally_deleted__: Bool
      }
      let found = try #require(try await records.record(id, as: Flags.self))
      return [found.__local__, found.__locally_created__, found.__locally_updated__, found.__locally_deleted__]
    }
    let id = try await records.create(["Id": "001", "Name": "Acme"])
    #expect(id == "001")
    #expect(try await flags(id) == [true, true, false, false])
    try await records.update(id, ["Name": "Acme Ltd"])
    #expect(try await flags(id) == [true, true, true, false])
    try await records.delete(id)
    #expect(try await flags(id) == [true, true, true, true])
    try await records.unmark(id)
    #expect(try await flags(id) == [true, true, false, false])
    #expect(try await records.record(id, as: Account.self) == Account(id: "001", name: "Acme Ltd"))
    await #expect(throws: StoreError(.noSuchEntry, "the soup 'accounts' has no record with Id 'x'")) {
      try await records.update("x", ["Name": "y"])
    }
    await #expect(throws: StoreError.self) { try await records.create("no object") }
    await bed.close()
  }

  // MARK: Rows

  @Test func rows_manyPages_areEachRowOnce() async throws {
    let bed = try await Bed()
    let store = try await bed.host.store()
    try await store.registerSoup("numbers", indexes: ["n": .integer])
    let records = store.records(in: "numbers", type: "Number")
    for n in 0..<25 { try await records.create(["n": n]) }
    struct Number: Decodable, Sendable { let n: Int }
    for size in [1, 10, 25, 100] {
      var seen: [Int] = []
      for try await row in store.rows(Number.self, "SELECT {numbers:n} AS n FROM {numbers} ORDER BY {numbers:n}", pageSize: size)
      {
        seen.append(row.n)
      }
      #expect(seen == Array(0..<25))
    }
    var count = 0
    for try await _ in store.rows(Number.self, "SELECT {numbers:n} AS n FROM {numbers} WHERE {numbers:n} > ?", arguments: [100]) {
      count += 1
    }
    #expect(count == 0)
    await bed.close()
  }

  @Test func rows_thatAreNotWhatIsAskedFor_nameRowAndMember() async throws {
    let bed = try await Bed()
    let store = try await bed.host.store()
    try await store.registerSoup("people", indexes: ["Name": .string])
    let records = store.records(in: "people", type: "Person")
    try await records.create(["Name": "Ada"])
    try await records.create(["Title": "Dr"])
    let rows = store.rows(Named.self, "SELECT {people:Name} AS name FROM {people} ORDER BY {people:_soupEntryId}", pageSize: 1)
    var iterator = rows.makeAsyncIterator()
    #expect(try await iterator.next() == Named(name: "Ada"))
    await #expect(throws: StoreError(.invalidEntry, "Named: row 2, 'name' is missing; columns: name")) {
      _ = try await iterator.next()
    }
    await #expect(throws: StoreError.self) {
      for try await _ in store.rows(Named.self, "SELECT {nobody:Name} AS name FROM {nobody}") {}
    }
    await bed.close()
  }

  @Test func observe_rows_areValuesAgainAfterEachChange() async throws {
    let bed = try await Bed()
    let store = try await bed.host.store()
    try await store.registerSoup("people", indexes: ["Name": .string])
    let records = store.records(in: "people", type: "Person")
    var names = try store.observe(Named.self, "SELECT {people:Name} AS name FROM {people} ORDER BY {people:Name}")
      .makeAsyncIterator()
    #expect(try await names.next() == [])
    try await records.create(["Name": "Ada"])
    #expect(try await names.next() == [Named(name: "Ada")])
    await bed.close()
  }

  // MARK: Requests

  @Test func requests_everyKindOfFailure_isItsCase() async throws {
    let server = try ScriptedServer(
      .json("{}", status: 200), .status(204), .text("<html>", type: "text/html"),
      .json(#"[{"message":"no such field"}]"#, status: 400),
      .closed)
    let bed = try await Bed()
    let client = Client(url: server.url)
    #expect(try await client.send(request: RestRequest(.GET, "/a")).decoded(as: [String: String].self).isEmpty)
    let empty = try await client.send(request: RestRequest(.GET, "/a"))
    #expect(
      failure { () throws(RestClientError) in try empty.decoded(as: [String: String].self) }?.message
        == "the server answered 204 without a body")
    let page = try await client.send(request: RestRequest(.GET, "/a"))
    guard
      case .undecodableResponse(_, "<html>")? = failure({ () throws(RestClientError) in
        try page.decoded(as: [String: String].self)
      })
    else {
      Issue.record("a page is not decodable")
      return
    }
    await #expect { try await client.send(request: RestRequest(.GET, "/a")) } throws: { error in
      guard case .refused(let refusal)? = error as? RestClientError else { return false }
      return refusal.status == 400 && "\(error)" == refusal.message
    }
    await #expect { try await client.send(request: RestRequest(.POST, "/a", body: [])) } throws: { error in
      if case .noResponse? = error as? RestClientError { true } else { false }
    }
    await client.shutdown()
    let (ended, signal) = AsyncStream.makeStream(of: Bool.self)
    client.send(request: RestRequest(.GET, "/a")) { result in
      if case .failure(.notSent) = result { signal.yield(true) } else { signal.yield(false) }
    }
    for await wasNotSent in ended {
      #expect(wasNotSent)
      break
    }
    await bed.close()
    server.stop()
  }

  private func failure<T>(_ body: () throws(RestClientError) -> T) -> RestClientError? {
    do throws(RestClientError) {
      _ = try body()
      return nil
    } catch {
      return error
    }
  }
}

/// A client of a plain server that does not retry.
private struct Client: RestClient {
  let url: String
  private let transport = HTTPTransport()
  let apiVersion = "v66.0"

  init(url: String) { self.url = url }

  func send(_ request: RestRequest) async throws -> RestResponse {
    let response = try await transport.exchange(
      request.method, url: url + request.path, headers: [], body: request.body, timeoutS: nil)
    guard response.status < 300 else {
      throw RestError(code: .httpStatus, message: "no such field", status: response.status, body: response.body.text)
    }
    return response
  }

  func shutdown() async { await transport.shutdown() }
}
