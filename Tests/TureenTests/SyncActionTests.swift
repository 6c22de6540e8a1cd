import JSON
import LuaBridge
import Testing
import Tureen

/// Tests the actions that the Mobile SDK's plug-ins do not have, on real syncs.
@Suite struct SyncActionTests {
  private func run(_ body: String) async throws -> ScriptRunner {
    let runner = try await ScriptRunner()
    let outcome = try await runner.run(
      """
      local function main()
        tureen.await(smartstore.registerSoup, "contacts", SPECS)
        \(body)
      end
      tureen.async(main)
      """)
    #expect(outcome == .done)
    return runner
  }

  @Test func createSyncDown_createSyncUp_saveWithoutRunning() async throws {
    let runner = try await run(
      """
      local down = tureen.await(mobilesync.createSyncDown, CONTACTS, "contacts", OVERWRITE, "down")
      local up = tureen.await(mobilesync.createSyncUp, "contacts", { fieldlist = { "LastName" } }, "up")
      note("states", { down.status, down.type, up.status, up.type, up.target.type })
      note("has", { tureen.await(mobilesync.hasSyncWithName, "up"), tureen.await(mobilesync.hasSyncWithName, "other") })
      local _, err = tureen.await(mobilesync.createSyncDown, CONTACTS, "contacts", OVERWRITE, "up")
      note("error", err.code)
      local ran = tureen.await(mobilesync.reSync, "down")
      note("ran", ran.status)
      """)
    #expect(runner.noted("states") == [["NEW", "syncDown", "NEW", "syncUp", "collection"]])
    #expect(runner.noted("has") == [[true, false]] && runner.noted("error") == ["duplicateName"])
    #expect(runner.noted("ran") == ["DONE"])
  }

  @Test func stop_restart_tellWhatTheyDo() async throws {
    let runner = try await run(
      """
      note("before", { tureen.await(mobilesync.isStopping), tureen.await(mobilesync.isStopped) })
      tureen.await(mobilesync.createSyncDown, CONTACTS, "contacts", OVERWRITE, "down")
      tureen.await(mobilesync.stop)
      note("stopped", tureen.await(mobilesync.isStopped))
      local _, err = tureen.await(mobilesync.reSync, "down")
      note("refused", err.code)
      local states = tureen.await(mobilesync.restart, { restartStopped = true })
      note("states", #states)
      local _, again = tureen.await(mobilesync.restart)
      note("again", again.code)
      note("cancel", tureen.await(mobilesync.cancelSync, "down"))
      note("ran", tureen.await(mobilesync.reSync, "down").status)
      """)
    #expect(runner.noted("before") == [[false, false]] && runner.noted("stopped") == [true])
    #expect(runner.noted("refused") == ["managerStopped"] && runner.noted("states") == [0])
    #expect(runner.noted("again") == ["cannotRestart"] && runner.noted("cancel") == ["OK"])
    #expect(runner.noted("ran") == ["DONE"])
  }

  @Test func fetchMetadata_eachMode_usesItsSource() async throws {
    let runner = try await run(
      """
      note("none", tureen.await(mobilesync.fetchMetadata, "Account", "CACHE_ONLY"))
      note("first", tureen.await(mobilesync.fetchMetadata, "Account").keyPrefix)
      note("cached", tureen.await(mobilesync.fetchMetadata, "Account", "CACHE_ONLY").label)
      local _, err = tureen.await(mobilesync.fetchMetadata, "Nothing", "SERVER_FIRST")
      note("error", err.domain)
      local _, wrong = tureen.await(mobilesync.fetchMetadata, "Account", "SOMETIMES")
      note("wrong", wrong.code)
      local _, layout = tureen.await(mobilesync.fetchLayout, { sobjectType = "Nothing" }, "CACHE_ONLY")
      note("layout", layout == nil)
      """)
    #expect(runner.noted("none") == [.null] && runner.noted("first") == ["001"] && runner.noted("cached") == ["Account"])
    #expect(runner.noted("error") == ["network"] && runner.noted("wrong") == ["invalidArguments"])
    #expect(runner.noted("layout") == [true])
  }
}
