import Foundation
import Glibc
import Testing

/// A sync that is ended in the middle, politely and otherwise, and what the next run makes of it.
@Suite struct InterruptionTests {
  /// Says how the sync `down` was left, runs it, and counts what is stored.
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

  /// Starts the script against an org that stops answering, and waits until a page or more is stored.
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

    org.open()
    let next = try await place.runScript("script.lua", environment: org.environment)
    #expect(next.status == 0)
    #expect(next.output.contains("left as STOPPED\n"))
    #expect(next.output.contains("stored \(PagedOrg.total) \(PagedOrg.total)\n"), "got: \(next.output)")
  }

  @Test func interrupt_twice_endsAtOnce() async throws {
    let place = try Workplace()
    // A script that never comes back to the host: only the second signal ends it.
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.smartstore.registerSoup("c", { { path = "Id", type = "string" } }, function()
        print("ready")
        io.stdout:flush()
        while true do end
      end)
      """, to: "script.lua")
    let child = try place.startScript(script)
    #expect(await child.prints("ready"))
    child.send(SIGINT)
    child.send(SIGTERM)
    #expect(await child.ended().status == 130)
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
    #expect(ended.output.contains("stored \(PagedOrg.total) \(PagedOrg.total)\n"))
  }
}
