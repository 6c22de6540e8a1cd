import JSON
import SandboxForge
import Testing

@Suite struct ListTests {
  @Test func repositories_ofAnOrganization_comeInPagesOfThirty() async throws {
    try await withForge { server, _, _ in
      let client = ForgeClient(port: server.port, token: server.token(of: "ben"))
      let first = try await client.get("/orgs/orchard/repos?sort=full_name")
      #expect(first.status == 200 && first.items.count == 30)
      #expect(first.header("content-type") == "application/json; charset=utf-8")
      let names = first.items.compactMap { $0["full_name"]?.stringValue }
      #expect(names == names.sorted() && names.allSatisfy { $0.hasPrefix("orchard/") })
      #expect(first.links["last"] == server.url + "/orgs/orchard/repos?sort=full_name&page=9")
      #expect(first.links["prev"] == nil && first.links["first"] == nil)
      let second = try await client.follow(try #require(first.links["next"]))
      #expect(second.links["prev"]?.hasSuffix("page=1") == true && second.links["first"]?.hasSuffix("page=1") == true)
      let last = try await client.follow(try #require(first.links["last"]))
      #expect(last.items.count == 10 && last.links["next"] == nil && last.links["last"] == nil)
      // Integers too large for a floating-point number.
      #expect((first.ids + second.ids + last.ids).allSatisfy { $0 > 1 << 53 })
    }
  }

  @Test func repositories_ofTheLargeOrganization_areAllThereOnce() async throws {
    try await withForge { server, client, _ in
      server.settings.pointsPerMinute = 0
      var page = try await client.get("/orgs/harbor/repos?per_page=100"), ids = page.ids
      while let next = page.links["next"] {
        page = try await client.follow(next)
        ids += page.ids
      }
      #expect(ids.count == 10_800 && Set(ids).count == 10_800, "every tenth is private")
      #expect(try await client.get("/orgs/harbor").json["public_repos"] == 10_800)
    }
  }

  @Test func repository_hasTheFieldsOfTheRealOne() async throws {
    try await withForge { server, client, _ in
      let one = try await client.get("/orgs/acme/repos?sort=created&direction=asc&per_page=1").items.first
      #expect(one?["id"] == 1_296_269 && one?["owner"]?["login"] == "acme" && one?["owner"]?["gravatar_id"] == "")
      let url = try #require(one?["url"]?.stringValue)
      let alone = try await client.follow(url)
      #expect(alone.status == 200 && alone.json == one)
      #expect(alone.header("last-modified")?.hasSuffix("GMT") == true)
      for name in ["created_at", "updated_at", "pushed_at"] {
        #expect(alone.json[name]?.stringValue?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
      }
      #expect(alone.json["forks"] == alone.json["forks_count"] && alone.json["watchers"] == alone.json["watchers_count"])
      #expect(try await client.get("/repositories/1296269").json == one)
      let all = try await client.get("/orgs/acme/repos?per_page=100").items
      #expect(all.contains { $0["description"] == .null } && all.contains { $0["language"] == .null })
      #expect(all.allSatisfy { $0["mirror_url"] == .null })
      #expect(server.requests().last?.user == "ada")
    }
  }

  @Test func repositories_kinds_andOrders() async throws {
    try await withForge { _, client, _ in
      func ids(_ query: String) async throws -> [Int64] { try await client.get("/orgs/acme/repos?per_page=100&\(query)").ids }
      let all = try await ids("type=all"), open = try await ids("type=public"), hidden = try await ids("type=private")
      #expect(all.count == 30 && hidden.count == 3 && Set(all) == Set(open + hidden))
      let forks = try await ids("type=forks"), sources = try await ids("type=sources")
      #expect(Set(forks + sources) == Set(all))
      let newest = try await ids("sort=created")
      #expect(newest == all && newest == newest.sorted(by: >))
      #expect(try await ids("sort=created&direction=asc") == newest.reversed())
      for (sort, field) in [("updated", "updated_at"), ("pushed", "pushed_at")] {
        let items = try await client.get("/orgs/acme/repos?per_page=100&sort=\(sort)").items
        let stamps = items.compactMap { $0[field]?.stringValue }
        #expect(stamps == stamps.sorted(by: >) && Set(stamps).count < stamps.count, "some are of the same second")
      }
      let wrong = try await client.get("/orgs/acme/repos?sort=size")
      #expect(wrong.status == 422 && wrong.json["errors"]?.arrayValue?.first?["field"] == "sort")
    }
  }

  @Test func privateRepositories_areNotThereForOthers() async throws {
    try await withForge { server, client, _ in
      let hidden = try await client.get("/orgs/acme/repos?type=private").items.first
      let path = "/repos/" + (try #require(hidden?["full_name"]?.stringValue))
      #expect(try await client.get(path).status == 200)
      for token in [nil, server.token(of: "ben")] {
        let other = ForgeClient(port: server.port, token: token)
        #expect(try await other.get(path).status == 404)
        #expect(try await other.get("/orgs/acme/repos?per_page=100").items.count == 27)
        #expect(try await other.get("/orgs/acme/repos?type=private").items.isEmpty)
      }
    }
  }

  @Test func idLists_goOnBehindAnId() async throws {
    try await withForge { server, client, _ in
      let first = try await client.get("/users?per_page=2")
      #expect(first.items.compactMap { $0["login"] } == ["acme", "orchard"])
      #expect(first.links["next"] == server.url + "/users?per_page=2&since=2")
      #expect(first.links["first"] == server.url + "/users{?since}")
      let second = try await client.follow(try #require(first.links["next"]))
      #expect(second.items.compactMap { $0["login"] } == ["harbor", "ada"])
      #expect(try await client.get("/organizations?since=1").items.compactMap { $0["login"] } == ["orchard", "harbor"])
      let public_ = try await client.get("/repositories?since=1296297&per_page=2")
      #expect(public_.ids == [50_000_001, 50_000_002], "the thirtieth of acme is private")
    }
  }

  @Test func search_wrapsItsItemsAndEndsAtAThousand() async throws {
    try await withForge { _, client, _ in
      let page = try await client.get("/search/repositories?q=org:harbor+language:swift&per_page=5&sort=stars")
      #expect(page.json["incomplete_results"] == false && (page.json["total_count"]?.integerValue ?? 0) > 800)
      let items = page.json["items"]?.arrayValue ?? []
      #expect(items.count == 5 && items.allSatisfy { $0["language"] == "Swift" })
      let stars = items.compactMap { $0["stargazers_count"]?.integerValue }
      #expect(stars == stars.sorted(by: >))
      #expect(page.header("x-ratelimit-resource") == "search" && page.number("x-ratelimit-limit") == 30)
      let wide = try await client.get("/search/repositories?q=org:harbor&per_page=100")
      #expect(wide.links["last"]?.hasSuffix("page=10") == true)
      let deep = try await client.get("/search/repositories?q=org:harbor&per_page=100&page=11")
      #expect(deep.status == 422 && deep.message == "Only the first 1000 search results are available")
      let issues = try await client.get("/search/issues?q=org:acme+is:open+is:pr&per_page=100")
      let found = issues.json["items"]?.arrayValue ?? []
      #expect(!found.isEmpty && found.allSatisfy { $0["state"] == "open" && $0["pull_request"] != nil })
      #expect(try await client.get("/search/issues").status == 422)
    }
  }
}
