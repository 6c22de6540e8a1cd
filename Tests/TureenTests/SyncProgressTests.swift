import JSON
import LuaBridge
import Testing

@testable import Tureen

/// Tests the progress display of syncs with a manual clock (acceptance row R28).
@Suite struct SyncProgressTests {
  private let store = StoreReference()

  private func state(
    _ status: String = "RUNNING", percent: Int64 = 0, total: Int64 = 1000, pages: Int64 = 0, fetched: Int64 = 0,
    graceMs: Int64? = nil, more: JSONObject = [:]
  ) -> JSONValue {
    var state: JSONObject = [
      "type": "syncDown", "name": "repos", "soupName": "repos", "status": .string(status), "progress": .integer(percent),
      "totalSize": .integer(total), "pages": .integer(pages), "fetched": .integer(fetched),
    ]
    if let graceMs { state["options"] = ["graceMs": .integer(graceMs)] }
    for (key, value) in more { state[key] = value }
    return .object(state)
  }

  @Test func progress_syncWithinGrace_showsNothing() {
    for grace: Int64 in [500, 2000] {
      var progress = SyncProgress(), shown: [SyncProgress.Bar] = []
      for now in stride(from: Int64(0), to: grace, by: 10) {
        #expect(progress.note(state(percent: now / 20, graceMs: grace == 500 ? nil : grace), id: 1, of: store, at: now) == nil)
        if let bar = progress.bar(at: now) { shown.append(bar) }
        #expect(progress.lines(at: now).isEmpty)
      }
      #expect(shown.isEmpty)
      #expect(progress.note(state("DONE", percent: 100, fetched: 1000), id: 1, of: store, at: grace) == nil)
      #expect(progress.bar(at: grace + 1) == nil)
    }
  }

  @Test func progress_longSync_changesAtMostFiveTimesASecondAndHasAFinalLine() {
    var progress = SyncProgress(), changes: [Int64] = [], last: SyncProgress.Bar?
    for now in stride(from: Int64(0), through: 3000, by: 10) {
      _ = progress.note(state(percent: now / 40), id: 1, of: store, at: now)
      guard let bar = progress.bar(at: now), bar != last else { continue }
      changes.append(now)
      last = bar
    }
    #expect(changes.first == 500)
    // The percentage changes every 40 ms, the bar every 200 ms.
    #expect(changes == Array(stride(from: 500, through: 2900, by: 200)))
    #expect(last?.counts == "720 of 1000" && last?.percent == 72)
    let end = progress.note(state("DONE", percent: 100, pages: 10, fetched: 1000), id: 1, of: store, at: 3210)
    #expect(end == "sync 'repos': done, 1000 records on 10 pages in 3.2 s")
    #expect(progress.bar(at: 3300) == nil)
  }

  @Test func progress_noTerminal_hasALineEveryTenSecondsAndAFinalOne() {
    var progress = SyncProgress(), lines: [String] = []
    for now in stride(from: Int64(0), through: 25_000, by: 100) {
      _ = progress.note(state(percent: now / 1000), id: 1, of: store, at: now)
      lines += progress.lines(at: now).map { "\(now) \($0)" }
    }
    #expect(lines == ["10000 sync 'repos': 10%, 100 of 1000", "20000 sync 'repos': 20%, 200 of 1000"])
    #expect(
      progress.note(state("STOPPED", pages: 1, fetched: 1), id: 1, of: store, at: 25_000)
        == "sync 'repos': stopped after 1 record on 1 page")
  }

  @Test func progress_unknownTotal_showsPagesAndRecordsSoFar() {
    var progress = SyncProgress()
    _ = progress.note(state(total: -1), id: 1, of: store, at: 0)
    #expect(progress.bar(at: 500) == SyncProgress.Bar(title: "repos", percent: nil, counts: "asking the server"))
    _ = progress.note(state(total: -1, pages: 3, fetched: 300), id: 1, of: store, at: 600)
    #expect(progress.bar(at: 600)?.counts == "asking the server")
    #expect(progress.bar(at: 700)?.counts == "3 pages, 300 records so far")
    let paused = state("STOPPED", total: -1, pages: 4, fetched: 400, more: ["hasMore": true])
    #expect(progress.note(paused, id: 1, of: store, at: 900) == "sync 'repos': 400 records on 4 pages, and the list continues")
  }

  @Test func progress_failure_isSaidAtOnceHoweverShortTheSyncWas() {
    var progress = SyncProgress()
    _ = progress.note(state(), id: 1, of: store, at: 0)
    let failed = state("FAILED", more: ["error": "{\"message\":\"no\"}"])
    #expect(progress.note(failed, id: 1, of: store, at: 5, reason: "no") == "sync 'repos' failed: no")
  }

  @Test func progress_sameIdInTwoStores_areTwoSyncs() {
    var progress = SyncProgress()
    let global = StoreReference(name: "defaultStore", isGlobal: true)
    _ = progress.note(state(percent: 1), id: 1, of: store, at: 0)
    _ = progress.note(state(percent: 2), id: 1, of: global, at: 300)
    #expect(progress.bar(at: 600)?.percent == 1)
    #expect(progress.note(state("DONE"), id: 1, of: store, at: 700) != nil)
    #expect(progress.bar(at: 799) == nil)
    #expect(progress.bar(at: 800)?.percent == 2)
  }
}
