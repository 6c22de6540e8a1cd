import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests creates, updates and deletes of a collection: the requests, and the resulting rows.
struct UploadWireTests {
  @Test func up_createUpdateAndDelete_areSentInThatOrderAndRowsAreClean() async throws {
    try await CollectionBench.with(rows: 3) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.delete(1)
      try bench.edit(2, ["name": "mine"])
      try bench.make("local_1", ["name": "new"])
      let state = try await bench.up()
      #expect(state.status == .done && state.counts.succeeded == 3, "\(state.error) \(state.counts)")
      let writes = bench.server.recordRequests.filter { !$0.hasPrefix("GET") }
      #expect(writes == [#"POST /items {"name":"new"}"#, #"PATCH /items/2 {"name":"mine"}"#, "DELETE /items/1"])
      #expect(try bench.ids() == ["1000", "2", "3"])
      let made = try #require(try bench.record("1000"))
      #expect(made["updated_at"] == bench.server.row("1000")?["updated_at"] && made["__local__"] == false)
      #expect(try bench.entry(2)?["updated_at"] == bench.server.row("2")?["updated_at"])
      #expect(try bench.entries().allSatisfy { $0["__local__"] == false })
      // A run without changes sends nothing.
      #expect(try await bench.upAgain().status == .done)
      #expect(bench.server.requests.isEmpty || bench.server.recordRequests.isEmpty)
    }
  }

  @Test(arguments: ["Location", "idPath", "item"]) func create_idFromBodyOrLocation_isTheRows(from place: String) async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.onRecord = { request, state in
          guard request.method == "POST" else { return nil }
          let made = CollectionServer.write(request, &state)
          switch place {
          case "Location": return ScriptedAnswer(status: 201, headers: [("Location", "/items/1000")])
          case "idPath": return .json(#"{"data":{"id":1000,"link":"/items/1000"}}"#, status: 201)
          default: return made
          }
        }
      }
      try bench.make("local_1", ["name": "new"])
      var create: JSONObject = ["url": "/items", "fields": ["name"]]
      if place == "idPath" { create["idPath"] = "data.id" }
      let state = try await bench.up(["create": .object(create)])
      #expect(state.status == .done && state.counts.succeeded == 1, "\(state.error)")
      let row = try #require(try bench.record("1000"))
      #expect(row["name"] == "new" && row["__local__"] == false && row["data"] == nil && row["link"] == nil)
      #expect(row["updated_at"] != nil, "it was read")
    }
  }

  /// A 200 with the record, a 204, and a 2xx with other content.
  @Test(arguments: [200, 204, 299]) func update_eachAnswer_leavesTheRowCleanAndComplete(status: Int) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      bench.server.with { state in
        state.onRecord = { request, state in
          guard request.method == "PATCH" else { return nil }
          let done = CollectionServer.write(request, &state)
          return status == 200 ? done : status == 204 ? .status(204) : .json(#"{"ok":true}"#)
        }
      }
      try bench.edit(1, ["name": "mine"])
      #expect(try await bench.up().counts.succeeded == 1)
      let row = try #require(try bench.entry(1))
      #expect(row["__local__"] == false && row["ok"] == nil && row["name"] == "mine")
      #expect(row["updated_at"] == bench.server.row("1")?["updated_at"])
    }
  }

  /// Without a way to read the record, its date is no longer known.
  @Test func update_answerNoneWithoutRead_dropsTheDate() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      bench.server.with { $0.afterWriting("PATCH") { _ in .status(204) } }
      try bench.edit(1, ["name": "mine"])
      #expect(try await bench.up(["read": nil]).counts.succeeded == 1)
      let row = try #require(try bench.entry(1))
      #expect(row["updated_at"] == nil && row["name"] == "mine" && row["__local__"] == false)
    }
  }

  @Test func update_412_isAConflictOrIsOverwritten() async throws {
    for mode in ["LEAVE_IF_CHANGED", "MERGE", "OVERWRITE"] {
      try await CollectionBench.with(rows: 1) { bench async throws in
        let up: JSONObject = ["precondition": "ifMatch"]
        bench.server.with { $0.recordTags = true }
        try await bench.down(CollectionBench.upTarget(up))
        try bench.edit(1, ["name": "mine"])
        bench.server.with { $0.change(1, ["name": "theirs", "updated_at": "2030-01-01T00:00:00Z"]) }
        let state = try await bench.up(up, mode: mode)
        #expect(state.status == .done, "\(state.error)")
        let isOverwritten = mode == "OVERWRITE"
        #expect(bench.server.row("1")?["name"] == (isOverwritten ? "mine" : "theirs"), "\(mode)")
        #expect(try bench.entry(1)?["name"] == "mine")
        #expect(try bench.entry(1)?["__local__"] == .bool(!isOverwritten), "\(mode)")
        let conflicts = try bench.manager.conflicts(inSoup: CollectionBench.soup)
        #expect(conflicts.count == (isOverwritten ? 0 : 1))
        #expect(isOverwritten || conflicts.first?.server?["name"] == "theirs")
      }
    }
  }

  /// Both sides changed different fields: MERGE sends ours and takes theirs.
  @Test func update_otherFieldChangedThere_isMerged() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "mine"])
      bench.server.with { $0.change(1, ["description": "theirs", "updated_at": "2023-11-14T23:00:00Z"]) }
      let state = try await bench.up(mode: "MERGE")
      #expect(state.status == .done && state.counts.succeeded == 1, "\(state.error)")
      #expect(bench.server.row("1")?["name"] == "mine" && bench.server.row("1")?["description"] == "theirs")
      #expect(try bench.entry(1)?["description"] == "theirs")
      #expect(bench.server.recordRequests.contains(#"PATCH /items/1 {"name":"mine"}"#), "\(bench.server.recordRequests)")
    }
  }

  @Test(arguments: [404, 410]) func delete_recordIsGone_succeeds(status: Int) async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.delete(1)
      bench.server.with { state in
        state.onRecord = { request, _ in request.method == "DELETE" ? .status(status) : nil }
      }
      #expect(try await bench.up().counts.succeeded == 1)
      #expect(try bench.ids() == ["2"])
    }
  }

  @Test func delete_byPatchWithBody_isAnUpdate() async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.delete(1)
      let state = try await bench.up(["delete": ["method": "PATCH", "url": "/items/{id}", "body": ["in_trash": true]]])
      #expect(state.counts.succeeded == 1)
      #expect(bench.server.recordRequests.last == #"PATCH /items/1 {"in_trash":true}"#)
      #expect(try bench.ids() == ["2"])
    }
  }

  @Test func delete_changedThere_isAConflict() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.delete(1)
      bench.server.with { $0.change(1, ["name": "theirs", "updated_at": "2030-01-01T00:00:00Z"]) }
      #expect(try await bench.up().counts.conflicting == 1)
      #expect(bench.server.row("1") != nil)
      #expect(try bench.entry(1)?["__locally_deleted__"] == true)
    }
  }

  @Test func readOnlyServer_rowsAreFlaggedAndStayDirty() async throws {
    try await CollectionBench.with(rows: 3) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "mine"])
      try bench.delete(2)
      try bench.make("local_1", ["name": "new"])
      let state = try await bench.up(["create": nil, "update": nil, "delete": nil])
      #expect(state.status == .done && state.counts.failed == 3, "\(state.error)")
      #expect(bench.server.recordRequests.filter { !$0.hasPrefix("GET") } == [])
      for id in ["1", "2", "local_1"] {
        let row = try bench.record(id)
        #expect(row?["__local__"] == true)
        #expect(try bench.lastError(row)["code"] == "READ_ONLY")
      }
    }
  }

  /// An edit made while its record is being uploaded is kept and uploaded in the next run.
  @Test func edit_duringTheUpload_staysDirtyAndGoesNext() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "first"])
      bench.server.with { state in
        state.onRecord = { request, state in
          guard request.method == "PATCH", state.writes == 0 else { return nil }
          try? bench.edit(1, ["name": "second"])
          return nil
        }
      }
      #expect(try await bench.up().counts.succeeded == 1)
      #expect(try bench.entry(1)?["__local__"] == true)
      let state = try await bench.upAgain()
      #expect(state.counts.succeeded == 1 && state.counts.conflicting == 0, "\(state.counts)")
      #expect(bench.server.row("1")?["name"] == "second")
      #expect(try bench.entry(1)?["__local__"] == false)
    }
  }

  /// The child refers to its parent by a local id: it waits, and is sent with the id that the
  /// server assigned.
  @Test func child_ofAParentWithoutId_waitsAndIsSentWithTheNewId() async throws {
    try await CollectionBench.with { bench async throws in
      try bench.store.registerSoup("parents", indexSpecs: CollectionBench.specs)
      let parent: JSONObject = ["id": "local_9", "name": "parent", "__local__": true, "__locally_created__": true]
      try bench.store.upsert(JSONValue.array([.object(parent)]).text, into: "parents")
      try bench.make("local_1", ["name": "child", "parent": "local_9"])
      let up: JSONObject = ["dependsOn": ["parent": "parents"], "create": ["url": "/items", "fields": ["name", "parent"]]]
      #expect(try await bench.up(up).counts.failed == 1)
      #expect(bench.server.with { $0.rows.isEmpty })
      #expect(try bench.lastError(bench.record("local_1"))["code"] == "WAITS_FOR_PARENT")
      let parents = try await bench.manager.syncUp(
        target: CollectionBench.upTarget(), options: ["mergeMode": "OVERWRITE"], soupName: "parents", syncName: "parents")
      #expect(parents.counts.succeeded == 1)
      #expect(try await bench.upAgain().counts.succeeded == 1)
      #expect(bench.server.row("1001")?["parent"] == "1000")
      let child = try bench.record("1001")
      #expect(child?["parent"] == "1000" && child?["__local__"] == false && child?["__last_error__"] == nil)
    }
  }

  /// Assigned ids of parents are not kept forever, nor for another soup.
  @Test func assignedIds_areForgottenAfterMonthsAndWithTheirSoup() async throws {
    try await CollectionBench.with { bench async throws in
      func kept() throws -> Int64 {
        try bench.store.registerSoup("parents", indexSpecs: CollectionBench.specs)
        return try bench.store.readBlocking { try $0.assignedId(for: "local_9", in: "parents") == nil ? 0 : 1 }
      }
      for end in ["drop", "months"] {
        try bench.store.registerSoup("parents", indexSpecs: CollectionBench.specs)
        let parent: JSONObject = ["id": "local_9", "name": "parent", "__local__": true, "__locally_created__": true]
        try bench.store.upsert(JSONValue.array([.object(parent)]).text, into: "parents")
        bench.server.with { $0.takesWrites = true }
        let name = "parents " + end
        let state = try await bench.manager.syncUp(
          target: CollectionBench.upTarget(), options: ["mergeMode": "OVERWRITE"], soupName: "parents", syncName: name)
        #expect(try state.counts.succeeded == 1 && kept() == 1)
        if end == "drop" {
          try bench.store.removeSoup("parents")
        } else {
          bench.clock.advance(91 * 86_400)
          _ = try await bench.manager.reSync(.name(name))
        }
        #expect(try kept() == 0, "\(end)")
      }
    }
  }
}
