import Foundation
import TestSupport
import Testing

/// Tests that invalid input from servers, files and scripts is an error for the script and never ends the process.
@Suite struct BadInputTests {
  /// Prints the error that the error callback of a sync down gets.
  private static let failing = """
    local tureen = require "tureen"
    tureen.async(function()
      tureen.await(tureen.smartstore.registerSoup, "c", { { path = "Id", type = "string" } })
      local sync, err = tureen.await(tureen.mobilesync.syncDown,
        { type = "soql", query = "SELECT Id, LastModifiedDate FROM Contact" }, "c", {}, "down")
      print(sync and sync.status, err and err.domain, err and err.code, err and err.status, err and err.retryable)
      if err then print("body:" .. tostring(err.body)) end
      if err and err.sync then print("state:" .. err.sync.status .. ":" .. err.sync.error) end
    end)
    """

  private func runFailing(_ handler: @escaping ScriptedServer.Handler) async throws -> Child.Ended {
    let place = try Workplace()
    let server = try ScriptedServer { PagedOrg.token($0) ?? handler($0) }
    let script = try place.write(Self.failing, to: "script.lua")
    return try await place.runScript(
      script,
      environment: [
        "TUREEN_ORG": server.url, "TUREEN_CLIENT_ID": "client", "TUREEN_CLIENT_SECRET": "secret",
        "TUREEN_USERNAME": "someone@example.com", "TUREEN_PASSWORD": "password",
      ])
  }

  @Test func syncDown_serverRefusesTheQuery_itsBodyReachesTheScriptUnchanged() async throws {
    let body = #"[ {"message":"\nSELEC Id\n^\nunexpected token: 'SELEC'",  "errorCode":"MALFORMED_QUERY"} ]"#
    let ended = try await runFailing { _ in .json(body, status: 400) }
    #expect(ended.status == 0, "the script dealt with it: \(ended.errors)")
    #expect(ended.output.contains("nil\tnetwork\thttpStatus\t400\tfalse\n"), "got: \(ended.output)")
    #expect(ended.output.contains("body:\(body)\n"))
    #expect(ended.output.contains("state:FAILED:\(body)\n"))
  }

  @Test func syncDown_pageIsHTML_isAnError() async throws {
    let ended = try await runFailing { _ in .text("<html>busy</html>", type: "text/html") }
    #expect(ended.status == 0)
    #expect(ended.output.contains("nil\tnetwork\tinvalidBody"), "got: \(ended.output)")
  }

  @Test func syncDown_unknownSoup_isAnErrorThatNamesIt() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      local function show(err) print(err.domain, err.code, err.message) end
      tureen.smartstore.querySoup("nowhere", tureen.smartstore.buildAllQuerySpec("Id", "ascending", 5), nil, show)
      """, to: "script.lua")
    let ended = try await place.runScript(script)
    #expect(ended.status == 0)
    #expect(ended.output.hasPrefix("smartstore\tnoSuchSoup\t"))
    #expect(ended.output.contains("nowhere"))
  }

  @Test func store_fileThatIsNoDatabase_isAnErrorThatNamesIt() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.smartstore.registerSoup("c", { { path = "Id", type = "string" } }, function() print("registered") end,
        function(err) print(err.domain, err.code, err.message) end)
      """, to: "script.lua")
    #expect(try await place.runScript(script).output == "registered\n")
    let store = try #require(place.stores.first)
    try Data(repeating: 0x2a, count: 20_000).write(to: URL(fileURLWithPath: store))
    for side in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store + side) }
    let ended = try await place.runScript(script)
    #expect(ended.status == 0)
    #expect(ended.output.hasPrefix("smartstore\tnotADatabase\t"), "got: \(ended.output)\(ended.errors)")
  }

  @Test func run_orgNobodyServes_isAnErrorOfTheSync() async throws {
    let place = try Workplace()
    let script = try place.write(Self.failing, to: "script.lua")
    let ended = try await place.runScript(script, options: ["--org", "http://127.0.0.1:9"])
    #expect(ended.status == 0)
    #expect(ended.output.contains("nil\thost\tnoSuchOrg"), "no credentials for it: \(ended.output)")
  }
}
