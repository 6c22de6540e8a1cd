import JSON
import RestClient
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Rows B1–B5 of the acceptance list.
@Suite struct BriefcaseTests {
  /// A server with a briefcase of accounts `001n` and contacts `003n`, with two ids per priming
  /// page.
  private final class BriefcaseServer: Sendable {
    struct Content {
      var accounts: [Int: Int64] = [:]
      var contacts: [Int: Int64] = [:]
      var idsPerPage = 1000
      /// Listed by the rules, but missing when retrieved.
      var gone: Set<String> = []
    }

    let content = Mutex(Content())
    static let start: Int64 = 1_704_103_200_000

    func change(_ body: (inout Content) -> Void) { content.withLock { body(&$0) } }

    func answer(_ request: RecordedRequest) -> ScriptedAnswer {
      if request.path.hasSuffix("/connect/briefcase/priming-records") { return priming(request) }
      for (type, prefix) in [("Account", "001"), ("Contact", "003")]
      where request.path.hasSuffix("/composite/sobjects/" + type) {
        return retrieve(type, prefix, request)
      }
      return .restError(404, "NOT_FOUND", request.target)
    }

    private func parameter(_ name: String, _ request: RecordedRequest) -> String? {
      request.query.split(separator: "&").first { $0.hasPrefix(name + "=") }.map { pair in
        String(pair.dropFirst(name.count + 1)).split(separator: "%3A").joined(separator: ":")
      }
    }

    private func priming(_ request: RecordedRequest) -> ScriptedAnswer {
      let after = parameter("changedAfterTimestamp", request).flatMap { TimeStamp.milliseconds($0) } ?? -1
      let first = parameter("relayToken", request).flatMap { Int($0) } ?? 0
      let (ids, count) = content.withLock { content in
        let accounts = content.accounts.filter { $0.value > after }.keys.sorted().map { ("Account", "001\($0)") }
        let contacts = content.contacts.filter { $0.value > after }.keys.sorted().map { ("Contact", "003\($0)") }
        return (accounts + contacts + [("Other", "0990")], content.idsPerPage)
      }
      var types: JSONObject = [:]
      for type in ["Account", "Contact", "Other"] {
        let records = ids.dropFirst(first).prefix(count).filter { $0.0 == type }.map { id -> JSONValue in
          ["id": .string(id.1), "systemModstamp": "2021-08-23T18:42:32.000Z"]
        }
        if !records.isEmpty { types[type] = ["012": .array(records)] }
      }
      let isLast = first + count >= ids.count
      let body: JSONValue = [
        "primingRecords": .object(types), "relayToken": isLast ? .null : .string(String(first + count)), "ruleErrors": [],
        "stats": ["recordCountTotal": .integer(Int64(ids.count))],
      ]
      return .json(body.text)
    }

    private func retrieve(_ type: String, _ prefix: String, _ request: RecordedRequest) -> ScriptedAnswer {
      let ids = (try? JSONValue(parsing: request.body))?["ids"]?.arrayValue?.compactMap(\.stringValue) ?? []
      let rows = content.withLock { content in
        ids.map { id -> JSONValue in
          let stamps = type == "Account" ? content.accounts : content.contacts
          guard let stamp = Int(id.dropFirst(3)).flatMap({ stamps[$0] }), !content.gone.contains(id) else { return .null }
          return [
            "attributes": ["type": .string(type)], "Id": .string(id), "Name": .string(id),
            "LastModifiedDate": .string(TimeStamp.text(stamp)),
          ]
        }
      }
      return .json(JSONValue.array(rows).text)
    }
  }

  private struct Bench {
    let org: BriefcaseServer
    let server: ScriptedServer
    let store: ScriptedStore
    let manager: SyncManager

    init(accounts: Int, contacts: Int = 0) throws {
      let org = BriefcaseServer()
      org.change { content in
        for n in 0..<accounts { content.accounts[n] = BriefcaseServer.start + Int64(n) * 1000 }
        for n in 0..<contacts { content.contacts[n] = BriefcaseServer.start + Int64(n) * 1000 }
      }
      self.org = org
      server = try ScriptedServer { org.answer($0) }
      store = try ScriptedStore()
      try store.store.registerSoup("contacts", indexSpecs: SyncBench.specs)
      manager = try store.manager(server)
    }

    func ids(_ soup: String) throws -> String { try store.store.rows("select {\(soup):Id} from {\(soup)} order by {\(soup):Id}") }
  }

  private func target(_ types: [String], perRetrieve: Int? = nil) -> JSONObject {
    let infos = types.map { type -> JSONValue in
      ["sobjectType": .string(type), "soupName": type == "Account" ? "accounts" : "contacts", "fieldlist": ["Name"]]
    }
    var target: JSONObject = ["type": "briefcase", "infos": .array(infos)]
    if let perRetrieve { target["countIdsPerRetrieve"] = .integer(Int64(perRetrieve)) }
    return target
  }

  @Test(arguments: [(500, 1), (2, 6)])
  func syncDown_oneType_fetchesInSlices(perRetrieve: Int, pages: Int) async throws {
    let bench = try Bench(accounts: 12)
    let recorder = UpdateRecorder()
    try bench.manager.syncDown(
      target: target(["Account"], perRetrieve: perRetrieve), soupName: "does-not-matter", onUpdate: recorder.listener)
    let end = await recorder.ended()
    let steps = (1..<pages).map { "RUNNING \(100 * perRetrieve * $0 / 12)/12" }
    #expect(recorder.lines == ["RUNNING 0/-1", "RUNNING 0/12"] + (pages > 1 ? steps : []) + ["DONE 100/12"])
    #expect(end.counts.requests == pages + 1 && end.maxTimeStamp == BriefcaseServer.start + 11_000)
    #expect(try bench.store.entries().count == 12)
    await bench.store.close()
  }

  @Test(arguments: [(500, 1), (3, 8)])
  func syncDown_twoTypes_goToTheirSoups(perRetrieve: Int, pages: Int) async throws {
    let bench = try Bench(accounts: 12, contacts: 12)
    let end = try await bench.manager.syncDown(
      target: target(["Account", "Contact"], perRetrieve: perRetrieve), soupName: "x")
    #expect(end.status == .done && end.totalSize == 24 && end.counts.stored == 24)
    #expect(end.counts.requests == 1 + (pages == 1 ? 2 : pages))
    #expect(try bench.ids("accounts").contains("0019") && bench.ids("contacts").contains("0039"))
    #expect(try bench.store.store.rows("select count(*) from {contacts}") == "[[12]]")
    await bench.store.close()
  }

  @Test func syncDown_severalPrimingPages_areAllFollowed() async throws {
    let bench = try Bench(accounts: 5, contacts: 4)
    bench.org.change { $0.idsPerPage = 2 }
    let recorder = UpdateRecorder()
    try bench.manager.syncDown(target: target(["Account", "Contact"]), soupName: "x", onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(end.status == .done && end.totalSize == 9 && end.counts.stored == 9)
    #expect(recorder.states.allSatisfy { $0.progress < 100 || $0.status == .done })
    #expect(try bench.ids("accounts") == #"[["0010"],["0011"],["0012"],["0013"],["0014"]]"#)
    await bench.store.close()
  }

  @Test func reSync_someNewer_asksForThoseOnly() async throws {
    let bench = try Bench(accounts: 12)
    _ = try await bench.manager.syncDown(target: target(["Account"]), soupName: "x", syncName: "b")
    bench.org.change { content in
      content.accounts[3] = BriefcaseServer.start + 500_000
      content.accounts[12] = BriefcaseServer.start + 501_000
      content.gone = ["00112"]
    }
    let again = try await bench.manager.reSync(.name("b"))
    #expect(again.status == .done && again.counts.fetched == 1, "a record that is gone meanwhile is passed over")
    #expect(again.maxTimeStamp == BriefcaseServer.start + 500_000)
    await bench.store.close()
  }

  @Test func syncDown_retrieveFails_isFailed() async throws {
    let server = try ScriptedServer(
      .json(#"{"primingRecords":{"Account":{"012":[{"id":"0011"}]}},"relayToken":null}"#),
      .restError(400, "INVALID_FIELD", "no such field"))
    let store = try ScriptedStore()
    let manager = try store.manager(server)
    let end = try await manager.syncDown(target: target(["Account"]), soupName: "x")
    #expect(end.status == .failed && end.error.contains("INVALID_FIELD"))
    await store.close()
  }

  @Test func syncDown_leaveIfChanged_keepsDirtyOnesOfEverySoup() async throws {
    let bench = try Bench(accounts: 3, contacts: 3)
    _ = try await bench.manager.syncDown(target: target(["Account", "Contact"]), soupName: "x")
    for soup in ["accounts", "contacts"] {
      let entries = try bench.store.store.upsert(
        #"[{"Id":"\#(soup == "accounts" ? "0011" : "0031")","Name":"mine","__local__":true,"__locally_deleted__":true}]"#,
        into: soup, by: "Id")
      #expect(entries.count == 1)
    }
    let end = try await bench.manager.syncDown(
      target: target(["Account", "Contact"]), options: ["mergeMode": "LEAVE_IF_CHANGED"], soupName: "x")
    #expect(end.counts.stored == 4 && end.counts.skipped == 2 && end.counts.conflicting == 0)
    #expect(try bench.store.store.rows("select {contacts:Name} from {contacts} where {contacts:Id} = '0031'") == #"[["mine"]]"#)
    await bench.store.close()
  }

  @Test func cleanResyncGhosts_twoTypes_removesWhatTheRulesNameNoMore() async throws {
    let bench = try Bench(accounts: 3, contacts: 2)
    let end = try await bench.manager.syncDown(target: target(["Account", "Contact"]), soupName: "x")
    _ = try bench.store.store.upsert(#"[{"Id":"local_1","__local__":true,"__locally_created__":true}]"#, into: "accounts")
    bench.org.change { content in
      content.accounts[1] = nil
      content.contacts = [:]
    }
    #expect(try await bench.manager.cleanResyncGhosts(.id(end.id)) == 3)
    #expect(try bench.ids("accounts") == #"[["0010"],["0012"],["local_1"]]"#)
    #expect(try bench.ids("contacts") == "[]", "also a type that has no record left")
    await bench.store.close()
  }
}
