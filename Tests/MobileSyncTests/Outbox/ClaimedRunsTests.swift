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

/// Two hosts on one file, each with its own connections, manager and clock like two processes,
/// upload at the same time again and again: creates, updates and deletes, with every target.
/// Nothing is created twice, and nothing is lost.
///
/// `TUREEN_RUNS` sets the number of runs, usually 75; `.ci/run` uses more. `TUREEN_SEED` sets the
/// seed. A failure says how to repeat all of them.
@Suite struct ClaimedRunsTests {
  private static let runs = RandomSeed.count("RUNS", usual: 75)
  private static let again = RandomSeed.again(Self.self, ["RUNS": runs])

  @Test(arguments: [0, 1]) func syncUp_twoHostsManyRuns_makeNothingTwice(faults: Int) async throws {
    try await RandomSeed.walk(Self.again) { try await upload(faults: faults) }
  }

  private func upload(faults: Int) async throws {
    let org = try await Self.startOrg()
    let folder = try TemporaryFolder(), path = folder.path + "/test.sqlite"
    let hosts = try (0..<2).map { try Host(name: "h\($0)", path: path, org, seed: RandomSeed.value &+ UInt64(2 * faults + $0)) }
    let runs = max(2, Self.runs / 4)
    if faults > 0 { try org.faults.add(.dropBeforeResponse(), when: .probability(0.1), path: "**/sobjects**") }
    let counts = try await withThrowingTaskGroup(of: Host.Ended.self) { group in
      for host in hosts { group.addTask { try await host.work(runs: runs) } }
      return try await group.reduce(into: Host.Ended()) { $0.add($1) }
    }
    org.faults.clear()
    try await Self.finish(hosts[0])
    let here = try hosts[0].names(), there = try Self.names(org)
    let said: Comment = "\(Self.again): \(counts)"
    #expect(Set(there).count == there.count, said)
    #expect(here == there, said)
    #expect(Set(there).isSuperset(of: counts.kept), said)
    #expect(counts.succeeded > 0 && counts.failed == 0, said)
    for host in hosts { await host.close() }
    await org.stop()
  }

  private static func startOrg() async throws -> SandboxServer {
    var sandbox = SandboxConfiguration()
    sandbox.seed = .none
    return try await SandboxServer.start(sandbox)
  }

  private static func names(_ org: SandboxServer) throws -> [String] {
    let records = try org.query("SELECT Name FROM Account ORDER BY Name")["records"]?.arrayValue ?? []
    return records.compactMap { $0["Name"]?.stringValue }
  }

  private static func finish(_ host: Host) async throws {
    for _ in 0..<20 {
      let end = try await host.up("collection")
      if end.status == .done, end.counts.inDoubt == 0, try host.dirtyCount() == 0 { return }
    }
    Issue.record("\(again): \(try host.dirtyCount()) entries stay dirty")
  }
}

/// One of the two hosts.
private final class Host: Sendable {
  struct Ended: Sendable {
    var succeeded = 0, failed = 0
    /// Names of entries that were created and not deleted.
    var kept: Set<String> = []

    mutating func add(_ other: Ended) {
      succeeded += other.succeeded
      failed += other.failed
      kept.formUnion(other.kept)
    }
  }

  private let name: String
  private let store: Store
  private let client: SalesforceClient
  private let manager: SyncManager
  private let random: Mutex<SeededGenerator>
  private let lastId = Mutex<Int64>(0)

  init(name: String, path: String, _ org: SandboxServer, seed: UInt64) throws {
    self.name = name
    store = try TestEngine.store(at: path)
    try store.registerSoup("accounts", indexSpecs: SyncBench.specs)
    let session = Session(accessToken: try org.issueAccessToken(), instanceURL: org.url, loginURL: org.url)
    client = SalesforceClient(session: session, policy: .never, observer: SyncTrafficObserver())
    var configuration = SyncConfiguration()
    configuration.lostCreateWaitMs = 0
    configuration.unnamedSyncs = 20
    configuration.logger.logLevel = .critical
    manager = try SyncManager(store: store, client: client, configuration: configuration)
    random = Mutex(SeededGenerator(state: seed))
  }

  func close() async {
    await manager.shutdown()
    await client.shutdown()
    store.close()
  }

  private func draw(_ bound: Int) -> Int { random.withLock { Int.random(in: 0..<bound, using: &$0) } }

  func work(runs: Int) async throws -> Ended {
    var ended = Ended()
    for n in 0..<runs {
      for m in 0...draw(3) { ended.kept.insert(try create("\(name)-\(n)-\(m)")) }
      try edit("\(name).\(n)")
      if draw(3) == 0, let gone = try delete() { ended.kept.remove(gone) }
      let end = try await up(UploadKind.allCases[draw(UploadKind.allCases.count)].rawValue)
      ended.succeeded += end.counts.succeeded
      ended.failed += end.counts.failed
    }
    return ended
  }

  func up(_ type: String) async throws -> SyncState {
    try await manager.syncUp(
      target: ["type": .string(type), "maxBatchSize": .integer(Int64(1 + draw(4)))], options: SyncBench.upload,
      soupName: "accounts")
  }

  // MARK: Edits, each in one transaction

  private func create(_ name: String) throws -> String {
    try store.writeBlocking(.pulled) { transaction in
      let id = try transaction.create(
        [
          "Id": .string("local_\(name)"), "attributes": ["type": "Account"], "Name": .string(name), "__local__": true,
          "__locally_created__": true, "__locally_updated__": false, "__locally_deleted__": false,
        ], in: "accounts")
      lastId.withLock { $0 = id }
    }
    return name
  }

  /// Returns one of the last entries, whoever created it or is sending it.
  private func anyEntry(_ transaction: StoreTransaction) throws -> (id: Int64, entry: JSONObject)? {
    let id = lastId.withLock { $0 } - Int64(draw(12))
    guard let entry = try transaction.entry(id, in: "accounts")?.object() else { return nil }
    return (id, entry)
  }

  private func edit(_ text: String) throws {
    try store.writeBlocking(.pulled) { transaction in
      guard let (id, entry) = try anyEntry(transaction), entry["__locally_deleted__"] != true else { return }
      _ = try transaction.patch(
        id, in: "accounts",
        setting: ["Description": .string(text), "__local__": true, "__locally_updated__": true])
    }
  }

  /// - Returns: The name of the deleted entry, if this host created it.
  private func delete() throws -> String? {
    try store.writeBlocking(.pulled) { transaction in
      guard let (id, entry) = try anyEntry(transaction), let name = entry["Name"]?.stringValue, name.hasPrefix(self.name)
      else { return nil }
      _ = try transaction.patch(id, in: "accounts", setting: ["__local__": true, "__locally_deleted__": true])
      return name
    }
  }

  func names() throws -> [String] {
    let text = try store.query(.smart("select {accounts:Name} from {accounts} order by 1", pageSize: 100_000))
    return try JSONValue(parsing: text).arrayValue?.compactMap { $0.arrayValue?.first?.stringValue } ?? []
  }

  func dirtyCount() throws -> Int { try store.readBlocking { try $0.dirtyEntryIds(in: "accounts").count } }
}
