import Database
import Foundation
import Glibc
import JSON
import Support
import TestSupport
import Testing

@testable import SmartStore

/// Looking into a store's file changes nothing in it and keeps nobody waiting.
@Suite(.enabled(if: TestEngine.isSQLite, "reads SQLite's files"), .ownThreads)
struct LookOnlyTests {
  private let folder: TemporaryFolder
  private let engines: any StoreEngines
  private var path: String { folder.path + "/user/notes/store.sqlite" }

  init() throws {
    folder = try TemporaryFolder()
    engines = try TestEngine.engines(in: folder.path)
  }

  private func opened() throws -> Store {
    let store = Store(name: "notes", isGlobal: false, engine: try engines.open("notes", isGlobal: false))
    if try !store.soupExists("notes") { try store.registerSoup("notes", indexSpecs: [.string("name")]) }
    return store
  }

  private func look() throws -> Store {
    Store(looking: try engines.look("notes", isGlobal: false), name: "notes", isGlobal: false)
  }

  /// The files of the store with their contents and modes, without those that reading makes.
  private func files() throws -> [String: String] {
    let place = folder.path + "/user/notes"
    let names = try FileManager.default.contentsOfDirectory(atPath: place).filter {
      !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal")
    }
    return try Dictionary(
      uniqueKeysWithValues: names.map { name in
        var info = stat()
        #expect(stat("\(place)/\(name)", &info) == 0)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(place)/\(name)"))
        return (name, "\(info.st_mode) \(info.st_mtim.tv_nsec) \(bytes.base64EncodedString())")
      })
  }

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  @Test func look_closedStore_readsAllAndChangesNoFile() throws {
    let store = try opened()
    try store.upsert(#"[{"name":"a","__local__":true},{"name":"b"}]"#, into: "notes")
    store.close()
    let before = try files()
    let looking = try look()
    #expect(try looking.rows("SELECT {notes:name} FROM {notes} ORDER BY 1") == #"[["a"],["b"]]"#)
    #expect(try looking.readBlocking { try $0.dirtyEntryIds(in: "notes") } == [1])
    #expect(try looking.sizes().bytes > 0)
    looking.close()
    #expect(try files() == before)
  }

  @Test func look_fileWithoutName_writesNone() throws {
    try opened().close()
    try FileManager.default.removeItem(atPath: folder.path + "/user/notes/name")
    let before = try files()
    #expect(try engines.names(isGlobal: false) == ["notes"])
    try look().close()
    #expect(try files() == before)
  }

  @Test func look_missingStore_isAnErrorAndMakesNone() throws {
    #expect(code { _ = try look() } == .cannotOpenStore)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/user"))
  }

  @Test func write_throughALook_isRefused() throws {
    try opened().close()
    let looking = try look()
    defer { looking.close() }
    #expect(code { try looking.upsert("[{}]", into: "notes") } == .notReadOnly)
    #expect(code { try looking.removeSoup("notes") } == .notReadOnly)
    #expect(try looking.rows("SELECT count(*) FROM {notes}") == "[[0]]")
  }

  /// Another process is in the middle of a transaction.
  @Test func look_besideAWriter_readsTheLastCommit() throws {
    let store = try opened()
    defer { store.close() }
    try store.upsert(#"[{"name":"a"}]"#, into: "notes")
    let writer = try Connection(store: path, mode: .readWrite)
    defer { writer.close() }
    try writer.execute("BEGIN IMMEDIATE; DELETE FROM soup_attrs")
    let looking = try look()
    defer { looking.close() }
    #expect(try looking.rows("SELECT {notes:name} FROM {notes}") == #"[["a"]]"#)
    try writer.execute("ROLLBACK")
    try store.upsert(#"[{"name":"b"}]"#, into: "notes")
    #expect(try looking.rows("SELECT count(*) FROM {notes}") == "[[2]]", "a later commit is seen")
  }

  /// A process that died has left its last transactions in the write-ahead log.
  @Test func look_logOfADeadProcess_isReadAndStays() throws {
    let store = try opened()
    try store.upsert(#"[{"name":"in the log"}]"#, into: "notes")
    let copy = folder.path + "/user/copy"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    for name in ["store.sqlite", "store.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: folder.path + "/user/notes/\(name)", toPath: "\(copy)/\(name)")
    }
    store.close()
    let log = try Data(contentsOf: URL(fileURLWithPath: copy + "/store.sqlite-wal"))
    let file = try Data(contentsOf: URL(fileURLWithPath: copy + "/store.sqlite"))
    let looking = Store(looking: try engines.look("copy", isGlobal: false), name: "copy", isGlobal: false)
    #expect(try looking.rows("SELECT {notes:name} FROM {notes}") == #"[["in the log"]]"#)
    looking.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: copy + "/store.sqlite-wal")) == log)
    #expect(try Data(contentsOf: URL(fileURLWithPath: copy + "/store.sqlite")) == file)
  }

  /// A forgotten viewer.
  @Test func remove_besideALook_removes() throws {
    try opened().close()
    let looking = try look()
    defer { looking.close() }
    #expect(try looking.rows("SELECT count(*) FROM {notes}") == "[[0]]")
    try engines.remove("notes", isGlobal: false)
    #expect(try engines.names(isGlobal: false) == [])
    #expect(code { _ = try looking.rows("SELECT count(*) FROM {notes}") } == .cannotOpenStore)
  }

  /// The file is another one by now, as after `rekey` or a restored copy.
  @Test func look_replacedFile_readsTheNewOne() throws {
    try opened().close()
    let looking = try look()
    defer { looking.close() }
    #expect(try looking.rows("SELECT count(*) FROM {notes}") == "[[0]]")
    try engines.remove("notes", isGlobal: false)
    let store = try opened()
    try store.upsert(#"[{"name":"new"}]"#, into: "notes")
    store.close()
    #expect(try looking.rows("SELECT {notes:name} FROM {notes}") == #"[["new"]]"#)
  }

  // MARK: Other schemas

  @Test(.enabled(if: TestKey.key == nil, "the kept files are plain"), arguments: KeptFileTests.files)
  func look_olderFile_isReadAsAMigratedOne(_ file: String) throws {
    for name in ["old", "migrated"] {
      let place = folder.path + "/user/" + name
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: "\(KeptFileTests.folder)/\(file)", toPath: place + "/store.sqlite")
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/user/old/store.sqlite"))
    let looking = Store(looking: try engines.look("old", isGlobal: false), name: "old", isGlobal: false)
    let migrated = Store(name: "migrated", isGlobal: false, engine: try engines.open("migrated", isGlobal: false))
    defer { migrated.close() }
    for store in [looking, migrated] { #expect(try store.soupNames() == ["123 any + name!?", "contacts"]) }
    func facts(_ store: Store) throws -> [String] {
      try store.readBlocking { snapshot in
        [
          "\(try snapshot.unsettledUploads(in: "contacts"))", "\(try snapshot.unsettledCreates(in: "contacts"))",
          "\(try snapshot.conflicts(in: "contacts"))", "\(try snapshot.soupsInConflict())",
          "\(try snapshot.dirtyEntryIds(in: "contacts"))", "\(try snapshot.uploaded(of: [1, 2], in: "contacts"))",
          "\(try snapshot.lease("sync:1") as Lease?)",
        ]
      } + [try store.rows("SELECT {contacts:_soup} FROM {contacts} ORDER BY {contacts:Id}")]
    }
    #expect(try facts(looking) == facts(migrated))
    looking.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/user/old/store.sqlite")) == before)
  }

  /// What a look knew of an older file must not hide the tables that another process has made since.
  @Test(.enabled(if: TestKey.key == nil, "the kept files are plain"), arguments: KeptFileTests.files)
  func row53_look_afterAMigration_readsTheNewTables(_ file: String) throws {
    let place = folder.path + "/user/old"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: "\(KeptFileTests.folder)/\(file)", toPath: place + "/store.sqlite")
    let looking = Store(looking: try engines.look("old", isGlobal: false), name: "old", isGlobal: false)
    let before = try looking.mark()
    _ = try looking.readBlocking { try $0.conflicts(in: "contacts") }
    let migrated = Store(name: "old", isGlobal: false, engine: try engines.open("old", isGlobal: false))
    defer { migrated.close() }
    try migrated.upsert(#"[{"Id":"after the migration"}]"#, into: "contacts")
    #expect(try looking.mark() != before)
    let sql = "SELECT {contacts:Id} FROM {contacts} WHERE {contacts:Id} = 'after the migration'"
    #expect(try looking.rows(sql) == #"[["after the migration"]]"#)
    for store in [looking, migrated] { #expect(try store.readBlocking { try $0.unsettledUploads(in: "contacts") }.count < 9) }
    looking.close()
  }

  @Test func look_marks_tellEveryCommitApart() throws {
    let store = try opened(), looking = try look()
    defer { store.close() }
    let first = try looking.mark()
    #expect(try looking.mark() == first)
    try store.upsert(#"[{"name":"a"}]"#, into: "notes")
    let second = try looking.mark()
    #expect(second != first)
    #expect(try looking.rows("SELECT count(*) FROM {notes}") == "[[1]]" && looking.mark() == second)
    looking.close()
  }

  @Test func look_newerFile_isNewerSchema() throws {
    let store = try opened()
    try store.executeOnSeparateConnection("PRAGMA user_version = 99")
    store.close()
    let before = try files()
    #expect(code { _ = try look() } == .newerSchema)
    #expect(try files() == before)
  }

  @Test func look_fileThatIsNoStore_isNotADatabase() throws {
    try opened().close()
    try Data(repeating: 7, count: 9000).write(to: URL(fileURLWithPath: path))
    let before = try files()
    #expect(code { _ = try look() } == .notADatabase)
    #expect(try files() == before)
  }

  @Test(.enabled(if: StoreKey.isSupported, "needs the trait Encryption"))
  func look_encryptedFile_needsItsKey() throws {
    func engines(_ key: String?) -> any StoreEngines {
      SQLiteEngines(
        userDirectory: folder.path + "/user", globalDirectory: folder.path + "/global", recovery: .refuse,
        key: { key.map(TestKey.make) })
    }
    let store = Store(name: "notes", isGlobal: false, engine: try engines("right").open("notes", isGlobal: false))
    try store.registerSoup("notes", indexSpecs: [.string("name")])
    store.close()
    let before = try files()
    let looking = Store(looking: try engines("right").look("notes", isGlobal: false), name: "notes", isGlobal: false)
    #expect(try looking.soupNames() == ["notes"])
    looking.close()
    #expect(code { _ = try engines(nil).look("notes", isGlobal: false) } == .keyRequired)
    #expect(code { _ = try engines("wrong").look("notes", isGlobal: false) } == .wrongKey)
    #expect(try files() == before)
  }
}
