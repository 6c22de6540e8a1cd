import Dispatch
import JSON
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// Observation of committed changes.
struct ChangeFeedTests {
  /// Observes a soup and counts its calls.
  private final class Listener: Sendable {
    let news = Mutex(0), ends = Mutex(0)
    let signal = DispatchSemaphore(value: 0)

    func observe(_ store: Store, _ soups: String...) throws -> ChangeObserver {
      try store.observe(soups: soups, onNews: { _ in self.heard() }, onEnd: { self.ends.withLock { $0 += 1 } })
    }

    func heard() {
      news.withLock { $0 += 1 }
      signal.signal()
    }

    var count: Int { news.withLock { $0 } }
  }

  private func change(
    _ soup: String = "s", created: [Int64] = [], updated: [Int64] = [], removed: [Int64] = [], all: Bool = false
  ) -> StoreChange {
    StoreChange(soupName: soup, created: created, updated: updated, removed: removed, isAll: all)
  }

  @Test func observe_eachKindOfWrite_tellsItsIds() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), listener = Listener()
    let observer = try listener.observe(store.store, "s")
    try store.store.upsert(#"[{"k":"a"},{"k":"b"}]"#, into: "s")
    #expect(observer.take() == [change(created: [1, 2])])
    try store.store.upsert(#"[{"k":"b","x":1},{"k":"c"}]"#, into: "s", by: "k")
    #expect(observer.take() == [change(created: [3], updated: [2])])
    try store.store.remove([1, 99], from: "s")
    #expect(observer.take() == [change(removed: [1])])
    try store.store.removeEntries(matching: spec(#"{"queryType":"exact","indexPath":"k","matchKey":"b"}"#), from: "s")
    #expect(observer.take() == [change(removed: [2])])
    try store.store.sync(#"[{"k":"c"},{"k":"d"}]"#, into: "s", by: "k")
    #expect(observer.take() == [change(created: [4], updated: [3])])
    _ = try store.store.writeBlocking(.synced) { try $0.patch(4, in: "s", setting: ["y": 1]) }
    #expect(observer.take() == [change(updated: [4])])
    #expect(listener.count == 6)
    #expect(observer.take() == [])
  }

  @Test func write_inItsOwnObserversCallback_isRefusedWithASentence() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), inner = store.store
    let refusals = Mutex<[StoreError]>([])
    let observer = try inner.observe(
      soups: ["s"],
      onNews: { _ in
        do {
          try inner.upsert(#"[{"k":"again"}]"#, into: "s")
        } catch {
          refusals.withLock { $0.append(contentsOf: [error as? StoreError].compactMap(\.self)) }
        }
      })
    try inner.upsert(#"[{"k":"a"}]"#, into: "s")
    #expect(observer.take() == [change(created: [1])])
    let refused = refusals.withLock { $0 }
    #expect(refused.map(\.code) == [.reentrantCall])
    #expect(refused.first?.message.contains("another queue") == true)
    #expect(try inner.rows("SELECT count(*) FROM {s}") == "[[1]]")
  }

  @Test func close_inItsOwnObserversCallback_waitsForItAndCloses() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), inner = store.store, ended = DispatchSemaphore(value: 0)
    let observer = try inner.observe(soups: ["s"], onNews: { _ in inner.close() }, onEnd: { ended.signal() })
    defer { observer.cancel() }
    try inner.upsert(#"[{"k":"a"}]"#, into: "s")
    ended.wait()
    #expect(throws: StoreError.self) { try inner.upsert(#"[{"k":"b"}]"#, into: "s") }
  }

  @Test func observe_soupClearedOrRemoved_tellsAll() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), listener = Listener()
    let observer = try listener.observe(store.store, "s")
    try store.store.upsert(#"[{"k":"a"},{"k":"b"}]"#, into: "s")
    try store.store.clearSoup("s")
    #expect(observer.take() == [change(all: true)])
    try store.store.removeSoup("s")
    #expect(observer.take() == [change(all: true)])
    try store.store.registerSoup("s", indexSpecs: [.string("k")])
    try store.store.upsert("[{}]", into: "s")
    #expect(observer.take() == [change(created: [1])])
  }

  @Test func observe_soupAlteredOrReIndexed_tellsNothing() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), listener = Listener()
    try store.store.upsert(#"[{"k":"a","x":1},{"k":"b"}]"#, into: "s")
    let observer = try listener.observe(store.store, "s")
    try store.store.alterSoup("s", indexSpecs: [.string("k"), .integer("x")], reIndexData: true)
    try store.store.reIndexSoup("s", paths: ["x"])
    #expect(observer.take() == [])
    try store.store.upsert("[{}]", into: "s")
    #expect(observer.take() == [change(created: [3])])
  }

  @Test func observe_untakenChanges_areOneEventWithTheWholeStory() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), listener = Listener()
    try store.store.upsert(#"[{"k":"old"},{"k":"older"}]"#, into: "s")
    let observer = try listener.observe(store.store, "s")
    try store.store.upsert(#"[{"k":"a"},{"k":"b"}]"#, into: "s")
    try store.store.upsert(#"[{"_soupEntryId":3,"k":"c"},{"_soupEntryId":1,"k":"new"}]"#, into: "s")
    try store.store.remove([4, 2, 1], from: "s")
    #expect(listener.count == 1)
    #expect(observer.take() == [change(created: [3], removed: [1, 2])])
    try store.store.upsert("[{}]", into: "s")
    try store.store.remove([5], from: "s")
    #expect(observer.take() == [], "what came and went is not told")
    #expect(listener.count == 2)
  }

  @Test func observe_moreThanAnybodyReads_tellsAll() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), observer = try Listener().observe(store.store, "s")
    let entries = "[" + Array(repeating: "{}", count: Tuning.changedIds).joined(separator: ",") + "]"
    try store.store.upsert(entries, into: "s")
    try #require(observer.take().first?.created.count == Tuning.changedIds)
    try store.store.upsert(entries, into: "s")
    try store.store.upsert("[{}]", into: "s")
    #expect(observer.take() == [change(all: true)])
  }

  @Test func observe_rolledBack_tellsNothing() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), listener = Listener()
    let observer = try listener.observe(store.store, "s")
    #expect(code { try store.store.upsert(#"[{"k":"a"},{"_soupEntryId":77}]"#, into: "s") } == .noSuchEntry)
    #expect(listener.count == 0)
    try store.store.upsert(#"[{"k":"a"}]"#, into: "s")
    #expect(observer.take() == [change(created: [1])])
  }

  @Test func observe_otherSoups_areNotTold() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), listener = Listener()
    try store.store.registerSoup("t", indexSpecs: [.string("k")])
    let one = try listener.observe(store.store, "s"), both = try listener.observe(store.store, "t", "s")
    try store.store.upsert("[{}]", into: "t")
    #expect(one.take() == [])
    #expect(both.take() == [change("t", created: [1])])
    try store.store.upsert("[{}]", into: "s")
    #expect(one.take() == [change("s", created: [1])])
    #expect(both.take() == [change("s", created: [1])])
    #expect(code { _ = try listener.observe(store.store, "nowhere") } == .noSuchSoup)
  }

  @Test func observe_smartQuery_tellsWhatChangesItsResult() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), listener = Listener()
    for name in ["t", "u"] { try store.store.registerSoup(name, indexSpecs: [.string("k")]) }
    let observer = try store.store.observe(
      query: .smart("SELECT {s:k} FROM {s}, {t} WHERE {s:k} = {t:k} AND {t:k} <> '{u}'"), onNews: { _ in listener.heard() })
    func changes(_ entries: String, _ soup: String) throws -> [StoreChange] {
      try store.store.upsert(entries, into: soup)
      QueryWatch.settle()
      return observer.take()
    }
    #expect(try changes(#"[{"k":"a"}]"#, "u") == [], "a soup that is only named in a text")
    #expect(try changes(#"[{"k":"a"}]"#, "t") == [], "nothing joins it yet")
    #expect(try changes(#"[{"k":"a"}]"#, "s") == [change("s", created: [1])])
    #expect(try changes(#"[{"_soupEntryId":1,"k":"a","other":1}]"#, "s") == [], "a field that is not selected")
    #expect(try changes(#"[{"k":"b"}]"#, "s") == [])
    #expect(try changes(#"[{"k":"b"}]"#, "t") == [change("t", created: [2])])
    #expect(listener.count == 2)
    try store.store.removeSoup("t")
    QueryWatch.settle()
    #expect(observer.take() == [change("t", all: true)], "the query fails now")
    #expect(try changes(#"[{"k":"c"}]"#, "s") == [], "and still does")
    observer.cancel()
    #expect(try changes(#"[{"k":"d"}]"#, "s") == [])
  }

  @Test(.enabled(if: TestEngine.isSQLite, "PostgreSQL refuses WITH RECURSIVE"))
  func observe_smartQueryTooLargeToCompare_tellsEveryChangeOfItsSoups() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), listener = Listener()
    try store.store.upsert("[{}]", into: "s")
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
    let large = numbers + "\(Tuning.watchedRows + 1)) SELECT n.i FROM n, {s} WHERE {s:_soupEntryId} = 1"
    let slow = numbers + "5000000) SELECT count(*) FROM n, {s} WHERE {s:_soupEntryId} = 1"
    for query in [large, slow] {
      let observer = try store.store.observe(query: .smart(query), onNews: { _ in listener.heard() })
      try store.store.upsert(#"[{"_soupEntryId":1,"x":1}]"#, into: "s")
      QueryWatch.settle()
      #expect(observer.take() == [change(updated: [1])])
    }
    let untouched = try store.store.query(.smart("SELECT count(*) FROM {s}"))
    #expect(untouched == Array("[[1]]".utf8), "the reader goes on")
  }

  @Test func observe_smartQueryWhoseStoreCloses_endsOnce() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), listener = Listener()
    let observer = try store.store.observe(
      query: .smart("SELECT {s:k} FROM {s}"), onNews: { _ in listener.heard() }, onEnd: { listener.ends.withLock { $0 += 1 } })
    try store.store.upsert(#"[{"k":"a"}]"#, into: "s")
    store.store.close()
    QueryWatch.settle()
    #expect(listener.ends.withLock { $0 } == 1)
    #expect(observer.take() == [])
  }

  @Test func observe_wrongQueries_areRefused() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")])
    for (text, expected) in [
      ("SELECT {x:k} FROM {x}", StoreError.Code.noSuchSoup), ("SELEC {s:k}", .invalidSmartSql), ("DELETE FROM {s}", .notReadOnly),
    ] {
      #expect(code { _ = try store.store.observe(query: .smart(text), onNews: { _ in }) } == expected)
    }
    let exact = try spec(#"{"queryType":"exact","indexPath":"k","matchKey":"b"}"#)
    #expect(code { _ = try store.store.observe(query: exact, onNews: { _ in }) } == .invalidQuerySpec)
  }

  @Test func cancel_laterChanges_areNotTold() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), listener = Listener()
    let observer = try listener.observe(store.store, "s")
    try store.store.upsert("[{}]", into: "s")
    observer.cancel()
    observer.cancel()
    try store.store.upsert("[{}]", into: "s")
    #expect(observer.take() == [])
    #expect(listener.count == 1)
    do { _ = try listener.observe(store.store, "s") }
    try store.store.upsert("[{}]", into: "s")
    #expect(listener.count == 1, "an observer that nobody keeps is cancelled")
    store.store.close()
    #expect(listener.ends.withLock { $0 } == 0)
  }

  @Test func cancel_insideItsOwnCallback_endsIt() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), held = Mutex<ChangeObserver?>(nil), count = Mutex(0)
    let observer = try store.store.observe(
      soups: ["s"],
      onNews: { _ in
        count.withLock { $0 += 1 }
        held.withLock { $0.take() }?.cancel()
      })
    held.withLock { $0 = observer }
    try store.store.upsert("[{}]", into: "s")
    try store.store.upsert("[{}]", into: "s")
    #expect(count.withLock { $0 } == 1)
  }

  @Test func close_withObservers_endsEachOnce() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), listener = Listener()
    let observer = try listener.observe(store.store, "s")
    store.store.close()
    store.store.close()
    #expect(listener.ends.withLock { $0 } == 1)
    #expect(observer.take() == [])
    #expect(code { _ = try listener.observe(store.store, "s") } == .storeClosed)
  }

  @Test func observe_anotherProcessWrites_isNoticedByLooking() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), listener = Listener()
    let other = try store.another()
    defer { other.close() }
    let observer = try listener.observe(store.store, "s")
    try other.upsert("[{}]", into: "s")
    #expect(listener.signal.wait(timeout: .now() + 900) == .success)
    // SQLite tells other processes only that something changed.
    #expect(observer.take() == [TestEngine.isSQLite ? change(all: true) : change(created: [1])])
    try store.store.upsert("[{}]", into: "s")
    #expect(observer.take() == [change(created: [2])], "one's own writes are not another's")
  }

  @Test func observe_anotherProcessWroteBeforeOurTransaction_tellsAll() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")]), observer = try Listener().observe(store.store, "s")
    let other = try store.another()
    defer { other.close() }
    try other.upsert("[{}]", into: "s")
    try store.store.upsert("[{}]", into: "s")
    #expect(observer.take() == [TestEngine.isSQLite ? change(all: true) : change(created: [1, 2])])
  }

  @Test func changes_asSequence_yieldsWhatWasCommitted() async throws {
    let store = try TemporaryStore(soup: "s", [.string("k")])
    var changes = try store.store.changes(ofSoups: ["s"]).makeAsyncIterator()
    try store.store.upsert("[{},{}]", into: "s")
    #expect(await changes.next(isolation: nil) == [change(created: [1, 2])])
    try store.store.remove([1], from: "s")
    #expect(await changes.next(isolation: nil) == [change(removed: [1])])
    store.store.close()
    #expect(await changes.next(isolation: nil) == nil)
  }
}
