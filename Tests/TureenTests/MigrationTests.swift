import JSON
import RestClient
import Support
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Tureen

/// Tests orgs that move to another instance and sessions that end during a sync.
@Suite(.timeLimit(.minutes(60))) struct MigrationTests {
  static let pages = 10, pageSize = 10

  /// An org with ten pages of contacts that changes when the fifth page is requested.
  private final class PagedOrg: @unchecked Sendable {  // `org` is set once, before the first request
    private(set) var org: RotatingOrg!
    private let event: Mutex<(@Sendable (RotatingOrg) throws -> Void)?>

    init(event: @escaping @Sendable (RotatingOrg) throws -> Void) throws {
      self.event = Mutex(event)
      org = try RotatingOrg { [weak self] request, instance in self?.page(request, instance) ?? .status(500) }
    }

    /// A locator is `<instance>-<page>` and valid only on its instance.
    private func page(_ request: RecordedRequest, _ instance: Int) -> ScriptedAnswer {
      guard request.path.contains("/query") else { return .json("{}") }
      let parts = (request.path.split(separator: "/").last ?? "").split(separator: "-").compactMap { Int($0) }
      if parts.count == 2, parts[0] != instance {
        return .restError(400, "INVALID_QUERY_LOCATOR", "invalid query locator")
      }
      let page = parts.count == 2 ? parts[1] : 0
      if page == 4 {
        let event = event.withLock { event in
          defer { event = nil }
          return event
        }
        try? event?(org)
      }
      let records = (0..<pageSize).map { i in
        let id = page * pageSize + i
        let date = "2026-01-01T00:00:\(10 + page).000+0000"
        return #"{"attributes":{"type":"Contact"},"Id":"003\#(1000 + id)","LastModifiedDate":"\#(date)"}"#
      }
      let next = page + 1 < pages ? #","nextRecordsUrl":"/services/data/v66.0/query/\#(instance)-\#(page + 1)""# : ""
      return .json(
        #"{"totalSize":\#(pages * pageSize),"done":\#(next.isEmpty)\#(next),"records":[\#(records.joined(separator: ","))]}"#)
    }
  }

  /// Runs a sync of ten pages and then `body`, and returns the result of `body`.
  private func run(_ org: RotatingOrg, _ body: String) async throws -> JSONValue? {
    let runner = try await ScriptRunner(contacts: 1)
    let file = runner.folder.path + "/org.json"
    try FileSystem.write(
      Array(#"{"loginUrl":"\#(org.url)","clientId":"\#(RotatingOrg.clientId)","refreshToken":"refresh-0"}"#.utf8), to: file)
    let host = runner.makeHost { settings in
      settings.org = org.url
      settings.credentialsFile = file
    }
    return try await runner.value(
      of: """
        assert(await(smartstore.registerSoup, "contacts", SPECS))
        local state, failed = await(mobilesync.syncDown,
          { type = "soql", query = "SELECT Id, LastModifiedDate FROM Contact" }, "contacts", OVERWRITE, "down")
        local count = assert(await(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(
          "SELECT count(*) FROM {contacts}", 1))).currentPageOrderedEntries[1][1]
        \(body)
        """,
      before: """
        local await, heard = tureen.await, tureen.array()
        for _, name in ipairs { "salesforceSessionRefresh", "sessionLost" } do
          tureen.on(name, function(detail) heard[#heard + 1] = { name = name, detail = detail } end)
        end
        local LIMITS = { path = "/services/data/v66.0/limits" }
        """, on: host)
  }

  @Test(arguments: [RotatingOrg.OldInstance.refuses, .notReset, .redirects, .isClosed])
  func migration_inMidSync_isDoneWithOneRenewal(farewell: RotatingOrg.OldInstance) async throws {
    let paged = try PagedOrg { try $0.migrate(farewell) }
    let result = try await run(
      paged.org, "return { state and state.status or failed.message, count, #heard, heard[1].name, heard[1].detail.instanceUrl }")
    let all = JSONValue.integer(Int64(Self.pages * Self.pageSize))
    #expect(result == ["DONE", all, 1, "salesforceSessionRefresh", .string(paged.org.instance.url)])
    // The first sign-in, and one renewal.
    #expect(paged.org.asked == 2 && paged.org.reuses == 0)
  }

  @Test func tokenRevoked_inMidSync_failsWithOneSessionLostAndThenSilence() async throws {
    let paged = try PagedOrg { $0.revoke() }
    let result = try await run(
      paged.org,
      """
      local lost = heard[1].detail
      local codes = tureen.array()
      for i = 1, 3 do
        local _, err = await(tureen.network.sendRequest, LIMITS)
        codes[i] = err.code .. " " .. err.reason
      end
      local _, again = await(mobilesync.reSync, "down")
      return { failed.code, failed.reason, failed.sync.status, #heard, heard[1].name, lost.reason, lost.userId, lost.orgId,
        lost.message:find("expired access/refresh token", 1, true) ~= nil, codes[1], codes[3], again.reason }
      """)
    #expect(
      result == [
        "notAuthenticated", "sessionEnded", "FAILED", 1, "sessionLost", "sessionEnded", "005000000000001AAA",
        "00D000000000001AAA", true, "notAuthenticated sessionEnded", "notAuthenticated sessionEnded", "sessionEnded",
      ])
    #expect(paged.org.asked == 2)
  }

  /// If an instance does not respond, the login host is asked for another one at most once in five minutes.
  @Test func instanceGone_loginHostKnowsNoOther_isAskedOnceInFiveMinutes() async throws {
    let place = try SessionPlace(), org = try RotatingOrg()
    #expect(try await place.run(org.credentials) == nil)
    org.instance.stop()
    func sync() async throws -> RestError? {
      try await place.withClient(org.credentials) { client in
        let failed = Mutex<RestError?>(nil)
        await RequestMeter().counting {
          do {
            _ = try await client.send(RestRequest(.GET, "/x"))
          } catch {
            failed.withLock { $0 = error as? RestError }
          }
        }
        return failed.withLock { $0 }
      }
    }
    for _ in 0..<3 { #expect(try await sync()?.code == .noResponse) }
    #expect(org.asked == 2)
    place.clock.advance(301)
    #expect(try await sync()?.code == .noResponse)
    #expect(org.asked == 3 && org.reuses == 0)
    // For a request outside a sync the login host is not asked.
    place.clock.advance(301)
    #expect(try await place.run(org.credentials)?.code == .noResponse)
    #expect(org.asked == 3)
  }

  @Test func create_refusedWith401_makesOneRecord() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    let host = runner.makeHost { settings in
      settings.services["org"] = { [server = runner.server] _, _ in
        try server.expireSessions()
        return "OK"
      }
    }
    let result = try await runner.value(
      of: """
        local data = "/services/data/v66.0/"
        assert(await(network.sendRequest, { path = data .. "limits" }))
        assert(await(function(done, failed) tureen.exec(done, failed, "org", "expire") end))
        local made = assert(await(network.sendRequest,
          { path = data .. "sobjects/Contact", method = "POST", queryParams = { LastName = "Once" } }))
        local found = assert(await(network.sendRequest,
          { path = data .. "query", queryParams = { q = "SELECT Id FROM Contact WHERE LastName = 'Once'" } }))
        return { made.success, found.totalSize, found.records[1].Id == made.id }
        """,
      before: "local await, network = tureen.await, tureen.network", on: host)
    #expect(result == [true, 1, true])
  }
}
