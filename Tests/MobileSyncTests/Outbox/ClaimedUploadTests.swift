import Dispatch
import Foundation
import JSON
import RestClient
import SandboxOrg
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Two runs of different syncs, as in two processes or hosts, send no row twice.
@Suite struct ClaimedUploadTests {
  private static let target: JSONObject = ["type": "collection"]

  private func fill(_ store: Store, _ count: Int, _ flag: String) throws {
    let entries = (0..<count).map { n -> JSONValue in
      [
        "Id": .string(flag == "__locally_created__" ? "local_\(n)" : "001\(n)"), "attributes": ["type": "Account"],
        "Name": .string("A\(n)"), "__local__": true, flag: true,
      ]
    }
    _ = try store.upsert(JSONValue.array(entries).serialized(), into: "accounts")
  }

  private static func accepted(_ request: RecordedRequest) -> ScriptedAnswer {
    let count = names(request).count
    return .json(JSONValue.array((0..<count).map { n in ["id": .string("001-\(n)"), "success": true, "errors": []] }).text)
  }

  /// Returns the names of the records in a request; ids for a deletion.
  private static func names(_ request: RecordedRequest) -> [String] {
    if request.method == "DELETE" {
      let ids = request.query.removingPercentEncoding?.firstMatch(of: /ids=([^&]*)/)?.1 ?? ""
      return ids.split(separator: ",").map(String.init)
    }
    let records = (try? JSONValue(parsing: request.body))?["records"]?.arrayValue ?? []
    return records.compactMap { $0["Name"]?.stringValue }
  }

  private static let flags = ["__locally_created__", "__locally_updated__", "__locally_deleted__"]

  /// The second run starts while the first one's request is in flight.
  @Test(arguments: flags) func syncUp_whileAnotherSendsTheRows_leavesThemAndLooksForNone(flag: String) async throws {
    let bench = try ScriptedStore(), started = DispatchSemaphore(value: 0), release = DispatchSemaphore(value: 0)
    defer { release.signal() }  // in case the test fails before it signals
    try fill(bench.store, 200, flag)
    let server = try ScriptedServer { request in
      started.signal()
      release.wait()
      return Self.accepted(request)
    }
    let first = try bench.manager(server), second = try bench.manager(server), recorder = UpdateRecorder()
    try first.syncUp(target: Self.target, options: SyncBench.upload, soupName: "accounts", onUpdate: recorder.listener)
    await server.received(1)
    let end = try await second.syncUp(target: Self.target, options: SyncBench.upload, soupName: "accounts")
    #expect(end.status == .done && end.counts.skipped == 200 && end.counts.requests == 0 && end.counts.inDoubt == 0)
    release.signal()
    #expect(await recorder.ended().counts.succeeded == 200)
    #expect(server.requests.count == 1)
    #expect(try bench.store.readBlocking { try $0.dirtyEntryIds(in: "accounts") }.isEmpty)
    #expect(try bench.store.readBlocking { try $0.unsettledUploads(in: "accounts") }.isEmpty)
    await bench.close()
  }

  /// Both share the work: their successes add up to the number of rows.
  @Test(arguments: flags) func syncUp_twoAtOnce_sendEachRowOnce(flag: String) async throws {
    let bench = try ScriptedStore()
    try fill(bench.store, 600, flag)
    let server = try ScriptedServer { Self.accepted($0) }
    let managers = try [bench.manager(server), bench.manager(server)]
    let ends = try await withThrowingTaskGroup(of: SyncState.self) { group in
      for manager in managers {
        group.addTask {
          try await manager.syncUp(
            target: ["type": "collection", "maxBatchSize": 7], options: SyncBench.upload, soupName: "accounts")
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ends.allSatisfy { $0.status == .done && $0.counts.failed == 0 })
    #expect(ends.map(\.counts.succeeded).reduce(0, +) == 600, "\(ends.map(\.counts))")
    let sent = server.requests.flatMap(Self.names)
    #expect(sent.count == 600 && Set(sent).count == 600)
    #expect(try bench.store.readBlocking { try $0.dirtyEntryIds(in: "accounts") }.isEmpty)
    await bench.close()
  }

  /// Rows claimed by a process that was killed: updates are sent at once, creates are looked up
  /// first.
  @Test func syncUp_ownerOfTheRowsIsDead_takesUpdatesAtOnceAndLooksForCreates() async throws {
    let bench = try await SyncBench(accounts: 1, realTime: true)
    _ = try await bench.down()
    try bench.updateLocally("Account 0", ["Description": "mine"])
    try bench.createLocally("New")
    try bench.store.writeBlocking(.synced) { transaction in
      let ids = try transaction.dirtyEntryIds(in: "accounts"),
        lookup = SentCreate.Lookup(
          fields: TargetFields(id: "Id", modificationDate: "LastModifiedDate"), waitMs: 0)
      for (id, operation) in zip(ids, [UploadRecord.Operation.update, .create]) {
        let version = try transaction.entry(id, in: "accounts")?.version ?? 0
        let text = SentCreate.text(lookup, type: "Account", id: nil, body: Array(#"{"Name":"New"}"#.utf8))
        let upload = UploadRecord(
          entryId: id, version: version, syncId: 99, fence: 1, operation: operation,
          sentAt: SyncConfiguration.systemTime(), sent: operation == .create ? text : nil)
        try transaction.journal([upload], in: "accounts")
      }
      let dead = "gone:4194304:1/none/1"
      _ = try transaction.acquireLease(SyncLeases.name(99), owner: dead, now: 0, duration: 1, takeover: { _ in true })
    }
    bench.org.clearRequests()
    let end = try await bench.up()
    #expect(end.status == .done && end.counts.succeeded == 1 && end.counts.skipped == 0 && end.counts.inDoubt == 1)
    #expect(bench.requests().first == "GET /services/data/v66.0/query")
    // It is unknown when the process last sent, so the waiting time starts with the search.
    #expect(try await bench.up().counts.succeeded == 1)
    #expect(try bench.serverNames() == ["Account 0", "New"] && bench.dirtyCount() == 0)
    await bench.close()
  }

  @Test func syncUp_familyWhoseChildAnotherSends_isLeft() async throws {
    let family = try await ParentChildrenBench(realTime: true)
    try family.createAccount("A", id: "local_1")
    try family.createContact("C", id: "local_2", of: "local_1")
    let other = try family.bench.anotherManager()
    let start = try other.createSyncUp(options: ["fieldlist": ["LastName"]], soupName: "contacts", syncName: "other")
    let lease = try family.bench.store.writeBlocking(.synced) { transaction in
      let lease = try other.leases.acquire(start.id, now: SyncConfiguration.systemTime(), duration: 900_000, in: transaction)
      let ids = try transaction.dirtyEntryIds(in: "contacts")
      try transaction.journal(
        [
          UploadRecord(
            entryId: ids[0], version: 1, syncId: start.id, fence: lease.fence, operation: .create,
            sentAt: SyncConfiguration.systemTime())
        ], in: "contacts")
      return lease
    }
    let left = try await family.up()
    #expect(left.status == .done && left.counts.skipped == 1 && left.counts.requests == 0 && left.counts.inDoubt == 0)
    try family.bench.store.writeBlocking(.synced) { transaction in
      try transaction.endAttempts(try transaction.dirtyEntryIds(in: "contacts"), in: "contacts")
      try transaction.releaseLease(lease)
    }
    #expect(try await family.up().counts.succeeded == 1)
    #expect(try family.serverFamilies() == ["A: C"] && family.dirtyCount() == 0)
    await other.shutdown()
    await family.close()
  }
}
