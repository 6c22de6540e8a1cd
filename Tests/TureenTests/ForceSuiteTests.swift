import Foundation
import JSON
import SandboxOrg
import Testing
import Tureen

/// Runs the Lua suites of `Tests/Lua` that need an org: `force_*` and `util_*`, on real stores and a sandbox over HTTP.
@Suite struct ForceSuiteTests {
  static let suites = ((try? FileManager.default.contentsOfDirectory(atPath: StoreSuiteTests.folder)) ?? [])
    .filter { ($0.hasPrefix("force_") || $0.hasPrefix("util_")) && $0.hasSuffix("_test.lua") }.sorted()

  @Test(arguments: suites)
  func forceSuite_onASandbox_passes(suite: String) async throws {
    let runner = try await ScriptRunner(contacts: 300)
    let folder = StoreSuiteTests.folder
    let outcome = try await runner.run("package.path = '\(folder)/?.lua;' .. package.path dofile('\(folder)/\(suite)')")
    #expect(outcome == .done)
    await runner.server.stop()
  }

  /// The sample deletes two of ten contacts; the server refuses to delete one, which has a case.
  @Test func optimisticDeleteSample_putsTheRefusedRowBack() async throws {
    let runner = try await ScriptRunner()
    let outcome = try await runner.run("dofile('\(StoreSuiteTests.folder)/../../scripts/optimistic_delete.lua')")
    #expect(outcome == .done)
    let left = try runner.server.query("SELECT Id FROM Contact")
    #expect(left["totalSize"] == 29)
    await runner.server.stop()
  }

  /// A gateway between the script and the org responds with status 200 and its own page or an empty body.
  @Test(arguments: ["htmlPage", "emptyBody"])
  func forceAnswers_portalPageOrNothing_areErrors(kind: String) async throws {
    let runner = try await ScriptRunner()
    let fault = try FaultRule(json: ["kind": .string(kind), "path": "/services/data/v66.0/**", "status": 200])
    let result = try await runner.value(
      of: """
        assert(await(tureen.oauth.authenticate))
        local found = assert(force.query("SELECT Id, LastName FROM Contact ORDER BY Id LIMIT 3")).records
        local cache = force.StoreCache "gateway"
        assert(cache:init())
        assert(cache:saveAll(found))
        await(function(done) tureen.exec(done, done, "test", "gateway", {}) end)
        local first, codes = found[1], {}
        local function note(value, err) codes[#codes + 1] = value == nil and err.code or "success" end
        note(force.query "SELECT Id FROM Contact")
        note(force.retrieve("Contact", first.Id, "LastName"))
        note(force.create("Contact", { LastName = "x" }))
        note(force.update("Contact", { Id = first.Id, LastName = "x" }))
        note(force.upsert("Contact", "Id", first.Id, { LastName = "x" }))
        note(force.del("Contact", first.Id))
        note(tureen.await(force.del, "Contact", first.Id))
        local Contact = force.SObject:extend { sobjectType = "Contact", fieldlist = { "LastName" }, cache = cache }
        note(Contact(first):save { LastName = "y" })
        note(Contact(first):destroy())
        local told
        local list = optimistic.list { sobjectType = "Contact", records = found, cache = cache,
          on_failure = function(_, err) told = optimistic.kind(err) end }
        list:delete(1)
        while list.pending > 0 do tureen.sleep(1) end
        local entry = cache:retrieve(first.Id)
        return { codes, told, #list.rows, entry.LastName == first.LastName, entry.__local__ }
        """,
      before: """
        local await, force, optimistic = tureen.await, require "tureen.force", require "tureen.optimistic"
        """,
      on: runner.makeHost { settings in
        settings.services["test"] = { [server = runner.server] name, arguments in
          if name == "gateway" { _ = try server.faults.add(fault) }
          return try runner.makeNote(name, arguments)
        }
      })
    let codes = JSONValue.array([JSONValue](repeating: "invalidBody", count: 9))
    #expect(result == [codes, .string(kind == "htmlPage" ? "undecodable" : "emptyResponse"), 3, true, false])
  }

  @Test func forceSuites_areFound() { #expect(Self.suites.count >= 6) }
}
