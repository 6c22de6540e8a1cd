import Dispatch
import JSON
import RestClient
import SandboxOrg
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Creates with lost answers: they are found whatever happened here since, and are not sent again
/// while the server may still be working on them.
@Suite struct LostAnswerTests {
  /// The engine's clock with an offset.
  private final class Device: Sendable {
    let ahead: Mutex<Int64>
    init(ahead: Int64 = 0) { self.ahead = Mutex(ahead) }

    func configuration(waitMs: Int64? = nil) -> SyncConfiguration {
      var configuration = SyncConfiguration()
      configuration.now = { SyncConfiguration.systemTime() + self.ahead.withLock { $0 } }
      if let waitMs { configuration.lostCreateWaitMs = waitMs }
      return configuration
    }
  }

  private func loseAnswers(_ bench: SyncBench) { bench.org.setInterceptor { $0.method == "POST" ? .dropAfterHandling : nil } }

  private func posts(_ bench: SyncBench) -> Int { bench.requests().filter { $0.hasPrefix("POST") }.count }

  // MARK: Wrong clocks

  @Test(arguments: [-600_000, 600_000, 86_400_000] as [Int64], UploadKind.allCases)
  func syncUp_clockOfTheDeviceIsOff_findsWhatItSent(ahead: Int64, kind: UploadKind) async throws {
    let device = Device(ahead: ahead)
    let bench = try await SyncBench(kind: kind, realTime: true, configuration: device.configuration(waitMs: 0))
    for name in ["A", "B"] { try bench.createLocally(name) }
    loseAnswers(bench)
    _ = try await bench.up()
    bench.org.setInterceptor(nil)
    bench.org.clearRequests()
    for _ in 0..<2 { #expect(try await bench.up().status == .done) }
    #expect(try bench.serverNames() == ["A", "B"] && bench.dirtyCount() == 0)
    await bench.close()
  }

  /// The clock is corrected between the two.
  @Test func syncUp_clockIsSetInBetween_waitsByTheServersClock() async throws {
    let device = Device(ahead: -600_000)
    let bench = try await SyncBench(realTime: true, configuration: device.configuration(waitMs: 300_000))
    _ = try await bench.down()
    try bench.createLocally("A")
    bench.org.setInterceptor { $0.method == "POST" ? .dropBeforeHandling : nil }
    #expect(try await bench.up().status == .failed)
    bench.org.setInterceptor(nil)
    device.ahead.withLock { $0 = 0 }
    bench.org.clearRequests()
    let end = try await bench.up()
    #expect(end.status == .done && end.counts.inDoubt == 1 && posts(bench) == 0)
    device.ahead.withLock { $0 = -600_000 + 300_001 }
    #expect(try await bench.up().counts.inDoubt == 1, "by the server's clock no time has passed")
    await bench.close()
  }

  // MARK: Late commits

  @Test(arguments: UploadKind.allCases)
  func syncUp_createIsCommittedLate_isNotSentAgain(kind: UploadKind) async throws {
    let device = Device(), log = RecordedLog()
    var configuration = device.configuration()
    configuration.logger = log.logger
    let bench = try await SyncBench(kind: kind, realTime: true, configuration: configuration)
    try bench.createLocally("A")
    try bench.org.faults.add(.lateCommit(after: .requests(2), lost: true), when: .first(1))
    let lost = try await bench.up()
    #expect(lost.status == .failed && lost.counts.inDoubt == 1)
    #expect(lost.inDoubtUntil >= lost.startTime + 600_000)
    device.ahead.withLock { $0 = 11_000 }
    let waiting = try await bench.up()
    #expect(waiting.status == .done && waiting.counts.inDoubt == 1 && waiting.inDoubtUntil == lost.inDoubtUntil)
    #expect(log.text.contains("creates are in doubt") && log.text.contains(TimeStamp.text(lost.inDoubtUntil)))
    for _ in 0..<3 where try bench.dirtyCount() > 0 { _ = try await bench.up() }
    #expect(try bench.serverNames() == ["A"] && bench.dirtyCount() == 0 && posts(bench) == 1)
    #expect(try bench.store.readBlocking { try $0.unsettledUploads(in: "accounts") }.isEmpty)
    await bench.close()
  }

  @Test func syncUp_targetsOwnWait_decidesWhenItIsSentAgain() async throws {
    let device = Device()
    let bench = try await SyncBench(realTime: true, configuration: device.configuration())
    try bench.createLocally("A")
    bench.org.setInterceptor { $0.method == "POST" ? .dropBeforeHandling : nil }
    // Longer than a loaded machine takes between two lines here.
    let target: JSONObject = ["lostCreateWaitMs": 1_800_000]
    #expect(try await bench.up(target: target).status == .failed)
    bench.org.setInterceptor(nil)
    #expect(try await bench.up().counts.inDoubt == 1)
    device.ahead.withLock { $0 = 1_800_001 }
    #expect(try await bench.up().counts.succeeded == 1)
    #expect(try bench.serverNames() == ["A"] && bench.dirtyCount() == 0)
    await bench.close()
  }

  @Test(arguments: [-1, 1.5, "5"] as [JSONValue])
  func createSyncUp_wrongWait_namesTheKey(value: JSONValue) throws {
    #expect(throws: SyncError.self) { try TargetRegistry.salesforce.up(["lostCreateWaitMs": value]) }
    do {
      _ = try TargetRegistry.salesforce.up(["lostCreateWaitMs": value])
    } catch {
      #expect(error.message.contains("'lostCreateWaitMs' must be an integer from 0 to 86400000"))
    }
  }

  // MARK: Syncs down in between

  private static let leave: JSONObject = ["mergeMode": "LEAVE_IF_CHANGED"]

  /// The record becomes visible between the search and the query of a sync down; its entry has been
  /// edited by then.
  @Test(arguments: ["OVERWRITE", "LEAVE_IF_CHANGED", "MERGE"], UploadKind.allCases)
  func syncDown_bringsWhatWasSentAndEditedSince_isOneEntry(mergeMode: String, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, realTime: true, configuration: SyncConfiguration())
    let entryId = try bench.createLocally("A", ["Description": "d"])
    try bench.org.faults.add(.lateCommit(after: .requests(1), lost: true), when: .first(1))
    #expect(try await bench.up().status == .failed)
    try bench.updateLocally("A", ["Description": "edited"])
    let down = try await bench.down(["mergeMode": .string(mergeMode)], name: "down")
    #expect(down.status == .done && down.counts.inDoubt == 0)
    let entries = try bench.entries()
    #expect(entries.count == 1 && entries[0]["_soupEntryId"] == .integer(entryId))
    #expect(entries[0]["Id"]?.stringValue?.hasPrefix("001") == true && entries[0]["Description"] == "edited")
    #expect(entries[0]["__local__"] == true && entries[0]["__locally_created__"] == false)
    #expect(entries[0]["__sync_id__"] == .integer(down.id))
    #expect(try await bench.up().counts.succeeded == 1)
    #expect(try bench.serverNames() == ["A"] && bench.dirtyCount() == 0)
    #expect(try bench.onServer(try #require(entries[0]["Id"]?.stringValue))?["Description"] == "edited")
    await bench.close()
  }

  /// Not edited here but changed on the server: the entry takes the server's version.
  @Test func syncDown_bringsWhatWasSentAndChangedThere_takesTheServersVersion() async throws {
    let bench = try await SyncBench(realTime: true, configuration: SyncConfiguration())
    try bench.createLocally("A")
    try bench.org.faults.add(.lateCommit(after: .requests(1), lost: true), when: .first(1))
    #expect(try await bench.up().status == .failed)
    #expect(try await bench.down(Self.leave, name: "down").status == .done)
    let entry = try #require(try bench.entries().first)
    #expect(try bench.entries().count == 1 && bench.dirtyCount() == 0)
    #expect(entry["LastModifiedDate"]?.stringValue != nil, "as it came down")
    #expect(try bench.store.readBlocking { try $0.arrivals(in: "accounts") }.isEmpty)
    await bench.close()
  }

  /// Another process brings the record while the create is in flight.
  @Test(arguments: [false, true]) func syncDown_ofAnotherProcessDuringTheCreate_leavesOneEntry(isEdited: Bool) async throws {
    let bench = try ScriptedStore(), release = DispatchSemaphore(value: 0)
    defer { release.signal() }  // in case the test fails before it signals
    let record = #"{"attributes":{"type":"Account"},"Id":"001X","Name":"A","LastModifiedDate":"2024-01-01T10:00:00.000+0000"}"#
    let server = try ScriptedServer { request in
      guard request.method == "POST" else { return .json(#"{"totalSize":1,"done":true,"records":[\#(record)]}"#) }
      release.wait()
      return .json(#"[{"id":"001X","success":true,"errors":[]}]"#)
    }
    var entry: JSONObject = [
      "Id": "local_1", "attributes": ["type": "Account"], "Name": "A", "__local__": true, "__locally_created__": true,
    ]
    _ = try bench.store.upsert(JSONValue.array([.object(entry)]).serialized(), into: "accounts")
    let first = try bench.manager(server), second = try bench.manager(server), recorder = UpdateRecorder()
    try first.syncUp(options: SyncBench.upload, soupName: "accounts", onUpdate: recorder.listener)
    await server.received(1)
    if isEdited {
      entry = try #require(try bench.entries().first)
      entry["Description"] = "edited"
      _ = try bench.store.upsert(JSONValue.array([.object(entry)]).serialized(), into: "accounts")
    }
    #expect(try await second.syncDown(target: SyncBench.accounts, options: Self.leave, soupName: "accounts").status == .done)
    #expect(try bench.entries().count == 2, "nobody knows yet that they are one")
    release.signal()
    #expect(await recorder.ended().counts.succeeded == 1)
    let entries = try bench.entries()
    #expect(entries.count == 1 && entries[0]["_soupEntryId"] == 1 && entries[0]["Id"] == "001X" && entries[0]["Name"] == "A")
    #expect(entries[0]["__local__"] == .bool(isEdited) && entries[0]["__locally_created__"] == false)
    #expect(entries[0]["Description"] == (isEdited ? "edited" : nil) && entries[0]["LastModifiedDate"] != nil)
    #expect(try bench.store.readBlocking { try $0.arrivals(in: "accounts") }.isEmpty)
    await bench.close()
  }

  /// A user looked up the id and set it in an entry in doubt.
  @Test func syncUp_entryInDoubtWasGivenItsId_isThatRecord() async throws {
    let bench = try await SyncBench(realTime: true, configuration: SyncConfiguration())
    try bench.createLocally("A")
    bench.org.setInterceptor { $0.method == "POST" ? .dropBeforeHandling : nil }
    #expect(try await bench.up().status == .failed)
    bench.org.setInterceptor(nil)
    let id = try bench.org.create("Account", fields: ["Name": "A as it is there"])
    try bench.updateLocally("A", ["Id": .string(id)])
    bench.org.clearRequests()
    #expect(try await bench.up().counts.succeeded == 1)
    #expect(try bench.serverNames() == ["A"] && bench.dirtyCount() == 0 && posts(bench) == 0)
    await bench.close()
  }

  // MARK: Families

  @Test func syncUp_answerForAFamilyLostAndBothEdited_isFoundAndUpdated() async throws {
    let family = try await ParentChildrenBench(realTime: true)
    try family.createAccount("A", id: "local_1")
    for n in 0..<2 { try family.createContact("C\(n)", id: "local_1\(n)", of: "local_1") }
    loseAnswers(family.bench)
    #expect(try await family.up().status == .failed)
    family.bench.org.setInterceptor(nil)
    try family.edit("accounts", "A", ["Description": "edited", "__locally_updated__": true])
    try family.edit("contacts", "C1", ["Department": "edited", "__locally_updated__": true])
    let end = try await family.up()
    #expect(end.status == .done && end.counts.inDoubt == 0)
    #expect(try family.serverFamilies() == ["A: C0 C1"] && family.dirtyCount() == 0)
    #expect(try family.storedFamilies() == family.serverFamilies())
    let accounts = try family.bench.org.query("SELECT Description FROM Account")["records"]
    let contacts = try family.bench.org.query("SELECT Department FROM Contact ORDER BY LastName")["records"]
    #expect(accounts?.arrayValue?.first?["Description"] == "edited")
    #expect(contacts?.arrayValue?.last?["Department"] == "edited")
    await family.close()
  }

  /// Children with the same name under two parents: each is found under its own parent.
  @Test func syncUp_answersForChildrenOfOneNameLost_staysWithTheirParents() async throws {
    let family = try await ParentChildrenBench(realTime: true)
    let ids = try ["A", "B"].map { try family.addFamily($0, children: 0).id }
    try await family.down()
    for (n, id) in ids.enumerated() { try family.createContact("C", id: "local_\(n)", of: id) }
    loseAnswers(family.bench)
    #expect(try await family.up().status == .failed)
    #expect(try await family.up().status == .failed)
    family.bench.org.setInterceptor(nil)
    #expect(try await family.up().status == .done)
    #expect(try family.serverFamilies() == ["A: C", "B: C"] && family.dirtyCount() == 0)
    let there = try family.bench.org.query("SELECT Id, AccountId FROM Contact")["records"]?.arrayValue ?? []
    for contact in try family.entries("contacts") {
      #expect(there.contains { $0["Id"] == contact["Id"] && $0["AccountId"] == contact["AccountId"] })
    }
    await family.close()
  }
}
