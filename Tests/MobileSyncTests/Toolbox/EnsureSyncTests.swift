import JSON
import SandboxOrg
import SmartStore
import Synchronization
import Testing

@testable import MobileSync

/// A named sync is created or changed, and run, with one call.
@Suite struct EnsureSyncTests {
  private static let definition: JSONObject = [
    "syncName": "accountsDown", "syncType": "syncDown", "soupName": "accounts", "target": .object(SyncBench.accounts),
    "options": ["mergeMode": "OVERWRITE"],
  ]

  private func ensure(_ bench: SyncBench, _ changes: JSONObject = [:]) async throws -> SyncState {
    var definition = Self.definition
    for (key, value) in changes { definition[key] = value }
    let recorder = UpdateRecorder()
    try bench.manager.ensureSync(definition, onUpdate: recorder.listener)
    await bench.manager.waitUntilIdle()
    return try #require(try bench.manager.getSyncStatus(.name("accountsDown")))
  }

  private func count(_ bench: SyncBench) throws -> Int { try bench.store.readBlocking { try SyncsSoup.all(in: $0).count } }

  @Test func ensure_missing_isMadeAndRun() async throws {
    let bench = try await SyncBench(accounts: 2)
    let state = try await ensure(bench)
    #expect(state.status == .done && state.counts.stored == 2)
    #expect(try bench.names() == ["Account 0", "Account 1"] && count(bench) == 1)
    await bench.close()
  }

  @Test func ensure_sameDefinition_continues() async throws {
    let bench = try await SyncBench(accounts: 2)
    let first = try await ensure(bench)
    try bench.addAccount("New")
    let again = try await ensure(bench)
    #expect(again.id == first.id && again.maxTimeStamp > first.maxTimeStamp && again.totalSize == 1, "\(again.counts)")
    #expect(try count(bench) == 1)
    await bench.close()
  }

  @Test func ensure_otherTarget_startsOver() async throws {
    let bench = try await SyncBench(accounts: 2)
    let first = try await ensure(bench)
    let target: JSONObject = ["type": "soql", "query": "SELECT Id, Name, LastModifiedDate FROM Account"]
    let again = try await ensure(bench, ["target": .object(target)])
    #expect(again.id == first.id && again.totalSize == 2 && again.target != first.target)
    await bench.close()
  }

  @Test func ensure_wrongDefinition_isRefusedAndChangesNothing() async throws {
    let bench = try await SyncBench()
    for changes in [["syncType": "sideways"], ["target": ["type": "sqol"]], ["options": ["mergemode": "MERGE"]]] as [JSONObject] {
      await #expect(throws: SyncError.self) { try await ensure(bench, changes) }
    }
    #expect(try count(bench) == 0)
    await bench.close()
  }

  /// Two callers at once make one sync; the second run is refused or comes after the first.
  @Test func ensure_twoAtOnce_isOneSync() async throws {
    let bench = try await SyncBench(accounts: 2), other = try bench.anotherManager()
    await withTaskGroup(of: Void.self) { group in
      for manager in [bench.manager, other] {
        group.addTask { _ = try? manager.ensureSync(Self.definition, onUpdate: { _ in }) }
      }
    }
    await bench.manager.waitUntilIdle()
    await other.waitUntilIdle()
    #expect(try count(bench) == 1)
    #expect(try bench.names() == ["Account 0", "Account 1"])
    await other.shutdown()
    await bench.close()
  }
}
