import Foundation
import JSON
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import RestClient
@testable import RestCollections

/// The definitions in scripts/connections, each against a stub that answers in its service's form.
struct RecipeWireTests {
  struct Recipe: Sendable, CustomTestStringConvertible {
    let name: String
    /// The list, without further pages.
    let list: String
    /// One item, with an edit to send.
    let id: String
    let edit: JSONObject
    /// The write that is to come, as `METHOD /path body`.
    let write: String
    var answer = "{}"
    var single: String?
    var idField = "id"
    var testDescription: String { name }
  }

  static let recipes = [
    Recipe(
      name: "github", list: #"[{"id":1,"number":5,"title":"a","updated_at":"2026-01-01T00:00:00Z"},{"id":2,"pull_request":{}}]"#,
      id: "1", edit: ["title": "b"], write: #"PATCH /repos/acme/widgets/issues/5 {"title":"b"}"#,
      answer: #"{"id":1,"number":5,"title":"b","updated_at":"2026-01-02T00:00:00Z"}"#,
      single: #"{"id":1,"number":5,"title":"a","updated_at":"2026-01-01T00:00:00Z"}"#),
    Recipe(
      name: "gitlab", list: #"[{"id":1,"iid":5,"title":"a","updated_at":"2026-01-01T00:00:00.000Z"}]"#, id: "1",
      edit: ["title": "b"], write: #"PUT /projects/acme%2Fwidgets/issues/5 {"title":"b"}"#,
      answer: #"{"id":1,"iid":5,"title":"b","updated_at":"2026-01-02T00:00:00.000Z"}"#,
      single: #"{"id":1,"iid":5,"title":"a","updated_at":"2026-01-01T00:00:00.000Z"}"#),
    Recipe(
      name: "drf", list: #"{"count":1,"next":null,"results":[{"id":1,"title":"a","modified":"2026-01-01T00:00:00Z"}]}"#, id: "1",
      edit: ["title": "b"], write: #"PATCH /books/1/ {"title":"b"}"#,
      answer: #"{"id":1,"title":"b","modified":"2026-01-02T00:00:00Z"}"#,
      single: #"{"id":1,"title":"a","modified":"2026-01-01T00:00:00Z"}"#),
    Recipe(
      name: "kinto",
      list:
        #"{"data":[{"id":"a-1","title":"a","last_modified":1700000000000},{"id":"a-2","deleted":true,"last_modified":1700000000001}]}"#,
      id: "a-1", edit: ["title": "b"], write: #"PATCH /buckets/team/collections/notes/records/a-1 {"data":{"title":"b"}}"#,
      answer: #"{"data":{"id":"a-1","title":"b","last_modified":1700000000009}}"#),
    Recipe(
      name: "couchdb",
      list: #"{"results":[{"seq":"1-x","id":"d1","doc":{"_id":"d1","_rev":"1-a","title":"a"}}],"last_seq":"1-x"}"#,
      id: "d1", edit: ["title": "b"], write: #"PUT /d1 {"_rev":"1-a","title":"b"}"#,
      answer: #"{"ok":true,"id":"d1","rev":"2-b"}"#,
      single: #"{"_id":"d1","_rev":"2-b","title":"b"}"#, idField: "_id"),
    Recipe(
      name: "notion",
      list:
        #"{"results":[{"id":"p1","last_edited_time":"2026-01-01T00:00:00.000Z","in_trash":false,"properties":{"Name":{"title":[]}}}],"next_cursor":null,"has_more":false}"#,
      id: "p1", edit: ["properties": ["Name": ["title": [["text": ["content": "b"]]]]]],
      write: #"PATCH /v1/pages/p1 {"properties":{"Name":{"title":[{"text":{"content":"b"}}]}}}"#,
      answer:
        #"{"id":"p1","last_edited_time":"2026-01-02T00:00:00.000Z","properties":{"Name":{"title":[{"text":{"content":"b"}}]}}}"#,
      single: #"{"id":"p1","last_edited_time":"2026-01-01T00:00:00.000Z","in_trash":false,"properties":{"Name":{"title":[]}}}"#),
    Recipe(
      name: "graph",
      list:
        #"{"value":[{"id":"u1","displayName":"a"},{"id":"u2","@removed":{"reason":"deleted"}}],"@odata.deltaLink":"/users/delta?$deltatoken=x"}"#,
      id: "u1", edit: ["displayName": "b"], write: #"PATCH /users/u1 {"displayName":"b"}"#,
      single: #"{"@odata.etag":"W/\"1\"","id":"u1","displayName":"a"}"#),
    Recipe(
      name: "stripe", list: #"{"object":"list","data":[{"id":"cus_1","name":"a","created":1700000000}],"has_more":false}"#,
      id: "cus_1",
      edit: ["name": "b"], write: "POST /v1/customers/cus_1 name=b", answer: #"{"id":"cus_1","name":"b","created":1700000000}"#),
  ]

  private static func file(_ name: String) throws -> JSONObject {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../../scripts/connections")
    let data = try Data(contentsOf: folder.appendingPathComponent(name + ".json"))
    return try #require(try JSONValue(parsing: Array(data)).objectValue)
  }

  @Test(arguments: recipes) func recipe_listIsReadAndAnEditGoesUp(recipe: Recipe) async throws {
    let file = try Self.file(recipe.name)
    _ = try ConnectionSettings(
      name: recipe.name, json: file["connection"] ?? .null,
      from: ConnectionSettings.Origin(folder: "/", allowsPlainSecrets: false))
    var target = try #require(file["target"]?.objectValue)
    #expect(target["connection"]?.stringValue == recipe.name)
    target["connection"] = "api"
    try await CollectionBench.with { bench async throws in
      let specs = [IndexSpec(path: recipe.idField, type: .string), IndexSpec(path: "__sync_id__", type: .integer)]
      try bench.store.registerSoup("recipe", indexSpecs: specs)
      bench.server.with { state in
        state.onRecord = { request, state in
          let line = "\(request.method) \(request.path) \(request.text)"
          if line == recipe.write {
            state.writes += 1
            return .json(recipe.answer)
          }
          let isList = request.path.hasSuffix("/query") || request.path.hasSuffix("_changes") || request.path.hasSuffix("/delta")
          if request.method == "GET" || isList {
            let isSingle =
              !isList && request.path.hasSuffix(recipe.write.split(separator: " ")[1].split(separator: "/").last ?? "")
            let isBehind = request.query.contains("since=1-x")
            if isBehind { return .json(#"{"results":[],"last_seq":"1-x"}"#) }
            return .json(isSingle ? recipe.single ?? recipe.answer : recipe.list)
          }
          return .json(#"{"message":"unexpected"}"#, status: 422)
        }
      }
      let down = try await bench.manager.syncDown(target: target, options: [:], soupName: "recipe", syncName: "down")
      #expect(down.status == .done, "\(down.error)")
      func rows() throws -> [JSONObject] {
        let found =
          try JSONValue(parsing: bench.store.rows("SELECT {recipe:_soup} FROM {recipe}", pageSize: 100)).arrayValue ?? []
        return found.compactMap { $0.arrayValue?.first?.objectValue }
      }
      #expect(try rows().compactMap { $0[recipe.idField]?.stringValue } == [recipe.id])
      var row = try #require(try rows().first)
      for (key, value) in recipe.edit { row[key] = value }
      row["__local__"] = true
      row["__locally_updated__"] = true
      try bench.store.upsert(JSONValue.array([.object(row)]).text, into: "recipe")
      let up = try await bench.manager.syncUp(
        target: target, options: ["mergeMode": "LEAVE_IF_CHANGED"], soupName: "recipe", syncName: "up")
      #expect(up.status == .done && up.counts.succeeded == 1, "\(up.error) \(try? rows()) \(bench.server.recordRequests)")
      #expect(bench.server.with { $0.writes } == 1, "\(bench.server.recordRequests)")
      #expect(try rows().first?["__local__"] == false)
    }
  }
}
