import JSON
import RestClient
import SandboxOrg
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Guarantees of the engine beyond those of the Mobile SDK.
@Suite struct GuaranteeTests {
  // MARK: No local edit is lost

  /// Runs `edit` while the first request of this method is answered, before the answer is written
  /// back.
  private func during(_ method: String, _ bench: SyncBench, _ edit: @escaping @Sendable () -> Void) {
    let isFirst = Mutex(true)
    bench.org.setInterceptor { request in
      if request.method == method,
        isFirst.withLock({ first in
          defer { first = false }
          return first
        })
      {
        edit()
      }
      return nil
    }
  }

  @Test func syncUp_editedWhileUploaded_staysDirty() async throws {
    let bench = try await SyncBench(accounts: 1)
    _ = try await bench.down()
    try bench.updateLocally("Account 0", ["Description": "first"])
    during("PATCH", bench) { try? bench.updateLocally("Account 0", ["Description": "second"]) }
    let end = try await bench.up()
    #expect(end.counts.succeeded == 1)
    let entry = try #require(try bench.entry(named: "Account 0"))
    #expect(entry["Description"] == "second" && entry["__local__"] == true)
    bench.org.setInterceptor(nil)
    _ = try await bench.up()
    #expect(try bench.onServer(try #require(entry["Id"]?.stringValue))?["Description"] == "second")
    #expect(try bench.dirtyCount() == 0)
    await bench.close()
  }

  @Test func syncUp_createdRecordEditedWhileUploaded_becomesAnUpdate() async throws {
    let bench = try await SyncBench()
    try bench.createLocally("A")
    during("POST", bench) { try? bench.updateLocally("A", ["Description": "second"]) }
    _ = try await bench.up()
    let entry = try #require(try bench.entry(named: "A"))
    #expect(entry["Id"]?.stringValue?.hasPrefix("001") == true && entry["Description"] == "second")
    #expect(entry["__local__"] == true && entry["__locally_created__"] == false && entry["__locally_updated__"] == true)
    _ = try await bench.up()
    #expect(try bench.serverNames() == ["A"] && bench.dirtyCount() == 0)
    await bench.close()
  }

  @Test func syncUp_createdRecordDeletedWhileUploaded_isDeletedNext() async throws {
    let bench = try await SyncBench()
    try bench.createLocally("A")
    during("POST", bench) { try? bench.deleteLocally("A") }
    _ = try await bench.up()
    #expect(try bench.entry(named: "A")?["__locally_deleted__"] == true)
    _ = try await bench.up()
    #expect(try bench.serverNames().isEmpty && bench.entries().isEmpty)
    await bench.close()
  }

  @Test func syncUp_deletionTakenBackWhileUploaded_createsItAgain() async throws {
    let bench = try await SyncBench(accounts: 1)
    _ = try await bench.down()
    try bench.deleteLocally("Account 0")
    during("DELETE", bench) {
      guard var entry = try? bench.entry(named: "Account 0") else { return }
      entry["__local__"] = false
      entry["__locally_deleted__"] = false
      _ = try? bench.save(entry)
    }
    _ = try await bench.up()
    #expect(try bench.serverNames().isEmpty && bench.dirtyCount() == 1)
    _ = try await bench.up()
    #expect(try bench.serverNames() == ["Account 0"] && bench.dirtyCount() == 0)
    await bench.close()
  }

  // MARK: No duplicate create

  @Test func syncUp_answerLost_createsOnce() async throws {
    let bench = try await SyncBench(realTime: true)
    for n in 0..<3 { try bench.createLocally("A\(n)", ["Description": .string("  d\(n) ")]) }
    bench.org.setInterceptor { $0.method == "POST" ? .dropAfterHandling : nil }
    let lost = try await bench.up()
    #expect(lost.status == .failed && lost.failure?.code == "noResponse" && lost.counts.succeeded == 0)
    #expect(try bench.serverNames().count == 3 && bench.dirtyCount() == 3)
    bench.org.setInterceptor(nil)
    bench.org.clearRequests()
    let again = try await bench.up()
    #expect(again.status == .done && again.totalSize == 3 && again.counts.succeeded == 3, "found, not sent")
    #expect(try bench.serverNames() == ["A0", "A1", "A2"] && bench.dirtyCount() == 0)
    #expect(bench.requests() == ["GET /services/data/v66.0/query"])
    for n in 0..<3 {
      let entry = try #require(try bench.entry(named: "A\(n)"))
      #expect(try bench.onServer(try #require(entry["Id"]?.stringValue))?["Name"] == entry["Name"])
    }
    await bench.close()
  }

  @Test func syncUp_requestLost_sendsItAgain() async throws {
    let bench = try await SyncBench(realTime: true)
    try bench.createLocally("A")
    bench.org.setInterceptor { $0.method == "POST" ? .dropBeforeHandling : nil }
    #expect(try await bench.up().status == .failed)
    bench.org.setInterceptor(nil)
    #expect(try await bench.up().counts.succeeded == 1)
    #expect(try bench.serverNames() == ["A"] && bench.dirtyCount() == 0)
    await bench.close()
  }

  @Test func syncUp_refused_needsNoLook() async throws {
    let bench = try await SyncBench(realTime: true)
    try bench.createLocally("A")
    bench.org.setInterceptor { $0.method == "POST" ? .respond(status: 400, body: #"[{"message":"m","errorCode":"X"}]"#) : nil }
    let end = try await bench.up()
    #expect(end.status == .failed && end.error == #"[{"message":"m","errorCode":"X"}]"#)
    #expect(try bench.store.readBlocking { try $0.unsettledUploads(in: "accounts") }.isEmpty)
    await bench.close()
  }

  @Test func syncUp_answerLostAndTwoAlike_staysInDoubt() async throws {
    let bench = try await SyncBench(realTime: true)
    let id = try bench.createLocally("A", ["Description": "d"])
    bench.org.setInterceptor { $0.method == "POST" ? .dropAfterHandling : nil }
    _ = try await bench.up()
    bench.org.setInterceptor(nil)
    try bench.org.create("Account", fields: ["Name": "A", "Description": "d"])
    for _ in 0..<2 {
      let end = try await bench.up()
      #expect(end.status == .done && end.counts.inDoubt == 1 && end.totalSize == 1 && end.counts.succeeded == 0)
      let entry = try #require(try bench.entry(named: "A"))
      let error = try JSONValue(parsing: try #require(entry["__last_error__"]?.stringValue))
      #expect(error["errorCode"] == "IN_DOUBT" && entry["__local__"] == true)
      #expect(entry["_soupEntryId"] == .integer(id))
    }
    #expect(try bench.serverNames() == ["A", "A"])
    // One of the two is deleted, so now it can be decided.
    let second = try bench.org.query("SELECT Id FROM Account")["records"]?.arrayValue?.last?["Id"]?.stringValue
    try bench.org.delete("Account", id: try #require(second))
    _ = try await bench.up()
    #expect(try bench.serverNames() == ["A"] && bench.dirtyCount() == 0)
    await bench.close()
  }

  @Test func syncUp_answerLostThenEdited_isFoundAndUpdated() async throws {
    let bench = try await SyncBench(realTime: true)
    try bench.createLocally("A")
    bench.org.setInterceptor { $0.method == "POST" ? .dropAfterHandling : nil }
    _ = try await bench.up()
    bench.org.setInterceptor(nil)
    var entry = try #require(try bench.entry(named: "A"))
    entry["Name"] = "Another"
    try bench.save(entry)
    let end = try await bench.up()
    #expect(end.status == .done && end.counts.inDoubt == 0 && end.counts.succeeded == 1)
    #expect(try bench.serverNames() == ["Another"] && bench.dirtyCount() == 0)
    await bench.close()
  }

  /// An older build did not store what it sent, so after an edit it is undecidable.
  @Test func syncUp_answerLostThenEditedUnderAnOlderBuild_staysInDoubt() async throws {
    let bench = try await SyncBench(realTime: true)
    let entryId = try bench.createLocally("A")
    try bench.org.create("Account", fields: ["Name": "A"])
    try bench.store.writeBlocking(.synced) { transaction in
      let version = try transaction.entry(entryId, in: "accounts")?.version ?? 0
      let record = UploadRecord(
        entryId: entryId, version: version, syncId: 77, operation: .create, sentAt: SyncConfiguration.systemTime())
      try transaction.journal([record], in: "accounts")
    }
    try bench.updateLocally("A", ["Name": "Another"])
    #expect(try await bench.up().counts.inDoubt == 1)
    #expect(try bench.serverNames() == ["A"])
    await bench.close()
  }

  /// The outbox of a process that died between sending and writing back.
  @Test func syncUp_processDiedAfterSending_adoptsTheRecord() async throws {
    let bench = try await SyncBench(realTime: true)
    let entryId = try bench.createLocally("A")
    let id = try bench.org.create("Account", fields: ["Name": "A"])
    try bench.store.writeBlocking(.synced) { transaction in
      let version = try transaction.entry(entryId, in: "accounts")?.version ?? 0
      let record = UploadRecord(
        entryId: entryId, version: version, syncId: 1, operation: .create, sentAt: SyncConfiguration.systemTime())
      try transaction.journal([record], in: "accounts")
    }
    _ = try await bench.up()
    #expect(try bench.serverNames() == ["A"])
    #expect(try bench.entry(named: "A")?["Id"] == .string(id) && bench.dirtyCount() == 0)
    await bench.close()
  }

  // MARK: No server change is missed

  @Test func reSync_changedInTheSameSecond_findsIt() async throws {
    let bench = try await SyncBench(realTime: true)
    for n in 0..<3 { try bench.org.create("Account", fields: ["Name": .string("A\(n)")]) }
    let first = try await bench.down(name: "accounts")
    try bench.org.create("Account", fields: ["Name": "late"])
    let again = try await bench.manager.reSync(.name("accounts"))
    #expect(again.totalSize == 1 && again.counts.fetched == 1 && again.counts.stored == 1)
    #expect(try bench.names() == bench.serverNames())
    let nothing = try await bench.manager.reSync(.id(first.id))
    #expect(nothing.totalSize == 0 && nothing.counts.stored == 0 && nothing.counts.requests == 1)
    await bench.close()
  }

  /// Two records that were committed after the first query, with earlier stamps.
  @Test func reSync_committedLate_findsIt() async throws {
    let store = try ScriptedStore()
    let stamps = ["2024-01-01T10:00:00.000+0000", "2024-01-01T10:00:30.000+0000"]
    let server = try ScriptedServer(
      .page([("A1", stamps[0]), ("A2", stamps[1])], date: "Mon, 01 Jan 2024 10:00:31 GMT"),
      .page(
        [("A3", "2024-01-01T10:00:10.000+0000"), ("A1", stamps[0]), ("A2", stamps[1])], date: "Mon, 01 Jan 2024 10:05:00 GMT"),
      .page([], date: "Mon, 01 Jan 2024 10:09:00 GMT"))
    let manager = try store.manager(server)
    _ = try await manager.syncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "s")
    let recorder = UpdateRecorder()
    try manager.reSync(.name("s"), onUpdate: recorder.listener)
    let again = await recorder.ended()
    #expect(recorder.lines == ["RUNNING 0/-1", "RUNNING 0/1", "DONE 100/1"] && again.counts.fetched == 1)
    // A minute before the server's time of the first query, minus the time that the answer took.
    let asked = try #require(server.requests[1].query.removingPercentEncoding?.firstMatch(of: /LastModifiedDate > (\S+)/)?.1)
    let since = try #require(TimeStamp.milliseconds(String(asked)))
    #expect(since <= (try #require(TimeStamp.milliseconds("2024-01-01T09:59:31.000+0000"))))
    _ = try await manager.reSync(.name("s"))
    #expect(server.requests[2].query.contains("LastModifiedDate%20%3E%202024-01-01T10%3A00%3A30.000%2B0000"))
    await store.close()
  }

  /// The worked example of the Mobile SDK: its requests, its callbacks and its stamps.
  @Test func reSync_workedExample_isAsInTheModel() async throws {
    let store = try ScriptedStore()
    let server = try ScriptedServer(
      .page(
        [("A1", "2024-01-01T10:00:00.000+0000"), ("A2", "2024-01-01T10:00:05.000+0000"), ("A3", "2024-01-01T10:00:05.000+0000")],
        date: "Mon, 01 Jan 2024 10:06:00 GMT"),
      .page([("A2", "2024-01-01T10:07:00.000+0000")], date: "Mon, 01 Jan 2024 10:20:00 GMT"))
    let manager = try store.manager(server)
    let first = UpdateRecorder(), second = UpdateRecorder()
    try manager.syncDown(
      target: ["type": "soql", "query": "SELECT Name FROM Account"], soupName: "accounts", onUpdate: first.listener)
    let a = await first.ended()
    try manager.reSync(.id(a.id), onUpdate: second.listener)
    let b = await second.ended()
    #expect(first.lines == ["RUNNING 0/-1", "RUNNING 0/3", "DONE 100/3"] && a.maxTimeStamp == 1_704_103_205_000)
    #expect(second.lines == ["RUNNING 0/-1", "RUNNING 0/1", "DONE 100/1"] && b.maxTimeStamp == 1_704_103_620_000)
    #expect(
      server.requests.map(\.target) == [
        "/services/data/v66.0/query?q=select%20Id%2CLastModifiedDate%2CName%20from%20Account%20order%20by%20LastModifiedDate",
        "/services/data/v66.0/query?q=select%20Id%2CLastModifiedDate%2CName%20from%20Account%20where%20LastModifiedDate"
          + "%20%3E%202024-01-01T10%3A00%3A05.000%2B0000%20order%20by%20LastModifiedDate",
      ])
    await store.close()
  }

  /// A known record that is read again without changes keeps its entry, including a local edit.
  @Test func reSync_knownRecordEditedHere_keepsTheEdit() async throws {
    let bench = try await SyncBench(realTime: true)
    try bench.org.create("Account", fields: ["Name": "A"])
    _ = try await bench.down(name: "s")
    try bench.updateLocally("A", ["Description": "mine"])
    let again = try await bench.manager.reSync(.name("s"))
    #expect(again.totalSize == 0)
    #expect(try bench.entry(named: "A")?["Description"] == "mine" && bench.dirtyCount() == 1)
    await bench.close()
  }

  // MARK: One bad record

  @Test func syncUp_oneOfABatchDeletedThere_everyAnswerIsProcessed() async throws {
    let bench = try await SyncBench(accounts: 3)
    _ = try await bench.down()
    let gone = try #require(try bench.entry(named: "Account 0")?["Id"]?.stringValue)
    try bench.org.delete("Account", id: gone)
    for n in 0..<3 { try bench.updateLocally("Account \(n)", ["Description": "mine"]) }
    for n in 0..<3 { try bench.createLocally("New \(n)") }
    bench.org.clearRequests()
    let end = try await bench.up()
    #expect(end.counts.succeeded == 6)
    #expect(try bench.serverNames() == ["Account 0", "Account 1", "Account 2", "New 0", "New 1", "New 2"])
    #expect(bench.requests().filter { $0.hasPrefix("POST") && $0.hasSuffix("composite/sobjects") }.count == 2)
    await bench.close()
  }

  @Test func syncUp_wrongLookup_doesNotTurnTheUpdateIntoACreate() async throws {
    let bench = try await SyncBench(accounts: 1)
    _ = try await bench.down()
    try bench.updateLocally("Account 0", ["Description": "mine"])
    bench.org.setInterceptor { request in
      guard request.method == "PATCH" else { return nil }
      let item =
        #"{"success":false,"errors":[{"statusCode":"INVALID_CROSS_REFERENCE_KEY","message":"x","fields":[]}]}"#
      return .respond(status: 200, headers: [("Content-Type", "application/json")], body: "[\(item)]")
    }
    let end = try await bench.up()
    #expect(end.status == .done && end.counts.failed == 1)
    #expect(try bench.serverNames() == ["Account 0"] && bench.dirtyCount() == 1)
    #expect(try bench.entry(named: "Account 0")?["__locally_created__"] != true)
    await bench.close()
  }

  @Test func syncUp_laterRequestOfABatchFails_earlierAnswersAreKept() async throws {
    let bench = try await SyncBench(accounts: 1)
    _ = try await bench.down()
    try bench.updateLocally("Account 0", ["Description": "mine"])
    try bench.createLocally("New")
    bench.org.setInterceptor { $0.method == "PATCH" ? .dropBeforeHandling : nil }
    let end = try await bench.up()
    #expect(end.status == .failed && end.counts.succeeded == 1 && end.progress == 50)
    #expect(try bench.entry(named: "New")?["__local__"] == false && bench.dirtyCount() == 1)
    bench.org.setInterceptor(nil)
    #expect(try await bench.up().counts.succeeded == 1)
    #expect(try bench.serverNames() == ["Account 0", "New"])
    await bench.close()
  }
}
