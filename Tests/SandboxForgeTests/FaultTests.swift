import JSON
import SandboxForge
import Testing

/// General faults on the forge, its own faults, and its control interface.
@Suite struct FaultTests {
  private static let list = "/orgs/acme/repos?per_page=10"

  @Test func faultsOfAnyServer_holdForTheForge() async throws {
    try await withForge { server, client, _ in
      let whole = try await client.get(Self.list)
      try server.faults.add(.unavailable(retryAfter: .seconds(7)), when: .nth(1))
      let unavailable = try await client.get(Self.list)
      #expect(unavailable.status == 503 && unavailable.header("retry-after") == "7")
      #expect(unavailable.message == "the server is overloaded", "in the forge's own form")
      try server.faults.add(.truncateBody(bytes: 20), when: .nth(1))
      let cut = try await client.get(Self.list)
      #expect(cut.isTruncated && cut.body == Array(whole.body.prefix(20)))
      try server.faults.add(.htmlPage(status: 502), when: .nth(1))
      #expect(try await client.get(Self.list).text.hasPrefix("<!DOCTYPE html>"))
      try server.faults.add(.invalidJSON, when: .nth(1))
      #expect(try await client.get(Self.list).json == .null)
      try server.faults.add(.dateSkew(seconds: 600), when: .nth(1))
      #expect(try await client.get(Self.list).header("date") == "Mon, 02 Mar 2026 09:10:00 GMT")
      #expect(try await client.get(Self.list).header("date") == "Mon, 02 Mar 2026 09:00:00 GMT")
    }
  }

  @Test func lostAcknowledgement_leavesTheRecord() async throws {
    try await withForge { server, client, _ in
      try server.faults.add(.dropBeforeResponse(), path: "issues", method: "POST")
      await #expect(throws: ForgeClient.NoAnswer.self) {
        _ = try await client.json("POST", IssueTests.home + "/issues", ["title": "Sent once"])
      }
      let newest = try await client.get(IssueTests.home + "/issues?per_page=1").items.first
      #expect(newest?["title"] == "Sent once" && newest?["number"] == 121)
    }
  }

  @Test func faultsOfTheForge_changeItsLists() async throws {
    try await withForge { server, client, _ in
      let whole = try await client.get(Self.list)
      try server.faults.add(Fault("duplicateItems", ["count": 2]), when: .nth(1))
      #expect(try await client.get(Self.list).ids == whole.ids + whole.ids.suffix(2))
      try server.faults.add(Fault("missingIds", ["step": 5]), when: .nth(1))
      let some = try await client.get(Self.list)
      #expect(some.items.count == 10 && some.ids.count == 8 && some.items[4]["name"] != nil)
      try server.faults.add(Fault("emptyPage"), when: .nth(1))
      let empty = try await client.get(Self.list)
      #expect(empty.text == "[]" && empty.links["next"] == whole.links["next"])
      try server.faults.add(Fault("ignorePageSize"), when: .nth(1))
      #expect(try await client.get(Self.list).items.count == 30)
      try server.faults.add(Fault("computing"), when: .nth(1))
      let computing = try await client.get(Self.list)
      #expect(computing.status == 202 && computing.body.isEmpty)
      try server.faults.add(Fault("skewedStamps", ["seconds": -60]), when: .nth(1))
      let made = try await client.json("POST", IssueTests.home + "/issues", ["title": "x"])
      #expect(made.json["created_at"] == "2026-03-02T08:59:00Z")
      #expect(try await client.get(Self.list).ids == whole.ids)
    }
  }

  @Test func limitsByFault_tellWhenToComeBack() async throws {
    try await withForge { server, client, clock in
      try server.faults.add(Fault("primaryLimit", ["reset": 2, "status": 429]), when: .nth(1))
      let primary = try await client.get(Self.list)
      #expect(primary.status == 429 && primary.number("x-ratelimit-remaining") == 0)
      #expect(primary.number("x-ratelimit-reset").map { Int64($0) } == clock.now() + 2)
      try server.faults.add(Fault("secondaryLimit", ["retryAfter": 3]), when: .nth(1))
      let secondary = try await client.get(Self.list)
      #expect(secondary.status == 403 && secondary.header("retry-after") == "3")
      #expect(secondary.message?.contains("secondary rate limit") == true)
    }
  }

  @Test func everyKind_canBeAddedWithItsSample() async throws {
    try await withForge { server, client, _ in
      for kind in server.faults.kinds where kind.name != "hang" {
        try server.faults.add(kind.sample, when: .nth(1))
        _ = try? await client.get(Self.list)
        _ = try? await client.json("PATCH", IssueTests.home, ["description": "x"])
        #expect(server.faults.active.last?.fired == 1, "\(kind.name)")
        server.faults.clear()
      }
      #expect(try await client.get(Self.list).status == 200)
    }
  }

  // MARK: The control interface

  private func call(_ server: ForgeServer, _ action: String, _ body: JSONValue = [:]) async throws -> ForgeClient.Answer {
    try await ForgeClient(port: server.port, token: server.controlToken).json("POST", "/__sandbox/\(action)", body)
  }

  @Test func control_settings_areReturnedAndChanged() async throws {
    try await withForge { server, client, _ in
      let all = try await call(server, "forge")
      #expect(all.json["links"] == "absolute" && all.json["signedInRequests"] == 5_000 && all.json["wrapper"] == .null)
      let changed = try await call(server, "forge", ["links": "query", "linkQuotes": false, "wrapper": "items"])
      #expect(changed.json["links"] == "query" && changed.json["linkQuotes"] == false && changed.json["wrapper"] == "items")
      let page = try await client.get("/orgs/acme/repos?per_page=29")
      #expect(page.header("link") == "<?per_page=29&page=2>; rel=next, <?per_page=29&page=2>; rel=last")
      #expect(try await call(server, "forge", ["wrapper": .null]).json["wrapper"] == .null)
      for (body, part) in [
        (["links": "sideways"], "absolute, path, query, ids, none"), (["largestPage": 0], "1 to 1000"),
        (["lnks": "path"], "'lnks' is not a setting"), (["linkDrops": "x"], "array of strings"),
      ] as [(JSONValue, String)] {
        let wrong = try await call(server, "forge", body)
        #expect(wrong.status == 400 && wrong.text.contains(part), "\(wrong.text)")
      }
      #expect(server.settings.links == .query, "a call that is refused changes nothing")
    }
  }

  @Test func control_resetClockAndLog_reachTheForge() async throws {
    try await withForge { server, client, _ in
      server.settings.links = .path
      #expect(try await call(server, "clock", ["advance": 60]).json["now"] == 1_772_442_060)
      let made = try await client.json("POST", "/orgs/acme/repos", ["name": "mine"])
      #expect(made.json["created_at"] == "2026-03-02T09:01:00Z")
      let log = try await call(server, "requests", ["method": "POST"])
      #expect(log.items.map { $0["path"] } == ["/orgs/acme/repos"] && log.items.first?["user"] == "ada")
      #expect(try await call(server, "reset").text == "\"OK\"")
      #expect(try await client.get("/repos/acme/mine").status == 404)
      let page = try await client.get(Self.list)
      #expect(page.links["next"]?.hasPrefix(server.url) == true && page.number("x-ratelimit-used") == 2)
      #expect(try await call(server, "dance").text.contains("forge, reset"))
    }
  }

  @Test func forges_inOneProcess_shareNothing() async throws {
    try await withForge { one, first, _ in
      try await withForge { two, second, _ in
        _ = try await first.json("POST", "/orgs/acme/repos", ["name": "mine"])
        #expect(try await second.get("/repos/acme/mine").status == 404)
        let ids = try await [first.get("/orgs/acme/repos?per_page=11").ids, second.get(Self.list).ids]
        #expect(ids[1] == Array(ids[0].dropFirst()))
        #expect(one.token(of: "ada") != two.token(of: "ada"))
      }
    }
  }
}
