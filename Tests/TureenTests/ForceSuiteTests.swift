import Foundation
import Testing

/// Runs the Lua suites of `Tests/Lua` that need an org: `force_*` and `util_*`, on real stores and a sandbox over HTTP.
@Suite struct ForceSuiteTests {
  static let suites = ((try? FileManager.default.contentsOfDirectory(atPath: StoreSuiteTests.folder)) ?? [])
    .filter { ($0.hasPrefix("force_") || $0.hasPrefix("util_")) && $0.hasSuffix("_test.lua") }.sorted()

  @Test(arguments: suites)
  func forceSuite_onASandbox_passes(suite: String) async throws {
    let runner = try await ScriptRunner(contacts: 300)
    let folder = StoreSuiteTests.folder
    let outcome = try await runner.run("package.path = '\(folder)/?.lua;' .. package.path dofile('\(folder)/\(suite)')")
    #expect(outcome == .done)
    await runner.server.stop()
  }

  /// The sample deletes two contacts of ten; one has a case, and the server keeps it.
  @Test func optimisticDeleteSample_putsTheRefusedRowBack() async throws {
    let runner = try await ScriptRunner()
    let outcome = try await runner.run("dofile('\(StoreSuiteTests.folder)/../../scripts/optimistic_delete.lua')")
    #expect(outcome == .done)
    let left = try runner.server.query("SELECT Id FROM Contact")
    #expect(left["totalSize"] == 29)
    await runner.server.stop()
  }

  @Test func forceSuites_areFound() { #expect(Self.suites.count >= 6) }
}
