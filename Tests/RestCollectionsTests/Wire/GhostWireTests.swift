import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests that rows gone from the server are removed, and only those.
struct GhostWireTests {
  typealias Style = CollectionServer.Style

  private static func target(_ style: Style, _ ghosts: JSONObject = [:], reads: Bool = false) -> JSONObject {
    var target = PagingWireTests.target(style)
    target["ghosts"] = .object((["mode": "fullList"] as JSONObject).replacing(with: ghosts))
    if reads { target["up"] = ["read": ["url": "/items/{id}"]] }
    return target
  }

  private func singles(_ bench: CollectionBench) -> Int { bench.server.requests.count { $0.path.hasPrefix("/items/") } }

  @Test func clean_stablePaging_removesWhatIsGone_keepsDirtyRows() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.style = .cursor }
      #expect(try await bench.down(Self.target(.cursor)).status == .done)
      try bench.edit(2, ["name": "mine"])
      bench.server.with { $0.remove([1, 2, 50]) }
      #expect(try await bench.again().status == .done)
      #expect(try bench.ids().count == 70, "a run alone removes nothing")
      #expect(try await bench.cleanGhosts() == 2)
      #expect(try bench.entry(2)?["name"] == "mine")
      #expect(try bench.ids().count == 68)
      #expect(try await bench.cleanGhosts() == 0)
    }
  }

  @Test func clean_walkThatFails_removesNothing() async throws {
    for answer in [
      ScriptedAnswer.json("{}", status: 403), .json("{}", status: 401), .text("<html>", status: 404, type: "text/html"),
      .json(#"[{"id":1}"#), .text("<html>", type: "text/html"),
    ] {
      try await CollectionBench.with(rows: 70) { bench async throws in
        #expect(try await bench.down(Self.target(.link)).status == .done)
        bench.server.forgetRequests()
        bench.server.with { state in
          state.remove([1])
          state.answers[3] = answer
        }
        _ = try await refusal { try await bench.cleanGhosts() }
        #expect(try bench.ids().count == 70)
      }
    }
  }

  /// Rows disappear during the walk, so others are skipped: the second walk finds those.
  @Test(arguments: [Style.page, .offset, .link, .bodyUrl]) func clean_shiftedPage_removesNoLiveRow(style: Style) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.style = style }
      #expect(try await bench.down(Self.target(style)).status == .done)
      bench.server.forgetRequests()
      bench.server.with { state in
        state.remove([70])
        state.before[2] = { $0.remove([1, 2, 3]) }
      }
      #expect(try await bench.cleanGhosts() == 1, "row 70; 1 to 3 were seen in the first walk")
      #expect(Set(bench.server.ids).isSubset(of: Set(try bench.ids())))
      #expect(try await bench.cleanGhosts() == 3)
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test func clean_everyWalkShort_removesNothing() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.style = .page }
      #expect(try await bench.down(Self.target(.page).replacing(with: ["totalPath": "total"])).status == .done)
      bench.server.forgetRequests()
      bench.server.with { state in
        state.remove([70])
        for list in [2, 6, 10] { state.before[list] = { state in state.remove(state.rows.prefix(4).compactMap { Int($0.id) }) } }
      }
      let error = try await refusal { try await bench.cleanGhosts() }
      #expect(error.code == "unexpectedAnswer" && error.isRetryable && error.message.contains("unknown which rows are gone"))
      #expect(try bench.ids().count == 70)
    }
  }

  @Test func clean_confirmedByReading_removesOnlyWhatIsGone() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.style = .page }
      #expect(try await bench.down(Self.target(.page, ["confirm": "read"], reads: true)).status == .done)
      bench.server.forgetRequests()
      bench.server.with { state in
        state.remove([10, 11])
        state.records["11"] = .status(410)
        state.before[2] = { $0.remove([1, 2, 3]) }
      }
      #expect(try await bench.cleanGhosts() == 2)
      #expect(singles(bench) == 5, "10, 11, and three that were passed over")
      #expect(Set(bench.server.ids).isSubset(of: Set(try bench.ids())))
    }
  }

  @Test func clean_markInARead_confirms() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.style = .page }
      let target = Self.target(.page, ["confirm": "read"], reads: true).replacing(with: ["deletedPath": "in_trash"])
      #expect(try await bench.down(target).status == .done)
      bench.server.with { state in
        state.remove([1, 2])
        state.records["1"] = .json(#"{"id":1,"in_trash":true}"#)
        // Without a tombstone the record exists, whatever the list says.
        state.records["2"] = .json(#"{"id":2,"in_trash":false}"#)
      }
      #expect(try await bench.cleanGhosts() == 1)
      #expect(try bench.entry(1) == nil)
      #expect(try bench.entry(2) != nil)
    }
  }

  /// A server that always answers 200 for deleted records: two walks without the record prove that
  /// it is gone.
  @Test func clean_answers200ForEver_goesByWalks() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.style = .page }
      #expect(try await bench.down(Self.target(.page, ["confirm": "walks"], reads: true)).status == .done)
      bench.server.forgetRequests()
      bench.server.with { state in
        state.remove([5])
        state.records["5"] = .json(#"{"id":5}"#)
      }
      #expect(try await bench.cleanGhosts() == 1)
      #expect(singles(bench) == 0 && bench.server.lists.count == 8)
    }
  }

  @Test(arguments: [
    ScriptedAnswer.text("<html>", status: 404, type: "text/html"), .json("{}", status: 403), .json("{}", status: 401),
    .json("{}", status: 500),
  ])
  func clean_readThatSaysNothing_cancelsAndRemovesNothing(answer: ScriptedAnswer) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.style = .page }
      #expect(try await bench.down(Self.target(.page, ["confirm": "read"], reads: true)).status == .done)
      bench.server.with { state in
        state.remove([5, 6])
        state.records["6"] = answer
      }
      _ = try await refusal { try await bench.cleanGhosts() }
      #expect(try bench.ids().count == 70)
    }
  }

  @Test func clean_moreThanMaxRatio_isRefusedUnlessForced() async throws {
    try await CollectionBench.with(rows: 40) { bench async throws in
      bench.server.with { $0.style = .cursor }
      #expect(try await bench.down(Self.target(.cursor, ["maxRatio": 0.25])).status == .done)
      bench.server.with { $0.remove(1...11) }
      let error = try await refusal { try await bench.cleanGhosts() }
      #expect(error.code == "tooManyGhosts" && error.message.contains("11 of 40") && error.message.contains("'maxRatio'"))
      #expect(try bench.ids().count == 40)
      #expect(try await bench.cleanGhosts(force: true) == 11)
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test func clean_fewerThanTwentyRows_needNoForce() async throws {
    try await CollectionBench.with(rows: 19) { bench async throws in
      bench.server.with { $0.style = .cursor }
      #expect(try await bench.down(Self.target(.cursor)).status == .done)
      bench.server.with { $0.rows = [] }
      #expect(try await bench.cleanGhosts() == 19)
    }
  }

  @Test func clean_perId_asksForEachCleanRow() async throws {
    try await CollectionBench.with(rows: 10) { bench async throws in
      #expect(try await bench.down(Self.target(.link, ["mode": "perId"], reads: true)).status == .done)
      try bench.edit(4, ["name": "mine"])
      bench.server.with { $0.remove([3, 4]) }
      #expect(try await bench.cleanGhosts() == 1)
      #expect(singles(bench) == 9)
      #expect(try bench.ids().count == 9)
    }
  }

  /// An invalid item still exists.
  @Test func clean_itemWithAWrongDate_keepsItsRow() async throws {
    try await CollectionBench.with(rows: 30) { bench async throws in
      bench.server.with { $0.style = .cursor }
      #expect(try await bench.down(Self.target(.cursor).replacing(with: ["modificationDateField": "updated_at"])).status == .done)
      bench.server.with { state in
        state.change(7, ["updated_at": "yesterday"])
        state.remove([8])
      }
      #expect(try await bench.cleanGhosts() == 1)
      #expect(try bench.entry(7)?["name"] == "r7")
    }
  }

  @Test func clean_itemThatLeftTheFilter_goes() async throws {
    try await CollectionBench.with(rows: 30) { bench async throws in
      bench.server.with { $0.style = .cursor }
      let target = Self.target(.cursor).replacing(with: ["where": [["path": "pull_request", "exists": false]]])
      #expect(try await bench.down(target).status == .done)
      bench.server.with { $0.change(7, ["pull_request": 1]) }
      #expect(try await bench.cleanGhosts() == 1)
      #expect(try bench.entry(7) == nil)
    }
  }

  // MARK: Two syncs in one soup

  /// Both lists had these rows. Rows that another sync still receives become its own, no matter how
  /// many of them it lacks.
  @Test func clean_rowsOfTwoSyncs_goOverOrGo() async throws {
    try await CollectionBench.with(rows: 100) { bench async throws in
      bench.server.with { $0.style = .cursor }
      #expect(
        try await bench.down(Self.target(.cursor).replacing(with: ["where": [["path": "b", "exists": false]]]), name: "s").status
          == .done
      )
      #expect(
        try await bench.down(Self.target(.cursor).replacing(with: ["where": [["path": "a", "exists": false]]]), name: "other")
          .status
          == .done)
      #expect(try await bench.manager.refresh(.name("s")).status == .done)
      bench.server.with { state in
        for id in 1...10 { state.change(id, ["b": 1]) }
        state.remove(11...40)
      }
      #expect(try await bench.cleanGhosts() == 30)
      #expect(try bench.ids() == bench.server.ids)
    }
  }
}
