import Foundation
import JSON
import TestSupport
import Testing
import Tureen

/// Tests soups of `userstore.json` whose first registration fails.
@Suite struct ConfiguredSoupTests {
  /// A soup with a path that only SQLite refuses, between two valid soups.
  private static let configuration = """
    {"soups": [
      {"soupName": "first", "indexes": [{"path": "a", "type": "string"}]},
      {"soupName": "bad", "indexes": [{"path": "a[x]", "type": "json1"}]},
      {"soupName": "last", "indexes": [{"path": "a", "type": "string"}]}]}
    """

  @Test func setUp_thatFailed_isTriedAgainWithTheNextCall() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    let path = runner.configDirectory + "/userstore.json"
    try Data(Self.configuration.utf8).write(to: URL(fileURLWithPath: path))
    try await runner.run(
      """
      for i = 1, 2 do
        smartstore.soupExists("last", function(exists) note("call" .. i, exists) end, function(err) note("call" .. i, err.code) end)
      end
      """)
    #expect(runner.noted("call1") == ["invalidIndexSpec"])
    #expect(runner.noted("call2") == ["invalidIndexSpec"], "the soups that are missing are not forgotten")
    try Data(Self.configuration.replacingOccurrences(of: "a[x]", with: "a[0]").utf8).write(to: URL(fileURLWithPath: path))
    try await runner.run("smartstore.soupExists('last', function(exists) note('later', exists) end)")
    #expect(runner.noted("later") == [true])
    await runner.server.stop()
  }
}
