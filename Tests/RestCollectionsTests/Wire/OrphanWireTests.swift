import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Records that were created here and deleted on the server before any sync down brought them.
struct OrphanWireTests {
  enum Kind: CaseIterable, Sendable {
    /// The list, and single records where it lacks one.
    case listAndRead
    case list, perId
  }

  private static func target(_ kind: Kind, mode: String = "OVERWRITE") -> (up: JSONObject, members: JSONObject) {
    (
      kind == .list ? ["read": nil, "precondition": "none"] : [:],
      ["ghosts": ["mode": kind == .perId ? "perId" : "fullList", "maxRatio": 1]]
    )
  }

  /// Creates records here and uploads them; returns their names by id.
  private func made(_ bench: CollectionBench, _ names: [String], _ kind: Kind) async throws -> [String: String] {
    for name in names { try bench.make("local_\(name)", ["name": .string(name)]) }
    let (up, members) = Self.target(kind)
    #expect(try await bench.up(up, members, mode: "OVERWRITE").counts.succeeded == names.count)
    return Dictionary(
      uniqueKeysWithValues: try bench.entries().compactMap { entry in entry["name"]?.stringValue.map { ($0, entry.id) } })
  }

  private func define(_ bench: CollectionBench, _ kind: Kind, _ mode: String = "OVERWRITE") throws {
    let (up, members) = Self.target(kind)
    try bench.manager.createSyncDown(
      target: CollectionBench.upTarget(up, members), options: ["mergeMode": .string(mode)], soupName: CollectionBench.soup,
      syncName: "s")
  }

  private func delete(_ bench: CollectionBench, _ id: String?) { bench.server.with { $0.rows.removeAll { $0.id == id } } }

  @Test(arguments: Kind.allCases) func clean_madeHereAndDeletedThereBeforeAnyDown_isRemoved(kind: Kind) async throws {
    try await CollectionBench.with { bench async throws in
      let ids = try await made(bench, ["gone", "later", "stays"], kind)
      try define(bench, kind)
      delete(bench, ids["gone"])
      #expect(try await bench.cleanGhosts() == 1)
      #expect(try bench.values("name").sorted() == ["later", "stays"])
      // It existed when it was asked for, and no sync down has seen it since.
      delete(bench, ids["later"])
      #expect(try await bench.cleanGhosts() == 1)
      #expect(try bench.values("name") == ["stays"])
      #expect(try await bench.cleanGhosts() == 0)
    }
  }

  /// A record that the list leaves out, but that can be read, exists.
  @Test func clean_madeHereOutsideOfTheList_stays() async throws {
    try await CollectionBench.with { bench async throws in
      let ids = try await made(bench, ["hidden", "gone"], .listAndRead)
      try define(bench, .listAndRead)
      delete(bench, ids["gone"])
      bench.server.with { state in
        state.change = { answer, _ in answer = .json("[]") }
      }
      #expect(try await bench.cleanGhosts() == 1)
      #expect(try bench.values("name") == ["hidden"])
    }
  }

  @Test func clean_serverFails_removesNothing() async throws {
    try await CollectionBench.with { bench async throws in
      _ = try await made(bench, ["a"], .perId)
      try define(bench, .perId)
      bench.server.with { $0.onRecord = { _, _ in .json("{}", status: 403) } }
      await #expect(throws: (any Error).self) { try await bench.cleanGhosts() }
      #expect(try bench.values("name") == ["a"])
    }
  }

  /// With MERGE, an edit of a record that was deleted there is a conflict.
  @Test(arguments: Kind.allCases) func clean_editedHereAndDeletedThere_isAConflict(kind: Kind) async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      let (up, members) = Self.target(kind)
      _ = try await bench.manager.syncDown(
        target: CollectionBench.upTarget(up, members), options: ["mergeMode": "MERGE"], soupName: CollectionBench.soup,
        syncName: "s")
      try bench.edit(1, ["name": "mine"])
      bench.server.with { $0.takesWrites = true }
      delete(bench, "1")
      _ = try await bench.cleanGhosts()
      #expect(try bench.manager.conflicts(inSoup: CollectionBench.soup).map(\.kind) == [.deletedThere])
      #expect(try bench.entry(1)?["name"] == "mine")
    }
  }
}
