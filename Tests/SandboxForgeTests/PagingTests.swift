import JSON
import SandboxForge
import Testing

/// The forms of `Link`, and the ways of paging.
@Suite struct PagingTests {
  private func links(_ change: (inout ForgeSettings) -> Void) async throws -> [String] {
    var settings = ForgeSettings()
    change(&settings)
    var lines: [String] = []
    try await withForge(settings) { server, client, _ in
      let answer = try await client.get("/orgs/acme/repos?per_page=10&page=2")
      lines = answer.lines.filter { $0.name.lowercased() == "link" }
        .map { $0.value.replacing(server.url, with: "B") }
    }
    return lines
  }

  @Test func link_byDefault_namesAllPages() async throws {
    #expect(
      try await links { _ in } == [
        #"<B/orgs/acme/repos?per_page=10&page=1>; rel="prev", <B/orgs/acme/repos?per_page=10&page=3>; rel="next", "#
          + #"<B/orgs/acme/repos?per_page=10&page=3>; rel="last", <B/orgs/acme/repos?per_page=10&page=1>; rel="first""#
      ])
  }

  @Test func link_inEachForm() async throws {
    func next(_ change: (inout ForgeSettings) -> Void) async throws -> [String] {
      try await links {
        $0.linksAllPages = false
        change(&$0)
      }
    }
    #expect(try await next { $0.links = .path } == [#"</orgs/acme/repos?per_page=10&page=3>; rel="next""#])
    #expect(try await next { $0.links = .query } == [#"<?per_page=10&page=3>; rel="next""#])
    #expect(try await next { $0.links = .ids } == [#"<B/organizations/1/repos?per_page=10&page=3>; rel="next""#])
    #expect(try await next { $0.links = .none } == [])
    #expect(try await next { $0.linkQuotes = false } == ["<B/orgs/acme/repos?per_page=10&page=3>; rel=next"])
    #expect(try await next { $0.linkDrops = ["per_page"] } == [#"<B/orgs/acme/repos?page=3>; rel="next""#])
    #expect(try await next { $0.linkLoops = true } == [#"<B/orgs/acme/repos?per_page=10&page=2>; rel="next""#])
    #expect(
      try await next { $0.linkSuffix = "&note=a b" } == [#"<B/orgs/acme/repos?per_page=10&page=3&note=a b>; rel="next""#])
    #expect(
      try await next { $0.linkOrigin = "http://inner.example:8080" }
        == [#"<http://inner.example:8080/orgs/acme/repos?per_page=10&page=3>; rel="next""#])
    #expect(
      try await next { $0.linkExtras = true } == [
        #"<B/orgs/acme/repos?per_page=10&page=3>; title="a, b; rel=\"next\""; title*=UTF-8''na%C3%AFve; rel="next""#
      ])
    let lines = try await links { $0.linkLines = true }
    #expect(lines.count == 4 && lines[1] == #"<B/orgs/acme/repos?per_page=10&page=3>; rel="next""#)
  }

  @Test func link_nameIsSpelledAsAsked() async throws {
    for name in ["Link", "link", "LINK"] {
      var settings = ForgeSettings()
      settings.linkName = name
      try await withForge(settings) { _, client, _ in
        let answer = try await client.get("/orgs/acme/repos?per_page=10")
        #expect(answer.lines.contains { $0.name == name })
      }
    }
  }

  @Test func idPaths_leadToTheSamePage() async throws {
    var settings = ForgeSettings()
    settings.links = .ids
    try await withForge(settings) { _, client, _ in
      let plain = try await client.get("/orgs/acme/repos?per_page=10&page=2")
      let first = try await client.get("/orgs/acme/repos?per_page=10")
      #expect(try await client.follow(try #require(first.links["next"])).ids == plain.ids)
      let repository = try await client.get("/repositories/1296269").json["full_name"]?.stringValue ?? ""
      let issues = try await client.get("/repos/\(repository)/issues?state=all&per_page=10")
      let next = try #require(issues.links["next"])
      #expect(next.contains("/repositories/1296269/issues?"))
      #expect(try await client.follow(next).items.first?["number"] == 110)
    }
  }

  @Test func cursors_doNotShift() async throws {
    var settings = ForgeSettings()
    settings.paging = .cursor
    try await withForge(settings) { _, client, _ in
      let first = try await client.get("/orgs/acme/repos?per_page=10")
      #expect(first.links.keys.sorted() == ["next"])
      let next = try #require(first.links["next"])
      let second = try await client.follow(next)
      // One row of the first page is deleted, and one of the second.
      for name in [first.items[0], second.items[0]].compactMap({ $0["full_name"]?.stringValue }) {
        #expect(try await client.send("DELETE", "/repos/\(name)").status == 204)
      }
      let again = try await client.follow(next)
      #expect(again.ids.dropLast() == second.ids.dropFirst())
      let third = try await client.follow(try #require(again.links["next"]))
      #expect(Set(first.ids + second.ids + again.ids + third.ids).count == 30 && third.links["next"] == nil)
      let back = try await client.follow(try #require(third.links["prev"]))
      #expect(back.ids == again.ids)
      let dead = try await client.get("/orgs/acme/repos?after=nonsense")
      #expect(dead.status == 422 && dead.message == "Invalid cursor")
    }
  }

  @Test func pageNumbers_shiftWhenRowsGo() async throws {
    try await withForge { _, client, _ in
      let first = try await client.get("/orgs/acme/repos?per_page=10")
      let second = try await client.follow(try #require(first.links["next"]))
      let name = first.items[0]["full_name"]?.stringValue ?? ""
      #expect(try await client.send("DELETE", "/repos/\(name)").status == 204)
      let shifted = try await client.follow(try #require(first.links["next"]))
      #expect(shifted.ids.dropLast() == second.ids.dropFirst())
    }
  }

  @Test func sizes_areClampedSilently() async throws {
    try await withForge { server, client, _ in
      #expect(try await client.get("/orgs/harbor/repos?per_page=1000").items.count == 100)
      for wish in ["0", "-3", "x", ""] {
        #expect(try await client.get("/orgs/harbor/repos?per_page=\(wish)").items.count == 30)
      }
      #expect(try await client.get("/orgs/acme/repos?page=99").text == "[]")
      server.settings.largestPage = 7
      let page = try await client.get("/orgs/acme/repos?per_page=20")
      #expect(page.items.count == 7 && page.links["last"]?.hasSuffix("page=5") == true)
      server.settings.ignoresPageSize = true
      server.settings.largestPage = 100
      #expect(try await client.get("/orgs/harbor/repos?per_page=3").items.count == 30)
    }
  }

  @Test func deepPages_areRefused() async throws {
    var settings = ForgeSettings()
    settings.listedRows = 200
    try await withForge(settings) { _, client, _ in
      #expect(try await client.get("/orgs/harbor/repos?per_page=100&page=2").status == 200)
      let deep = try await client.get("/orgs/harbor/repos?per_page=100&page=3")
      #expect(deep.status == 422)
      #expect(deep.message == "In order to keep the API fast for everyone, pagination is limited for this resource.")
    }
  }

  @Test func lists_inOtherShapes() async throws {
    try await withForge { server, client, _ in
      server.settings.wrapper = "repositories"
      let wrapped = try await client.get("/orgs/acme/repos?per_page=4")
      #expect(wrapped.json["total_count"] == 30 && wrapped.json["repositories"]?.arrayValue?.count == 4)
      server.settings.wrapper = nil
      server.settings.emptyIs204 = true
      let empty = try await client.get("/orgs/acme/repos?page=9")
      #expect(empty.status == 204 && empty.body.isEmpty)
      server.settings.computing = 2
      let statuses = try await [client.get("/orgs/acme/repos"), client.get("/orgs/acme/repos"), client.get("/orgs/acme/repos")]
      #expect(statuses.map(\.status) == [202, 202, 200] && statuses[0].body.isEmpty && statuses[2].items.count == 30)
    }
  }
}
