import Dispatch
import JSON
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Many dirty records: few requests, and one transaction for the answers of each.
@Suite struct LargeUploadTests {
  private func fill(_ bench: ScriptedStore, _ count: Int) throws {
    let entries = (0..<count).map { n -> JSONValue in
      [
        "Id": .string("001\(n)"), "attributes": ["type": "Account"], "Name": .string("A\(n)"), "__local__": true,
        "__locally_updated__": true,
      ]
    }
    _ = try bench.store.upsert(JSONValue.array(entries).serialized(), into: "accounts")
  }

  private static func accepted(_ request: RecordedRequest) -> ScriptedAnswer {
    let records = (try? JSONValue(parsing: request.body))?["records"]?.arrayValue ?? []
    let answers = records.map { record -> JSONValue in ["id": record["Id"] ?? .null, "success": true, "errors": []] }
    return .json(JSONValue.array(answers).text)
  }

  @Test func syncUp_sixBatches_takesSixRequestsAndWritesBatchByBatch() async throws {
    let bench = try ScriptedStore(), store = bench.store
    // Several batches behind the one that is read ahead, and a last one that is not full.
    try fill(bench, 1_100)
    let dirty = Mutex<[Int]>([])
    let server = try ScriptedServer { request in
      let count = (try? store.readBlocking { try $0.dirtyEntryIds(in: "accounts").count }) ?? -1
      dirty.withLock { $0.append(count) }
      return Self.accepted(request)
    }
    let manager = try bench.manager(server)
    let end = try await manager.syncUp(target: nil, options: SyncBench.upload, soupName: "accounts")
    #expect(end.status == .done && end.counts.succeeded == 1_100 && end.counts.requests == 6)
    // At each request, all earlier batches are written back, and nothing of its own.
    #expect(dirty.withLock { $0 } == (0..<6).map { 1_100 - 200 * $0 })
    #expect(try store.readBlocking { try $0.dirtyEntryIds(in: "accounts") }.isEmpty)
    await bench.close()
  }

  @Test func syncUp_threeBatches_writesTheAnswersOfEachInOneTransaction() async throws {
    let bench = try ScriptedStore(), changes = Mutex<[StoreChange]>([])
    try fill(bench, 600)
    let observer = try bench.store.observe(
      soups: ["accounts"],
      onNews: { take in
        let news = take()
        changes.withLock { $0 += news }
      })
    let server = try ScriptedServer { Self.accepted($0) }
    let end = try await bench.manager(server).syncUp(target: nil, options: SyncBench.upload, soupName: "accounts")
    #expect(end.counts.succeeded == 600 && server.requests.count == 3)
    let ids = changes.withLock { $0.map(\.updated) }
    #expect(ids.map(\.count) == [200, 200, 200] && Set(ids.joined()).count == 600)
    observer.cancel()
    await bench.close()
  }

  /// An edit of that moment is sent as well: the state at the time of the claim counts.
  @Test func syncUp_batchUnderWay_nextOneIsReadMeanwhile() async throws {
    let bench = try ScriptedStore(), store = bench.store
    try fill(bench, 600)
    let batchRead = DispatchSemaphore(value: 0), reads = Mutex(0), isOverlapped = Mutex(false)
    let server = try ScriptedServer { request in
      guard request.text.contains("\"A0\"") else { return Self.accepted(request) }
      // Answered only after the second batch was read and one of its records was edited.
      let isRead = (0..<2).allSatisfy { _ in batchRead.wait(timeout: .now() + 900) == .success }
      isOverlapped.withLock { $0 = isRead && reads.withLock { $0 } == 2 }
      if var entry = try? bench.entries().first(where: { $0["Id"] == "001399" }) {
        entry["Name"] = "edited"
        _ = try? store.upsert(JSONValue.array([.object(entry)]).serialized(), into: "accounts")
      }
      return Self.accepted(request)
    }
    var configuration = SyncConfiguration()
    configuration.onBatchRead = { _ in
      reads.withLock { $0 += 1 }
      batchRead.signal()
    }
    let manager = try bench.manager(server, configuration: configuration)
    let end = try await manager.syncUp(target: nil, options: SyncBench.upload, soupName: "accounts", syncName: "up")
    #expect(end.status == .done && end.counts.succeeded == 600 && isOverlapped.withLock { $0 })
    let second = try #require(server.requests.dropFirst().first)
    #expect(second.text.contains("\"edited\"") && !second.text.contains("\"A399\""))
    let entry = try #require(try bench.entries().first { $0["Id"] == "001399" })
    #expect(entry["Name"] == "edited" && entry["__local__"] == false)
    #expect(try store.readBlocking { try $0.dirtyEntryIds(in: "accounts") }.isEmpty)
    await bench.close()
  }

  @Test func syncUp_tokenRevoked_endsFailedAndKeepsTheChanges() async throws {
    let bench = try ScriptedStore()
    try fill(bench, 3)
    let server = try ScriptedServer { _ in .restError(401, "INVALID_SESSION_ID", "Session expired or invalid") }
    let manager = try bench.manager(server)
    let recorder = UpdateRecorder()
    try manager.syncUp(options: SyncBench.upload, soupName: "accounts", onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(end.status == .failed && end.failure?.domain == "network")
    #expect(recorder.states.filter { $0.status.isTerminal }.count == 1)
    #expect(try bench.store.readBlocking { try $0.dirtyEntryIds(in: "accounts") }.count == 3)
    #expect(!manager.isRunning(end.id))
    await bench.close()
  }
}
