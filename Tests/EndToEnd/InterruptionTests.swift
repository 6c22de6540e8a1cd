import Foundation
import Glibc
import Testing

/// Tests syncs that are interrupted gracefully and forcibly, and the next run.
@Suite struct InterruptionTests {
  /// Prints the state of the sync `down`, runs it, and counts the stored records.
  private static let script = """
    local tureen = require "tureen"
    local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync
    tureen.async(function()
      assert(tureen.await(smartstore.registerSoup, "c", { { path = "Id", type = "string" } }))
      local before = tureen.await(mobilesync.getSyncStatus, "down")
      local sync, err
      if before == tureen.null then
        sync, err = tureen.await(mobilesync.syncDown,
          { type = "soql", query = "SELECT Id, LastName, LastModifiedDate FROM Contact" }, "c", {}, "down")
      else
        print("left as " .. before.status)
        sync, err = tureen.await(mobilesync.reSync, "down")
      end
      print(sync and ("ended as " .. sync.status .. " with " .. sync.fetched) or ("failed with " .. tostring(err.code)))
      local count = tureen.await(smartstore.runSmartQuery,
        smartstore.buildSmartQuerySpec("SELECT count(*), count(DISTINCT {c:Id}) FROM {c}", 1))
      if count then print("stored " .. table.concat(count.currentPageOrderedEntries[1], " ")) end
    end)
    """

  /// Starts the script with an org that stops responding, and waits until at least one page is stored.
  private func startAndWait(_ place: Workplace, _ org: PagedOrg) async throws -> Child {
    let script = try place.write(Self.script, to: "script.lua")
    let child = try place.startScript(script, options: ["--json"], environment: org.environment)
    #expect(await child.prints(#""progress":20"#), "two pages of ten were to be stored")
    return child
  }

  @Test func interrupt_inTheMiddle_exits130AndSavesStopped() async throws {
    let place = try Workplace()
    let org = try PagedOrg(holdsFrom: 2)
    let child = try await startAndWait(place, org)
    child.send(SIGINT)
    let ended = await child.ended()
    #expect(ended.status == 130)
    #expect(ended.output.contains(#""status":"STOPPED""#))
    #expect(ended.errors.contains("failed with stopped\n"), "\(ended.errors)")

    org.open()
    let next = try await place.runScript("script.lua", environment: org.environment)
    #expect(next.status == 0)
    #expect(next.output.contains("left as STOPPED\n"))
    #expect(next.output.contains("stored \(PagedOrg.total) \(PagedOrg.total)\n"), "got: \(next.output)")
  }

  /// Scripts that print "ready" and never return to the host. The endless line is the second one.
  static let endless: [(text: String, options: [String])] = [
    ("ready() while true do end", []),
    ("ready() while true do end", ["--instruction-limit", "1000000000000"]),
    ("ready() while true do end", ["--memory-limit", "64M", "--restricted"]),
    ("ready() while true do string.rep('x', 1e6) end", []),
    ("ready() while true do pcall(function() while true do end end) end", []),
    ("tureen.async(function() ready() while true do end end)", []),
    ("tureen.async(function() ready() while true do end end)", ["--time-limit", "1000"]),
    ("coroutine.wrap(function() coroutine.wrap(function() ready() while true do end end)() end)()", []),
    ("coroutine.wrap(function() ready() while true do end end)()", ["--instruction-limit", "1000000000000"]),
    ("local co = coroutine.wrap(function() ready() while true do coroutine.yield() end end) while true do co() end", []),
    ("coroutine.resume(coroutine.create(function() ready() error() end)) while true do end", []),
    ("tureen.smartstore.soupExists('c', function() ready() while true do end end)", []),
    ("tureen.after(1, ready) while true do pcall(tureen.poll, 0) end", []),
  ]

  @Test(arguments: endless)
  func interrupt_luaThatNeverComesBack_breaksItOffWithATraceback(text: String, options: [String]) async throws {
    let place = try Workplace()
    let start = "local tureen = require 'tureen' local function ready() print('ready') \(Self.flush(options)) end\n"
    let child = try place.startScript(try place.write(start + text, to: "script.lua"), options: options)
    #expect(await child.prints("ready"))
    child.send(SIGINT)
    let ended = await child.ended()
    #expect(ended.status == 130)
    #expect(ended.errors.contains("script.lua:2: interrupted\nstack traceback:"), "got: \(ended.errors)")
  }

  /// Fills the output buffer, because a restricted script has no `io` and cannot flush it.
  private static func flush(_ options: [String]) -> String {
    options.contains("--restricted") ? "print(('-'):rep(65536))" : "io.stdout:flush()"
  }

  @Test func run_coroutines_doWhatTheyDoInStockLua() async throws {
    let place = try Workplace()
    let script = Built.package.path + "/Tests/EndToEnd/Programs/coroutines.lua"
    let stock = try await place.run(Built.lua, [script])
    let ended = try await place.runScript(script)
    #expect(stock.status == 0 && ended.status == 0, "\(stock.errors) \(ended.errors)")
    #expect(ended.output == stock.output && stock.output.contains("closed"))
  }

  @Test func interrupt_luaThatNeverComesBack_savesItsSyncAsStopped() async throws {
    let place = try Workplace()
    let org = try PagedOrg(holdsFrom: 2)
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.smartstore.registerSoup("c", { { path = "Id", type = "string" } })
      tureen.on("sync", function(sync)
        if sync.progress == 20 then while true do end end
      end)
      tureen.mobilesync.syncDown({ type = "soql", query = "SELECT Id, LastModifiedDate FROM Contact" }, "c", {}, "down")
      """, to: "script.lua")
    let child = try place.startScript(script, options: ["--json"], environment: org.environment)
    #expect(await child.prints(#""progress":20"#))
    child.send(SIGINT)
    let ended = await child.ended()
    #expect(ended.status == 130 && ended.errors.contains("script.lua:4: interrupted"), "got: \(ended.errors)")
    org.open()
    let next = try await place.runScript(
      try place.write(
        "require 'tureen'.mobilesync.getSyncStatus('down', function(sync) print(sync.status) end, print)", to: "next.lua"),
      environment: org.environment)
    #expect(next.output == "STOPPED\n", "\(next.errors)")
  }

  @Test(arguments: [
    "tureen.async(function() ready() tureen.sleep(3600000) print('too long') end)",
    "tureen.after(3600000, print) ready() while true do tureen.poll(1000) end",
  ])
  func interrupt_whileOnlyATimerRuns_endsWithoutIt(text: String) async throws {
    let place = try Workplace()
    let start = "local tureen = require 'tureen' local function ready() print('ready') io.stdout:flush() end\n"
    let child = try place.startScript(try place.write(start + text, to: "script.lua"))
    #expect(await child.prints("ready"))
    child.send(SIGINT)
    let ended = await child.ended()
    #expect(ended.status == 130 && ended.output == "ready\n" && !ended.errors.contains("stillWaiting"), "\(ended)")
  }

  @Test func interrupt_twice_endsAtOnce() async throws {
    let place = try Workplace()
    #expect(mkfifo(place.path + "/nobody-writes", 0o600) == 0)
    // The script waits outside our code, so only the second signal ends it.
    let script = try place.write(
      """
      print("ready")
      io.stdout:flush()
      io.open("nobody-writes")
      """, to: "script.lua")
    let child = try place.startScript(script)
    #expect(await child.prints("ready"))
    child.send(SIGINT)
    child.send(SIGTERM)
    #expect(await child.ended().status == 130)
  }

  /// Neither our code nor Lua runs there, but a single signal must end the process.
  @Test func terminate_scriptThatIsStuckInC_endsByItself() async throws {
    let place = try Workplace()
    #expect(mkfifo(place.path + "/nobody-writes", 0o600) == 0)
    let script = try place.write("print('ready') io.stdout:flush() io.open('nobody-writes')", to: "script.lua")
    let child = try place.startScript(script)
    #expect(await child.prints("ready"))
    child.send(SIGTERM)
    #expect(await child.ended().status == 130)
  }

  @Test func terminate_inTheMiddle_exits130AndSavesStopped() async throws {
    let place = try Workplace()
    let org = try PagedOrg(holdsFrom: 2)
    let child = try await startAndWait(place, org)
    child.send(SIGTERM)
    let ended = await child.ended()
    #expect(ended.status == 130 && ended.output.contains(#""status":"STOPPED""#), "\(ended)")
  }

  @Test func kill_inTheMiddle_theNextRunCompletesTheSync() async throws {
    let place = try Workplace()
    let org = try PagedOrg(holdsFrom: 2)
    let child = try await startAndWait(place, org)
    child.send(SIGKILL)
    #expect(await child.ended().status == 128 + SIGKILL)

    org.open()
    let next = try await place.runScript("script.lua", environment: org.environment)
    #expect(next.status == 0, "\(next.errors)")
    #expect(next.output.contains("left as STOPPED\n"), "got: \(next.output)")
    #expect(next.output.contains("ended as DONE"))
    #expect(next.output.contains("stored \(PagedOrg.total) \(PagedOrg.total)\n"))
    let fetched = next.output.components(separatedBy: "ended as DONE with ").last.flatMap { Int($0.prefix { $0 != "\n" }) }
    #expect((fetched ?? .max) <= PagedOrg.total - 2 * PagedOrg.pageSize + 1, "only what is missing, and the last millisecond")
  }

  @Test func run_whileAnotherRunsTheSameSync_isRefusedAndDoesNoHarm() async throws {
    let place = try Workplace()
    let org = try PagedOrg(holdsFrom: 2)
    let child = try await startAndWait(place, org)
    let second = try await place.runScript("script.lua", environment: org.environment)
    #expect(second.output.contains("left as RUNNING\n"), "got: \(second.output)")
    #expect(second.output.contains("failed with runningElsewhere\n"))

    org.open()
    let ended = await child.ended()
    #expect(ended.status == 0)
    // With --json, the script's output goes to stderr.
    #expect(ended.errors.contains("stored \(PagedOrg.total) \(PagedOrg.total)\n"))
  }
}
