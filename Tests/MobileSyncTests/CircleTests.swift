import JSON
import RestClient
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Pages that lead back to earlier ones end with an error that names the address, never in an
/// endless run.
@Suite struct CircleTests {
  private static let next = "/services/data/v66.0/query/c-"

  private static func account(_ n: Int, _ more: JSONObject = [:]) -> JSONValue {
    var record: JSONObject = [
      "attributes": ["type": "Account"], "Id": .string("001-\(n)"), "Name": .string("A\(n)"),
      "LastModifiedDate": "2024-01-01T10:00:0\(n % 10).000+0000",
    ]
    for (key, value) in more { record[key] = value }
    return .object(record)
  }

  private static func page(_ records: [JSONValue], then next: String?) -> ScriptedAnswer {
    .json(
      JSONValue.object([
        "totalSize": 6, "done": .bool(next == nil), "nextRecordsUrl": next.map { .string($0) } ?? .null,
        "records": .array(records),
      ]).text, headers: [("Date", "Mon, 01 Jan 2024 12:00:00 GMT")])
  }

  /// Pages 0, 1, ... `length`, and then 1 again.
  private static func pages(_ length: Int, _ record: @escaping @Sendable (Int) -> JSONValue) -> ScriptedServer.Handler {
    { request in
      let number = request.path.range(of: "c-").flatMap { Int(request.path[$0.upperBound...]) } ?? 0
      let following = number % max(1, length) + 1
      return page([record(number)], then: next + "\(following)")
    }
  }

  private func expectCircle(_ end: SyncState, _ length: Int) {
    #expect(end.status == .failed && end.failure?.code == SyncError.Code.unexpectedAnswer.rawValue, "\(end.error)")
    #expect(
      end.error.contains("the pages of the answer repeat") && (1...length).contains { end.error.contains("'\(Self.next)\($0)'") },
      "\(end.error)")
  }

  @Test(arguments: [1, 2, 3, 7])
  func syncDown_pagesInACircle_failsAndNamesThePage(length: Int) async throws {
    let server = try ScriptedServer(handler: Self.pages(length) { Self.account($0) })
    let bench = try ScriptedStore(), manager = try bench.manager(server)
    let end = try await manager.syncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "s")
    expectCircle(end, length)
    #expect(server.requests.count <= 4 * length + 4)
    await #expect(throws: SyncError.self) { try await manager.cleanGhosts(named: "s") }
    await bench.close()
  }

  @Test func syncDown_familiesInACircle_fails() async throws {
    let contact = """
      {"Id": "003-1", "LastName": "C", "LastModifiedDate": "2024-01-01T10:00:00.000+0000", "attributes": {"type": "Contact"}}
      """
    let child = try JSONValue(parsing: contact)
    for isNested in [false, true] {
      let server = try ScriptedServer { request in
        if request.path.contains("/query/n-") { return Self.page([child], then: "/services/data/v66.0/query/n-1") }
        let more: JSONValue = isNested ? "/services/data/v66.0/query/n-1" : .null
        let nested: JSONValue = ["totalSize": 2, "done": .bool(!isNested), "nextRecordsUrl": more, "records": [child]]
        return Self.page([Self.account(1, ["Contacts": nested])], then: isNested ? nil : Self.next + "1")
      }
      let bench = try ScriptedStore(), manager = try bench.manager(server)
      try bench.store.registerSoup("contacts", indexSpecs: SyncBench.specs)
      var target = ParentChildrenBench.sides("LOOKUP")
      target["parentFieldlist"] = ["Name"]
      target["childrenFieldlist"] = ["LastName"]
      let end = try await manager.syncDown(target: target, soupName: "accounts")
      #expect(end.status == .failed && end.error.contains("the pages of the answer repeat"), "\(isNested): \(end.error)")
      #expect(end.error.contains(isNested ? "query/n-1" : "query/c-1"))
      await bench.close()
    }
  }

  @Test func syncDown_briefcaseInACircle_fails() async throws {
    let server = try ScriptedServer { request in
      if request.path.hasSuffix("/priming-records") {
        return .json(#"{"primingRecords":{"Account":{"012":[{"id":"001-1"}]}},"relayToken":"again","ruleErrors":[],"stats":{}}"#)
      }
      return .json(JSONValue.array([Self.account(1)]).text)
    }
    let bench = try ScriptedStore(), manager = try bench.manager(server)
    let target: JSONObject = [
      "type": "briefcase", "infos": [["sobjectType": "Account", "soupName": "accounts", "fieldlist": ["Name"]]],
    ]
    let end = try await manager.syncDown(target: target, soupName: "accounts", syncName: "s")
    #expect(end.status == .failed && end.error.contains("'again'"), "\(end.error)")
    await #expect(throws: SyncError.self) { try await manager.cleanGhosts(named: "s") }
    await bench.close()
  }

  /// The meaning of `more` is up to the module: only the same page twice is an error.
  @Test func syncDown_customTargetGivesAPageAgain_fails() async throws {
    for isStuck in [false, true] {
      let runner = Pages(isStuck: isStuck)
      var configuration = SyncConfiguration()
      configuration.customTargets = runner
      let bench = try ScriptedStore(), manager = try bench.manager(try ScriptedServer(), configuration: configuration)
      let end = try await manager.syncDown(target: ["type": "custom", "luaImpl": "pages"], soupName: "accounts")
      #expect(end.status == (isStuck ? .failed : .done), "\(end.error)")
      #expect(isStuck ? end.error.contains("same page") : end.counts.fetched == 5)
      await bench.close()
    }
  }

  private final class Pages: CustomTargetRunner {
    let isStuck: Bool
    private let number = Mutex(0)

    init(isStuck: Bool) { self.isStuck = isStuck }

    func run(_ call: CustomTargetCall) async throws -> [UInt8] {
      let n = number.withLock { number in
        number += isStuck && number > 1 ? 0 : 1
        return number
      }
      let page: JSONValue = ["records": [CircleTests.account(n)], "totalSize": 5, "more": .bool(n < 5)]
      return page.serialized()
    }
  }

  /// For any number of pages before the cycle, and any length of it.
  @Test func follow_anyCircle_isNoticed() {
    for before in 0..<20 {
      for length in 1...20 {
        var trail = PageTrail(), steps = 0
        while steps < 500 {
          let page = steps < before ? steps : before + (steps - before) % length
          do { try trail.follow("page \(page)") } catch { break }
          steps += 1
        }
        #expect(steps >= before + length && steps <= 3 * (before + length) + 2, "\(before) \(length): \(steps)")
      }
    }
    var straight = PageTrail()
    for page in 0..<5_000 { #expect(throws: Never.self) { try straight.follow("page \(page)") } }
  }
}
