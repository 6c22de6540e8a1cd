import JSON
import RestClient
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Rows D5–D8 and G3 of the acceptance list: targets without a query of the script.
@Suite struct SimpleTargetTests {
  private let fieldlist: JSONValue = ["Name", "Description"]

  // MARK: mru

  @Test func syncDown_mru_bringsRecentRecordsWithIdAndDate() async throws {
    let bench = try await SyncBench(accounts: 3)
    try await bench.viewAccounts()
    let target: JSONObject = ["type": "mru", "sobjectType": "Account", "fieldlist": fieldlist]
    let recorder = UpdateRecorder()
    try bench.manager.syncDown(target: target, soupName: "accounts", syncName: "recent", onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(recorder.lines == ["RUNNING 0/-1", "RUNNING 0/3", "DONE 100/3"])
    #expect(end.counts.requests == 2 && end.maxTimeStamp == bench.clock.now() * 1000)
    #expect(try bench.names() == bench.serverNames())
    #expect(try await bench.manager.reSync(.name("recent")).totalSize == 3, "each run brings them all")
    await bench.close()
  }

  @Test func syncDown_mruWithoutRecentItems_asksNoFurther() async throws {
    let bench = try await SyncBench()
    let target: JSONObject = ["type": "mru", "sobjectType": "Account", "fieldlist": fieldlist]
    let end = try await bench.manager.syncDown(target: target, soupName: "accounts")
    #expect(end.status == .done && end.totalSize == 0 && end.counts.requests == 1)
    await bench.close()
  }

  @Test func cleanResyncGhosts_mru_removesDeletedOnesOnly() async throws {
    let bench = try await SyncBench(accounts: 3)
    try await bench.viewAccounts()
    let target: JSONObject = ["type": "mru", "sobjectType": "Account", "fieldlist": fieldlist]
    let end = try await bench.manager.syncDown(target: target, soupName: "accounts")
    try bench.org.delete("Account", id: try #require(try bench.entry(named: "Account 1")?["Id"]?.stringValue))
    #expect(try await bench.manager.cleanResyncGhosts(.id(end.id)) == 1)
    #expect(try bench.names() == ["Account 0", "Account 2"])
    await bench.close()
  }

  // MARK: refresh

  private func refresh(_ count: Int? = nil) -> JSONObject {
    var target: JSONObject = [
      "type": "refresh", "sobjectType": "Account", "fieldlist": fieldlist, "soupName": "accounts",
    ]
    if let count { target["countIdsPerSoql"] = .integer(Int64(count)) }
    return target
  }

  /// Creates a soup with entries that contain only ids, and one that was created here.
  private func benchWithIds(_ count: Int) async throws -> SyncBench {
    let bench = try await SyncBench()
    for n in 0..<count {
      try bench.save(["Id": .string(try bench.addAccount("Account \(n)", "d")), "__local__": false])
    }
    try bench.createLocally("mine")
    bench.org.clearRequests()
    return bench
  }

  @Test func syncDown_refresh_fillsWhatTheSoupHolds() async throws {
    let bench = try await benchWithIds(10)
    let recorder = UpdateRecorder()
    try bench.manager.syncDown(target: refresh(), soupName: "accounts", onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(recorder.lines == ["RUNNING 0/-1", "RUNNING 0/10", "DONE 100/10"])
    #expect(end.counts.requests == 1 && end.target["countIdsPerSoql"] == 500)
    #expect(try bench.entries().filter { $0["Description"] == "d" }.count == 10)
    #expect(try bench.dirtyCount() == 1, "what was made here is not asked for")
    await bench.close()
  }

  @Test func syncDown_refreshInSeveralQueries_reportsEach() async throws {
    let bench = try await benchWithIds(10)
    let recorder = UpdateRecorder()
    try bench.manager.syncDown(target: refresh(2), soupName: "accounts", onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(
      recorder.lines
        == ["RUNNING 0/-1"] + [0, 20, 40, 60, 80].map { "RUNNING \($0)/10" } + ["DONE 100/10"])
    #expect(end.counts.requests == 5 && end.maxTimeStamp == bench.clock.now() * 1000)
    await bench.close()
  }

  @Test func reSync_refreshTwoChanged_countsTheTwoAndKeepsTheTotal() async throws {
    let bench = try await benchWithIds(10)
    let first = try await bench.manager.syncDown(target: refresh(1), soupName: "accounts", syncName: "r")
    let ids = try bench.entries().compactMap { $0["Id"]?.stringValue }.filter { $0.hasPrefix("001") }.sorted()
    try bench.change(ids[0], ["Description": "new"])
    try bench.change(ids[2], ["Description": "new"])
    let recorder = UpdateRecorder()
    try bench.manager.reSync(.name("r"), onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(
      recorder.lines
        == ["RUNNING 0/-1", "RUNNING 0/10", "RUNNING 10/10", "RUNNING 10/10"]
        + Array(repeating: "RUNNING 20/10", count: 8) + ["DONE 100/10"])
    #expect(end.counts.fetched == 2 && end.counts.stored == 2 && end.maxTimeStamp > first.maxTimeStamp)
    #expect(try bench.entries().filter { $0["Description"] == "new" }.count == 2)
    await bench.close()
  }

  @Test func syncDown_refreshOfAnEmptySoup_asksNothing() async throws {
    let bench = try await SyncBench()
    let end = try await bench.manager.syncDown(target: refresh(), soupName: "accounts")
    #expect(end.status == .done && end.totalSize == 0 && bench.requests().isEmpty)
    await bench.close()
  }

  @Test func cleanResyncGhosts_refreshInSlices_removesTheDeleted() async throws {
    let bench = try await benchWithIds(5)
    let end = try await bench.manager.syncDown(target: refresh(2), soupName: "accounts")
    for name in ["Account 0", "Account 4"] {
      try bench.org.delete("Account", id: try #require(try bench.entry(named: name)?["Id"]?.stringValue))
    }
    bench.org.clearRequests()
    #expect(try await bench.manager.cleanResyncGhosts(.id(end.id)) == 2)
    #expect(bench.requests().count == 3)
    #expect(try bench.names() == ["Account 1", "Account 2", "Account 3", "mine"])
    await bench.close()
  }

  // MARK: metadata and layout

  @Test func syncDown_metadata_isOneRecordNamedAfterTheType() async throws {
    let bench = try await SyncBench()
    let end = try await bench.manager.syncDown(
      target: ["type": "metadata", "sobjectType": "Account"], soupName: "accounts", syncName: "m")
    #expect(end.totalSize == 1 && end.maxTimeStamp == -1)
    let entry = try #require(try bench.entries().first)
    #expect(entry["Id"] == "Account" && entry["keyPrefix"] == "001" && entry["label"] == "Account")
    #expect(entry["__sync_id__"] == .integer(end.id))
    _ = try await bench.manager.reSync(.name("m"))
    #expect(try bench.entries().count == 1)
    bench.org.clearRequests()
    #expect(try await bench.manager.cleanResyncGhosts(.name("m")) == 0 && bench.requests().isEmpty)
    await bench.close()
  }

  @Test func syncDown_layout_isOneRecordNamedAfterAllItsParts() async throws {
    let server = try ScriptedServer { request in
      request.path.hasSuffix("/ui-api/layout/Account")
        ? .json(#"{"id":"00h1","layoutType":"Compact","mode":"Edit","sections":[{"rows":1}]}"#)
        : .restError(404, "NOT_FOUND", request.target)
    }
    let bench = try ScriptedStore()
    let manager = try bench.manager(server)
    let target: JSONObject = [
      "type": "layout", "sobjectType": "Account", "formFactor": "Medium", "layoutType": "Compact", "mode": "Edit",
    ]
    let end = try await manager.syncDown(target: target, soupName: "accounts")
    #expect(end.status == .done && end.totalSize == 1)
    #expect(server.requests.map(\.query) == ["formFactor=Medium&layoutType=Compact&mode=Edit"])
    let entry = try #require(try bench.entries().first)
    #expect(entry["Id"] == "Account-Medium-Compact-Edit-null" && entry["id"] == "00h1")
    #expect(entry["layoutType"] == "Compact" && entry["mode"] == "Edit" && entry["sections"] == [["rows": 1]])
    await bench.close()
  }

  // MARK: sosl

  @Test func syncDown_sosl_bringsWhatTheSearchFinds() async throws {
    let server = try ScriptedServer(
      .search(["A1", "A2", "A3"]), .search(["A1", "A3"]), .text("<html>gateway</html>", type: "text/html"))
    let bench = try ScriptedStore()
    let manager = try bench.manager(server)
    let target: JSONObject = ["type": "sosl", "query": "FIND {Joe} RETURNING Account(Id, Name)"]
    let end = try await manager.syncDown(target: target, soupName: "accounts", syncName: "s")
    #expect(end.status == .done && end.totalSize == 3 && end.counts.requests == 1)
    #expect(
      server.requests.first?.target == "/services/data/v66.0/search?q=FIND%20%7BJoe%7D%20RETURNING%20Account%28Id%2C%20Name%29")
    #expect(try await manager.cleanResyncGhosts(.name("s")) == 1)
    #expect(try bench.entries().compactMap { $0["Id"]?.stringValue }.sorted() == ["A1", "A3"])
    #expect(try await manager.reSync(.name("s")).failure?.code == "invalidBody")
    await bench.close()
  }

  // MARK: soql

  /// Row D10: the server's default of 2000 needs no header, and more is not possible.
  @Test(arguments: [(nil, nil), (2000, nil), (5000, nil), (200, "batchSize=200"), (7, "batchSize=200")] as [(Int64?, String?)])
  func syncDown_batchSize_isSentWhenItIsNotTheServersOwn(size: Int64?, header: String?) async throws {
    let server = try ScriptedServer(.page([], date: "Mon, 01 Jan 2024 12:00:00 GMT"))
    let bench = try ScriptedStore()
    let manager = try bench.manager(server)
    var target = SyncBench.accounts
    if let size { target["maxBatchSize"] = .integer(size) }
    let end = try await manager.syncDown(target: target, soupName: "accounts")
    #expect(end.status == .done && server.requests.first?.header("Sforce-Query-Options") == header)
    await bench.close()
  }

  // MARK: Mistakes

  @Test(
    arguments: [
      (["type": "mru", "fieldlist": ["Id"]], "mru target: 'sobjectType' is missing"),
      (["type": "mru", "sobjectType": "Account"], "mru target: 'fieldlist' is missing"),
      (
        ["type": "mru", "sobjectType": "Account", "fieldlist": 5],
        "mru target: 'fieldlist' must be an array of field names, or a string of them with commas, got number"
      ),
      (["type": "sosl", "query": 3], "sosl target: 'query' must be a string, got number"),
      (
        ["type": "refresh", "sobjectType": "Account", "fieldlist": ["Id"], "soupName": "a", "countIdsPerSoql": 0],
        "refresh target: 'countIdsPerSoql' must be a positive integer, got 0"
      ),
      (["type": "layout"], "layout target: 'sobjectType' is missing"),
      (["type": "metadata", "sobjectType": ""], "metadata target: 'sobjectType' is missing"),
      (["type": "briefcase", "infos": []], "briefcase target: 'infos' must be a list of types that is not empty"),
      (["type": "briefcase", "infos": [[]]], "briefcase target: 'infos[1]' must be an object, got array"),
      (["type": "parent_children"], "parent_children target: 'parent' is missing"),
      (["type": "custom"], "custom target: 'luaImpl' is missing"),
      (
        ["type": "soql", "query": "SELECT Name, COUNT(Id) FROM Account GROUP BY Name"],
        "soql target: a query with GROUP BY or an aggregate function returns no records that can be synced: "
          + "SELECT Name, COUNT(Id) FROM Account GROUP BY Name"
      ),
      (
        ["type": "soql", "query": "select count( ) from Account"],
        "soql target: a query with GROUP BY or an aggregate function returns no records that can be synced: "
          + "select count( ) from Account"
      ),
      (
        ["type": "soql", "query": "SELECT SUM(Year__c)FROM Contact"],
        "soql target: a query with GROUP BY or an aggregate function returns no records that can be synced: "
          + "SELECT SUM(Year__c)FROM Contact"
      ),
      (["type": "cache"], "Wrong target type: cache"),
    ] as [(JSONObject, String)])
  func make_wrongTarget_namesTheKey(target: JSONObject, message: String) {
    #expect(throws: SyncError(.invalidTarget, message)) { try TargetRegistry.salesforce.down(target) }
  }

  /// `coundIdsPerSoql` is the spelling of one of the Mobile SDKs.
  @Test(arguments: [("countIdsPerSoql", 3), ("coundIdsPerSoql", 3), ("countIdsPerSoql", 900)])
  func make_refresh_takesBothSpellingsAndCaps(key: String, count: Int) throws {
    var json = refresh()
    json[key] = .integer(Int64(count))
    let stored = try TargetRegistry.salesforce.down(json).json
    #expect(stored["countIdsPerSoql"] == .integer(Int64(min(500, count))) && stored["coundIdsPerSoql"] == nil)
    #expect(try TargetRegistry.salesforce.down(stored).json == stored)
  }
}

extension ScriptedAnswer {
  /// Returns the answer to a search.
  static func search(_ ids: [String]) -> ScriptedAnswer {
    let rows = ids.map { id -> JSONValue in ["attributes": ["type": "Account"], "Id": .string(id), "Name": .string(id)] }
    let body: JSONValue = ["searchRecords": .array(rows)]
    return .json(body.text)
  }
}
