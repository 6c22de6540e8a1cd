import JSON
import SmartStore
import Testing

@testable import MobileSync

/// The soup of the syncs in the form of older versions.
@Suite struct SyncsSoupTests {
  @Test func setUp_soupOfTwoStringIndexes_isAlteredAndItsSyncsStay() async throws {
    let bench = try await SyncBench(accounts: 3)
    let state = try await bench.down(name: "mine")
    #expect(state.status == .done)
    let old = ["type", "name", "extra"].map { IndexSpec(path: $0, type: .string) }
    try bench.store.alterSoup(SyncsSoup.name, indexSpecs: old, reIndexData: true)

    let manager = try bench.anotherManager()
    #expect(
      try bench.store.indexSpecs(ofSoup: SyncsSoup.name)
        == SyncsSoup.specs + [IndexSpec(path: "extra", type: .string)])
    let found = try #require(try manager.getSyncStatus(.name("mine")))
    #expect(found.id == state.id && found.status == .done)
    #expect(try await manager.reSync(.name("mine")).status == .done)
    await bench.close()
  }
}
