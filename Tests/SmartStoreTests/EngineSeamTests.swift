import JSON
import SmartStore
import Support
import Synchronization
import TestSupport
import Testing

/// Stores on an engine of another module, which sees no more of them than the seam shows.
struct EngineSeamTests {
  private let folder: TemporaryFolder
  private let counts = CallCounts()
  private let registry: StoreRegistry

  init() throws {
    folder = try TemporaryFolder()
    registry = StoreRegistry(engines: try CountingEngines(folder: folder.path, counts), cursorIds: CursorIds())
  }

  private func soup(_ specs: IndexSpec...) throws -> Store {
    let store = try registry.store(named: "a")
    try store.registerSoup("s", indexSpecs: specs)
    _ = counts.take()
    return store
  }

  /// Returns the text of a page with `count` records.
  private func records(_ count: Int) -> String {
    "[" + (0..<count).map { #"{"Id":"r\#($0)","n":\#($0)}"# }.joined(separator: ",") + "]"
  }

  @Test func registry_otherEngine_opensListsAndRemoves() throws {
    defer { registry.close() }
    let store = try soup(.string("Id"))
    #expect(try registry.store(named: "a") === store)
    #expect(try registry.storeNames(isGlobal: false) == ["a"])
    try store.upsert(#"[{"Id":"x"}]"#, into: "s", by: "Id")
    let calls = counts.take()
    #expect(calls == ["write": 1, "upsert": 1])
    #expect(try store.databaseSize() > 0)
    try registry.remove(named: "a", isGlobal: false)
    #expect(code { _ = try store.soupNames() } == .storeClosed)
    #expect(try registry.storeNames(isGlobal: false) == [])
    #expect(try registry.store(named: "a").soupNames() == [])
  }

  @Test func registry_emptyName_neverReachesTheEngine() throws {
    defer { registry.close() }
    #expect(code { _ = try registry.store(named: "") } == .invalidStoreName)
    #expect(code { try registry.remove(named: "", isGlobal: true) } == .invalidStoreName)
    registry.close()
    #expect(code { _ = try registry.store(named: "a") } == .storeClosed)
  }

  /// The number of calls does not depend on the number of records.
  @Test(arguments: [1, 2000]) func page_storedAndCompared_isOneCallEach(_ count: Int) throws {
    defer { registry.close() }
    let store = try soup(.string("Id"), .integer("n")), overlay: JSONObject = ["__sync_id__": 7, "__local__": false]
    let outcome = try store.sync(records(count), into: "s", overlay: overlay, owner: 7)
    #expect(outcome == StoreOutcome(stored: count, created: count))
    #expect(counts.take() == ["write": 1, "indexSpecs": 1, "storeRecords": 1])
    let areStored = try store.readBlocking { snapshot in
      let plan = try snapshot.pagePlan(soup: "s", idPath: "Id", ownedKeys: overlay.keys)
      let page = try plan.scan(ByteArrayPage(Array(records(count + 1).utf8)), recordsKey: nil)
      return try snapshot.areStored(Array(0...count), on: page, in: "s", by: "Id", overlay: overlay)
    }
    #expect(areStored == Array(repeating: true, count: count) + [false])
    #expect(counts.take() == ["read": 1, "indexSpecs": 1, "areStored": 1])
  }

  /// Any sequence of ids becomes one call.
  @Test func ids_ofAnySequence_areOneCall() throws {
    defer { registry.close() }
    let store = try soup(.string("Id"))
    try store.sync(records(5), into: "s")
    _ = counts.take()
    let batch = try store.readBlocking { try $0.entries(Set([2, 4]).sorted().reversed(), in: "s") }
    #expect(batch.ids == [4, 2])
    try store.writeBlocking(.synced) { transaction in
      try transaction.remove(1...2, from: "s")
      try transaction.endAttempts(CollectionOfOne(3), in: "s")
      try transaction.keepWaiting(1...3, in: "s", until: 1)
      try transaction.noteArrivals([3, 4].prefix(1), in: "s")
      #expect(try transaction.ownStamps(of: 1...5, in: "s") == [:])
    }
    #expect(
      counts.take() == [
        "read": 1, "entries": 1, "write": 1, "remove": 1, "endAttempts": 1, "keepWaiting": 1, "noteArrivals": 1, "uploaded": 1,
      ])
    #expect(try store.count(of: "s") == 3)
  }

  @Test func entries_createdReplacedPatched_reachTheEngineAsText() throws {
    defer { registry.close() }
    let store = try soup(.string("k"))
    let found = try store.writeBlocking(.synced) { transaction in
      let id = try transaction.create(["k": "a", "x": 1], in: "s")
      return try [
        transaction.replace(id, with: ["k": "b", "y": 2], in: "s"),
        transaction.patch(id, in: "s", setting: ["z": 3], removing: ["k"]), transaction.replace(9, with: [:], in: "s"),
        transaction.patch(9, in: "s", setting: [:]),
      ]
    }
    #expect(found == [true, true, false, false])
    #expect(counts.take() == ["write": 1, "save": 4, "storedEntries": 2])
    let entry = try #require(try store.readBlocking { try $0.entry(1, in: "s")?.object() })
    #expect((entry["k"], entry["y"], entry["z"]) == (nil, 2, 3))
  }

  @Test func cursor_movedAndObserved_worksThroughTheSeam() throws {
    defer { registry.close() }
    let store = try soup(.string("Id"))
    try store.sync(records(25), into: "s")
    _ = counts.take()
    let spec = try spec(#"{"queryType":"range","indexPath":"Id","pageSize":10}"#)
    let opened = try JSONValue(parsing: store.openCursor(spec, soup: "s"))
    #expect(opened["totalPages"] == 3)
    #expect(counts.take() == ["read": 1, "page": 1, "count": 1, "view": 1])
    let id = try #require(opened["cursorId"]?.integerValue)
    let last = try JSONValue(parsing: store.moveCursor(id, toPageIndex: 2))
    #expect(last["currentPageOrderedEntries"]?.arrayValue?.count == 5)
    #expect(counts.take() == ["read": 1, "page": 1, "view": 1])
    let refusal = Mutex<StoreError.Code?>(nil)
    let observer = try store.observe(
      soups: ["s"],
      onNews: { _ in refusal.withLock { $0 = code { try store.clearSoup("s") } } })
    try store.remove([1], from: "s")
    #expect(observer.take().map(\.removed) == [[1]])
    #expect(refusal.withLock { $0 } == .reentrantCall, "a write in the callback would deadlock on any engine")
  }

  @Test func alteredAndKeyValues_throughTheSeam_keepWhatTheyPromise() throws {
    defer { registry.close() }
    let store = try soup(.string("Id"))
    try store.sync(records(2), into: "s")
    try store.alterSoup("s", indexSpecs: [.string("Id"), .integer("n")], reIndexData: true)
    #expect(try store.rows("SELECT {s:n} FROM {s} ORDER BY 1") == "[[0],[1]]")
    let values = try store.keyValueStore(named: "v")
    try values.put([1, 2], for: "a*b")
    try values.put([3], for: "ab")
    #expect(try values.keys(matching: "a*") == ["a*b", "ab"])
    #expect(try values.get("ab") == [3])
    #expect(try values.remove("ab"))
    #expect(try store.keyValueStoreNames() == ["v"])
  }

  /// Look-ups of many ids or values are one call each, and single ones ask the same way.
  @Test func lookUps_ofManyIds_areOneCallEach() throws {
    defer { registry.close() }
    let store = try soup(.string("Id"), .integer("n"))
    try store.sync(records(3), into: "s")
    try store.upsert(#"[{"_soupEntryId":2,"Id":"r1","n":0,"__local__":true}]"#, into: "s")
    _ = counts.take()
    try store.readBlocking { snapshot in
      let ids = try snapshot.entryIds(in: "s", where: "n", equalsEach: [.integer(2), .integer(0), .integer(9), .integer(0)])
      #expect(ids == [[3], [1, 2], [], [1, 2]])
      let entries = try snapshot.storedEntries([3, 9, 1, 3], in: "s")
      #expect(entries.map(\.id) == [3, 1, 3])
      let first = try entries[0].object()
      #expect(first["Id"] == "r2")
      let versions = try snapshot.versions(of: [1, 2, 9], in: "s"), bases = try snapshot.bases(of: [1, 2, 9], in: "s")
      #expect(versions == [1: 1, 2: 2])
      #expect(bases.keys.map { $0 } == [2])
    }
    #expect(counts.take() == ["read": 1, "entryIds": 1, "storedEntries": 1, "versions": 1, "bases": 1])
    try store.readBlocking { snapshot in
      let ids = try snapshot.entryIds(in: "s", where: "Id", equals: .text("r1")), base = try snapshot.base(of: 2, in: "s")
      #expect(ids == [2])
      #expect(base != nil)
      let none = try snapshot.entry(9, in: "s"), upload = try snapshot.unsettledUpload(of: 2, in: "s")
      #expect(none?.id == nil)
      #expect(upload == nil)
    }
    #expect(counts.take() == ["read": 1, "entryIds": 1, "bases": 1, "storedEntries": 1, "unsettledUploads": 1])
  }
}
