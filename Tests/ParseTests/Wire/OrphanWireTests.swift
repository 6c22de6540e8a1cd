import JSON
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Records that were created here and deleted on the server before any sync down brought them.
struct OrphanWireTests {
  private func define(_ bench: ParseBench, _ members: JSONObject = [:], mode: String = "OVERWRITE") throws {
    let target = (["type": "parse", "className": "Book"] as JSONObject).replacing(with: members)
    try bench.manager.createSyncDown(
      target: target, options: ["mergeMode": .string(mode)], soupName: "books", syncName: "s")
  }

  private func id(_ bench: ParseBench, _ title: String) throws -> String {
    try bench.entries().first { $0["title"] == .string(title) }?["objectId"]?.stringValue ?? ""
  }

  private func delete(_ bench: ParseBench, _ id: String) async throws { try await bench.call(.DELETE, "/classes/Book/\(id)") }

  @Test(arguments: ["check", "walk"]) func clean_madeHereAndDeletedThereBeforeAnyDown_isRemoved(ghosts: String) async throws {
    try await ParseBench.with { bench async throws in
      for title in ["gone", "later", "stays"] {
        try bench.make(["objectId": .string("local_" + title), "title": .string(title)])
      }
      #expect(try await bench.up("Book", UploadWireTests.lists).counts.succeeded == 3)
      // The sync's condition fits none of them.
      try define(bench, ["where": ["year": 3000], "ghosts": .string(ghosts)])
      try await delete(bench, try id(bench, "gone"))
      #expect(try await bench.cleanGhosts() == 1)
      #expect(Set(try bench.entries().compactMap { $0["title"]?.stringValue }) == ["later", "stays"])
      try await delete(bench, try id(bench, "later"))
      #expect(try await bench.cleanGhosts() == 1)
      #expect(try bench.entries().compactMap { $0["title"]?.stringValue } == ["stays"])
    }
  }

  @Test func clean_editedHereAndDeletedThere_isAConflict() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await bench.create("Book", ["title": "a"])
      _ = try await bench.create("Book", ["title": "b"])
      try await bench.down(options: ["mergeMode": "MERGE"])
      try bench.edit(id, ["title": "mine"])
      try await delete(bench, id)
      _ = try await bench.cleanGhosts()
      #expect(try bench.manager.conflicts(inSoup: "books").map(\.kind) == [.deletedThere])
      #expect(try bench.entry(id)?["title"] == "mine")
    }
  }
}
