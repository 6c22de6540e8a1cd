import JSON
import SandboxForge
import Testing

/// Issues and their comments.
@Suite struct IssueTests {
  /// The path of acme's first repository, which has 120 issues.
  static let home = "/repositories/1296269"

  @Test func issues_areOpenOnesByDefault_pullRequestsAmongThem() async throws {
    try await withForge { _, client, _ in
      let open = try await client.get(Self.home + "/issues?per_page=100")
      #expect(open.items.count == 80 && open.items.allSatisfy { $0["state"] == "open" && $0["closed_at"] == .null })
      #expect(open.items.contains { $0["pull_request"] != nil } && open.items.contains { $0["pull_request"] == nil })
      #expect(try await client.get(Self.home).json["open_issues_count"] == 80)
      let closed = try await client.get(Self.home + "/issues?state=closed&per_page=100")
      #expect(closed.items.count == 40 && closed.items.allSatisfy { $0["closed_at"] != .null })
      let numbers = try await client.get(Self.home + "/issues?state=all&per_page=100").items.compactMap {
        $0["number"]?.integerValue
      }
      #expect(numbers == (21...120).reversed())
    }
  }

  @Test func issues_since_takesThoseOfThatSecond() async throws {
    try await withForge { _, client, _ in
      let all = try await client.get(Self.home + "/issues?state=all&sort=updated&direction=asc&per_page=100").items
      let stamps = all.compactMap { $0["updated_at"]?.stringValue }
      #expect(stamps == stamps.sorted())
      let since = stamps[60]
      let rest = try await client.get(Self.home + "/issues?state=all&sort=updated&direction=asc&per_page=100&since=\(since)")
      let first = try #require(rest.items.first)
      #expect(first["updated_at"] == .string(since) && rest.items.count == 60)
      let wrong = try await client.get(Self.home + "/issues?since=yesterday")
      #expect(wrong.status == 422 && wrong.json["errors"]?.arrayValue?.first?["field"] == "since")
    }
  }

  @Test func issues_byLabelCreatorAndAssignee() async throws {
    try await withForge { _, client, _ in
      func items(_ query: String) async throws -> [JSONValue] {
        try await client.get(Self.home + "/issues?state=all&per_page=100&\(query)").items
      }
      let bugs = try await items("labels=Bug")
      #expect(!bugs.isEmpty && bugs.allSatisfy { $0["labels"]?.arrayValue?.first?["name"] == "bug" })
      #expect(try await items("labels=bug,question").isEmpty)
      #expect(try await items("assignee=none").allSatisfy { $0["assignee"] == .null })
      #expect(try await items("assignee=ada").count == 20)
      #expect(try await items("creator=ben").isEmpty)
    }
  }

  @Test func issue_isCreatedChangedAndClosed() async throws {
    try await withForge { _, client, clock in
      let made = try await client.json(
        "POST", Self.home + "/issues", ["title": "Broken", "body": .null, "labels": ["bug", ["name": "own"]]])
      #expect(made.status == 201 && made.json["number"] == 121 && made.json["user"]?["login"] == "ada")
      #expect(made.json["created_at"] == "2026-03-02T09:00:00Z" && made.json["body"] == .null)
      #expect(made.header("location") == made.json["url"]?.stringValue)
      #expect(try await client.get(Self.home).json["open_issues"] == 81)
      clock.advance(by: 60)
      let changed = try await client.json("PATCH", Self.home + "/issues/121", ["title": "Mended", "state": "closed"])
      #expect(changed.status == 200 && changed.json["title"] == "Mended" && changed.json["state_reason"] == "completed")
      #expect(changed.json["closed_at"] == "2026-03-02T09:01:00Z" && changed.json["created_at"] == "2026-03-02T09:00:00Z")
      #expect(try await client.get(Self.home).json["open_issues"] == 80)
      let again = try await client.json("PATCH", Self.home + "/issues/121", ["state": "open"])
      #expect(again.json["closed_at"] == .null && again.json["state_reason"] == "reopened")
      let since = try await client.get(Self.home + "/issues?state=all&since=2026-03-02T09:01:00Z")
      #expect(since.items.map { $0["number"] } == [121])
    }
  }

  @Test func issue_invalid_saysWhatIsWrong() async throws {
    try await withForge { server, client, _ in
      let none = try await client.json("POST", Self.home + "/issues", ["body": "x"])
      #expect(none.status == 422 && none.message == "Validation Failed")
      #expect(
        none.json["errors"]?.arrayValue == [["resource": "Issue", "field": "title", "code": "missing_field"]],
        "\(none.text)")
      let several = try await client.json(
        "PATCH", Self.home + "/issues/1", ["title": "", "state": "gone", "assignees": ["nobody"]])
      #expect(
        several.json["errors"]?.arrayValue?.map { $0["code"] } == ["missing_field", "invalid", "invalid"], "\(several.text)")
      #expect(try await client.get(Self.home + "/issues/1").json["title"] != "")
      #expect(try await client.get(Self.home + "/issues/999").status == 404)
      let bad = try await client.send("POST", Self.home + "/issues", body: Array("{".utf8))
      #expect(bad.status == 400 && bad.message == "Problems parsing JSON")
      #expect(try await client.json("POST", Self.home + "/issues", [1]).message == "Body should be a JSON object")
      let other = ForgeClient(port: server.port, token: server.token(of: "ben"))
      #expect(try await other.json("PATCH", Self.home + "/issues/1", ["title": "x"]).status == 403)
      let anonymous = try await ForgeClient(port: server.port).json("POST", Self.home + "/issues", ["title": "x"])
      #expect(anonymous.status == 401 && anonymous.message == "Requires authentication")
      _ = try await client.json("PATCH", Self.home, ["has_issues": false])
      #expect(try await client.json("POST", Self.home + "/issues", ["title": "x"]).status == 410)
    }
  }

  @Test func comments_areListedWrittenAndDeleted() async throws {
    try await withForge { _, client, clock in
      let issue = Self.home + "/issues/2"
      let before = try await client.get(issue + "/comments")
      #expect(before.items.count == 2 && before.items[0]["issue_url"]?.stringValue?.hasSuffix("/issues/2") == true)
      let all = try await client.get(Self.home + "/issues/comments?per_page=100")
      #expect(all.items.count == 100 && all.links["last"]?.hasSuffix("page=2") == true)
      clock.advance(by: 5)
      let made = try await client.json("POST", issue + "/comments", ["body": "Seen again."])
      #expect(made.status == 201 && made.json["created_at"] == "2026-03-02T09:00:05Z")
      #expect(try await client.get(issue).json["comments"] == 3)
      let since = try await client.get(Self.home + "/issues/comments?since=2026-03-02T09:00:05Z")
      #expect(since.items == [made.json])
      let path = Self.home + "/issues/comments/" + (made.json["id"].map(\.text) ?? "")
      #expect(try await client.json("PATCH", path, ["body": "Not again."]).json["body"] == "Not again.")
      #expect(try await client.json("PATCH", path, ["body": ""]).status == 422)
      #expect(try await client.send("DELETE", path).status == 204)
      #expect(try await client.get(path).status == 404)
      #expect(try await client.get(issue + "/comments").items == before.items)
    }
  }
}
