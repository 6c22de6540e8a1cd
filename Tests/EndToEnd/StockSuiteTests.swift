import Foundation
import Glibc
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

  @Test(arguments: collectors)
  func suites_stockLua_pass(collector: String) async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place, options: ["--contacts", "300", "--accounts", "5"])
    let environment = [
      "LUA_CPATH": try place.luaPath(), "LUA_PATH": Self.folder + "/?.lua", "TUREEN_HOME": place.home,
      "LUA_INIT": collector,
    ]
    for suite in Self.suites {
      let ended = try await place.run(Built.lua, [Self.folder + "/" + suite], environment: environment)
      #expect(ended.status == 0 && ended.output.contains(" passed, 0 failed"), "\(suite): \(ended)")
    }
    sandbox.child.send(SIGTERM)
    #expect(await sandbox.child.ended().status == 0)
  }

  @Test func suites_areFound() { #expect(Self.suites.count >= 14) }
}
