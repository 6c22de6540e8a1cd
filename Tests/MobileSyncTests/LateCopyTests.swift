import JSON
import SandboxOrg
import SmartStore
import Testing

@testable import MobileSync

/// Stale copies that a script read before an upload ended and saves after it.
@Suite struct LateCopyTests {
  /// How scripts save: by the entry id, or by the record's id as caches do.
  private static let paths = [SoupField.entryId, "Id"]

  private func save(_ entry: JSONObject, _ path: String, _ bench: SyncBench) throws -> JSONObject {
    let saved = try bench.store.upsert(
      JSONValue.array([.object(entry)]).serialized(), into: "accounts", externalIdPath: path)
    return try #require(try JSONValue(parsing: saved).arrayValue?.first?.objectValue)
  }

  /// Creates a new entry, takes a copy, and uploads the entry.
  private func uploaded(_ kind: UploadKind) async throws -> (SyncBench, copy: JSONObject, id: String) {
    let bench = try await SyncBench(kind: kind)
    try bench.createLocally("A", ["Description": "base"])
    let copy = try #require(try bench.entries().first)
    #expect(try await bench.up().counts.succeeded == 1)
    return (bench, copy, try #require(try bench.entries().first?["Id"]?.stringValue))
  }

  @Test(arguments: paths, UploadKind.allCases)
  func syncUp_copyOfANewEntrySavedLate_isAnUpdate(path: String, kind: UploadKind) async throws {
    let (bench, read, id) = try await uploaded(kind)
    var copy = read
    copy["Description"] = "mine"
    let saved = try save(copy, path, bench)
    #expect(saved["Id"] == .string(id) && saved["__locally_created__"] == false && saved["__locally_updated__"] == true)
    #expect(try await bench.up().counts.succeeded == 1)
    #expect(try bench.shownOnServer(id) == "A/mine" && bench.serverNames() == ["A"])
    #expect(try bench.shown(id) == "A/mine" && bench.entries().count == 1)
    await bench.close()
  }

  @Test(arguments: paths, UploadKind.allCases)
  func syncUp_deletionDecidedOnALateCopy_reachesTheServer(path: String, kind: UploadKind) async throws {
    let (bench, read, id) = try await uploaded(kind)
    var copy = read
    copy["__locally_deleted__"] = true
    _ = try save(copy, path, bench)
    #expect(try await bench.up().counts.succeeded == 1)
    #expect(try bench.onServer(id) == nil && bench.entries().isEmpty)
    await bench.close()
  }

  /// A script that keeps one table for as long as it runs.
  @Test(arguments: [SyncBench.uploadLeave, SyncBench.merge])
  func syncUp_oneCopySavedAgainAndAgain_alwaysGoesUp(options: JSONObject) async throws {
    let (bench, read, id) = try await uploaded(.collection)
    var copy = read
    for text in ["one", "two", "three"] {
      copy["Description"] = .string(text)
      bench.clock.advance(by: 60)
      _ = try save(copy, SoupField.entryId, bench)
      let end = try await bench.up(options)
      #expect(end.counts.succeeded == 1 && end.counts.conflicting == 0)
      #expect(try bench.shownOnServer(id) == "A/\(text)")
    }
    await bench.close()
  }

  /// The copy lacks somebody else's change that a sync down brought.
  @Test(arguments: [SyncBench.uploadLeave, SyncBench.merge])
  func syncUp_changeBroughtSinceTheCopy_isNotOverwritten(options: JSONObject) async throws {
    let (bench, read, id) = try await uploaded(.collection)
    var copy = read
    try bench.change(id, ["Name": "B"])
    _ = try await bench.down()
    copy["Description"] = "mine"
    _ = try save(copy, SoupField.entryId, bench)
    #expect(try await bench.up(options).counts.conflicting == 1)
    #expect(try bench.shownOnServer(id) == "B/base" && bench.shown(id) == "A/mine*")
    await bench.close()
  }
}
