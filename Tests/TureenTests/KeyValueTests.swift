import JSON
import TestSupport
import Testing
import Tureen

/// Tests `tureen.keyvalue` from scripts through all layers.
@Suite struct KeyValueScriptTests {
  private func run(_ body: String) async throws -> ScriptRunner {
    let runner = try await ScriptRunner(contacts: 0)
    #expect(try await runner.run("local keyvalue = require 'tureen.keyvalue'\n" + body) == .done)
    await runner.server.stop()
    return runner
  }

  @Test func put_eachKindOfValue_comesBackAsItWas() async throws {
    let runner = try await run(
      #"""
      local all = {}
      for i = 0, 255 do all[i + 1] = string.char(i) end
      local values = { "", "text", "é\0日\r\n", "\255", "ab\255", "abc\255", table.concat(all), ("\0\1\254"):rep(1700000) }
      for i, value in ipairs(values) do
        keyvalue.put("settings", "key " .. i, value, function(answer) note("put", answer) end)
        keyvalue.get("settings", "key " .. i, function(found) note("same", found == value) end)
      end
      """#)
    #expect(runner.noted("put") == Array(repeating: "OK", count: 8))
    #expect(runner.noted("same") == Array(repeating: true, count: 8))
  }

  @Test func everyAction_answersAsDescribed() async throws {
    let runner = try await run(
      """
      local function noted(name) return function(value) note(name, value) end end
      keyvalue.get("a", "k", function(value) note("missing", value == tureen.null) end)
      for _, key in ipairs { "first", "fourth", "other" } do keyvalue.put("a", key, key) end
      keyvalue.put("b", "k", "v")
      keyvalue.count("a", noted "count")
      keyvalue.contains("a", "first", noted "contains")
      keyvalue.contains("a", "none", noted "contains")
      keyvalue.keys("a", noted "keys")
      keyvalue.keys("a", "f*", noted "keys")
      keyvalue.stores(noted "stores")
      keyvalue.remove("a", "first", noted "remove")
      keyvalue.remove("a", "first", noted "remove")
      keyvalue.clear("a", noted "clear")
      keyvalue.stores(noted "stores")
      """)
    #expect(runner.noted("missing") == [true])
    #expect(runner.noted("count") == [3])
    #expect(runner.noted("contains") == [true, false])
    #expect(runner.noted("keys") == [["first", "fourth", "other"], ["first", "fourth"]])
    #expect(runner.noted("remove") == [true, false])
    #expect(runner.noted("clear") == ["OK"])
    #expect(runner.noted("stores") == [["a", "b"], ["b"]])
  }

  @Test func stores_globalAndUser_areApart() async throws {
    let runner = try await run(
      """
      keyvalue.put("a", "user", "v")
      keyvalue.put(true, "a", "global", "v")
      keyvalue.keys("a", function(keys) note("user", keys) end)
      keyvalue.keys(true, "a", function(keys) note("global", keys) end)
      """)
    #expect(runner.noted("user") == [["user"]])
    #expect(runner.noted("global") == [["global"]])
  }

  @Test func badInput_saysWhatIsWrong() async throws {
    let runner = try await run(
      """
      local function failed(err) note("error", err.domain .. "/" .. err.code) end
      keyvalue.put("no spaces", "k", "v", nil, failed)
      keyvalue.put("a", "", "v", nil, failed)
      tureen.exec(nil, failed, "tureen.keyvalue", "kvPut", { name = "a", key = "k", value = "%%", isBase64 = true })
      tureen.exec(nil, failed, "tureen.keyvalue", "kvPut", { name = "a", key = "k" })
      tureen.exec(nil, function(err) note("unknown", err.code) end, "tureen.keyvalue", "kvNothing", {})
      note("misuse", select(2, pcall(keyvalue.put, "a", "k", 1)).message)
      """)
    #expect(
      runner.noted("error") == [
        "smartstore/invalidStoreName", "smartstore/invalidKey", "bridge/invalidArguments", "bridge/invalidArguments",
      ])
    #expect(runner.noted("unknown") == ["unknownAction"])
    #expect(runner.noted("misuse") == ["put: argument 3 'value' must be a string, got number"])
  }

  @Test func get_awaited_givesTheValue() async throws {
    let runner = try await run(
      """
      tureen.async(function()
        note("put", (tureen.await(keyvalue.put, "a", "k", "v")))
        note("get", (tureen.await(keyvalue.get, "a", "k")))
        note("none", tureen.await(keyvalue.get, "a", "x") == tureen.null)
      end)
      """)
    #expect(runner.noted("put") == ["OK"])
    #expect(runner.noted("get") == ["v"])
    #expect(runner.noted("none") == [true])
  }
}
