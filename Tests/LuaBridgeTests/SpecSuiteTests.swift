import Foundation
import LuaBridge
import Testing

/// Calls every public Lua function with every kind of wrong argument, as bridge-spec/functions describes them.
@Suite struct SpecSuiteTests {
  private static let root = URL(fileURLWithPath: LuaSuiteTests.folder).deletingLastPathComponent().deletingLastPathComponent()

  /// The files of bridge-spec/functions as a Lua list of strings.
  private static func functions() throws -> String {
    let folder = root.appendingPathComponent("bridge-spec/functions")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
    return try files.map { "[====[\(try String(contentsOf: $0, encoding: .utf8))]====]" }.joined(separator: ",")
  }

  @Test func wrongArguments_toEveryFunction_areRefusedByName() throws {
    let host = FakeHost()
    let script = try ScriptState(host: host)
    let text = """
      bridge_spec = { functions = { \(try Self.functions()) } }
      package.path = '\(LuaSuiteTests.folder)/?.lua' dofile('\(LuaSuiteTests.folder)/spec_arguments_test.lua')
      """
    #expect(script.run(text: text) == .done)
    script.close()
    #expect(host.shutdowns == 1 && host.heldUpdates.isEmpty)
  }
}
