import Foundation
import JSON
import Testing

/// Tests faults given on the command line, in a file, over the control interface with curl, and from Lua.
@Suite struct SandboxFaultTests {
  @Test func sandbox_faultOptions_areSeenByCurlAndLogged() async throws {
    let place = try Workplace()
    let rules = try place.write(#"[{"kind":"answer","status":418,"path":"/services/data","nth":2}]"#, to: "rules.json")
    let log = place.path + "/requests.jsonl"
    let sandbox = try await Sandbox(
      place,
      options: [
        "--contacts", "1", "--accounts", "1", "--log", log, "--faults", rules, "--fault-seed", "7", "--fault",
        "unavailable retryAfter=9 nth=3 method=GET",
      ])
    let script = #"""
      get() { curl -s -o /dev/null -w '%{http_code}\n' "$URL/services/data"; }
      get; get; get; get
      curl -s -H "Authorization: Bearer $TOKEN" "$URL/__sandbox/addFault" -d '{"kind":"dropBeforeResponse"}'; echo
      curl -s -o /dev/null "$URL/services/data"; echo "curl $?"
      curl -s -H "Authorization: Bearer $TOKEN" -X POST "$URL/__sandbox/clearFaults"; echo
      get
      """#
    let ended = try await place.run(
      "/bin/sh", ["-c", script], environment: ["URL": sandbox.url, "TOKEN": sandbox.controlToken])
    #expect(ended.output == "200\n418\n503\n200\n3\ncurl 52\n\"OK\"\n200\n", "\(ended.errors)")
    sandbox.child.send(SIGINT)
    #expect(await sandbox.child.ended().status == 0)
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(lines.map { $0["status"]?.integerValue } == [200, 418, 503, 200, 0, 200])
    #expect(lines[2]["faults"] == ["unavailable"])
  }

  @Test(arguments: [
    (["--fault", "nonsense"], "latency"), (["--fault", "latency milliseconds=soon"], "milliseconds"),
    (["--faults", "/nowhere.json"], "/nowhere.json"), (["--fault", "hang every=0"], "every"),
  ])
  func sandbox_badFault_is64AndNamesIt(options: [String], named: String) async throws {
    let place = try Workplace()
    let ended = try await place.run(Built.tureen, ["sandbox", "--home", place.home] + options)
    #expect(ended.status == 64 && ended.errors.contains(named), "\(ended.errors)")
  }

  @Test func sandbox_faultHelp_listsEveryKind() async throws {
    let ended = try await Workplace().run(Built.tureen, ["sandbox", "--fault", "help"])
    #expect(ended.status == 0 && ended.output.contains("dropBeforeResponse:") && ended.output.contains("lateCommit:"))
  }

  @Test func luaModule_underRun_addsFaultsMovesTheClockAndReadsTheLog() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      local sandbox, await = require "tureen.sandbox", tureen.await
      tureen.async(function()
        print((await(sandbox.addFault, { kind = "expireLocator", nth = 3 })))
        local _, err = await(sandbox.addFault, { kind = "latency", clock = "sun" })
        print(err.code, err.message:find("real, org", 1, true) ~= nil)
        print(await(sandbox.clock, { hold = true, set = 1900000000 }).now)
        local id = await(sandbox.create, "Account", { Name = "Lua" })
        await(sandbox.update, "Account", id, { Name = "Late" }, { seconds = 5 })
        print(await(sandbox.query, "SELECT Name FROM Account WHERE Id = '" .. id .. "'")[1].Name)
        print(await(sandbox.query, "SELECT COUNT() FROM Account WHERE Name = 'Lua'"), await(sandbox.query, "SELECT COUNT() FROM Account WHERE Name = 'None'"))
        await(sandbox.clock, { advance = 5 })
        print(await(sandbox.query, "SELECT Name FROM Account WHERE Id = '" .. id .. "'")[1].Name)
        print(#await(sandbox.faults).rules, #await(sandbox.requests), (await(sandbox.removeFault, 1)), (await(sandbox.clearFaults)))
      end)
      """, to: "faults.lua")
    let ended = try await place.runScript(script)
    #expect(ended.output == "1\ninvalidArguments\ttrue\n1900000000\nLua\n1\t0\nLate\n1\t0\ttrue\tOK\n", "\(ended.errors)")
    #expect(ended.status == 0)
  }
}
