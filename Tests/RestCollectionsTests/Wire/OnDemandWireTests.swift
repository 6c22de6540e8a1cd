import JSON
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests pages on demand, refresh, and runs interrupted between two pages.
struct OnDemandWireTests {
  typealias Style = CollectionServer.Style

  @Test(arguments: [Style.link, .linkTokens, .bodyUrl, .cursor, .page, .offset, .keyset, .headerURL, .headerNumber])
  func more_onePageEach_bringsAllRowsInOrder(style: Style) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.style = style }
      let first = try await bench.down(PagingWireTests.target(style), ["maxPages": 1])
      #expect(first.status == .stopped && first.hasMore && first.counts.pages == 1, "\(first.error)")
      #expect(try bench.entries().map(\.id) == (1...30).map(String.init))
      // The cursor may have any age.
      bench.clock.advance(86_400)
      let second = try await bench.manager.more(.name("s"))
      #expect(second.status == .stopped && second.hasMore)
      #expect(try bench.entries().map(\.id) == (1...60).map(String.init))
      try await bench.reopen()
      var state = try await bench.manager.more(.name("s"))
      // Offsets, numbers and keys end with an empty page.
      if state.status == .stopped { state = try await bench.manager.more(.name("s")) }
      #expect(state.status == .done && !state.hasMore, "\(state.error)")
      #expect(try bench.entries().map(\.id) == (1...70).map(String.init))
      let count = bench.server.lists.count
      #expect(try await bench.manager.more(.name("s")).status == .done && bench.server.lists.count == count)
    }
  }

  @Test func more_twoPagesEach_goesOnForAsManyAgain() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.size = 10 }
      #expect(try await bench.down([:], ["maxPages": 2]).hasMore)
      #expect(try await bench.manager.more(.name("s")).counts.pages == 2)
      #expect(try bench.ids().count == 40)
    }
  }

  /// While a list is paused between two pages, its rows keep changing: the watermark must not pass
  /// changes to rows already read.
  @Test func more_rowOfAReadPageChangesMeanwhile_isThereAfterOneReSync() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.style = .cursor }
      let target = PagingWireTests.target(.cursor).replacing(with: [
        "modificationDateField": "updated_at", "incremental": ["mode": "param", "params": ["since": "{since}"]],
      ])
      #expect(try await bench.down(target, ["maxPages": 1]).hasMore)
      bench.clock.advance(3600)
      let early = bench.clock.date
      bench.server.with { $0.change(1, ["name": "changed", "updated_at": .string(early)]) }
      bench.clock.advance(3600)
      let late = bench.clock.date
      bench.server.with { $0.change(65, ["name": "later", "updated_at": .string(late)]) }
      try await bench.reopen()
      while try await bench.manager.more(.name("s")).hasMore {}
      #expect(try bench.entry(65)?["name"] == "later")
      #expect(try bench.entry(1)?["name"] == "r1")
      #expect(try await bench.again().status == .done)
      #expect(try bench.entry(1)?["name"] == "changed")
    }
  }

  // MARK: Refresh

  @Test func refresh_forgetsCursorWatermarkAndValidators_andKeepsRowsOfAFailure() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.hasTags = true }
      let target: JSONObject = [
        "modificationDateField": "updated_at", "incremental": ["mode": "etag"], "params": ["type": "all"],
      ]
      let first = try await bench.down(target)
      #expect(first.status == .done && first.maxTimeStamp > 0)
      // The first page is stored before the second one fails: its rows are the new ones, the others
      // stay.
      bench.server.forgetRequests()
      bench.server.with { state in
        for id in 1...70 { state.change(id, ["name": .string("new\(id)")]) }
        state.answers[2] = .text("no", status: 400)
      }
      let failed = try await bench.manager.refresh(.name("s"))
      #expect(failed.status == .failed && failed.maxTimeStamp == -1)
      #expect(bench.server.lists.allSatisfy { $0.header("If-None-Match") == nil && $0.header("If-Modified-Since") == nil })
      #expect(bench.server.lists.allSatisfy { $0.header("Cache-Control")?.contains("max-age=0") ?? true })
      #expect(try bench.entries().count == 70)
      #expect(try bench.entry(1)?["name"] == "new1")
      #expect(try bench.entry(31)?["name"] == "r31")
      bench.server.forgetRequests()
      let done = try await bench.manager.refresh(.name("s"))
      #expect(done.status == .done && bench.server.lists.count == 3 && bench.server.lists[0].query == "type=all")
      #expect(try bench.values("name") == (1...70).map { "new\($0)" })
    }
  }

  @Test func refresh_oldRows_areVisibleUntilTheirPageIsStored() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      #expect(try await bench.down().status == .done)
      bench.server.forgetRequests()
      let store = bench.store
      bench.server.with { state in
        for id in 1...70 { state.change(id, ["name": .string("new\(id)")]) }
        state.remove([70])
        state.before[1] = { _ in
          let count = try? store.rows("SELECT count(*) FROM {rows} WHERE {rows:id} LIKE '%' AND {rows:_soup} LIKE '%\"r%'")
          if count != "[[70]]" { Issue.record("rows were gone before their page came: \(count ?? "-")") }
        }
      }
      #expect(try await bench.manager.refresh(.name("s")).status == .done)
      // Rows that the server no longer has are removed as ghosts, not by a refresh.
      #expect(try bench.entries().count == 70)
      #expect(try bench.entry(70)?["name"] == "r70")
      #expect(try bench.entry(69)?["name"] == "new69")
    }
  }

  // MARK: Killed between pages

  @Test func kill_betweenPages_goesOnBehindTheLastStoredPage() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      let bootText = bench.manager.leases.owner.split(separator: "/")
      let dead = "\(bootText[0].prefix { $0 != ":" }):4194304:1/\(bootText[1])/1"
      let store = bench.store
      // The lease passes to a process that no longer exists, so nothing of this run is written from
      // then on, as if the process had ended.
      bench.server.with {
        $0.before[3] = { _ in
          try? store.writeBlocking(.synced) { transaction in
            for id in 1...3 {
              _ = try transaction.acquireLease(
                SyncLeases.name(Int64(id)), owner: dead, now: 0, duration: .max / 2, takeover: { _ in true })
            }
          }
        }
      }
      _ = try await bench.down()
      let stored = try bench.ids().count
      #expect(stored == 30 || stored == 60)
      try await bench.reopen()
      let found = try #require(try bench.manager.getSyncStatus(.name("s")))
      #expect(found.status == .stopped)
      let state = try await bench.again()
      #expect(state.status == .done && bench.server.lists.count == (stored == 60 ? 1 : 2), "\(state.error)")
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test func stop_betweenPages_goesOnThere() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.answers[3] = .never }
      async let run = bench.down()
      await bench.server.received(3)
      bench.manager.stop()
      let state = try await run
      #expect(state.status == .stopped && !state.hasMore)
      #expect(try bench.hasCursor)
      #expect(try bench.ids().count == 60)
      try await bench.reopen()
      let next = try await bench.again()
      #expect(next.status == .done && bench.server.lists.map(\.query) == ["page=3"])
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test func redefinedTarget_withACursor_beginsAgain() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { state in
        state.answers[3] = .text("no", status: 400)
        state.hasTags = true
      }
      let first: JSONObject = ["incremental": ["mode": "etag"]]
      #expect(try await bench.down(first).status == .failed)
      let definition = JSONValue.object([
        "syncs": [
          [
            "syncName": "s", "syncType": "syncDown", "soupName": "rows", "options": [:],
            "target": .object(CollectionBench.target(first.replacing(with: ["map": ["login": "owner.login"]]))),
          ]
        ]
      ])
      #expect(bench.manager.setupSyncs(from: definition, fileName: "usersyncs.json") == [])
      let state = try await bench.again()
      #expect(state.status == .done && bench.server.lists.count == 3 && bench.server.lists[0].query.isEmpty, "\(state.error)")
      #expect(bench.server.lists.allSatisfy { $0.header("If-None-Match") == nil })
      #expect(try bench.values("login") == Array(repeating: "acme", count: 70))
    }
  }

  /// The definition changes, the first page of the new one is stored, and the run then fails: the
  /// stored validators of the other pages belong to the old definition.
  @Test func redefinedTarget_failedHalfWay_sendsNoValidatorsOfTheOld() async throws {
    try await CollectionBench.with(rows: 70, ["headers": ["X-A": "1"]]) { bench async throws in
      bench.server.with { $0.hasTags = true }
      let first: JSONObject = ["incremental": ["mode": "etag"]]
      #expect(try await bench.down(first).status == .done)
      let changed = CollectionBench.target(first.replacing(with: ["map": ["login": "owner.login"]]))
      let definition = JSONValue.object([
        "syncs": [["syncName": "s", "syncType": "syncDown", "soupName": "rows", "options": [:], "target": .object(changed)]]
      ])
      #expect(bench.manager.setupSyncs(from: definition, fileName: "usersyncs.json") == [])
      bench.server.forgetRequests()
      bench.server.with { $0.answers[2] = .text("no", status: 400) }
      #expect(try await bench.manager.reSync(.name("s")).status == .failed)
      #expect(try await bench.again().status == .done)
      #expect(try bench.values("login") == Array(repeating: "acme", count: 70))
    }
  }

  @Test func redefinedOptions_keepWhatTheSyncRemembers() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      #expect(try await bench.down([:], ["maxPages": 1]).hasMore)
      let definition = JSONValue.object([
        "syncs": [
          [
            "syncName": "s", "syncType": "syncDown", "soupName": "rows", "options": ["maxPages": 2],
            "target": .object(CollectionBench.target()),
          ]
        ]
      ])
      #expect(bench.manager.setupSyncs(from: definition, fileName: "usersyncs.json") == [])
      #expect(try bench.manager.getSyncStatus(.name("s"))?.hasMore == true)
      bench.server.forgetRequests()
      let state = try await bench.manager.more(.name("s"))
      #expect(state.status == .done && bench.server.lists[0].query == "page=2", "\(state.error)")
      #expect(try bench.ids() == bench.server.ids)
    }
  }
}
