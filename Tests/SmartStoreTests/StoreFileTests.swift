import Database
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

@Suite(.enabled(if: TestEngine.isSQLite, "reads SQLite's files"))
struct StoreFileTests {
  @Test func reopen_everything_isStillThere() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("Id"), .json1("j")])
    try temporary.store.upsert(#"[{"Id":"a","j":1}]"#, into: "s")
    try temporary.store.upsert(#"[{"Id":"a","j":2,"__local__":true}]"#, into: "s", by: "Id")
    try temporary.reopen()
    #expect(try temporary.store.indexSpecs(ofSoup: "s") == [.string("Id"), .json1("j")])
    #expect(try temporary.store.rows("SELECT {s:Id}, {s:j}, version FROM {s}") == #"[["a",2,2]]"#)
    #expect(try temporary.store.base(1, in: "s") != nil)
    #expect(try temporary.store.ids(temporary.store.upsert("[{}]", into: "s")) == [2])
  }

  @Test func open_newFile_hasItsTablesAndIsPrivate() throws {
    let folder = try TemporaryFolder()
    let store = try Store(name: "x", isGlobal: false, path: folder.path + "/a/b/store.sqlite")
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: [.string("a")])
    let names = try store.rows(
      "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY 1)"
    )
    let tables =
      "TABLE_1,actors,arrivals,assigned_ids,counters,entry_log,leases,long_operations_status,run_events,soup_attrs,soup_bases,"
      + "soup_conflicts,soup_creators,soup_index_map,soup_members,store_id,sync_pages,sync_runs,uploaded,uploads"
    #expect(names == "[[\"\(tables)\"]]")
    for file in ["store.sqlite", "store.sqlite-wal"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/a/b/" + file)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(file)")
    }
  }

  @Test(arguments: [5000, 100, 17])
  func open_notADatabase_isRefusedAndUntouched(_ size: Int) throws {
    let folder = try TemporaryFolder(), path = folder.path + "/store.sqlite"
    let contents = Data(repeating: 0x41, count: size)
    try contents.write(to: URL(fileURLWithPath: path))
    let error = failure { _ = try Store(name: "x", isGlobal: false, path: path) }
    #expect(error?.code == .notADatabase)
    #expect(error?.message.contains(path) == true)
    #expect(error?.isRetryable == false)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == contents)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store.sqlite"])
  }

  @Test func open_newerSchema_isRefusedAndUntouched() throws {
    let folder = try TemporaryFolder(), path = folder.path + "/store.sqlite"
    let connection = try Connection(store: path, mode: .readWriteCreate)
    try connection.execute("CREATE TABLE t (v); PRAGMA user_version = 99")
    connection.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let error = failure { _ = try Store(name: "x", isGlobal: false, path: path) }
    #expect(error?.code == .newerSchema)
    #expect(error?.message.contains("schema 99") == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  @Test func open_anotherProgramsDatabase_isRefusedAndUntouched() throws {
    let folder = try TemporaryFolder(), path = folder.path + "/store.sqlite"
    let connection = try Connection(store: path, mode: .readWriteCreate)
    try connection.execute("CREATE TABLE bookmarks (v)")
    connection.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(code { _ = try Store(name: "x", isGlobal: false, path: path) } == .notADatabase)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  @Test func open_placeThatCannotBeWritten_saysSo() throws {
    let folder = try TemporaryFolder()
    try Data().write(to: URL(fileURLWithPath: folder.path + "/file"))
    #expect(code { _ = try Store(name: "x", isGlobal: false, path: folder.path + "/file/store.sqlite") } == .cannotOpenStore)
    #expect(code { _ = try Store(name: "x", isGlobal: false, path: "/proc/nowhere/store.sqlite") } == .cannotOpenStore)
    #expect(code { _ = try Store(name: "x", isGlobal: false, path: folder.path) } == .cannotOpenStore)
  }

  @Test func open_newFileAtOnce_isMadeOnce() throws {
    let folder = try TemporaryFolder(), errors = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { i in
      do {
        let store = try Store(name: "x", isGlobal: false, path: folder.path + "/store.sqlite")
        try store.registerSoup("s", indexSpecs: [.string("k")])
        try store.upsert(#"[{"k":"\#(i)"}]"#, into: "s", by: "k")
        store.close()
      } catch { errors.withLock { $0.append("\(error)") } }
    }
    #expect(errors.withLock { $0 } == [])
    let store = try Store(name: "x", isGlobal: false, path: folder.path + "/store.sqlite")
    defer { store.close() }
    #expect(try store.count(of: "s") == 8)
  }

  @Test func close_laterCalls_sayTheStoreIsClosed() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")])
    temporary.store.close()
    temporary.store.close()
    #expect(code { try temporary.store.upsert("[]", into: "s") } == .storeClosed)
    #expect(code { _ = try temporary.store.soupNames() } == .storeClosed)
    #expect(code { _ = try temporary.store.databaseSize() } == .storeClosed)
  }

  @Test func databaseSize_grows() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    let before = try store.databaseSize()
    #expect(before > 0)
    try store.upsert(
      "[" + (0..<100).map { #"{"a":"\#(String(repeating: "x", count: 1000))\#($0)"}"# }.joined(separator: ",") + "]", into: "s")
    #expect(try store.databaseSize() > before)
  }

  @Test func entryText_damagedInTheFile_isAnErrorNotACrash() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    try store.upsert(#"[{"a":"1"},{"a":"2"},{"a":"3"}]"#, into: "s")
    let connection = try Connection(store: temporary.path, mode: .readWrite)
    try connection.execute("UPDATE TABLE_1 SET soup = '{\"a\":' WHERE id = 1; UPDATE TABLE_1 SET soup = NULL WHERE id = 2")
    #expect(code { _ = try store.writeBlocking(.synced) { try $0.patch(1, in: "s", setting: ["a": 1]) } } == .invalidEntry)
    #expect(code { _ = try store.writeBlocking(.synced) { try $0.patch(2, in: "s", setting: ["a": 1]) } } == .invalidEntry)
    #expect(try store.rows("SELECT {s:_soup} FROM {s}").hasPrefix(#"[["{\"a\":"],[null],[{"_soupEntryId":3"#))
    try connection.execute("UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'TABLE_1'")
    #expect(code { try store.upsert("[{}]", into: "s") } == .sqlite)
  }
}
