import JSON
import LuaBridge
import SandboxOrg
import Synchronization
import Testing
import Tureen

/// Tests the errors that scripts get.
@Suite struct FailureTests {
  private static let syncDown = """
    smartstore.registerSoup("contacts", SPECS)
    local function run(target, name)
      mobilesync.syncDown(target, "contacts", OVERWRITE, name, function(sync)
        if sync.status ~= "RUNNING" then note("end", sync.status); note("retries", sync.retries) end
      end, function(err)
        note("error", { domain = err.domain, code = err.code, message = err.message, status = err.status, body = err.body,
          state = err.sync and err.sync.status })
      end)
    end

    """

  @Test func syncDown_malformedSoql_errorHasTheServersBodyUnchanged() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    try await runner.run(Self.syncDown + #"run({ type = "soql", query = "SELECT Id FROM Contact WHERE Nope" })"#)
    let error = try #require(runner.noted("error").first)
    #expect(runner.noted("error").count == 1)
    #expect(error["domain"] == "network")
    #expect(error["status"] == 400)
    #expect(error["state"] == "FAILED")
    let body = try JSONValue(parsing: try #require(error["body"]?.stringValue))
    #expect(body.arrayValue?.first?["errorCode"] == "MALFORMED_QUERY")
    await runner.server.stop()
  }

  @Test func syncDown_serverGoneInTheMiddleOfAPage_isAskedAgain() async throws {
    let runner = try await ScriptRunner()
    let left = Mutex(1)
    runner.server.setInterceptor { request in
      guard request.path.hasSuffix("/query") else { return nil }
      return left.withLock { left in
        defer { left = 0 }
        return left > 0 ? .dropConnection(afterBytes: 900) : nil
      }
    }
    try await runner.run(Self.syncDown + "run(CONTACTS)")
    #expect(runner.noted("end") == ["DONE"])
    #expect(runner.noted("retries") == [1])
    #expect(runner.noted("error").isEmpty)
    await runner.server.stop()
  }

  @Test func syncDown_htmlInsteadOfRecords_failsOnceWithTheText() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    runner.server.setInterceptor { request in
      request.path.hasSuffix("/query")
        ? .respond(status: 200, headers: [("Content-Type", "text/html")], body: "<html>maintenance</html>") : nil
    }
    try await runner.run(Self.syncDown + "run(CONTACTS)")
    #expect(runner.noted("end").isEmpty)
    let error = try #require(runner.noted("error").first)
    #expect(runner.noted("error").count == 1)
    #expect(error["state"] == "FAILED")
    #expect(error["body"] == "<html>maintenance</html>")
    await runner.server.stop()
  }

  @Test func syncDown_noOrgToSignInTo_failsWithTheWayOut() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    var settings = HostSettings()
    settings.home = runner.home
    settings.org = "sandbox"
    let path = runner.home
    settings.services["test"] = runner.makeNote
    try await runner.run(Self.syncDown + "run(CONTACTS)", on: Host(settings: settings))
    let message = runner.noted("error").first?["message"]?.stringValue ?? ""
    #expect(message.contains("no sandbox org is running under \(path)"))
    #expect(message.contains("tureen sandbox"))
    await runner.server.stop()
  }

  @Test func callback_thatThrows_doesNotStopTheOthers() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    let outcome = try await runner.run(
      """
      tureen.onerror = function(err) note("reported", tostring(err):match("oops") or "?") end
      smartstore.soupExists("a", function() error("oops") end)
      smartstore.soupExists("b", function(exists) note("second", exists) end)
      """)
    #expect(outcome == .done)
    #expect(runner.noted("reported") == ["oops"])
    #expect(runner.noted("second") == [false])
    await runner.server.stop()
  }

  @Test func action_ofAnUnknownSoup_saysSo() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    try await runner.run(
      """
      local function failure(err) note("error", { err.domain, err.code, tostring(err) }) end
      smartstore.upsertSoupEntries("nowhere", { { a = 1 } }, nil, failure)
      smartstore.clearSoup("nowhere", nil, failure)
      smartstore.runSmartQuery(smartstore.buildSmartQuerySpec("select 1 from {nowhere}", 1), nil, failure)
      """)
    #expect(
      runner.noted("error") == [
        ["smartstore", "noSuchSoup", "Soup: nowhere does not exist"],
        ["smartstore", "noSuchSoup", "Soup: nowhere does not exist"],
        ["smartstore", "noSuchSoup", "Unknown soup nowhere at character 14"],
      ])
    await runner.server.stop()
  }

  @Test func store_thatIsNoDatabase_isNamedAndLeftAlone() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    let folder = runner.home + "/orgs/sandbox/sandbox-user/stores/defaultStore"
    try writeFile("this is no database, it is a letter to my grandmother", at: folder + "/store.sqlite")
    try await runner.run(
      #"smartstore.soupExists("a", nil, function(err) note("error", { err.code, tostring(err) }) end)"#)
    let error = try #require(runner.noted("error").first?.arrayValue)
    #expect(error[0] == "notADatabase")
    #expect(error[1].stringValue?.contains(folder + "/store.sqlite") == true)
    #expect(try readFile(at: folder + "/store.sqlite").hasPrefix("this is no database"))
    await runner.server.stop()
  }
}
