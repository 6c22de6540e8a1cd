import JSON
import SandboxParse
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Conflicts that the option `resolve` decides.
struct PolicyWireTests {
  private static let options: JSONObject = ["mergeMode": "MERGE", "resolve": ["title": "server", "*": "local"]]

  private func prepare(_ bench: ParseBench) async throws -> String {
    let id = try await bench.create("Book", ["title": "a", "year": 1])
    try await bench.down(options: Self.options)
    bench.clock.advance(by: 3600)
    try await bench.call(.PUT, "/classes/Book/\(id)", ["title": "theirs", "year": 2])
    bench.clock.advance(by: 60)
    try bench.edit(id, ["title": "mine", "year": 3])
    return id
  }

  @Test func row27_down_eachFieldHasASide_isMerged() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await prepare(bench)
      try await bench.again()
      let entry = try bench.entry(id)
      #expect(entry?["title"] == "theirs" && entry?["year"] == 3 && entry?["__local__"] == true, "\(String(describing: entry))")
      #expect(try await bench.up("Book", UploadWireTests.lists, mode: "MERGE").counts.conflicting == 0)
      let object = try await bench.object("Book", id)
      #expect(object["title"] == "theirs" && object["year"] == 3)
    }
  }

  @Test func row27_up_eachFieldHasASide_isSent() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await prepare(bench)
      let state = try await bench.manager.syncUp(
        target: JSONObject([("type", "parse"), ("className", "Book")]).replacing(with: UploadWireTests.lists),
        options: Self.options, soupName: "books")
      #expect(state.status == .done && state.counts.conflicting == 0, "\(state.counts) \(state.error)")
      let object = try await bench.object("Book", id), entry = try bench.entry(id)
      #expect(object["title"] == "theirs" && object["year"] == 3 && entry?["year"] == 3 && entry?["__local__"] == false)
    }
  }
}
