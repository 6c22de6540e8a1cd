import Foundation
import LuaBridge
import Testing

/// Runs the Lua suites through a bridge with a fake host.
@Suite struct LuaSuiteTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Lua").path
  static let suites = [
    "json_test", "arguments_test", "callbacks_test", "async_test", "tasks_test", "timers_test", "lazy_test", "plugin_test",
  ]
  static let collectors = ["", "collectgarbage('setpause', 0)", "collectgarbage('generational')"]

  @Test(arguments: suites, collectors)
  func suite_anyCollector_passes(suite: String, collector: String) throws {
    let script = try ScriptState(host: FakeHost())
    let text = "\(collector) package.path = '\(Self.folder)/?.lua' dofile('\(Self.folder)/\(suite).lua')"
    #expect(script.run(text: text) == .done)
  }
}
