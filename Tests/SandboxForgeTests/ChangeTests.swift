import JSON
import SandboxForge
import Testing

/// Creating, changing, renaming and deleting repositories; requirements on requests.
@Suite struct ChangeTests {
  @Test func repository_isCreatedChangedAndDeleted() async throws {
    try await withForge { _, client, clock in
      let made = try await client.json("POST", "/orgs/acme/repos", ["name": "new one", "description": "d", "private": true])
      #expect(made.status == 201 && made.json["full_name"] == "acme/new-one" && made.json["visibility"] == "private")
      #expect(made.json["created_at"] == "2026-03-02T09:00:00Z" && made.json["permissions"]?["admin"] == true)
      clock.advance(by: 10)
      let changed = try await client.json(
        "PATCH", "/repos/acme/new-one", ["description": .null, "homepage": "https://x.example"])
      #expect(changed.json["description"] == .null && changed.json["homepage"] == "https://x.example")
      #expect(changed.json["updated_at"] == "2026-03-02T09:00:10Z" && changed.json["created_at"] == made.json["created_at"])
      let newest = try await client.get("/orgs/acme/repos?sort=updated&per_page=1")
      #expect(newest.items == [changed.json])
      #expect(try await client.send("DELETE", "/repos/acme/new-one").status == 204)
      #expect(try await client.get("/repos/acme/new-one").status == 404)
      #expect(try await client.get("/orgs/acme/repos?per_page=100").items.count == 30)
    }
  }

  @Test func repository_invalid_saysWhatIsWrong() async throws {
    try await withForge { server, client, _ in
      let known = try await client.get("/repositories/1296269").json["name"] ?? .null
      let twice = try await client.json("POST", "/orgs/acme/repos", ["name": known])
      #expect(twice.status == 422)
      #expect(
        twice.json["errors"]?.arrayValue == [
          ["resource": "Repository", "field": "name", "code": "custom", "message": "name already exists on this account"]
        ])
      #expect(
        try await client.json("POST", "/orgs/acme/repos", [:]).json["errors"]?.arrayValue?.first?["code"] == "missing_field")
      #expect(try await client.json("POST", "/orgs/orchard/repos", ["name": "x"]).status == 403)
      let other = ForgeClient(port: server.port, token: server.token(of: "ben"))
      #expect(try await other.json("PATCH", "/repositories/1296269", ["name": "x"]).status == 403)
      #expect(try await ForgeClient(port: server.port).send("DELETE", "/repositories/1296269").status == 401)
    }
  }

  @Test func renamedRepository_isRedirected() async throws {
    try await withForge { server, client, _ in
      let before = try await client.get("/repositories/1296269").json["full_name"]?.stringValue ?? ""
      #expect(try await client.json("PATCH", "/repos/\(before)", ["name": "renamed"]).json["full_name"] == "acme/renamed")
      let moved = try await client.get("/repos/\(before)/issues?state=all&per_page=5")
      #expect(moved.status == 301 && moved.message == "Moved Permanently")
      let target = try #require(moved.header("location"))
      #expect(target == server.url + "/repositories/1296269/issues?state=all&per_page=5")
      #expect(try await client.follow(target).items.count == 5)
      let write = try await client.json("PATCH", "/repos/\(before)", ["description": "x"])
      #expect(write.status == 307 && write.header("location") == server.url + "/repositories/1296269")
      #expect(try await client.get("/repos/acme/renamed").json["description"] != "x")
      // A new repository under the old name takes precedence.
      let name = before.split(separator: "/")[1]
      _ = try await client.json("POST", "/orgs/acme/repos", ["name": .string(String(name))])
      #expect(try await client.get("/repos/\(before)").status == 200)
    }
  }

  @Test func requests_withoutWhatTheyNeed_areRefused() async throws {
    try await withForge { server, client, _ in
      for agent in [nil, "", "  ", "123"] {
        let refused = try await ForgeClient(port: server.port, agent: agent).get("/orgs/acme")
        #expect(refused.status == 403 && refused.text.contains("User-Agent header"), "\(agent ?? "none")")
      }
      let version = try await client.get("/orgs/acme", [("X-GitHub-Api-Version", "2019-01-01")])
      #expect(version.status == 400 && version.message?.contains("2019-01-01") == true)
      #expect(try await client.get("/orgs/acme", [("X-GitHub-Api-Version", "2022-11-28")]).status == 200)
      for path in ["/orgs/acme/", "/nothing", "/orgs/nobody", "/orgs/nobody/repos", "/repos/acme/nothing", "/repositories/7"] {
        let missing = try await client.get(path)
        #expect(missing.status == 404 && missing.message == "Not Found", "\(path)")
        #expect(missing.json["documentation_url"]?.stringValue?.hasPrefix("https://") == true)
      }
      #expect(try await client.send("PUT", "/orgs/acme").status == 404)
    }
  }

  @Test func paths_areTheSameUnderAPrefix() async throws {
    try await withForge { server, client, _ in
      let root = try await client.get("/api/v3/orgs/acme/repos?per_page=2")
      #expect(root.links["next"] == server.url + "/api/v3/orgs/acme/repos?per_page=2&page=2")
      let url = root.items[0]["url"]?.stringValue ?? ""
      #expect(url.hasPrefix(server.url + "/api/v3/repos/acme/"))
      #expect(try await client.follow(url).ids.isEmpty)
      #expect(try await client.follow(url).json["id"] == root.items[0]["id"])
    }
  }

  @Test func accounts_andTheirPictures() async throws {
    try await withForge { server, client, _ in
      let user = try await client.get("/user")
      #expect(user.json["login"] == "ada" && user.json["type"] == "User")
      #expect(try await ForgeClient(port: server.port).get("/user").status == 401)
      #expect(try await client.get("/user/101").json == user.json)
      #expect(try await client.get("/user/repos?per_page=100").items.count == 30)
      #expect(try await client.get("/user/orgs").items.map { $0["login"] } == ["acme"])
      let organization = try await client.get("/orgs/acme").json
      #expect(organization["type"] == "Organization" && organization["public_repos"] == 27)
      #expect(try await client.get("/users/acme").json["id"] == organization["id"])
      let picture = try #require(organization["avatar_url"]?.stringValue)
      let png = try await client.follow(picture)
      #expect(
        png.header("content-type") == "image/png" && png.body.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
      #expect(Array(png.body[16..<24]) == [0, 0, 0, 80, 0, 0, 0, 80])
      #expect(try await client.follow(picture).body == png.body)
      #expect(try await client.get("/avatars/u/2").body != png.body)
      #expect(Array(try await client.get("/avatars/u/1?s=16").body[16..<20]) == [0, 0, 0, 16])
      #expect(try await client.get("/avatars/u/77").status == 404)
      let tag = try #require(png.header("etag"))
      #expect(try await client.get("/avatars/u/1", [("If-None-Match", tag)]).status == 304)
    }
  }
}
