import Foundation
import JSON
import RestClient
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Rows P2–P9 of the acceptance list.
@Suite struct ParentChildrenDownTests {
  /// A server with accounts and contacts that understands the target's own queries.
  private final class ParentChildrenServer: Sendable {
    struct Child: Sendable {
      var name: String
      var stamp: Int64
    }
    struct Parent: Sendable {
      var name: String
      var stamp: Int64
      var children: [String: Child] = [:]
    }

    static let start: Int64 = 1_704_103_200_000
    let parents = Mutex<[String: Parent]>([:])
    private let pageSize: Int

    init(_ families: [Int], pageSize: Int) {
      self.pageSize = pageSize
      parents.withLock { parents in
        for (n, count) in families.enumerated() {
          var parent = Parent(name: "Account \(n)", stamp: Self.start + Int64(n) * 1000)
          for m in 0..<count {
            parent.children["003\(n)\(m)"] = Child(name: "Contact \(n).\(m)", stamp: Self.start + 500 + Int64(n) * 1000)
          }
          parents["001\(n)"] = parent
        }
      }
    }

    func change(_ body: (inout [String: Parent]) -> Void) { parents.withLock { body(&$0) } }

    /// Pages have the address `/query/<position>?q`, which includes the query itself.
    func answer(_ request: RecordedRequest) -> ScriptedAnswer {
      let soql = decoded(request.query)
      let first = Int(request.path.split(separator: "/").last ?? "") ?? 0
      let since = soql.range(of: "LastModifiedDate > ").flatMap { range in
        TimeStamp.milliseconds(String(soql[range.upperBound...].prefix(28)))
      }
      let name = soql.range(of: "Name >= '").map { String(soql[$0.upperBound...].prefix { $0 != "'" }) }
      let below = soql.range(of: "Name < '").map { String(soql[$0.upperBound...].prefix { $0 != "'" }) }
      let rows = parents.withLock { parents in
        parents.sorted { $0.value.stamp < $1.value.stamp }.filter { _, parent in
          if parent.stamp <= since ?? -1 || parent.name < name ?? "" { return false }
          return below.map { parent.name < $0 } ?? true
        }
      }
      let hasChildren = soql.contains("from Contacts")
      let records = rows.dropFirst(first).prefix(pageSize).map { id, parent in
        row(id, parent, since ?? -1, hasChildren: hasChildren)
      }
      var body: JSONObject = [
        "totalSize": .integer(Int64(rows.count)), "done": .bool(first + pageSize >= rows.count), "records": .array(records),
      ]
      if first + pageSize < rows.count {
        body["nextRecordsUrl"] = .string("/services/data/v66.0/query/\(first + pageSize)?\(request.query)")
      }
      return .json(body.text, headers: [("Date", "Mon, 01 Jan 2024 12:00:00 GMT")])
    }

    private func row(_ id: String, _ parent: Parent, _ since: Int64, hasChildren: Bool) -> JSONValue {
      var row: JSONObject = [
        "attributes": ["type": "Account"], "Id": .string(id), "Name": .string(parent.name),
        "LastModifiedDate": .string(TimeStamp.text(parent.stamp)),
      ]
      guard hasChildren else { return .object(row) }
      let children = parent.children.filter { $0.value.stamp > since }.sorted { $0.key < $1.key }.map { id, child -> JSONValue in
        [
          "attributes": ["type": "Contact"], "Id": .string(id), "LastName": .string(child.name), "AccountId": "as it was",
          "LastModifiedDate": .string(TimeStamp.text(child.stamp)),
        ]
      }
      let list: JSONValue = ["totalSize": .integer(Int64(children.count)), "done": true, "records": .array(children)]
      row["Contacts"] = children.isEmpty ? JSONValue.null : list
      return .object(row)
    }

    private func decoded(_ query: String) -> String {
      var bytes: [UInt8] = [], rest = Array(query.utf8)[...]
      while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
          bytes.append(value)
          rest = rest.dropFirst(2)
        } else {
          bytes.append(byte)
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  private static let childSpecs = [
    IndexSpec(path: "Id", type: .string), IndexSpec(path: "AccountId", type: .string),
    IndexSpec(path: "__local__", type: .string), IndexSpec(path: "__sync_id__", type: .integer),
  ]

  private final class Bench: Sendable {
    let org: ParentChildrenServer
    let server: ScriptedServer
    let stores: ScriptedStore
    let manager: SyncManager

    init(_ families: [Int], pageSize: Int = 2000) throws {
      let org = ParentChildrenServer(families, pageSize: pageSize)
      self.org = org
      server = try ScriptedServer { org.answer($0) }
      stores = try ScriptedStore()
      try stores.store.registerSoup("contacts", indexSpecs: ParentChildrenDownTests.childSpecs)
      manager = try stores.manager(server)
    }

    func close() async {
      await stores.close()
      server.stop()
    }

    func down(_ filter: String? = nil, _ mode: String = "OVERWRITE", name: String? = nil) async throws -> SyncState {
      try await manager.syncDown(
        target: ParentChildrenDownTests.target(filter), options: ["mergeMode": .string(mode)], soupName: "accounts",
        syncName: name)
    }

    var parents: String { get throws { try rows("select {accounts:Name} from {accounts} order by {accounts:Name}") } }
    var children: String { get throws { try rows("select {contacts:LastName} from {contacts} order by {contacts:LastName}") } }
    func rows(_ sql: String) throws -> String { try stores.store.rows(sql) }

    func edit(_ soup: String, _ id: String, _ entry: JSONObject, updated: Bool = true) throws {
      var entry = entry
      entry["Id"] = .string(id)
      entry["__local__"] = true
      entry[updated ? "__locally_updated__" : "__locally_deleted__"] = true
      _ = try stores.store.upsert(JSONValue.array([.object(entry)]).serialized(), into: soup, externalIdPath: "Id")
    }
  }

  private static func target(_ filter: String? = nil) -> JSONObject {
    var json: JSONObject = [
      "type": "parent_children", "parent": ["sobjectType": "Account", "soupName": "accounts"],
      "parentFieldlist": ["Id", "Name"],
      "children": [
        "sobjectType": "Contact", "sobjectTypePlural": "Contacts", "soupName": "contacts", "parentIdFieldName": "AccountId",
      ],
      "childrenFieldlist": ["LastName", "AccountId"], "relationshipType": "MASTER_DETAIL",
    ]
    if let filter { json["parentSoqlFilter"] = .string(filter) }
    return json
  }

  // MARK: Down

  @Test func syncDown_families_fillTwoSoups() async throws {
    let bench = try Bench([2, 0, 1])
    let recorder = UpdateRecorder()
    try bench.manager.syncDown(target: Self.target(), soupName: "accounts", onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(recorder.lines == ["RUNNING 0/-1", "RUNNING 0/3", "DONE 100/3"], "parents alone are counted")
    #expect(end.counts.requests == 1 && end.maxTimeStamp == ParentChildrenServer.start + 2500, "the newest is a child")
    #expect(try bench.children == #"[["Contact 0.0"],["Contact 0.1"],["Contact 2.0"]]"#)
    let rows = try bench.rows(
      "select {contacts:Id}, {contacts:AccountId}, {contacts:__sync_id__}, {contacts:__local__} from {contacts}"
        + " order by {contacts:Id}")
    #expect(
      rows
        == #"[["00300","0010",\#(end.id),"false"],["00301","0010",\#(end.id),"false"],["00320","0012",\#(end.id),"false"]]"#)
    #expect(try bench.stores.entries().allSatisfy { $0["Contacts"] == nil && $0["__sync_id__"] == .integer(end.id) })
    await bench.close()
  }

  @Test func syncDown_stoppedBetweenPages_goesOn() async throws {
    let bench = try Bench([1, 1, 1, 1], pageSize: 2)
    let manager = bench.manager
    let recorder = UpdateRecorder { if $0.progress == 50 { manager.stop() } }
    try manager.syncDown(target: Self.target(), soupName: "accounts", syncName: "f", onUpdate: recorder.listener)
    let stopped = await recorder.ended()
    #expect(stopped.status == .stopped && stopped.maxTimeStamp == ParentChildrenServer.start + 1000, "children do not jump ahead")
    await manager.waitUntilIdle()
    try manager.restart(restartStopped: false) { _ in }
    #expect(try await manager.reSync(.name("f")).status == .done)
    #expect(try bench.parents == #"[["Account 0"],["Account 1"],["Account 2"],["Account 3"]]"#)
    #expect(try bench.rows("select count(*) from {contacts}") == "[[4]]")
    await bench.close()
  }

  // MARK: Local changes

  /// A family is dirty if its parent or any of its children is.
  @Test func syncDown_leaveIfChanged_leavesWholeFamiliesAlone() async throws {
    let bench = try Bench([1, 1, 1, 0])
    _ = try await bench.down()
    try bench.edit("accounts", "0010", ["Name": "mine 0"])
    try bench.edit("contacts", "00310", ["LastName": "mine 1", "AccountId": "0011"], updated: false)
    bench.org.change { parents in
      for id in parents.keys {
        parents[id]?.name += " new"
        for child in parents[id]?.children.keys.map({ $0 }) ?? [] { parents[id]?.children[child]?.name += " new" }
      }
    }
    let end = try await bench.down(nil, "LEAVE_IF_CHANGED")
    #expect(end.counts.fetched == 4 && end.counts.stored == 2 && end.counts.conflicting == 2 && end.totalSize == 4)
    #expect(try bench.parents == #"[["Account 1"],["Account 2 new"],["Account 3 new"],["mine 0"]]"#)
    #expect(try bench.children == #"[["Contact 0.0"],["Contact 2.0 new"],["mine 1"]]"#)
    #expect(try await bench.down().counts.stored == 4)
    #expect(try bench.parents == #"[["Account 0 new"],["Account 1 new"],["Account 2 new"],["Account 3 new"]]"#)
    #expect(try bench.children == #"[["Contact 0.0 new"],["Contact 1.0 new"],["Contact 2.0 new"]]"#)
    await bench.close()
  }

  // MARK: Again

  @Test func reSync_parentsAndChildrenChanged_bringsChangedFamilies() async throws {
    let bench = try Bench([1, 1, 1])
    let first = try await bench.down(name: "f")
    bench.org.change { parents in
      parents["0011"]?.stamp = ParentChildrenServer.start + 60_000
      parents["0011"]?.children["00310"] = ParentChildrenServer.Child(name: "new", stamp: ParentChildrenServer.start + 61_000)
      parents["0012"]?.children["00320"] = ParentChildrenServer.Child(name: "unseen", stamp: ParentChildrenServer.start + 62_000)
    }
    let end = try await bench.manager.reSync(.name("f"))
    #expect(end.totalSize == 1 && end.counts.fetched == 1 && end.counts.requests == 1)
    #expect(end.maxTimeStamp == ParentChildrenServer.start + 61_000 && end.maxTimeStamp > first.maxTimeStamp)
    #expect(
      try bench.children == #"[["Contact 0.0"],["Contact 2.0"],["new"]]"#, "a child that changed alone is not seen")
    let quiet = try await bench.manager.reSync(.name("f"))
    #expect(quiet.totalSize == 0 && quiet.counts.requests == 1)
    await bench.close()
  }

  // MARK: Ghosts

  @Test func cleanResyncGhosts_deletedParent_goesWithItsChildren() async throws {
    let bench = try Bench([2, 1, 2], pageSize: 2)
    let end = try await bench.down()
    bench.org.change { parents in
      parents["0010"] = nil
      parents["0012"]?.children["00320"] = nil
    }
    #expect(try await bench.manager.cleanResyncGhosts(.id(end.id)) == 1, "parents are counted")
    #expect(try bench.parents == #"[["Account 1"],["Account 2"]]"#)
    #expect(try bench.children == #"[["Contact 1.0"],["Contact 2.1"]]"#)
    await bench.close()
  }

  @Test func cleanResyncGhosts_twoSyncsInTheSameSoups_eachCleansItsOwn() async throws {
    let bench = try Bench([1, 1, 1, 1])
    let low = try await bench.down("Name < 'Account 2'"), high = try await bench.down("Name >= 'Account 2'")
    bench.org.change { parents in
      parents["0011"] = nil
      parents["0013"] = nil
    }
    #expect(try await bench.manager.cleanResyncGhosts(.id(low.id)) == 1)
    #expect(try bench.children == #"[["Contact 0.0"],["Contact 2.0"],["Contact 3.0"]]"#)
    #expect(try await bench.manager.cleanResyncGhosts(.id(high.id)) == 1)
    #expect(try bench.children == #"[["Contact 0.0"],["Contact 2.0"]]"#)
    await bench.close()
  }

  @Test func cleanResyncGhosts_parentOfADirtyChild_stays() async throws {
    let bench = try Bench([1])
    let end = try await bench.down()
    try bench.edit("contacts", "00300", ["LastName": "mine", "AccountId": "0010"])
    bench.org.change { $0["0010"] = nil }
    #expect(try await bench.manager.cleanResyncGhosts(.id(end.id)) == 0)
    #expect(try bench.parents == #"[["Account 0"]]"# && bench.children == #"[["mine"]]"#)
    await bench.close()
  }
}
