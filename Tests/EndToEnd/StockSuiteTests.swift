import Foundation
import Glibc
import TestSupport
import Testing

/// Runs the Lua suites in Debian's `lua5.4`, with the default and with the most aggressive collector.
@Suite(.enabled(if: Built.loadsInForeignPrograms, "a sanitized library needs its runtime preloaded"))
struct StockSuiteTests {
  static let folder = Built.package.path + "/Tests/Lua"
  /// All suites except those that need a faulty host; LuaBridgeTests runs these with the same collectors.
  static let suites = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { name in
      name.hasSuffix("_test.lua") && ["smartstore_", "force_", "util_", "json_", "timers_"].contains { name.hasPrefix($0) }
    }.sorted()

  /// Collectors that run after every allocation, or that collect generations continuously.
  static let collectors = [
    "", "collectgarbage('setpause', 0) collectgarbage('setstepmul', 1000)", "collectgarbage('generational', 5, 5)",
  ]

  /// Returns the suites that run with a collector: all with the default one. The others share them, and the seed of the random
  /// tests says how; each runs all with `TUREEN_CASES=all`.
  private static func chosen(for collector: String) -> [String] {
    guard let number = collectors.dropFirst().firstIndex(of: collector), !TestCases.all else { return suites }
    let isOdd = (RandomSeed.value ^ UInt64(number)) & 1 == 1
    return suites.enumerated().filter { ($0.offset % 2 == 1) == isOdd }.map(\.element)
  }

  @Test(arguments: collectors)
  func suites_stockLua_pass(collector: String) async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place, options: ["--contacts", "300", "--accounts", "5"])
    let environment = [
      "LUA_CPATH": try place.luaPath(), "LUA_PATH": Self.folder + "/?.lua", "TUREEN_HOME": place.home,
      "LUA_INIT": collector,
    ]
    for suite in Self.chosen(for: collector) {
      let ended = try await place.run(Built.lua, [Self.folder + "/" + suite], environment: environment)
      #expect(
        ended.status == 0 && ended.output.contains(" passed, 0 failed"), "\(suite), \(RandomSeed.again(Self.self, [:])): \(ended)"
      )
    }
    sandbox.child.send(SIGTERM)
    #expect(await sandbox.child.ended().status == 0)
  }

  @Test func suites_areFound() { #expect(Self.suites.count >= 14) }
}
