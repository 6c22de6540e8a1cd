import Foundation
import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestClient
@testable import RestCollections

/// Tests the definitions in scripts/connections for GitHub, GitLab and a Django REST framework
/// project against stubs that respond as the services' documentation shows. Each test checks every
/// request of a typical first day.
struct RecipeWireTests {
  static let names = ["couchdb", "drf", "github", "github-repositories", "gitlab", "graph", "kinto", "notion", "stripe"]

  /// Every file has a test, contains an explanation, and uses known keys.
  @Test func files_areExplainedAndTheirKeysAreKnown() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: RecipeBench.folder.path).sorted()
    #expect(files == Self.names.map { $0 + ".json" }.sorted())
    for name in Self.names {
      let file = try RecipeBench.file(name)
      #expect(file.keys == ["about", "connection", "target"], "\(name)")
      let about = file["about"]?.arrayValue?.compactMap(\.stringValue) ?? []
      #expect(about.count >= 4 && about.allSatisfy { $0.hasSuffix(".") }, "\(name)")
      let settings = try ConnectionSettings(
        name: name, json: file["connection"] ?? .null, from: ConnectionSettings.Origin(folder: "/", allowsPlainSecrets: false))
      let target = try RestTarget(#require(file["target"]?.objectValue))
      #expect(target.connection == name && settings.baseURL.hasPrefix("https://"), "\(name)")
      // Every variable that the explanation mentions is used in the file.
      let text = JSONValue.object(file.filtered { $0.key != "about" }).text
      for sentence in about {
        guard let variable = sentence.split(separator: ":").first, variable == variable.uppercased() else { continue }
        #expect(text.contains("\"\(variable)\""), "\(name): \(variable)")
      }
    }
  }

  // MARK: GitHub

  private static func issue(_ number: Int, _ title: String, _ labels: [String] = [], day: Int, more: JSONObject = [:])
    -> JSONValue
  {
    let issue: JSONObject = [
      "url": .string("https://api.github.com/repos/acme/widgets/issues/\(number)"), "id": .integer(Int64(1000 + number)),
      "node_id": "MDU6SXNzdWUx", "number": .integer(Int64(number)), "title": .string(title), "body": "text",
      "user": ["login": "ada", "id": 1, "type": "User"],
      "labels": .array(labels.map { ["id": 208_045_946, "name": .string($0), "color": "f29513", "default": true] }),
      "state": "open",
      "assignee": nil, "comments": 0, "created_at": "2026-01-01T00:00:00Z", "updated_at": .string("2026-01-0\(day)T00:00:00Z"),
    ]
    return .object(issue.replacing(with: more))
  }

  @Test func github_issuesAndTheirLabels_bothWays() async throws {
    try await RecipeBench.with("github") { bench async throws in
      let first = "/repos/acme/widgets/issues?per_page=100&state=all&sort=updated&direction=asc"
      let second = "/repositories/77/issues?per_page=100&state=all&sort=updated&direction=asc&page=2"
      bench.answer([
        "GET \(first)": .json(
          JSONValue.array([Self.issue(5, "a", ["bug"], day: 2)]).text,
          headers: [("Link", "<\(bench.url)\(second)>; rel=\"next\", <\(bench.url)\(second)>; rel=\"last\"")]),
        "GET \(second)": .json(
          JSONValue.array([
            Self.issue(6, "b", day: 3),
            Self.issue(7, "pull", day: 4, more: ["pull_request": ["url": "https://api.github.com/p/7"]]),
          ]).text),
      ])
      #expect(try await bench.down().status == .done)
      let requests = bench.requests()
      #expect(requests.map(\.target) == [first, second])
      for request in requests {
        #expect(
          request.header("Authorization") == "Bearer secret of GITHUB_TOKEN" && request.header("User-Agent") == "tureen/test")
        #expect(request.header("Accept") == "application/vnd.github+json")
        #expect(request.header("X-GitHub-Api-Version") == "2022-11-28")
      }
      #expect(try bench.ids() == ["1005", "1006"])

      // Starts at the newest item, minus the overlap for late changes.
      let since = "/repos/acme/widgets/issues?per_page=100&state=all&sort=updated&direction=asc&since=2026-01-03T23%3A59%3A58Z"
      bench.answer(["GET \(since)": .json(JSONValue.array([Self.issue(6, "c", ["bug"], day: 5)]).text)])
      #expect(try await bench.down().status == .done && bench.sent() == ["GET \(since)"])
      #expect(try bench.row("1006")["title"] == "c")

      try bench.edit("1005", ["title": "ours", "labels": [["name": "bug"], ["name": "ui"]]])
      try bench.make(["title": "new", "body": "text", "labels": [["name": "bug"]]])
      let one = "/repos/acme/widgets/issues/5"
      bench.answer([
        "GET \(one)": .json(Self.issue(5, "a", ["bug"], day: 2).text, headers: [("ETag", "W/\"1\"")]),
        "PATCH \(one)": .json(Self.issue(5, "ours", ["bug", "ui"], day: 6).text),
        "POST /repos/acme/widgets/issues": .json(Self.issue(8, "new", ["bug"], day: 6).text, status: 201),
      ])
      let up = try await bench.up()
      #expect(up.counts.succeeded == 2, "\(up.error) \(up.counts)")
      #expect(
        bench.sent() == [
          #"POST /repos/acme/widgets/issues {"title":"new","body":"text","labels":["bug"]}"#, "GET \(one)",
          #"PATCH \#(one) {"title":"ours","labels":["bug","ui"]}"#,
        ])
      #expect(try bench.row("1005")["labels"] == Self.issue(5, "ours", ["bug", "ui"], day: 6)["labels"])
      #expect(try bench.row("1008")["number"] == 8)

      try bench.edit("1006", ["title": ""])
      bench.answer([
        "GET /repos/acme/widgets/issues/6": .json(Self.issue(6, "c", ["bug"], day: 5).text),
        "PATCH /repos/acme/widgets/issues/6": .json(
          #"{"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}],"documentation_url":"https://docs.github.com/rest"}"#,
          status: 422),
      ])
      #expect(try await bench.up().counts.failed == 1)
      #expect(
        try bench.error("1006")["message"] == "Validation Failed" && bench.error("1006")["fields"] == ["title": "missing_field"])
      try bench.edit("1006", ["title": "ours"])
      bench.answer(["GET /repos/acme/widgets/issues/6": .json(Self.issue(6, "theirs", day: 7).text)])
      #expect(try await bench.up().counts.conflicting == 1)
      #expect(try bench.conflicts().first?.fields == ["title"])
      try bench.delete("1005")
      bench.answer(["GET \(one)": .json(Self.issue(5, "ours", ["bug", "ui"], day: 6).text)])
      #expect(try await bench.up().counts.failed == 1)
      #expect(try bench.error("1005")["code"] == "READ_ONLY")
      #expect(!bench.sent().contains { $0.hasPrefix("DELETE") })
    }
  }

  private static func repository(_ name: String, _ description: String, day: Int) -> JSONValue {
    [
      "id": .integer(Int64(name.utf8.first ?? 0)), "name": .string(name), "full_name": .string("acme/\(name)"),
      "owner": ["login": "acme", "id": 9, "avatar_url": "https://avatars.githubusercontent.com/u/9?v=4"], "private": false,
      "description": .string(description), "fork": false, "homepage": nil, "size": 108, "topics": ["atom"],
      "updated_at": .string("2026-01-0\(day)T00:00:00Z"), "permissions": ["admin": true],
    ]
  }

  @Test func githubRepositories_laterRunsEndWhereNothingIsNew() async throws {
    try await RecipeBench.with("github-repositories") { bench async throws in
      let list = "/orgs/acme/repos?per_page=100&type=all&sort=full_name"
      let news = "/orgs/acme/repos?per_page=100&type=all&sort=updated&direction=desc"
      let first = ["a", "b", "c"].map { Self.repository($0, "of " + $0, day: $0 == "c" ? 2 : 1) }
      bench.answer(["GET \(list)": .json(JSONValue.array(first).text)])
      #expect(try await bench.down().status == .done && bench.sent() == ["GET \(list)"])
      #expect(try bench.row("97")["ownerLogin"] == "acme")
      bench.answer([
        "GET \(news)": .json(
          JSONValue.array([Self.repository("b", "new", day: 3), Self.repository("a", "of a", day: 1)]).text,
          headers: [("Link", "<\(bench.url)/organizations/9/repos?page=2>; rel=\"next\"")])
      ])
      let later = try await bench.down()
      #expect(later.status == .done && bench.sent() == ["GET \(news)"], "\(later.error) \(bench.sent())")
      #expect(try bench.row("98")["description"] == "new")

      try bench.edit("97", ["description": "ours", "name": "not sent"])
      bench.answer([
        "GET /repos/acme/a": .json(Self.repository("a", "of a", day: 1).text),
        "PATCH /repos/acme/a": .json(Self.repository("a", "ours", day: 4).text),
      ])
      #expect(try await bench.up().counts.succeeded == 1)
      #expect(bench.sent() == ["GET /repos/acme/a", #"PATCH /repos/acme/a {"description":"ours"}"#])
      // No list names 'name', so that edit stays.
      #expect(try bench.row("97")["name"] == "not sent" && bench.error("97")["errorCode"] == "NOTHING_TO_SEND")
      try bench.make(["name": "d", "description": "new", "private": true])
      bench.answer([
        "GET /repos/acme/a": .json(Self.repository("a", "ours", day: 4).text),
        "POST /orgs/acme/repos": .json(Self.repository("d", "new", day: 5).text, status: 201),
      ])
      let created = try await bench.up().counts
      #expect(created.succeeded == 1 && created.skipped == 1 && created.conflicting == 0, "\(created)")
      #expect(
        bench.sent() == [
          #"POST /orgs/acme/repos {"name":"d","description":"new","private":true}"#, "GET /repos/acme/a",
        ])
      try bench.delete("97")
      let refused = try await bench.up()
      #expect(refused.counts.failed == 1, "\(refused.counts) \(refused.error) \(bench.sent())")
      #expect(!bench.sent().contains { $0.hasPrefix("DELETE") })
    }
  }

  @Test func githubRepositories_deletedThere_areAskedForBeforeTheyGo() async throws {
    try await RecipeBench.with("github-repositories") { bench async throws in
      let list = "/orgs/acme/repos?per_page=100&type=all&sort=full_name"
      bench.answer(["GET \(list)": .json(JSONValue.array(["a", "b", "c"].map { Self.repository($0, "of " + $0, day: 1) }).text)])
      #expect(try await bench.down().status == .done)
      bench.answer([
        "GET \(list)": .json(JSONValue.array([Self.repository("a", "of a", day: 1)]).text),
        "GET /repos/acme/b": .json(#"{"message":"Not Found","documentation_url":"https://docs.github.com/rest"}"#, status: 404),
        "GET /repos/acme/c": .json(Self.repository("c", "of c", day: 1).text),
      ])
      #expect(try await bench.clean() == 1)
      #expect(try bench.ids() == ["97", "99"])
    }
  }

  // MARK: GitLab

  private static func gitlabIssue(_ iid: Int, _ title: String, day: Int) -> JSONValue {
    [
      "id": .integer(Int64(7600 + iid)), "iid": .integer(Int64(iid)), "project_id": 4, "title": .string(title),
      "description": "text",
      "state": "opened", "labels": ["foo", "bar"], "author": ["id": 18, "username": "eileen.lowe"], "milestone": nil,
      "created_at": "2026-01-01T15:31:51.081Z", "updated_at": .string("2026-01-0\(day)T15:31:51.081Z"), "due_date": nil,
      "web_url": .string("https://gitlab.com/acme/widgets/issues/\(iid)"),
    ]
  }

  @Test func gitlab_issues_bothWays() async throws {
    try await RecipeBench.with("gitlab") { bench async throws in
      let issues = "/api/v4/projects/acme%2Fwidgets/issues"
      let first = "\(issues)?per_page=100&order_by=updated_at&sort=asc&scope=all"
      let second = "/api/v4/projects/4/issues?id=4&order_by=updated_at&page=2&per_page=100&scope=all&sort=asc"
      bench.answer([
        "GET \(first)": .json(
          JSONValue.array([Self.gitlabIssue(1, "a", day: 1), Self.gitlabIssue(2, "b", day: 2)]).text,
          headers: [("X-Total", "3"), ("X-Next-Page", "2"), ("Link", "<\(bench.url)\(second)>; rel=\"next\"")]),
        "GET \(second)": .json(JSONValue.array([Self.gitlabIssue(3, "c", day: 3)]).text, headers: [("X-Total", "3")]),
      ])
      let down = try await bench.down()
      #expect(down.status == .done && !down.isIncomplete && down.totalSize == 3, "\(down.error)")
      let requests = bench.requests()
      #expect(requests.map(\.target) == [first, second])
      #expect(requests.allSatisfy { $0.header("PRIVATE-TOKEN") == "secret of GITLAB_TOKEN" })
      let since = "\(first)&updated_after=2026-01-03T15%3A31%3A49.081Z"
      bench.answer(["GET \(since)": .json("[]", headers: [("X-Total", "0")])])
      #expect(try await bench.down().status == .done && bench.sent() == ["GET \(since)"])

      try bench.edit("7601", ["title": "ours", "labels": ["not sent"]])
      try bench.delete("7602")
      try bench.make(["title": "new", "description": "text"])
      bench.answer([
        "GET \(issues)/1": .json(Self.gitlabIssue(1, "a", day: 1).text),
        "GET \(issues)/2": .json(Self.gitlabIssue(2, "b", day: 2).text),
        "PUT \(issues)/1": .json(Self.gitlabIssue(1, "ours", day: 4).text), "DELETE \(issues)/2": .status(204),
        "POST \(issues)": .json(Self.gitlabIssue(4, "new", day: 4).text, status: 201),
      ])
      let up = try await bench.up()
      #expect(up.counts.succeeded == 3, "\(up.error) \(up.counts)")
      #expect(
        bench.sent() == [
          #"POST \#(issues) {"title":"new","description":"text"}"#, "GET \(issues)/1", #"PUT \#(issues)/1 {"title":"ours"}"#,
          "GET \(issues)/2", "DELETE \(issues)/2",
        ])
      #expect(try bench.ids() == ["7601", "7603", "7604"])

      try bench.edit("7603", ["title": ""])
      bench.answer([
        "GET \(issues)/3": .json(Self.gitlabIssue(3, "c", day: 3).text),
        "PUT \(issues)/3": .json(#"{"message":{"title":["can't be blank"]}}"#, status: 400),
      ])
      #expect(try await bench.up().counts.failed == 1)
      #expect(try bench.error("7603")["fields"] == ["title": "can't be blank"])
    }
  }

  // MARK: Django REST framework

  private static func book(_ id: Int, _ title: String, day: Int) -> JSONValue {
    [
      "id": .integer(Int64(id)), "title": .string(title), "pages": 10, "modified": .string("2026-01-0\(day)T15:31:51.081612Z"),
    ]
  }

  private static func books(_ items: [JSONValue], count: Int, next: String?) -> ScriptedAnswer {
    let page: JSONObject = [
      "count": .integer(Int64(count)), "next": next.map { .string($0) } ?? .null, "previous": nil, "results": .array(items),
    ]
    return .json(JSONValue.object(page).text)
  }

  @Test func drf_books_bothWays() async throws {
    try await RecipeBench.with("drf") { bench async throws in
      // Behind a proxy, the server knows itself by a different name.
      bench.answer([
        "GET /api/books/?ordering=id": Self.books(
          [Self.book(1, "a", day: 1), Self.book(2, "b", day: 1)], count: 3,
          next: "http://django:8000/api/books/?ordering=id&page=2"),
        "GET /api/books/?ordering=id&page=2": Self.books([Self.book(3, "c", day: 1)], count: 3, next: nil),
      ])
      let down = try await bench.down()
      #expect(down.status == .done && down.totalSize == 3, "\(down.error)")
      let requests = bench.requests()
      #expect(requests.map(\.target) == ["/api/books/?ordering=id", "/api/books/?ordering=id&page=2"])
      #expect(requests.allSatisfy { $0.header("Authorization") == "Token secret of BOOKS_TOKEN" })

      try bench.edit("1", ["title": "ours"])
      try bench.delete("2")
      try bench.make(["title": "new", "pages": 7])
      bench.answer([
        "GET /api/books/1/": .json(Self.book(1, "a", day: 1).text), "GET /api/books/2/": .json(Self.book(2, "b", day: 1).text),
        "PATCH /api/books/1/": .json(Self.book(1, "ours", day: 2).text), "DELETE /api/books/2/": .status(204),
        "POST /api/books/": .json(Self.book(4, "new", day: 2).text, status: 201),
      ])
      let up = try await bench.up()
      #expect(up.counts.succeeded == 3, "\(up.error) \(up.counts)")
      #expect(
        bench.sent() == [
          #"POST /api/books/ {"title":"new","pages":7}"#, "GET /api/books/1/", #"PATCH /api/books/1/ {"title":"ours"}"#,
          "GET /api/books/2/", "DELETE /api/books/2/",
        ])
      #expect(try bench.row("1")["modified"] == "2026-01-02T15:31:51.081612Z" && bench.row("4")["title"] == "new")

      try bench.edit("3", ["title": "", "pages": "many"])
      bench.answer([
        "GET /api/books/3/": .json(Self.book(3, "c", day: 1).text),
        "PATCH /api/books/3/": .json(
          #"{"title":["This field may not be blank."],"pages":["A valid integer is required."]}"#, status: 400),
      ])
      #expect(try await bench.up().counts.failed == 1)
      #expect(
        try bench.error("3")["fields"] == ["title": "This field may not be blank.", "pages": "A valid integer is required."])

      // Deleted on the server: no longer in the list, and not readable.
      let books = [Self.book(1, "ours", day: 2), Self.book(3, "c", day: 1), Self.book(4, "new", day: 2)]
      bench.answer(["GET /api/books/?ordering=id": Self.books(books, count: 3, next: nil)])
      #expect(try await bench.down().status == .done)
      bench.answer([
        "GET /api/books/?ordering=id": Self.books([Self.book(1, "ours", day: 2)], count: 1, next: nil),
        "GET /api/books/4/": .json(#"{"detail":"No Book matches the given query."}"#, status: 404),
      ])
      #expect(try await bench.clean() == 1)
      #expect(try bench.ids() == ["1", "3"], "3 has changes")
    }
  }
}
