import Support
import TestSupport
import Testing

@testable import SmartStore

/// Copies of stores between files.
struct StoreCopyTests {
  private let folder: TemporaryFolder
  private let engines: SQLiteEngines

  init() throws {
    folder = try TemporaryFolder()
    engines = SQLiteEngines(
      userDirectory: folder.path + "/user", globalDirectory: folder.path + "/global", recovery: .refuse, key: { nil })
  }

  private func path(_ name: String) -> String { "\(folder.path)/user/\(name)/store.sqlite" }

  private func open(_ name: String) throws -> Store {
    Store(name: name, isGlobal: false, engine: try engines.open(name, isGlobal: false))
  }

  private func filled(_ name: String = "source") throws -> Store {
    let store = try open(name)
    try FilledStore.fill(store, seed: 7)
    return store
  }

  private struct Stop: Error {}

  /// Copies `source` to `target`.
  @discardableResult
  private func copy(
    _ source: Store, of name: String = "the source", report: @escaping (StoreCopy.Progress) throws -> Void = { _ in },
    isRunning: @escaping (Lease) -> Bool = { _ in false }
  ) throws -> StoreCopy.Summary {
    let target = Store(name: "target", isGlobal: false, engine: try engines.openCopy("target", isGlobal: false, of: name))
    defer { target.close() }
    return try StoreCopy(from: source, to: target, isRunning: isRunning, report: report).run()
  }

  /// Copies until `report` was called `count` times.
  private func interrupt(_ source: Store, after count: Int) {
    var calls = 0
    #expect(throws: Stop.self) {
      try copy(source) { _ in
        calls += 1
        if calls == count { throw Stop() }
      }
    }
  }

  @Test func copy_storeWithEverything_hasTheSameRowsTablesAndIndexes() throws {
    let source = try filled()
    try source.registerSoup("texts", indexSpecs: [.string("Id"), IndexSpec(path: "Body", type: .fullText)])
    _ = try source.upsert(Array(#"[{"Id":"1","Body":"red fox"},{"Id":"2","Body":"grey wolf"}]"#.utf8), into: "texts")
    let summary = try copy(source)
    #expect(summary.entries == 3 * 60 + 2 && summary.soups.count == 5 && summary.found == 0, "\(summary)")
    let storeIds = try ["source", "target"].map { name in
      let store = try open(name)
      defer { store.close() }
      return try store.readBlocking { try $0.storeId() }
    }
    #expect(storeIds[0] != nil && storeIds[1] != nil && storeIds[0] != storeIds[1], "row 9: a copy is another store")
    let original = try FilledStore.dump(path("source")), copied = try FilledStore.dump(path("target"))
    #expect(original.count > 250)
    #expect(copied == original)
    let target = try open("target")
    defer { target.close() }
    #expect(
      try target.found(#"{"queryType":"match","indexPath":"Body","matchKey":"fox","pageSize":5}"#, in: "texts").contains("red"))
    let ids = try target.upsert(Array(#"[{"Id":"next"}]"#.utf8), into: "contacts", externalIdPath: "Id")
    #expect(String(decoding: ids, as: UTF8.self).contains("\"_soupEntryId\":65"), "ids of removed entries are not given again")
    source.close()
  }

  /// A run gets another fence than any before it, so that it does not take the uploads of the original's last run for its own.
  @Test func copy_leases_areReleasedAndKeepTheirFences() throws {
    let source = try filled()
    defer { source.close() }
    try source.writeBlocking(.synced) { transaction in
      _ = try transaction.acquireLease("sync:5", owner: "dead", now: 0, duration: 100_000) { _ in true }
    }
    try copy(source)
    let target = try open("target")
    defer { target.close() }
    #expect(try target.readBlocking { try $0.leases() } == [])
    let lease = try target.writeBlocking(.synced) {
      try $0.acquireLease("sync:5", owner: "me", now: 1, duration: 9) { _ in false }
    }
    #expect(lease?.fence == 2)
    #expect(try target.readBlocking { try $0.lease("sync:4")?.fence } == 2)
  }

  @Test(arguments: [1, 3, 9, 24, 33]) func copy_interrupted_cannotBeOpenedAndContinues(after count: Int) throws {
    let source = try filled()
    defer { source.close() }
    interrupt(source, after: count)
    let error = failure { _ = try open("target") }
    #expect(error?.code == .unfinishedCopy)
    #expect(error?.message.contains("unfinished copy of the source; run `tureen store copy` again") == true)
    #expect(try engines.names(isGlobal: false) == ["source"])
    #expect(try engines.unfinishedCopies(isGlobal: false) == ["target"])
    let change = failure { _ = try KeyChange(path: path("target"), from: nil, to: nil).run() }
    #expect(change?.code == (StoreKey.isSupported ? .unfinishedCopy : .encryptionUnavailable), "not: nothing to do")
    let summary = try copy(source)
    #expect(summary.found > 0)
    #expect(try engines.names(isGlobal: false) == ["source", "target"])
    #expect(try engines.unfinishedCopies(isGlobal: false) == [])
    #expect(try FilledStore.dump(path("target")) == FilledStore.dump(path("source")))
  }

  /// The rows that an earlier run has copied are compared with the source as it is now.
  @Test func copy_sourceChangedSinceTheFirstRun_isTheSourceAsItIsNow() throws {
    let source = try filled()
    defer { source.close() }
    interrupt(source, after: 30)
    _ = try source.upsert(Array(#"[{"Id":"r00","Name":"later"}]"#.utf8), into: "contacts", externalIdPath: "Id")
    try source.remove([15, 16], from: "contacts")
    try source.alterSoup(FilledStore.soups[1], indexSpecs: [.string("Id"), .integer("n")], reIndexData: true)
    try source.clearSoup(FilledStore.soups[2])
    try source.writeBlocking(.synced) { try $0.clearKeyValues(in: "other") }
    let summary = try copy(source)
    #expect(summary.found > 0 && summary.found < summary.rows)
    let target = try open("target")
    defer { target.close() }
    // The altered soup was copied anew, into a table with another number.
    let wanted = try contents(source), found = try contents(target)
    #expect(wanted == found)
    let counts = FilledStore.soups.map { wanted[key(.entries($0))]?.count }
    #expect(counts == [58, 60, 0, 0])
    #expect(try target.indexSpecs(ofSoup: FilledStore.soups[1]) == [.string("Id"), .integer("n")])
  }

  /// Two names of soups are equal to Swift.
  private func key(_ part: StorePart) -> [UInt8] { Array("\(part)".utf8) }

  /// The rows of all parts.
  private func contents(_ store: Store) throws -> [[UInt8]: [[CopiedValue]]] {
    try store.readBlocking { snapshot in
      var contents: [[UInt8]: [[CopiedValue]]] = [:]
      for part in StorePart.all(try snapshot.soupsToCopy()) {
        contents[key(part)] = try snapshot.copiedRows(of: part, in: CopiedRange()).rows
      }
      return contents
    }
  }

  @Test func copy_sourceWrittenMeanwhile_isNotFinishedUntilTheNextRun() throws {
    let source = try filled(), other = try open("source")
    defer {
      source.close()
      other.close()
    }
    var calls = 0
    let error = failure {
      try copy(source) { _ in
        calls += 1
        if calls == 2 { _ = try other.upsert(Array(#"[{"Id":"meanwhile"}]"#.utf8), into: "contacts", externalIdPath: "Id") }
      }
    }
    #expect(error?.code == .storeInUse)
    #expect(error?.message.contains("was written to while it was copied") == true)
    #expect(code { _ = try open("target") } == .unfinishedCopy)
    try copy(source)
    #expect(try FilledStore.dump(path("target")) == FilledStore.dump(path("source")))
  }

  @Test(arguments: [
    ("UPDATE TABLE_1 SET soup = replace(soup, 'edited', 'forged') WHERE id = 5", "entry 5 of soup 'contacts'"),
    ("DELETE FROM TABLE_1 WHERE id = 44", "entry 44 of soup 'contacts'"),
    ("UPDATE TABLE_2 SET TABLE_2_2 = 77 WHERE id = 50", "entry 50 of soup 'odd 'soup' \u{e9}'"),
    (
      "INSERT INTO TABLE_1 SELECT 99, soup, created, lastModified, TABLE_1_0, TABLE_1_1, TABLE_1_2, TABLE_1_3, TABLE_1_5, TABLE_1_6, "
        + "TABLE_1_7, version, owner FROM TABLE_1 WHERE id = 44", "entry 99 of soup 'contacts'"
    ),
    ("DELETE FROM uploads WHERE soup = 1 AND entry = 61", "the upload of entry 61 of soup 'contacts'"),
    ("UPDATE keyvalue SET value = x'00' WHERE key = 'a' AND store = 'settings'", "the key 'a' of key-value store 'settings'"),
    ("UPDATE leases SET fence = 1 WHERE name = 'sync:4'", "the counters"),
  ])
  func copy_rowThatDiffers_isAnErrorThatNamesIt(sql: String, named: String) throws {
    let source = try filled()
    defer { source.close() }
    let target = path("target")
    var isDone = false
    let error = failure {
      try copy(source) { progress in
        if progress.phase == .comparing, !isDone {
          isDone = true
          try FilledStore.tamper(target, "PRAGMA foreign_keys = 0; \(sql)")
        }
      }
    }
    #expect(error?.code == .copyDiffers)
    #expect(error?.message.hasPrefix(named) == true, "\(error?.message ?? "no error")")
    #expect(code { _ = try open("target") } == .unfinishedCopy)
  }

  @Test func copy_syncThatRuns_isRefusedBeforeAnythingIsCopied() throws {
    let source = try filled()
    defer { source.close() }
    try source.writeBlocking(.synced) { transaction in
      _ = try transaction.acquireLease("sync:6", owner: "alive", now: 0, duration: 1) { _ in true }
    }
    let error = failure { try copy(source, isRunning: { $0.owner == "alive" }) }
    #expect(error?.code == .storeInUse)
    #expect(error?.message.contains("sync:6") == true)
    try copy(source, isRunning: { $0.owner == "another" })
  }

  @Test func copy_targetThatExists_isRefusedAndUnchanged() throws {
    let source = try filled(), target = try open("target")
    try target.registerSoup("mine", indexSpecs: [.string("Id")])
    target.close()
    defer { source.close() }
    let before = try FilledStore.dump(path("target"))
    #expect(code { try copy(source) } == .storeExists)
    #expect(try FilledStore.dump(path("target")) == before)
    #expect(try engines.unfinishedCopies(isGlobal: false) == [])
  }

  @Test func copy_unfinishedCopyOfAnotherSource_isRefusedAndNamesIt() throws {
    let source = try filled()
    defer { source.close() }
    interrupt(source, after: 5)
    let error = failure { try copy(source, of: "another source") }
    #expect(error?.code == .storeExists)
    #expect(error?.message.contains("unfinished copy of another store, the source") == true)
    try engines.remove("target", isGlobal: false)
    try copy(source, of: "another source")
  }

  @Test func copy_targetOpenForAnotherCopy_isRefused() throws {
    let source = try filled()
    defer { source.close() }
    let error = failure {
      try copy(source) { _ in _ = try copy(source) }
    }
    #expect(error?.code == .storeInUse)
    #expect(error?.message.contains("another command copies into it") == true)
  }

  /// An older build must not take an unfinished copy for a store.
  @Test func copy_interrupted_isANewerSchemaToOlderBuilds() throws {
    let source = try filled()
    defer { source.close() }
    interrupt(source, after: 3)
    let version = try FilledStore.dump(path("target")).filter { $0.contains("copy_of") }
    #expect(version.count == 2)
    #expect(Schema.unfinishedVersion > 1000 + Schema.version)
    try FilledStore.tamper(path("target"), "PRAGMA user_version = \(Schema.unfinishedVersion + 1)")
    let error = failure { try copy(source) }
    #expect(error?.code == .storeExists)
    #expect(error?.message.contains("another version of Tureen") == true)
  }
}
