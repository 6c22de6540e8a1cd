import JSON
import SmartStore
import Support
import TestSupport
import Testing
import Tureen

/// Tests damaged store files from scripts.
@Suite struct DamagedStoreTests {
  private func run(_ configure: String) async throws -> (runner: ScriptRunner, folder: String) {
    let runner = try await ScriptRunner(contacts: 0), folder = runner.home + "/global/stores/defaultStore"
    try FileSystem.makeDirectory(folder)
    try FileSystem.write(Array(repeating: 0x41, count: 5000), to: folder + "/store.sqlite")
    try await runner.run(
      """
      \(configure)
      smartstore.registerSoup(true, "s", SPECS, function(name) note("made", name) end, function(err)
        note("error", err.code)
        note("retryable", err.retryable)
        note("names the file", err.message:find("\(folder)/store.sqlite", 1, true) ~= nil)
      end)
      """)
    await runner.server.stop()
    return (runner, folder)
  }

  @Test func store_damaged_isAnErrorAndStaysAsItIs() async throws {
    let (runner, folder) = try await run("")
    #expect(runner.noted("error") == ["notADatabase"])
    #expect(runner.noted("retryable") == [false])
    #expect(runner.noted("names the file") == [true])
    #expect(FileSystem.read(folder + "/store.sqlite") == Array(repeating: 0x41, count: 5000))
  }

  @Test func store_damagedWithMoveAside_isKeptBesideANewOne() async throws {
    let (runner, folder) = try await run("tureen.configure { recover = 'moveAside' }")
    #expect(runner.noted("made") == ["s"])
    #expect(FileSystem.read(folder + "/store.sqlite.damaged-1") == Array(repeating: 0x41, count: 5000))
  }

  @Test func configure_unknownRecovery_isRefused() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    try await runner.run("note('error', select(2, pcall(tureen.configure, { recover = 'delete' })).message)")
    #expect(runner.noted("error") == ["configure: 'recover' must be refuse or moveAside"])
    await runner.server.stop()
  }
}
