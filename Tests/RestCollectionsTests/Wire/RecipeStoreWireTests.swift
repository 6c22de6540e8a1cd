import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestClient
@testable import RestCollections

/// Tests the definitions in scripts/connections for Kinto, CouchDB, Notion, Microsoft Graph and
/// Stripe against stubs that respond as the services' documentation shows.
struct RecipeStoreWireTests {
  // MARK: Kinto

  @Test func kinto_records_bothWays() async throws {
    try await RecipeBench.with("kinto") { bench async throws in
      let records = "/v1/buckets/team/collections/notes/records"
      let first = "\(records)?_sort=last_modified&_since=0", second = "\(records)?_sort=last_modified&_since=0&_limit=2&_token=x"
      func note(_ id: String, _ title: String, _ stamp: Int64) -> JSONValue {
        ["id": .string(id), "title": .string(title), "text": "t", "last_modified": .integer(stamp), "schema": 1]
      }
      func page(_ items: [JSONValue]) -> String { JSONValue.object(["data": .array(items)]).text }
      bench.answer([
        "GET \(first)": .json(
          page([note("n-1", "a", 1001), ["id": "n-0", "last_modified": 1002, "deleted": true]]),
          headers: [("Next-Page", "http://kinto:8888\(second)"), ("Total-Objects", "3"), ("ETag", "\"1003\"")]),
        "GET \(second)": .json(page([note("n-2", "b", 1003)]), headers: [("ETag", "\"1003\"")]),
      ])
      #expect(try await bench.down().status == .done)
      let requests = bench.requests()
      #expect(requests.map(\.target) == [first, second])
      #expect(requests.allSatisfy { $0.header("Authorization") == "Basic c3luYzpzZWNyZXQgb2YgS0lOVE9fUEFTU1dPUkQ=" })
      #expect(try bench.ids() == ["n-1", "n-2"])
      let since = "\(records)?_sort=last_modified&_since=1002"
      bench.answer(["GET \(since)": .json(page([["id": "n-2", "last_modified": 1004, "deleted": true]]))])
      #expect(try await bench.down().status == .done && bench.sent() == ["GET \(since)"])
      #expect(try bench.ids() == ["n-1"])

      try bench.edit("n-1", ["title": "ours"])
      try bench.make(["title": "new", "text": "t"])
      bench.answer([
        "PATCH \(records)/n-1": .json(JSONValue.object(["data": note("n-1", "ours", 1005), "permissions": [:]]).text),
        "PUT": .json(
          JSONValue.object(["data": note(RecipeBench.requestedId, "new", 1006), "permissions": [:]]).text, status: 201),
      ])
      let up = try await bench.up()
      let writes = bench.requests()
      #expect(writes.map(\.method) == ["PUT", "PATCH"], "\(up.error)")
      let made = String(writes[0].path.dropFirst(records.count + 1))
      #expect(
        made.count == 36 && writes[0].header("If-None-Match") == "*" && writes[0].text == #"{"data":{"title":"new","text":"t"}}"#)
      #expect(writes[1].header("If-Match") == "\"1001\"" && writes[1].text == #"{"data":{"title":"ours"}}"#)
      #expect(try bench.row("n-1")["last_modified"] == 1005)

      // The server has another version, which causes a conflict, so the record is read.
      try bench.edit("n-1", ["title": "ours again"])
      bench.answer([
        "PATCH \(records)/n-1": .json(
          #"{"code":412,"errno":114,"error":"Precondition Failed","message":"Resource was modified meanwhile","details":{"existing":{"id":"n-1","last_modified":1007,"title":"theirs"}}}"#,
          status: 412, headers: [("ETag", "\"1007\"")]),
        "GET \(records)/n-1": .json(JSONValue.object(["data": note("n-1", "theirs", 1007)]).text),
      ])
      #expect(try await bench.up().counts.conflicting == 1)
      #expect(try bench.conflicts().first?.server?["title"] == "theirs")
      _ = bench.requests()
      bench.answer([
        "DELETE \(records)/n-1": .json(#"{"data":{"id":"n-1","last_modified":1008,"deleted":true}}"#),
        "PATCH \(records)/n-1": nil,
      ])
      try bench.delete("n-1")
      #expect(try await bench.up("OVERWRITE").counts.succeeded == 1)
      #expect(bench.requests().last?.header("If-Match") != nil)
      #expect(!(try bench.ids().contains("n-1")))
    }
  }

  // MARK: CouchDB

  private static func change(_ seq: String, _ id: String, _ doc: JSONObject?, deleted: Bool = false) -> JSONValue {
    let rev = doc?["_rev"] ?? "2-x"
    var change: JSONObject = ["seq": .string(seq), "id": .string(id), "changes": [["rev": rev]]]
    if deleted { change["deleted"] = true }
    change["doc"] = .object(deleted ? ["_id": .string(id), "_rev": rev, "_deleted": true] : doc ?? [:])
    return .object(change)
  }

  private static func changes(_ items: [JSONValue], last: String, pending: Int) -> ScriptedAnswer {
    .json(JSONValue.object(["results": .array(items), "last_seq": .string(last), "pending": .integer(Int64(pending))]).text)
  }

  @Test func couchdb_documents_bothWays() async throws {
    try await RecipeBench.with("couchdb") { bench async throws in
      func doc(_ id: String, _ rev: String, _ title: String) -> JSONObject {
        ["_id": .string(id), "_rev": .string(rev), "title": .string(title), "tags": ["x"]]
      }
      let feed = "/notes/_changes?include_docs=true&limit=500"
      bench.answer([
        "GET \(feed)": Self.changes(
          [
            Self.change("1-a", "d1", doc("d1", "1-a", "a")), Self.change("2-b", "d2", doc("d2", "3-b", "b")),
            Self.change("3-c", "_design/app", ["_id": "_design/app", "_rev": "1-d", "language": "javascript", "views": [:]]),
          ], last: "3-c", pending: 1),
        "GET \(feed)&since=3-c": Self.changes([Self.change("4-d", "d0", nil, deleted: true)], last: "4-d", pending: 0),
        "GET \(feed)&since=4-d": Self.changes([], last: "4-d", pending: 0),
      ])
      #expect(try await bench.down().status == .done)
      #expect(bench.sent() == ["GET \(feed)", "GET \(feed)&since=3-c", "GET \(feed)&since=4-d"])
      #expect(try bench.ids() == ["d1", "d2"])
      bench.answer([
        "GET \(feed)&since=4-d": Self.changes([Self.change("5-e", "d2", nil, deleted: true)], last: "5-e", pending: 0),
        "GET \(feed)&since=5-e": Self.changes([], last: "5-e", pending: 0),
      ])
      #expect(try await bench.down().status == .done)
      #expect(bench.sent() == ["GET \(feed)&since=4-d", "GET \(feed)&since=5-e"])
      #expect(try bench.ids() == ["d1"])

      try bench.edit("d1", ["title": "ours"])
      try bench.make(["title": "new", "text": "t"])
      bench.answer([
        "PUT /notes/d1": .json(#"{"ok":true,"id":"d1","rev":"2-n"}"#, status: 201),
        "GET /notes/d1": .json(JSONValue.object(doc("d1", "2-n", "ours")).text, headers: [("ETag", "\"2-n\"")]),
        "PUT": .json(#"{"ok":true,"id":"made","rev":"1-m"}"#, status: 201),
        "GET": .json(#"{"error":"not_found","reason":"missing"}"#, status: 404),
      ])
      let up = try await bench.up()
      #expect(up.counts.succeeded == 2, "\(up.error) \(up.counts)")
      let writes = bench.requests().filter { $0.method == "PUT" }
      #expect(writes[0].text == #"{"title":"new","text":"t"}"# && writes[0].header("If-Match") == nil)
      #expect(writes[1].text == #"{"_rev":"1-a","title":"ours","tags":["x"]}"# && writes[1].header("If-Match") == "1-a")
      #expect(try bench.row("d1")["_rev"] == "2-n")

      try bench.edit("d1", ["title": "ours again"])
      bench.answer([
        "PUT /notes/d1": .json(#"{"error":"conflict","reason":"Document update conflict."}"#, status: 409),
        "GET /notes/d1": .json(JSONValue.object(doc("d1", "3-t", "theirs")).text),
      ])
      #expect(try await bench.up().counts.conflicting == 1)
      #expect(try bench.conflicts().first?.server?["title"] == "theirs")
      bench.answer(["DELETE /notes/d1": .json(#"{"ok":true,"id":"d1","rev":"4-z"}"#)])
      try bench.delete("d1")
      _ = bench.requests()
      #expect(try await bench.up("OVERWRITE").counts.succeeded == 1)
      #expect(bench.requests().first { $0.method == "DELETE" }?.header("If-Match") != nil)
      #expect(try bench.rows().count == 1)
    }
  }

  // MARK: Notion

  private static func page(_ id: String, _ title: String, minute: Int, inTrash: Bool = false) -> JSONValue {
    let text: JSONObject = [
      "type": "text", "text": ["content": .string(title), "link": nil], "annotations": ["bold": false, "color": "default"],
      "plain_text": .string(title), "href": nil,
    ]
    return [
      "object": "page", "id": .string(id), "created_time": "2026-01-01T08:00:00.000Z",
      "last_edited_time": .string("2026-01-01T09:\(10 + minute):00.000Z"), "archived": .bool(inTrash), "in_trash": .bool(inTrash),
      "parent": ["type": "database_id", "database_id": "d1"],
      "properties": ["Name": ["id": "title", "type": "title", "title": [.object(text)]]], "url": "https://www.notion.so/x",
    ]
  }

  private static func list(_ pages: [JSONValue], next: String?) -> ScriptedAnswer {
    let list: JSONObject = [
      "object": "list", "results": .array(pages), "next_cursor": next.map { .string($0) } ?? .null,
      "has_more": .bool(next != nil),
      "type": "page_or_database", "page_or_database": [:],
    ]
    return .json(JSONValue.object(list).text)
  }

  @Test func notion_pages_bothWays() async throws {
    try await RecipeBench.with("notion") { bench async throws in
      let query = "POST /v1/databases/d1/query",
        sorts = #""page_size":100,"sorts":[{"timestamp":"last_edited_time","direction":"ascending"}]"#
      bench.answer([query: Self.list([Self.page("p1", "a", minute: 1), Self.page("p2", "b", minute: 2)], next: nil)])
      #expect(try await bench.down().status == .done)
      let requests = bench.requests()
      #expect(requests.map(\.text) == ["{\(sorts)}"])
      #expect(
        requests[0].header("Notion-Version") == "2022-06-28"
          && requests[0].header("Authorization") == "Bearer secret of NOTION_TOKEN")
      bench.answer([query: Self.list([Self.page("p2", "c", minute: 3)], next: nil)])
      #expect(try await bench.down().status == .done)
      #expect(
        bench.sent() == [
          #"\#(query) {\#(sorts),"filter":{"timestamp":"last_edited_time","last_edited_time":{"on_or_after":"2026-01-01T09:11:00Z"}}}"#
        ])
      #expect(try bench.ids() == ["p1", "p2"])

      let title: JSONValue = ["Name": ["title": [["text": ["content": "ours"]]]]]
      try bench.edit("p1", ["properties": title])
      try bench.make(["properties": title])
      try bench.delete("p2")
      bench.answer([
        "GET /v1/pages/p1": .json(Self.page("p1", "a", minute: 1).text),
        "GET /v1/pages/p2": .json(Self.page("p2", "c", minute: 3).text),
        "PATCH /v1/pages/p1": .json(Self.page("p1", "ours", minute: 5).text),
        "PATCH /v1/pages/p2": .json(Self.page("p2", "c", minute: 5, inTrash: true).text),
        "POST /v1/pages": .json(Self.page("p3", "ours", minute: 5).text),
      ])
      let up = try await bench.up()
      #expect(up.counts.succeeded == 3, "\(up.error) \(up.counts)")
      let properties = #""properties":{"Name":{"title":[{"text":{"content":"ours"}}]}}"#
      #expect(
        bench.sent() == [
          #"POST /v1/pages {\#(properties),"parent":{"database_id":"d1"}}"#, "GET /v1/pages/p1",
          "PATCH /v1/pages/p1 {\(properties)}", "GET /v1/pages/p2", #"PATCH /v1/pages/p2 {"in_trash":true}"#,
        ])
      #expect(try bench.ids() == ["p1", "p3"] && bench.row("p1")["last_edited_time"] == "2026-01-01T09:15:00.000Z")

      // The page is in the trash and no longer in the list.
      bench.answer([query: Self.list([Self.page("p1", "ours", minute: 5), Self.page("p3", "ours", minute: 5)], next: nil)])
      #expect(try await bench.down().status == .done)
      bench.answer([
        query: Self.list([Self.page("p1", "ours", minute: 5)], next: nil),
        "GET /v1/pages/p3": .json(Self.page("p3", "ours", minute: 6, inTrash: true).text),
      ])
      #expect(try await bench.clean() == 1)
      #expect(try bench.ids() == ["p1"])

      try bench.edit("p1", ["properties": ["Name": ["title": "text"]]])
      bench.answer([
        "GET /v1/pages/p1": .json(Self.page("p1", "ours", minute: 5).text),
        "PATCH /v1/pages/p1": .json(
          #"{"object":"error","status":400,"code":"validation_error","message":"body failed validation","request_id":"r"}"#,
          status: 400),
      ])
      #expect(try await bench.up().counts.failed == 1)
      #expect(try bench.error("p1")["code"] == "validation_error" && bench.error("p1")["message"] == "body failed validation")
    }
  }

  @Test func notion_furtherPages_goByTheCursorInTheBody() async throws {
    try await RecipeBench.with("notion") { bench async throws in
      bench.answer(["POST /v1/databases/d1/query": Self.list([Self.page("p1", "a", minute: 1)], next: "c1")])
      #expect(try await bench.down().status == .failed, "the cursor comes again and again")
      let bodies = bench.requests().map(\.text)
      #expect(bodies.count == 2 && bodies[1].contains(#""start_cursor":"c1""#), "\(bodies)")
    }
  }

  // MARK: Microsoft Graph

  @Test func graph_users_byDeltaLinks() async throws {
    try await RecipeBench.with("graph") { bench async throws in
      func page(_ users: [JSONValue], _ link: String, _ url: String) -> ScriptedAnswer {
        .json(
          JSONValue.object([
            "@odata.context": "https://graph.microsoft.com/v1.0/$metadata#users(displayName,mail)",
            "@odata.\(link)": .string(bench.url + url),
            "value": .array(users),
          ]).text)
      }
      let first = "/v1.0/users/delta?%24select=displayName%2Cmail", next = "/v1.0/users/delta?$skiptoken=s1",
        delta = "/v1.0/users/delta?$deltatoken=d1"
      bench.answer([
        "POST /TENANT/oauth2/v2.0/token": .json(#"{"token_type":"Bearer","expires_in":3599,"access_token":"eyJ0"}"#),
        "GET \(first)": page([["id": "u1", "displayName": "Ada", "mail": "ada@example.com"]], "nextLink", next),
        "GET \(next)": page([["id": "u2", "displayName": "Ben", "mail": nil]], "deltaLink", delta),
      ])
      let down = try await bench.down()
      #expect(down.status == .done, "\(down.error)")
      let requests = bench.requests()
      #expect(requests.map { "\($0.method) \($0.target)" } == ["POST /TENANT/oauth2/v2.0/token", "GET \(first)", "GET \(next)"])
      #expect(
        requests[0].text.contains("scope=https%3A%2F%2Fgraph.microsoft.com%2F.default")
          && requests[0].text.contains("client_secret="))
      #expect(requests[1].header("Authorization") == "Bearer eyJ0")

      bench.answer([
        "GET \(delta)": page(
          [["id": "u1", "displayName": "Ada L."], ["id": "u2", "@removed": ["reason": "changed"]]], "deltaLink",
          "/v1.0/users/delta?$deltatoken=d2")
      ])
      #expect(try await bench.down().status == .done && bench.sent() == ["GET \(delta)"])
      #expect(try bench.ids() == ["u1"])
      #expect(try bench.row("u1")["displayName"] == "Ada L." && bench.row("u1")["mail"] == "ada@example.com")

      // Users have no tag: the record is read and compared, and sent without a condition.
      try bench.edit("u1", ["displayName": "ours"])
      let read = "GET /v1.0/users/u1?%24select=id%2CdisplayName%2Cmail"
      bench.answer([
        read: .json(#"{"@odata.context":"x","id":"u1","displayName":"Ada L.","mail":"ada@example.com"}"#),
        "PATCH /v1.0/users/u1": .status(204), "DELETE /v1.0/users/u1": .status(204),
      ])
      let up = try await bench.up()
      #expect(up.counts.succeeded == 1 && up.counts.conflicting == 0, "\(up.error) \(up.counts)")
      let sent = bench.sent()
      #expect(sent.contains(#"PATCH /v1.0/users/u1 {"displayName":"ours"}"#) && sent.first == read, "\(sent)")
      try bench.edit("u1", ["displayName": "ours again"])
      bench.answer([read: .json(#"{"id":"u1","displayName":"theirs","mail":"ada@example.com"}"#)])
      #expect(try await bench.up().counts.conflicting == 1)
      try bench.delete("u1")
      #expect(try await bench.up("OVERWRITE").counts.succeeded == 1)
      #expect(try bench.ids() == [])
    }
  }

  /// The token has expired: everything is read, and users missing from the list are removed.
  @Test func graph_expiredDeltaLink_readsAllAgain() async throws {
    try await RecipeBench.with("graph") { bench async throws in
      let first = "GET /v1.0/users/delta?%24select=displayName%2Cmail", delta = "/v1.0/users/delta?$deltatoken=d1"
      func page(_ ids: [String]) -> ScriptedAnswer {
        .json(
          JSONValue.object([
            "value": .array(ids.map { ["id": .string($0), "displayName": .string($0)] }),
            "@odata.deltaLink": .string(bench.url + delta),
          ]).text)
      }
      bench.answer([
        "POST": .json(#"{"token_type":"Bearer","expires_in":3599,"access_token":"t"}"#), first: page(["u1", "u2", "u3"]),
      ])
      #expect(try await bench.down().status == .done)
      bench.answer([
        first: page(["u1", "u3"]),
        "GET \(delta)": .json(
          #"{"error":{"code":"syncStateNotFound","message":"The sync state generation is not found"}}"#, status: 410),
      ])
      #expect(try await bench.down().status == .done)
      #expect(try bench.ids() == ["u1", "u3"])
    }
  }

  // MARK: Stripe

  private static func customer(_ id: String, _ name: String, _ metadata: JSONObject = [:]) -> JSONValue {
    [
      "id": .string(id), "object": "customer", "address": nil, "balance": 0, "created": 1_680_893_993,
      "email": "jenny@example.com",
      "livemode": false, "metadata": .object(metadata), "name": .string(name), "phone": nil, "preferred_locales": [],
    ]
  }

  private static func customers(_ items: [JSONValue], hasMore: Bool) -> ScriptedAnswer {
    .json(
      JSONValue.object(["object": "list", "url": "/v1/customers", "has_more": .bool(hasMore), "data": .array(items)]).text)
  }

  @Test func stripe_customers_bothWays() async throws {
    try await RecipeBench.with("stripe") { bench async throws in
      let first = "GET /v1/customers?limit=100", second = "GET /v1/customers?limit=100&starting_after=cus_2"
      bench.answer([
        first: Self.customers([Self.customer("cus_1", "a"), Self.customer("cus_2", "b", ["k": "v"])], hasMore: true),
        second: Self.customers([Self.customer("cus_3", "c")], hasMore: false),
      ])
      #expect(try await bench.down().status == .done)
      let requests = bench.requests()
      #expect(requests.map { "\($0.method) \($0.target)" } == [first, second])
      #expect(requests.allSatisfy { $0.header("Authorization") == "Bearer secret of STRIPE_KEY" })
      #expect(try bench.ids() == ["cus_1", "cus_2", "cus_3"])

      try bench.edit("cus_2", ["name": "ours & co", "metadata": ["k": "w", "order id": "6735"]])
      try bench.delete("cus_3")
      try bench.make(["name": "new", "email": "new@example.com"])
      bench.answer([
        "GET /v1/customers/cus_2": .json(Self.customer("cus_2", "b", ["k": "v"]).text),
        "GET /v1/customers/cus_3": .json(Self.customer("cus_3", "c").text),
        "POST /v1/customers/cus_2": .json(Self.customer("cus_2", "ours & co", ["k": "w", "order id": "6735"]).text),
        "DELETE /v1/customers/cus_3": .json(#"{"id":"cus_3","object":"customer","deleted":true}"#),
        "POST /v1/customers": .json(Self.customer("cus_4", "new").text),
      ])
      let up = try await bench.up()
      #expect(up.counts.succeeded == 3, "\(up.error) \(up.counts)")
      let writes = bench.requests().filter { $0.method != "GET" }
      #expect(
        writes.map { "\($0.method) \($0.target) \($0.text)" } == [
          "POST /v1/customers name=new&email=new%40example.com",
          "POST /v1/customers/cus_2 name=ours%20%26%20co&metadata%5Bk%5D=w&metadata%5Border%20id%5D=6735",
          "DELETE /v1/customers/cus_3 ",
        ] || writes[1].text == "name=ours+%26+co&metadata%5Bk%5D=w&metadata%5Border+id%5D=6735", "\(writes.map(\.text))")
      #expect(writes[0].header("Idempotency-Key")?.count == 36 && writes[1].header("Idempotency-Key") == nil)
      #expect(writes[0].header("Content-Type") == "application/x-www-form-urlencoded")
      #expect(try bench.ids() == ["cus_1", "cus_2", "cus_4"])

      try bench.edit("cus_1", ["email": "nobody"])
      bench.answer([
        "GET /v1/customers/cus_1": .json(Self.customer("cus_1", "a").text),
        "POST /v1/customers/cus_1": .json(
          #"{"error":{"code":"email_invalid","message":"Invalid email address: nobody","param":"email","type":"invalid_request_error"}}"#,
          status: 400),
      ])
      #expect(try await bench.up().counts.failed == 1)
      let error = try bench.error("cus_1")
      #expect(error["code"] == "email_invalid" && error["fields"] == ["email": "Invalid email address: nobody"], "\(error)")

      // Deleted on the server: it can still be read, as a tombstone.
      try bench.edit("cus_2", ["name": "ours"])
      bench.answer(["GET /v1/customers/cus_2": .json(#"{"id":"cus_2","object":"customer","deleted":true}"#)])
      #expect(try await bench.up().counts.conflicting == 1)
      #expect(try bench.conflicts().first?.kind == .deletedThere)
    }
  }

  /// The response to the create is lost: the connection retries with the same key.
  @Test func stripe_lostAnswer_isRepeatedWithTheSameKey() async throws {
    try await RecipeBench.with("stripe") { bench async throws in
      try bench.make(["name": "new"])
      bench.answer(["POST /v1/customers": .closed])
      #expect(try await bench.up().status == .failed)
      let first = bench.requests().compactMap { $0.header("Idempotency-Key") }
      bench.answer(["POST /v1/customers": .json(Self.customer("cus_9", "new").text)])
      bench.advance(60)
      #expect(try await bench.up().counts.succeeded == 1)
      let all = first + bench.requests().compactMap { $0.header("Idempotency-Key") }
      #expect(all.count >= 2 && Set(all).count == 1)
      #expect(try bench.ids() == ["cus_9"])
    }
  }
}
