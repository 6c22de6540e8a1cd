import Foundation
import Testing

/// Compares `bridge-spec/schema.md` with a new store, read with the `sqlite3` tool.
@Suite struct SchemaTests {
  /// Returns the statements sorted, with normalized white space.
  private func statements(_ sql: String) -> [String] {
    sql.split(separator: ";").map { statement in
      statement.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        .replacingOccurrences(of: "( ", with: "(").replacingOccurrences(of: " )", with: ")")
    }.filter { !$0.isEmpty && !$0.contains("sqlite_sequence") }.sorted()
  }

  @Test func schema_ofAFreshStore_isTheOneInTheSpec() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local smartstore = require "tureen".smartstore
      smartstore.registerSoup("contacts", {
        { path = "Id", type = "string" }, { path = "Score", type = "floating" }, { path = "Owner.Name", type = "json1" } })
      """, to: "script.lua")
    #expect(try await place.runScript(script).status == 0)
    let store = try #require(place.stores.first)
    let found = try await place.run("/usr/bin/sqlite3", [store, ".schema --nosys", "PRAGMA user_version"])
    let spec = try String(contentsOfFile: Built.package.path + "/bridge-spec/schema.md", encoding: .utf8)
    let blocks = spec.components(separatedBy: "```sql\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
    var stored = statements(found.output)
    stored.removeAll { $0 == "6" }
    #expect(stored == statements(blocks.joined()))
    #expect(found.output.hasSuffix("\n6\n"), "the version of the schema")
  }
}
