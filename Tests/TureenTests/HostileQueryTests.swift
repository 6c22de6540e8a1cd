import JSON
import LuaBridge
import TestSupport
import Testing
import Tureen

/// Queries of restricted scripts that would take the memory or the time of the whole program.
@Suite(.enabled(if: TestEngine.isSQLite, "PostgreSQL refuses them")) struct HostileQueryTests {
  /// Lua expressions for smart SQL.
  static let attacks = [
    // 1.5 KB that stand for 2^50 SELECTs.
    """
    (function()
      local parts = { "WITH c0 AS (SELECT 1 AS x)" }
      for i = 1, 50 do
        parts[#parts + 1] = (", c%d AS (SELECT x FROM c%d UNION ALL SELECT x FROM c%d)"):format(i, i - 1, i - 1)
      end
      return table.concat(parts) .. " SELECT count(*) FROM c50"
    end)()
    """,
    """
    (function()
      local sums = {}
      for i = 1, 2000 do sums[i] = "sum({s:_soupEntryId}) OVER (ORDER BY {s:_soupEntryId} + " .. i .. ")" end
      return "SELECT " .. table.concat(sums, ", ") .. " FROM {s}"
    end)()
    """,
    #""WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 50000), o(j) AS (SELECT '{' || "#
      + #"group_concat('\"k' || x || '\":1') || '}' FROM c) SELECT json_patch(j, j) FROM o""#,
    #""SELECT 1 FROM {s}_fts WHERE {s}_fts MATCH '" .. ("("):rep(300) .. "a" .. (")"):rep(300) .. "'""#,
    #""SELECT snippet({s}_fts, 0, '<', '>', '', 10) FROM {s}_fts WHERE {s}_fts MATCH 'a'""#,
    #""SELECT hex(zeroblob(200000000)) LIKE '%a'""#,
  ]

  @Test(arguments: attacks) func restrictedScript_hostileQuery_isRefused(sql: String) async throws {
    let runner = try await ScriptRunner(contacts: 0)
    let outcome = try await runner.run(
      """
      local function main()
        assert(tureen.await(smartstore.registerSoup, "s", { { path = "t", type = "full_text" } }))
        assert(tureen.await(smartstore.upsertSoupEntries, "s", tureen.array { { t = "a a a" } }))
        local _, err = tureen.await(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(\(sql), 1))
        note("end", err and err.code or "answered")
        note("alive", tureen.await(smartstore.soupExists, "s"))
      end
      tureen.async(main)
      """, on: runner.makeHost { $0.isRestricted = true })
    #expect(outcome == .done)
    #expect(runner.noted("end") == ["queryLimit"])
    #expect(runner.noted("alive") == [true])
  }

  /// A comparison that would take minutes ends with its call.
  @Test func cancel_longComparison_endsIt() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    let outcome = try await runner.run(
      """
      local sql = "SELECT hex(zeroblob(7000000)) LIKE '%' || hex(zeroblob(490)) || '1%' FROM (SELECT 1 UNION ALL SELECT 2)"
      local spec = smartstore.buildSmartQuerySpec(sql, 10)
      local ended = false
      local call = smartstore.runSmartQuery(spec, function() note("end", "answered") end, function(err) note("end", err.code) end)
      tureen.async(function()
        note("alive", tureen.await(smartstore.soupExists, { isGlobalStore = false, storeName = "other" }, "s"))
        tureen.cancel(call)
      end)
      """, on: runner.makeHost { $0.isRestricted = true })
    #expect(outcome == .done)
    #expect(runner.noted("alive") == [false])
    #expect(runner.noted("end") == ["cancelled"])
  }
}
