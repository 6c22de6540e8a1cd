import Foundation
import LuaBridge
import TestSupport
import Testing
import Tureen

/// Runs the store suites of `Tests/Lua` through the real bridge on real stores, without an org.
@Suite struct StoreSuiteTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Lua").path
  /// All `smartstore_*_test.lua` files, so that no suite is forgotten.
  static let suites = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasPrefix("smartstore_") && $0.hasSuffix("_test.lua") }.sorted()

  @Test(arguments: suites)
  func storeSuite_onARealStore_passes(suite: String) async throws {
    let home = try TemporaryFolder()
    var settings = HostSettings()
    settings.home = home.path
    settings.configDirectory = home.path
    let host = Host(settings: settings)
    let outcome = try await withCheckedThrowingContinuation { continuation in
      Thread.start {
        continuation.resume(
          with: Result {
            let script = try ScriptState(host: host)
            defer { script.close() }
            return script.run(text: "package.path = '\(Self.folder)/?.lua' dofile('\(Self.folder)/\(suite)')")
          })
      }
    }
    #expect(outcome == .done)
    withExtendedLifetime(home) {}
  }

  @Test func storeSuites_areFound() { #expect(Self.suites.count >= 5) }
}
