import JSON
import SandboxForge
import Testing

/// The primary and the secondary limit, wrong tokens, validators.
@Suite struct LimitTests {
  @Test func primaryLimit_ofAnonymousClients_refusesUntilItsReset() async throws {
    try await withForge { server, _, clock in
      let client = ForgeClient(port: server.port)
      for count in 1...60 {
        let answer = try await client.get("/orgs/acme")
        #expect(answer.status == 200 && answer.number("x-ratelimit-remaining") == 60 - count)
        #expect(answer.number("x-ratelimit-used") == count && answer.number("x-ratelimit-limit") == 60)
      }
      let refused = try await client.get("/orgs/acme")
      #expect(refused.status == 403 && refused.number("x-ratelimit-remaining") == 0 && refused.header("retry-after") == nil)
      #expect(refused.message == "API rate limit exceeded for 127.0.0.1." && refused.header("x-ratelimit-resource") == "core")
      let reset = try #require(refused.number("x-ratelimit-reset"))
      #expect(Int64(reset) == clock.now() + 3_600)
      // Callers with a token have a separate limit.
      #expect(try await ForgeClient(port: server.port, token: server.token(of: "ada")).get("/orgs/acme").status == 200)
      clock.advance(by: 3_599)
      server.settings.limitStatus = 429
      #expect(try await client.get("/orgs/acme").status == 429)
      clock.advance(by: 1)
      let fresh = try await client.get("/orgs/acme")
      #expect(fresh.status == 200 && fresh.number("x-ratelimit-remaining") == 59)
    }
  }

  @Test func rateLimit_isToldAndCostsNothing() async throws {
    try await withForge { _, client, _ in
      _ = try await client.get("/orgs/acme")
      for _ in 0..<2 {
        let limit = try await client.get("/rate_limit")
        #expect(limit.status == 200 && limit.json["resources"]?["core"]?["used"] == 1)
        #expect(limit.json["rate"]?["limit"] == 5_000 && limit.json["resources"]?["search"]?["remaining"] == 30)
      }
    }
  }

  @Test func secondaryLimit_countsPointsAndWrites() async throws {
    var settings = ForgeSettings()
    settings.pointsPerMinute = 10
    try await withForge(settings) { server, client, clock in
      for _ in 0..<10 { #expect(try await client.get("/orgs/acme").status == 200) }
      let refused = try await client.get("/orgs/acme")
      #expect(refused.status == 403 && refused.message?.contains("secondary rate limit") == true)
      #expect(refused.header("retry-after") == "60" && (refused.number("x-ratelimit-remaining") ?? 0) > 4_000)
      server.settings.limitTells = false
      #expect(try await client.get("/orgs/acme").header("retry-after") == nil)
      clock.advance(by: 60)
      server.settings.writesPerMinute = 1
      let first = try await client.json("POST", IssueTests.home + "/issues", ["title": "one"])
      let second = try await client.json("POST", IssueTests.home + "/issues", ["title": "two"])
      #expect(first.status == 201 && second.status == 403)
      #expect(try await client.get(IssueTests.home + "/issues?per_page=1").items.first?["title"] == "one")
      clock.advance(by: 60)
      server.settings.writesPerHour = 1
      #expect(try await client.json("POST", IssueTests.home + "/issues", ["title": "two"]).status == 403)
      clock.advance(by: 3_600)
      #expect(try await client.json("POST", IssueTests.home + "/issues", ["title": "two"]).status == 201)
    }
  }

  @Test func wrongTokens_are401_andThen403ForAWhile() async throws {
    try await withForge { server, client, clock in
      let wrong = ForgeClient(port: server.port, token: "ghp_wrong")
      for _ in 0..<5 {
        let refused = try await wrong.get("/orgs/acme")
        #expect(refused.status == 401 && refused.message == "Bad credentials")
      }
      for client in [wrong, client] {
        let refused = try await client.get("/orgs/acme")
        #expect(refused.status == 403 && refused.message?.contains("login attempts") == true)
      }
      #expect(try await ForgeClient(port: server.port).get("/orgs/acme").status == 200)
      clock.advance(by: 300)
      #expect(try await client.get("/orgs/acme").status == 200)
      let old = try await ForgeClient(port: server.port).get("/user", [("Authorization", "token \(client.token ?? "")")])
      #expect(old.status == 200)
      #expect(try await ForgeClient(port: server.port).get("/user", [("Authorization", "Basic YTpi")]).status == 401)
    }
  }

  @Test func validators_ofAPage_give304WithoutLink() async throws {
    try await withForge { server, client, _ in
      let first = try await client.get("/orgs/acme/repos?per_page=10")
      let tag = try #require(first.header("etag"))
      #expect(tag.hasPrefix("W/\"") && first.header("cache-control") == "private, max-age=60, s-maxage=60")
      #expect(first.header("vary")?.contains("Authorization") == true)
      let used = first.number("x-ratelimit-used")
      for _ in 0..<2 {
        let same = try await client.get("/orgs/acme/repos?per_page=10", [("If-None-Match", tag)])
        #expect(same.status == 304 && same.body.isEmpty && same.header("link") == nil && same.header("etag") == tag)
        #expect(same.number("x-ratelimit-used") == used, "free for those who say who they are")
      }
      // A tag covers one page, one Accept header and one caller.
      let others = try await [
        client.get("/orgs/acme/repos?per_page=10&page=2", [("If-None-Match", tag)]),
        client.get("/orgs/acme/repos?per_page=10", [("If-None-Match", tag), ("Accept", "text/plain")]),
        ForgeClient(port: server.port, token: server.token(of: "ben")).get(
          "/orgs/acme/repos?per_page=10", [("If-None-Match", tag)]),
      ]
      #expect(others.map(\.status) == [200, 200, 200])
      let name = first.items[0]["full_name"]?.stringValue ?? ""
      _ = try await client.json("PATCH", "/repos/\(name)", ["description": "other"])
      #expect(try await client.get("/orgs/acme/repos?per_page=10", [("If-None-Match", tag)]).status == 200)
    }
  }

  @Test func validators_ofARecord_areTheSameByNameAndById() async throws {
    try await withForge { _, client, _ in
      let byId = try await client.get(IssueTests.home)
      let name = byId.json["full_name"]?.stringValue ?? ""
      let byName = try await client.get("/repos/\(name)", [("If-None-Match", try #require(byId.header("etag")))])
      #expect(byName.status == 304)
    }
  }

  @Test func validators_ofAFullLastPage_tellOfANextOneUnlessToldNot() async throws {
    try await withForge { server, client, _ in
      let page = "/orgs/acme/repos?sort=created&direction=asc&per_page=10&page=3"
      for (covers, name, expected) in [(true, "one", 200), (false, "two", 304)] {
        server.settings.tagCoversLinks = covers
        let before = try await client.get(page)
        #expect(before.links["next"] == nil && before.items.count == 10)
        let made = try await client.json("POST", "/orgs/acme/repos", ["name": .string(name)])
        #expect(made.status == 201)
        let after = try await client.get(page, [("If-None-Match", try #require(before.header("etag")))])
        #expect(after.status == expected)
        #expect(try await client.get(page).links["next"] != nil)
        #expect(try await client.send("DELETE", "/repos/acme/\(name)").status == 204)
      }
    }
  }

  @Test func validators_ofAnonymousClients_count() async throws {
    try await withForge { server, _, _ in
      let client = ForgeClient(port: server.port)
      let first = try await client.get("/orgs/acme")
      #expect(first.header("cache-control") == "public, max-age=60, s-maxage=60")
      let same = try await client.get("/orgs/acme", [("If-None-Match", try #require(first.header("etag")))])
      #expect(same.status == 304 && same.number("x-ratelimit-used") == 2)
    }
  }

  @Test func lastModified_ofOneRecord_isAValidatorToo() async throws {
    try await withForge { server, client, clock in
      let one = try await client.get(IssueTests.home)
      let date = try #require(one.header("last-modified"))
      #expect(try await client.get(IssueTests.home, [("If-Modified-Since", date)]).status == 304)
      clock.advance(by: 1)
      _ = try await client.json("PATCH", IssueTests.home, ["description": "other"])
      #expect(try await client.get(IssueTests.home, [("If-Modified-Since", date)]).status == 200)
      server.settings.cacheControl = "no-store"
      server.settings.vary = "Accept"
      server.settings.hidesValidators = true
      let bare = try await client.get(IssueTests.home)
      #expect(bare.header("etag") == nil && bare.header("last-modified") == nil && bare.header("cache-control") == "no-store")
    }
  }
}
