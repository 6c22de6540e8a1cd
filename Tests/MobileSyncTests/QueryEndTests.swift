import JSON
import RestClient
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Tests that the pages of a query end where the answers say, and only there: a next page that is
/// no address, children beyond the first page, pages without end, ids that do not fit into a URL.
@Suite struct QueryEndTests {
  private static func record(_ id: String, _ more: JSONObject = [:]) -> JSONValue {
    let own: JSONObject = [
      "attributes": ["type": "Account"], "Id": .string(id), "Name": "n", "LastModifiedDate": "2024-01-01T10:00:00.000+0000",
    ]
    return .object(own.replacing(with: more))
  }

  private static func page(
    _ records: [JSONValue], total: Int64 = 1, _ more: JSONObject = ["done": true]
  ) -> ScriptedAnswer {
    let own: JSONObject = ["totalSize": .integer(total), "records": .array(records)]
    return .json(JSONValue.object(own.replacing(with: more)).text, headers: [("Date", "Mon, 01 Jan 2024 12:00:00 GMT")])
  }

  private static let families: JSONObject = ParentChildrenBench.sides("LOOKUP").replacing(
    with: ["parentFieldlist": ["Name"], "childrenFieldlist": ["LastName"]])

  private func with(
    _ handler: @escaping ScriptedServer.Handler, _ body: (ScriptedStore, SyncManager, ScriptedServer) async throws -> Void
  ) async throws {
    let server = try ScriptedServer(handler: handler), bench = try ScriptedStore(), manager = try bench.manager(server)
    try bench.store.registerSoup("contacts", indexSpecs: SyncBench.specs)
    try await body(bench, manager, server)
    await bench.close()
    server.stop()
  }

  // MARK: The next page

  private static let wrongEnds: [JSONObject] = [
    ["done": false, "nextRecordsUrl": 7], ["done": false, "nextRecordsUrl": true], ["done": false, "nextRecordsUrl": [:]],
    ["done": false, "nextRecordsUrl": ""], ["done": false, "nextRecordsUrl": .null], ["done": false], ["nextRecordsUrl": ["/x"]],
  ]

  @Test(arguments: wrongEnds) func syncDown_nextPageIsNoAddress_failsAndSaysSo(end: JSONObject) async throws {
    for target in [SyncBench.accounts, Self.families] {
      try await with({ _ in Self.page([Self.record("001-1")], total: 2, end) }) { _, manager, _ async throws in
        let state = try await manager.syncDown(target: target, soupName: "accounts", syncName: "s")
        #expect(state.status == .failed && state.error.contains("nextRecordsUrl"), "\(state.error)")
      }
    }
  }

  @Test(arguments: wrongEnds) func clean_nextPageIsNoAddress_removesNothing(end: JSONObject) async throws {
    let isLater = Mutex(false)
    let answer: ScriptedServer.Handler = { _ in
      isLater.withLock { $0 } ? Self.page([], total: 0, end) : Self.page([Self.record("001-1")])
    }
    try await with(answer) { bench, manager, _ async throws in
      #expect(try await manager.syncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "s").status == .done)
      isLater.withLock { $0 = true }
      await #expect(throws: SyncError.self) { try await manager.cleanGhosts(named: "s") }
      #expect(try bench.entries().count == 1)
    }
  }

  @Test(arguments: [#"{"Name":"x"}"#, #"{"Id":null}"#, #"{"Id":7}"#, #"{"Id":""}"#])
  func clean_recordWithoutAnId_removesNothing(record: String) async throws {
    let isLater = Mutex(false), nameless = try JSONValue(parsing: record)
    for target in [SyncBench.accounts, Self.families] {
      isLater.withLock { $0 = false }
      let answer: ScriptedServer.Handler = { _ in Self.page([isLater.withLock { $0 } ? nameless : Self.record("001-1")]) }
      try await with(answer) { bench, manager, _ async throws in
        #expect(try await manager.syncDown(target: target, soupName: "accounts", syncName: "s").status == .done)
        isLater.withLock { $0 = true }
        await #expect(throws: SyncError.self) { try await manager.cleanGhosts(named: "s") }
        #expect(try bench.entries().count == 1)
      }
    }
  }

  // MARK: Pages without end

  /// Each page names a new one, although everything announced has arrived, or nothing arrives at all.
  @Test(arguments: [0, 1]) func syncDown_newPageEachTime_ends(records: Int) async throws {
    for target in [SyncBench.accounts, Self.families] {
      let asked = Mutex(0)
      let answer: ScriptedServer.Handler = { _ in
        let number = asked.withLock { count in
          count += 1
          return count
        }
        return Self.page(
          (0..<records).map { Self.record("001-\($0)") },
          ["done": false, "nextRecordsUrl": .string("/services/data/v66.0/query/p-\(number)")])
      }
      try await with(answer) { _, manager, server async throws in
        let state = try await manager.syncDown(target: target, soupName: "accounts", syncName: "s")
        #expect(state.status == .failed && state.error.contains("without end"), "\(state.error)")
        #expect(server.requests.count < 20)
        // Without rows there is nothing to ask for.
        if records > 0 { await #expect(throws: SyncError.self) { try await manager.cleanGhosts(named: "s") } }
        #expect(server.requests.count < 40)
      }
    }
  }

  @Test func syncDown_newRelayTokenEachTime_ends() async throws {
    let asked = Mutex(0)
    let answer: ScriptedServer.Handler = { request in
      guard request.path.hasSuffix("/priming-records") else { return .json(JSONValue.array([Self.record("001-1")]).text) }
      let number = asked.withLock { count in
        count += 1
        return count
      }
      return .json(
        #"{"primingRecords":{"Account":{"012":[{"id":"001-1"}]}},"relayToken":"t\#(number)","ruleErrors":[],"stats":{}}"#)
    }
    try await with(answer) { _, manager, server async throws in
      let target: JSONObject = [
        "type": "briefcase", "infos": [["sobjectType": "Account", "soupName": "accounts", "fieldlist": ["Name"]]],
      ]
      let state = try await manager.syncDown(target: target, soupName: "accounts", syncName: "s")
      #expect(state.status == .failed && state.error.contains("without end"), "\(state.error)")
      await #expect(throws: SyncError.self) { try await manager.cleanGhosts(named: "s") }
      #expect(server.requests.count < 60)
    }
  }

  @Test(arguments: [#""relayToken":7"#, #""relayToken":"""#, #""relayToken":{}"#])
  func syncDown_relayTokenIsNoText_fails(member: String) async throws {
    try await with({ _ in .json(#"{"primingRecords":{},\#(member)}"#) }) { _, manager, _ async throws in
      let target: JSONObject = [
        "type": "briefcase", "infos": [["sobjectType": "Account", "soupName": "accounts", "fieldlist": ["Name"]]],
      ]
      let state = try await manager.syncDown(target: target, soupName: "accounts")
      #expect(state.status == .failed && state.error.contains("'relayToken'"), "\(state.error)")
    }
  }

  // MARK: Child subqueries

  /// Children come in pages of their own, and theirs too; their numbers keep their digits.
  @Test func syncDown_childSubquery_bringsAllChildren() async throws {
    @Sendable func list(_ children: [String], next: String?) -> String {
      let more = next.map { #","nextRecordsUrl":"/services/data/v66.0/query/\#($0)""# } ?? ""
      return #"{"totalSize":5,"done":\#(next == nil)\#(more),"records":[\#(children.joined(separator: ","))]}"#
    }
    @Sendable func child(_ id: Int, _ more: String = "") -> String {
      #"{"Id":"003-\#(id)","n":0.10000000000000000\#(id)\#(more)}"#
    }
    let answer: ScriptedServer.Handler = { request in
      switch request.path.split(separator: "/").last {
      case "a-2": .json(list([child(3)], next: "a-3"))
      case "a-3": .json(list([child(4, #","Cases":"# + list([#"{"Id":"500-1"}"#], next: "c-2"))], next: nil))
      case "c-2": .json(list([#"{"Id":"500-2"}"#], next: nil))
      case "b-2": .json(list([child(6)], next: nil))
      default:
        .json(
          #"""
          {"totalSize":2,"done":true,"records":[
          {"Id":"001-1","LastModifiedDate":"2024-01-01T10:00:00.000+0000","Name":"\"nextRecordsUrl\"","x":1.50,
           "Contacts":\#(list([child(1), child(2)], next: "a-2")),"Others":\#(list([child(5)], next: "b-2")),"Last":true},
          {"Id":"001-2","LastModifiedDate":"2024-01-01T10:00:00.000+0000","Contacts":null}]}
          """#)
      }
    }
    try await with(answer) { bench, manager, _ async throws in
      let target: JSONObject = [
        "type": "soql", "query": "SELECT Id, (SELECT Id, (SELECT Id FROM Cases) FROM Contacts) FROM Account",
      ]
      let state = try await manager.syncDown(target: target, soupName: "accounts")
      #expect(state.status == .done && state.counts.stored == 2, "\(state.error)")
      let text = try String(
        decoding: bench.store.query(.smart("select {accounts:_soup} from {accounts} where {accounts:Id} = '001-1'", pageSize: 1)),
        as: UTF8.self)
      #expect(!text.contains("/query/") && text.contains(#""x":1.50"#) && text.contains(#""Last":true"#))
      for id in 1...6 { #expect(text.contains(#""n":0.10000000000000000\#(id)"#), "child \(id)") }
      #expect(text.contains("500-1") && text.contains("500-2"))
    }
  }

  @Test func syncDown_childSubqueryWithoutEnd_fails() async throws {
    let asked = Mutex(0)
    let answer: ScriptedServer.Handler = { request in
      let number = asked.withLock { count in
        count += 1
        return count
      }
      let list: JSONObject = [
        "totalSize": 1, "done": false, "nextRecordsUrl": .string("/services/data/v66.0/query/p-\(number)"),
        "records": [["Id": "003-1"]],
      ]
      return request.path.contains("/p-")
        ? .json(JSONValue.object(list).text) : Self.page([Self.record("001-1", ["Contacts": .object(list)])])
    }
    for target in [["type": "soql", "query": "SELECT Id, (SELECT Id FROM Contacts) FROM Account"], Self.families] as [JSONObject]
    {
      try await with(answer) { _, manager, server async throws in
        let state = try await manager.syncDown(target: target, soupName: "accounts")
        #expect(state.status == .failed && state.error.contains("without end"), "\(state.error)")
        #expect(server.requests.count < 20)
      }
    }
  }

  // MARK: Long URLs

  /// However long the field list is, no request line is longer than front ends of orgs accept.
  @Test(arguments: [1, 300, 370]) func refreshAndMru_longFieldlists_areSplit(fields: Int) async throws {
    let ids = (0..<240).map { "001000000000\(String($0 + 100_000))" }
    let answer: ScriptedServer.Handler = { request in
      if request.path.hasSuffix("/sobjects/Account") {
        return .json(JSONValue.object(["recentItems": .array(ids.prefix(200).map { ["Id": .string($0)] })]).text)
      }
      let named = Set(request.query.replacing("%27", with: "'").split(separator: "'").map(String.init))
      let asked = ids.filter(named.contains)
      return Self.page(asked.map { Self.record($0) }, total: Int64(asked.count))
    }
    try await with(answer) { bench, manager, server async throws in
      let rows = ids.map { JSONValue.object(["Id": .string($0), "Name": "old"]) }
      try bench.store.upsert(JSONValue.array(rows).text, into: "accounts")
      let list = JSONValue.array((0..<fields).map { .string("Custom_Field_With_Long_Name_\($0)__c") })
      let refresh: JSONObject = ["type": "refresh", "sobjectType": "Account", "soupName": "accounts", "fieldlist": list]
      let state = try await manager.syncDown(target: refresh, soupName: "accounts", syncName: "r")
      #expect(state.status == .done && state.counts.fetched == 240, "\(state.error)")
      #expect(try await manager.cleanGhosts(named: "r") == 0)
      let recent: JSONObject = ["type": "mru", "sobjectType": "Account", "fieldlist": list]
      let mru = try await manager.syncDown(target: recent, soupName: "accounts", syncName: "m")
      #expect(mru.status == .done && mru.counts.fetched == 200, "\(mru.error)")
      #expect(try await manager.cleanGhosts(named: "m") == 0)
      #expect(server.requests.allSatisfy { $0.target.utf8.count <= 16_000 })
    }
  }
}
