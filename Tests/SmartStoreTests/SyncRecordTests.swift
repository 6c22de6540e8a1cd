import JSON
import Support
import TestSupport
import Testing

@testable import SmartStore

struct SyncRecordTests {
  private static let specs: [IndexSpec] = [.string("Id"), .string("Name"), .string("__local__"), .integer("__sync_id__")]
  private static let clean: JSONObject = ["__local__": false, "__sync_id__": 7]

  private func soup() throws -> TemporaryStore { try TemporaryStore(soup: "s", SyncRecordTests.specs) }

  @Test func store_records_areOverlaidAndIndexed() throws {
    let temporary = try soup(), store = temporary.store
    let outcome = try store.sync(
      #"[{"Id":"a","Name":"Ann","__local__":true},{"attributes":{"type":"X"},"Id":"b\n","_soupEntryId":99}]"#, into: "s",
      overlay: SyncRecordTests.clean, removing: ["attributes"])
    #expect(outcome == StoreOutcome(stored: 2, created: 2, keptDirty: 0))
    #expect(
      try store.rows("SELECT {s:_soupEntryId}, {s:Id}, {s:Name}, {s:__local__}, {s:__sync_id__}, owner FROM {s}")
        == #"[[1,"a","Ann","false",7,1],[2,"b\n",null,"false",7,1]]"#)
    let entries = try #require(JSONValue(parsing: store.retrieve([1, 2], from: "s")).arrayValue)
    #expect(entries[0].objectValue?.keys == ["_soupEntryId", "_soupLastModifiedDate", "__local__", "__sync_id__", "Id", "Name"])
    #expect(entries[1].objectValue?.keys == ["_soupEntryId", "_soupLastModifiedDate", "__local__", "__sync_id__", "Id"])
  }

  @Test func store_keysThePlanDoesNotKnow_areRemovedAllTheSame() throws {
    let temporary = try soup(), store = temporary.store
    try store.sync(#"[{"attributes":{},"Id":"a","x":1}]"#, into: "s", overlay: ["x": 2], removing: ["attributes"], ownedKeys: [])
    let entry = try #require(JSONValue(parsing: store.retrieve([1], from: "s")).arrayValue?.first?.objectValue)
    #expect(entry.keys == ["_soupEntryId", "_soupLastModifiedDate", "x", "Id"])
    #expect(entry["x"] == 2)
  }

  @Test func store_overlayTextWithEscapes_isTheSameInEveryRow() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("Id"), .string("tag"), .string("list"), .string("gone.x")]),
      store = temporary.store
    try store.sync(
      #"[{"Id":"\u0041\n","gone":{"x":"1"}},{"Id":"\u0042\t\t\t\t"}]"#, into: "s", overlay: ["tag": "q\"\n", "list": ["a/b"]],
      removing: ["gone"])
    #expect(
      try store.rows("SELECT {s:Id}, {s:tag}, {s:list}, {s:gone.x} FROM {s}")
        == #"[["A\n","q\"\n","[\"a\\/b\"]",null],["B\t\t\t\t","q\"\n","[\"a\\/b\"]",null]]"#)
  }

  @Test func store_again_updatesAndRaisesVersions() throws {
    let temporary = try soup(), store = temporary.store
    try store.sync(#"[{"Id":"a","Name":"1"},{"Id":"b","Name":"2"}]"#, into: "s", overlay: SyncRecordTests.clean)
    let outcome = try store.sync(#"[{"Id":"b","Name":"3"},{"Id":"c"},{"Id":"a"}]"#, into: "s", overlay: SyncRecordTests.clean)
    #expect(outcome == StoreOutcome(stored: 3, created: 1, keptDirty: 0))
    #expect(
      try store.rows("SELECT {s:_soupEntryId}, {s:Id}, {s:Name}, version FROM {s} ORDER BY 1")
        == #"[[1,"a",null,2],[2,"b","3",2],[3,"c",null,1]]"#)
    #expect(try store.found(#"{"queryType":"exact","indexPath":"Name","matchKey":"2"}"#, in: "s") == "[]")
  }

  @Test func store_keepDirty_leavesLocalEdits() throws {
    let temporary = try soup(), store = temporary.store
    try store.sync(#"[{"Id":"a","Name":"1"},{"Id":"b","Name":"2"}]"#, into: "s", overlay: SyncRecordTests.clean)
    try store.upsert(#"[{"Id":"a","Name":"mine","__local__":true}]"#, into: "s", by: "Id")
    #expect(try store.base(1, in: "s")?.contains(#""Name":"1""#) == true)
    let kept = try store.sync(
      #"[{"Id":"a","Name":"8"},{"Id":"b","Name":"9"}]"#, into: "s", overlay: SyncRecordTests.clean, keepDirty: true)
    #expect(kept == StoreOutcome(stored: 1, created: 0, keptDirty: 1))
    #expect(try store.rows("SELECT {s:Name} FROM {s} ORDER BY {s:Id}") == #"[["mine"],["9"]]"#)
    try store.sync(#"[{"Id":"a","Name":"8"}]"#, into: "s", overlay: SyncRecordTests.clean)
    #expect(try store.rows("SELECT {s:Name}, {s:__local__} FROM {s} ORDER BY {s:Id}") == #"[["8","false"],["9","false"]]"#)
    #expect(try store.base(1, in: "s") == nil)
  }

  @Test func base_ofAnEditedEntry_isKeptOnceAndDroppedWhenClean() throws {
    let temporary = try soup(), store = temporary.store
    try store.upsert(#"[{"Id":"a","Name":"server"},{"Id":"new","__local__":true}]"#, into: "s")
    for name in ["first", "second"] { try store.upsert(#"[{"Id":"a","Name":"\#(name)","__local__":true}]"#, into: "s", by: "Id") }
    #expect(try store.base(1, in: "s")?.contains("server") == true)
    #expect(try store.base(2, in: "s") == nil)
    #expect(try store.readBlocking { try $0.dirtyEntryIds(in: "s") } == [1, 2])
    _ = try store.writeBlocking(.synced) { try $0.patch(1, in: "s", setting: ["__local__": false]) }
    #expect(try store.base(1, in: "s") == nil)
    #expect(try store.version(1, in: "s") == 4)
    try store.upsert(#"[{"Id":"a","__local__":true}]"#, into: "s", by: "Id")
    try store.remove([1], from: "s")
    #expect(try store.base(1, in: "s") == nil)
  }

  @Test func patch_members_leaveTheRestByteForByte() throws {
    let temporary = try soup(), store = temporary.store
    try store.upsert(#"[{"Id":"a","w" : 1.50,"Name":"x","gone":1}]"#, into: "s")
    let patched = try store.writeBlocking(.synced) { transaction in
      try (
        transaction.patch(1, in: "s", setting: ["Name": "y", "k": 2], removing: ["gone"]),
        transaction.patch(9, in: "s", setting: [:])
      )
    }
    #expect(patched == (true, false))
    #expect(
      String(decoding: try store.retrieve([1], from: "s"), as: UTF8.self).hasSuffix(#","Id":"a","w" : 1.50,"Name":"y","k":2}]"#))
    #expect(try store.rows("SELECT {s:Name} FROM {s}") == #"[["y"]]"#)
  }

  @Test func store_severalOwners_areAllRemembered() throws {
    let temporary = try soup(), store = temporary.store
    try store.sync(#"[{"Id":"a"},{"Id":"b"}]"#, into: "s", owner: 1)
    for _ in 0..<2 { try store.sync(#"[{"Id":"b"},{"Id":"c"}]"#, into: "s", owner: 2) }
    func ids(_ owner: Int64?, _ dirty: Bool? = nil) throws -> [String] {
      try store.readBlocking { try $0.externalIds(in: "s", path: "Id", ownedBy: owner, dirty: dirty) }
    }
    #expect(try ids(1) == ["a", "b"])
    #expect(try ids(2) == ["b", "c"])
    try store.upsert(#"[{"Id":"b","__local__":true},{"Id":"local"}]"#, into: "s", by: "Id")
    #expect(try ids(2, true) == ["b"])
    #expect(try ids(2, false) == ["c"])
    #expect(try ids(nil, false) == ["a", "c", "local"])
    try store.remove([2], from: "s")
    #expect(try ids(2) == ["c"])
    #expect(try store.rows("SELECT count(*) FROM soup_members") == "[[0]]")
  }

  @Test(arguments: [#"[{"Id":"x"},{"Name":"none"}]"#, #"[{"Id":"x"},{"Id":null}]"#])
  func store_recordWithoutId_writesNothing(_ page: String) throws {
    let temporary = try soup(), store = temporary.store
    #expect(code { try store.sync(page, into: "s") } == .missingExternalId)
    #expect(code { try store.sync(page, into: "s", expecting: 50_000) } == .missingExternalId)
    #expect(try store.count(of: "s") == 0)
    if TestEngine.isSQLite { #expect(try store.indexNames().contains("TABLE_1_0_idx")) }
    #expect(code { try store.sync("[]", into: "s", by: "nope") } == .pathNotIndexed)
  }

  @Test(.enabled(if: TestEngine.isSQLite, "bulk loads without indexes are SQLite's"))
  func load_large_putsIndexesOffUntilItIsFinished() throws {
    let temporary = try soup(), store = temporary.store
    try store.sync(#"[{"Id":"a","Name":"1"},{"Id":"b","Name":"2"}]"#, into: "s", expecting: 20_000)
    #expect(try store.indexNames() == "[]")
    try store.sync(#"[{"Id":"b","Name":"3"},{"Id":"c","Name":"4"}]"#, into: "s", owner: 2, expecting: 20_000)
    #expect(try store.count(of: "s") == 4, "rows are added, not looked for")
    try store.finishBulkLoad("s")
    #expect(try store.indexNames() == #"[["TABLE_1_0_idx"],["TABLE_1_1_idx"],["TABLE_1_2_idx"],["TABLE_1_3_idx"]]"#)
    #expect(try store.rows("SELECT {s:Id}, {s:Name} FROM {s} ORDER BY 1") == #"[["a","1"],["b","3"],["c","4"]]"#)
    #expect(try store.readBlocking { try $0.externalIds(in: "s", path: "Id", ownedBy: 1, dirty: nil) } == ["a", "b"])
    try store.finishBulkLoad("s")
    #expect(try store.sync(#"[{"Id":"a"}]"#, into: "s", expecting: 50_000) == StoreOutcome(stored: 1, created: 0, keptDirty: 0))
  }

  @Test(.enabled(if: TestEngine.isSQLite, "bulk loads without indexes are SQLite's"))
  func load_queriedByAPath_buildsIndexesAtTheNextPage() throws {
    let temporary = try soup(), store = temporary.store
    try store.sync(#"[{"Id":"a"},{"Id":"b"}]"#, into: "s", expecting: 20_000)
    #expect(try store.count(try spec(#"{"queryType":"exact","indexPath":"_soupEntryId","matchKey":"1"}"#), soup: "s") == 1)
    try store.sync(#"[{"Id":"c"}]"#, into: "s", expecting: 20_000)
    #expect(try store.indexNames() == "[]", "an entry id needs no index")
    #expect(try store.count(try spec(#"{"queryType":"exact","indexPath":"Id","matchKey":"b"}"#), soup: "s") == 1)
    #expect(try store.indexNames() == "[]", "who reads changes nothing")
    try store.sync(#"[{"Id":"b","Name":"again"},{"Id":"d"}]"#, into: "s", expecting: 20_000)
    #expect(try store.indexNames() == #"[["TABLE_1_0_idx"],["TABLE_1_1_idx"],["TABLE_1_2_idx"],["TABLE_1_3_idx"]]"#)
    #expect(try store.count(of: "s") == 4, "from here on what comes again is found")
    try store.sync(#"[{"Id":"e"}]"#, into: "s", expecting: 20_000)
    try store.finishBulkLoad("s")
    #expect(try store.rows("SELECT {s:Id} FROM {s} ORDER BY 1") == #"[["a"],["b"],["c"],["d"],["e"]]"#)
  }

  @Test(.enabled(if: TestEngine.isSQLite, "bulk loads without indexes are SQLite's"))
  func load_thatWaits_buildsIndexesAhead() throws {
    let temporary = try soup(), store = temporary.store
    func buildAhead(_ least: Int) throws -> Bool {
      try store.writeBlocking(.pulled) { try $0.buildIndexAhead(soup: "s", whileMissing: least) }
    }
    #expect(try !buildAhead(1), "nothing is being loaded")
    try store.sync(#"[{"Id":"a","Name":"1"},{"Id":"b","Name":"2"}]"#, into: "s", expecting: 20_000)
    #expect(try !buildAhead(5), "there are four")
    #expect(try buildAhead(4))
    #expect(try !buildAhead(4))
    #expect(try buildAhead(2))
    #expect(try store.indexNames() == #"[["TABLE_1_0_idx"],["TABLE_1_1_idx"]]"#)
    try store.sync(#"[{"Id":"b","Name":"3"},{"Id":"c","Name":"4"}]"#, into: "s", expecting: 20_000)
    #expect(try store.count(of: "s") == 4, "rows are added as before")
    while try buildAhead(1) {}
    try store.finishBulkLoad("s")
    #expect(try store.indexNames() == #"[["TABLE_1_0_idx"],["TABLE_1_1_idx"],["TABLE_1_2_idx"],["TABLE_1_3_idx"]]"#)
    #expect(try store.rows("SELECT {s:Id}, {s:Name} FROM {s} ORDER BY 1") == #"[["a","1"],["b","3"],["c","4"]]"#)
    #expect(try store.rows("SELECT count(*) FROM {s} WHERE {s:Id} = 'b'") == "[[1]]")
  }

  @Test(.enabled(if: TestEngine.isSQLite, "bulk loads without indexes are SQLite's"))
  func load_smallOrIntoAFilledSoup_keepsIndexes() throws {
    let temporary = try soup(), store = temporary.store
    try store.sync(#"[{"Id":"a"}]"#, into: "s", expecting: 19_999)
    try store.sync(#"[{"Id":"a"}]"#, into: "s", expecting: 1_000_000)
    #expect(try store.indexNames().contains("TABLE_1_0_idx"))
    #expect(try store.count(of: "s") == 1)
  }

  @Test(.enabled(if: TestEngine.isSQLite, "bulk loads without indexes are SQLite's"))
  func load_anotherWriter_endsItFirst() throws {
    let temporary = try soup(), store = temporary.store
    try store.sync(#"[{"Id":"a"},{"Id":"a","Name":"later"}]"#, into: "s", expecting: 20_000)
    try store.upsert(#"[{"Id":"a","Name":"edit","__local__":true}]"#, into: "s", by: "Id")
    #expect(try store.rows("SELECT {s:Name} FROM {s}") == #"[["edit"]]"#)
    #expect(try store.indexNames().contains("TABLE_1_0_idx"))
    try store.sync(#"[{"Id":"a","Name":"x"},{"Id":"b"}]"#, into: "s", keepDirty: true, expecting: 20_000)
    #expect(try store.rows("SELECT {s:Name} FROM {s} ORDER BY {s:Id}") == #"[["edit"],[null]]"#)
  }

  @Test(.enabled(if: TestEngine.isSQLite, "bulk loads without indexes are SQLite's"))
  func load_ofADeadProcess_isEndedWhenTheStoreOpens() throws {
    let temporary = try soup(), store = temporary.store
    try store.sync(#"[{"Id":"a","Name":"1"},{"Id":"a","Name":"2"}]"#, into: "s", expecting: 20_000)
    let here = ProcessIdentity.current
    let dead = BulkLoad(
      idPath: "Id",
      owner: BulkLoad.Owner(
        process: ProcessIdentity(bootId: here.bootId, pid: here.pid, startTicks: here.startTicks + 1), connection: "x"))
    try store.writeBlocking(.synced) { try $0.connection.run("UPDATE soup_attrs SET loading = ?", [.text(dead.text)]) }
    try temporary.reopen()
    #expect(try temporary.store.indexNames().contains("TABLE_1_0_idx"))
    #expect(try temporary.store.rows("SELECT {s:Name} FROM {s}") == #"[["2"]]"#)
    #expect(try temporary.store.rows("SELECT loading FROM soup_attrs") == "[[null]]")
  }

  @Test(.enabled(if: TestEngine.isSQLite, "bulk loads without indexes are SQLite's"))
  func load_ofALivingProcess_staysWhenTheStoreOpens() throws {
    let temporary = try soup()
    try temporary.store.sync(#"[{"Id":"a"}]"#, into: "s", expecting: 20_000)
    try temporary.reopen()
    #expect(try temporary.store.indexNames() == "[]")
    #expect(
      try temporary.store.found(#"{"queryType":"exact","indexPath":"Id","matchKey":"a","selectPaths":["Id"]}"#, in: "s")
        == #"[["a"]]"#)
  }

  // MARK: Two hosts of one process

  /// Only the connection that began a load has seen its ids.
  @Test func load_ofAnotherConnection_isFinishedAndEveryIdStaysOnce() throws {
    let temporary = try soup(), store = temporary.store, other = try temporary.another()
    defer { other.close() }
    try store.sync(#"[{"Id":"a"},{"Id":"b"}]"#, into: "s", owner: 1, expecting: 20_000)
    try other.sync(#"[{"Id":"a"},{"Id":"b"}]"#, into: "s", owner: 2, expecting: 20_000)
    try store.sync(#"[{"Id":"c"},{"Id":"a"}]"#, into: "s", owner: 1, expecting: 20_000)
    try other.sync(#"[{"Id":"c"},{"Id":"d"}]"#, into: "s", owner: 2, expecting: 20_000)
    for store in [store, other] { try store.finishBulkLoad("s") }
    #expect(try store.rows("SELECT {s:Id} FROM {s} ORDER BY 1") == #"[["a"],["b"],["c"],["d"]]"#)
  }

  /// The last index may exist before the end.
  @Test func finish_ofALoad_isSeenByOtherConnections() throws {
    let temporary = try soup(), store = temporary.store, other = try temporary.another()
    defer { other.close() }
    try store.sync(#"[{"Id":"a"}]"#, into: "s", expecting: 20_000)
    let count = try store.indexSpecs(ofSoup: "s").count
    for _ in 0..<count { _ = try store.writeBlocking(.pulled) { try $0.buildIndexAhead(soup: "s", whileMissing: 1) } }
    let isLoading = { try other.readBlocking { try $0.isBulkLoading(soup: "s") } }
    _ = try isLoading()
    try store.finishBulkLoad("s")
    #expect(try !isLoading())
    #expect(try !store.readBlocking { try $0.isBulkLoading(soup: "s") })
  }
}
