import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests delta tokens, tombstones, and lists with partial items.
struct DeltaWireTests {
  /// Serves a list with a token at its end; `delta=<n>` returns the changes added since by
  /// `change`.
  private static func serve(_ bench: CollectionBench, expired: Int = 410, isURL: Bool = false) {
    bench.server.with { state in
      state.style = .none
      state.change = { answer, request in
        let token = URLQuery.value(of: "delta", in: request.target)
        if token == "old" || token == "t1" && request.header("X-Expired") != nil {
          answer = .json(#"{"error":"expired"}"#, status: expired)
          return
        }
        let items = (try? JSONValue(parsing: answer.body)) ?? []
        let shown: JSONValue =
          token == nil ? items : [["id": 2, "@removed": ["reason": "deleted"]], ["id": 3, "name": "delta"]]
        let next: JSONValue = isURL ? .string(request.target.hasPrefix("/items?") ? "/items?delta=t2" : "/items?delta=t1") : "t1"
        answer = .json(JSONValue.object(["value": shown, "next": next]).text)
      }
    }
  }

  private static func target(_ incremental: JSONObject = [:], _ members: JSONObject = [:]) -> JSONObject {
    let rules: JSONObject = ["mode": "token", "tokenPath": "next", "tokenParam": "delta"]
    let target: JSONObject = [
      "itemsPath": "value", "paging": ["style": "none"], "deletedPath": "/@removed", "partial": true,
      "incremental": .object(rules.replacing(with: incremental)),
    ]
    return target.replacing(with: members)
  }

  @Test func token_asValueAndAsURL_bringsChangesAndRemovesWhatIsMarked() async throws {
    for isURL in [false, true] {
      try await CollectionBench.with(rows: 5) { bench async throws in
        Self.serve(bench, isURL: isURL)
        let incremental: JSONObject = isURL ? ["tokenParam": nil] : ["firstParams": ["initial": "true"]]
        let first = try await bench.down(Self.target(incremental))
        #expect(first.status == .done, "\(first.error)")
        #expect(isURL || bench.server.lists[0].target.contains("initial=true"))
        let state = try await bench.again()
        #expect(state.status == .done, "\(state.error)")
        #expect(bench.server.lists.map(\.target) == ["/items?delta=t1"])
        #expect(try bench.ids() == ["1", "3", "4", "5"])
        #expect(try bench.entry(3)?["name"] == "delta" && bench.entry(3)?["full_name"] == "acme/r3", "the item was partial")
      }
    }
  }

  /// A failure before the page with the token keeps the old token.
  @Test func token_isSavedWithItsPage_notBefore() async throws {
    try await CollectionBench.with(rows: 5) { bench async throws in
      Self.serve(bench)
      try await bench.down(Self.target())
      let before = try bench.memory()["token"]
      bench.server.forgetRequests()
      bench.server.with { $0.answers[1] = .json("{", status: 200) }
      #expect(try await bench.manager.reSync(.name("s")).status == .failed)
      #expect(try bench.memory()["token"] == before && before == "t1")
    }
  }

  @Test(arguments: [410, 404, 400]) func token_expired_readsAllAndRemovesWhatItDidNotSee(status: Int) async throws {
    try await CollectionBench.with(rows: 30) { bench async throws in
      Self.serve(bench, expired: status)
      try await bench.down(Self.target([:], ["headers": ["X-Expired": "1"]]))
      try bench.edit(7, ["name": "mine"])
      bench.server.with { $0.remove([5, 6, 7]) }
      let state = try await bench.again()
      #expect(state.status == .done, "\(state.error)")
      #expect(bench.server.lists.count == 2)
      #expect(try bench.entry(5) == nil && bench.entry(6) == nil)
      #expect(try bench.entry(7)?["name"] == "mine", "a row with local changes stays")
      #expect(try bench.ids().count == 28)
    }
  }

  @Test func token_expiredAndMostRowsGone_keepsThemAndWarns() async throws {
    try await CollectionBench.with(rows: 30) { bench async throws in
      Self.serve(bench)
      try await bench.down(Self.target([:], ["headers": ["X-Expired": "1"]]))
      bench.server.with { $0.remove(1...20) }
      let state = try await bench.again()
      #expect(state.status == .done && state.warnings.contains { $0.contains("maxRatio") }, "\(state.warnings)")
      #expect(try bench.ids().count == 30)
    }
  }

  /// If a run fails before its end, the next run removes the unseen rows.
  @Test func token_expiredAndInterrupted_theNextRunRemoves() async throws {
    try await CollectionBench.with(rows: 30) { bench async throws in
      Self.serve(bench)
      try await bench.down(Self.target([:], ["headers": ["X-Expired": "1"]]))
      bench.server.with { $0.remove([5]) }
      bench.server.forgetRequests()
      bench.server.with { $0.answers[2] = .json("{", status: 200) }
      #expect(try await bench.manager.reSync(.name("s")).status == .failed)
      #expect(try bench.entry(5) != nil)
      #expect(try await bench.again().status == .done)
      #expect(try bench.entry(5) == nil && bench.ids().count == 29)
    }
  }

  /// The server keeps tombstones for an hour: after a longer pause, everything is read and unseen
  /// rows are removed.
  @Test func tombstones_olderThanTheServerKeepsThem_areMadeUpForByAFullRun() async throws {
    try await CollectionBench.with(rows: 30) { bench async throws in
      let members: JSONObject = [
        "modificationDateField": "updated_at", "deletedPath": "gone",
        "incremental": ["mode": "param", "params": ["since": "{since}"], "tombstonesS": 3600],
      ]
      try await bench.down(members)
      bench.server.with { $0.remove([3]) }
      bench.clock.advance(1800)
      try await bench.again()
      #expect(bench.server.lists[0].target.contains("since="))
      #expect(try bench.entry(3) != nil)
      bench.clock.advance(7200)
      #expect(try await bench.again().status == .done)
      #expect(!bench.server.lists[0].target.contains("since="))
      #expect(try bench.entry(3) == nil && bench.ids().count == 29)
    }
  }

  @Test(arguments: ["LEAVE_IF_CHANGED", "OVERWRITE"]) func tombstone_dirtyRow_goesByTheMergeMode(mode: String) async throws {
    try await CollectionBench.with(rows: 3) { bench async throws in
      let members: JSONObject = ["deletedPath": "state", "deletedValue": ["gone", "trash"]]
      try await bench.down(members, ["mergeMode": .string(mode)])
      try bench.edit(1, ["name": "mine"])
      bench.server.with { state in
        state.rows[0] = ["id": 1, "state": "trash"]
        state.rows[1] = ["id": 2, "state": "gone"]
      }
      #expect(try await bench.again().status == .done)
      #expect(try bench.ids() == (mode == "OVERWRITE" ? ["3"] : ["1", "3"]))
      let kinds = try bench.manager.conflicts(inSoup: CollectionBench.soup).map(\.kind)
      #expect(kinds == (mode == "OVERWRITE" ? [] : [.deletedThere]))
    }
  }

  @Test func detail_isAskedForChangedItemsOnly() async throws {
    try await CollectionBench.with(rows: 5) { bench async throws in
      bench.server.with { state in
        for id in 1...5 { state.records[String(id)] = .json(#"{"id":\#(id),"body":"text \#(id)"}"#) }
        state.records["4"] = .json("{}", status: 404)
      }
      let members: JSONObject = ["detail": ["url": "/items/{id}", "parallel": 2], "modificationDateField": "updated_at"]
      #expect(try await bench.down(members).status == .done)
      #expect(try bench.values("body") == ["text 1", "text 2", "text 3", "text 5"])
      #expect(try bench.entry(2)?["full_name"] == "acme/r2")
      bench.server.with { state in
        state.change(2, ["name": "new", "updated_at": "2023-11-14T20:00:00Z"])
        state.records["2"] = .json(#"{"id":2,"body":"new text"}"#)
      }
      #expect(try await bench.again().status == .done)
      #expect(bench.server.recordRequests.sorted() == ["GET /items/2", "GET /items/4"])
      #expect(try bench.entry(2)?["body"] == "new text" && bench.entry(2)?["name"] == "new")
    }
  }
}
