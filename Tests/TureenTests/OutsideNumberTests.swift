import JSON
import RestCollections
import Support
import TestSupport
import Testing
import Tureen

/// Tests numbers that servers and files choose: none of them ends the process.
@Suite(.timeLimit(.minutes(60))) struct OutsideNumberTests {
  private let before = "local network, await = tureen.network, tureen.await"

  private static let waits = [
    "9223372036854775807", "99999999999999999", "99999999999999999999", "1e300", "9223372036854775.5",
    "Fri, 31 Dec 9999 23:59:59 GMT",
  ]

  @Test(arguments: waits, [429, 503]) func sendRequest_hugeRetryAfter_isAnErrorWithATime(wait: String, status: Int) async throws {
    let server = try ScriptedServer(handler: { _ in .status(status, headers: [("Retry-After", wait)]) })
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        tureen.configure { connections = { api = { baseURL = "\(server.url)" } } }
        local _, err = await(network.sendRequest, { connection = "api", path = "/" })
        return { err.code, math.type(err.resumeAt), err.resumeAt > os.time() * 1000 }
        """, before: before)
    #expect(result == ["quotaExhausted", "integer", true])
  }

  @Test(arguments: waits) func syncDown_hugeRetryAfter_isStoppedUntilThen(wait: String) async throws {
    let server = try ScriptedServer(handler: { _ in .status(429, headers: [("Retry-After", wait)]) })
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        tureen.configure { connections = { api = { baseURL = "\(server.url)" } } }
        assert(await(smartstore.registerSoup, "s", { { path = "id", type = "string" } }))
        local _, err = await(mobilesync.syncDown, { type = "rest", connection = "api", url = "/" }, "s", {}, "d")
        local kept = assert(await(mobilesync.getSyncStatus, "d"))
        return { err.sync.status, kept.status, kept.resumeAt > os.time() * 1000 }
        """, before: before)
    #expect(result == ["STOPPED", "STOPPED", true])
  }

  @Test(arguments: waits) func parse_hugeRetryAfter_isAnError(wait: String) async throws {
    let server = try ScriptedServer(handler: { _ in .status(429, headers: [("Retry-After", wait)]) })
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        tureen.configure { connections = { api = { kind = "parse", serverURL = "\(server.url)", applicationId = "a",
          restAPIKey = "k" } } }
        tureen.parse.use "api"
        local found, err = tureen.parse.class("Book"):query():find { cacheMode = "server-only" }
        return { found == nil, err ~= nil and err.code ~= nil }
        """, before: before)
    #expect(result == [true, true])
  }

  @Test(arguments: [
    ("99999999999999999999", 2_147_483_648), ("9223372036854775807", 2_147_483_648), ("12", 12), ("-5", 0), ("1e300", 0),
    ("soon", 0),
  ]) func sendRequest_ageOfACachedAnswer_isBounded(age: String, least: Int) async throws {
    let server = try ScriptedServer(handler: { _ in
      .json("[1]", headers: [("Cache-Control", "max-age=5000000000, stale-while-revalidate=5000000000"), ("Age", age)])
    })
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        tureen.configure { connections = { api = { baseURL = "\(server.url)" } } }
        local options = { connection = "api", path = "/", returnResponse = true }
        assert(await(network.sendRequest, options))
        options.cache = "offline"
        local again, err = await(network.sendRequest, options)
        return { again ~= nil or err.status == 504, again == nil or again.age >= \(least) and again.age < \(least) + 3600 }
        """, before: before)
    #expect(result == [true, true])
  }

  /// The number of the last page is only for an estimate.
  @Test(arguments: ["-9223372036854775808", "9223372036854775807", "-1", "1"], ["9", "1099511627775", "9223372036854775807"])
  func syncDown_pageNumbersOfALink_areNoMoreThanAnEstimate(next: String, last: String) async throws {
    let server = try ScriptedServer(handler: { request in
      request.query == "page=\(next)"
        ? .json(#"[{"id":2}]"#)
        : .json(#"[{"id":1}]"#, headers: [("Link", #"</?page=\#(next)>; rel="next", </?page=\#(last)>; rel="last""#)])
    })
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        tureen.configure { connections = { api = { baseURL = "\(server.url)" } } }
        assert(await(smartstore.registerSoup, "s", { { path = "id", type = "string" } }))
        local target = { type = "rest", connection = "api", url = "/", paging = { style = "link" } }
        local state = assert(await(mobilesync.syncDown, target, "s", {}, "d"))
        return { state.status, state.fetched }
        """, before: before)
    #expect(result == ["DONE", 2])
  }

  @Test(arguments: ["9223372036854775807", "-9223372036854775808", "9223372036854775797"])
  func sandbox_hugeLocatorOfJobs_isAnEmptyPage(locator: String) async throws {
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        local function jobs(kind)
          return assert(await(network.sendRequest, { path = "/services/data/v60.0/jobs/" .. kind .. "?queryLocator=\(locator)" }))
        end
        return { #jobs("ingest").records, jobs("query").done }
        """, before: before)
    #expect(result == [0, true])
  }

  @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1e300", "null"])
  func assets_damagedTimeOfAFailure_isNoCrash(at: String) async throws {
    let runner = try await ScriptRunner(contacts: 0)
    let server = try ScriptedServer(handler: { request in
      request.path == "/" ? .json(#"[{"id":1,"picture":"http://\#(request.header("Host") ?? "")/p"}]"#) : .status(404)
    })
    let host = runner.makeHost()
    let script = """
      tureen.configure { connections = { api = { baseURL = "\(server.url)" } } }
      local target = { type = "rest", connection = "api", url = "/", assets = { { field = "picture", store = "files" } } }
      tureen.async(function()
        assert(tureen.await(smartstore.registerSoup, "s", { { path = "id", type = "string" }, { path = "picture", type = "string" } }))
        note("state", assert(tureen.await(mobilesync.syncDown, target, "s", {}, "d")).status)
      end)
      assert(tureen.run())
      """
    #expect(try await runner.run(script, on: host) == .done)
    let folder = runner.home + "/assets/api"
    let name = try #require(try FileSystem.entries(of: folder).first { $0.hasSuffix(".json") })
    try FileSystem.write(Array(#"{"failed":"x","at":\#(at)}"#.utf8), to: folder + "/" + name)
    #expect(
      try await runner.run(
        """
        tureen.configure { connections = { api = { baseURL = "\(server.url)" } } }
        tureen.async(function() note("state", assert(tureen.await(mobilesync.reSync, "d")).status) end)
        assert(tureen.run())
        """) == .done)
    await runner.server.stop()
    #expect(runner.noted("state") == ["DONE", "DONE"])
  }
}
