import Database
import Dispatch
import Foundation
import Support
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

struct RegistryTests {
  private let folder: TemporaryFolder
  private let registry: StoreRegistry

  init() throws {
    folder = try TemporaryFolder()
    registry = try TestEngine.registry(in: folder.path)
  }

  @Test func store_sameName_isTheSameObject() throws {
    defer { registry.close() }
    #expect(try registry.store(named: "a") === registry.store(named: "a"))
    #expect(try registry.store(named: "a") !== registry.store(named: "a", isGlobal: true))
    #expect(try registry.store().name == "defaultStore")
    #expect(try registry.storeNames(isGlobal: false) == ["a", "defaultStore"])
    #expect(try registry.storeNames(isGlobal: true) == ["a"])
  }

  @Test(
    .enabled(if: TestEngine.isSQLite, "looks at the folders of stores"),
    arguments: [
      "..", ".", "../../etc/passwd", "a/b", "a\u{0}b", "é", "e\u{301}", "00D", String(repeating: "long/", count: 100), "%2e", "~",
    ])
  func store_anyName_staysInTheFolder(_ name: String) throws {
    defer { registry.close() }
    let store = try registry.store(named: name)
    #expect(store.path.hasPrefix(folder.path + "/user/"))
    #expect(store.path.dropFirst(folder.path.count).split(separator: "/").count == 3)
    #expect(!store.path.contains(".."))
    #expect(try registry.storeNames(isGlobal: false).map { Array($0.utf8) } == [Array(name.utf8)])
    try registry.remove(named: name, isGlobal: false)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/user") == [])
  }

  @Test(arguments: 0..<20) func store_openedByManyHostsAtOnce_isThereForAll(round: Int) throws {
    let codes = Mutex<[StoreError.Code?]>([]), others = try (0..<8).map { _ in try TestEngine.registry(in: folder.path) }
    DispatchQueue.concurrentPerform(iterations: 8) { n in
      let code = code { _ = try others[n].store(named: "new") }
      codes.withLock { $0.append(code) }
      others[n].close()
    }
    #expect(codes.withLock { $0 } == Array(repeating: nil, count: 8))
    #expect(try registry.storeNames(isGlobal: false) == ["new"])
    guard TestEngine.isSQLite else { return }
    #expect(try FileSystem.entries(of: folder.path + "/user/new").filter { $0.hasPrefix("name") } == ["name"])
  }

  @Test(
    .enabled(if: TestEngine.isSQLite, "looks at the folders of stores"),
    arguments: ["defaultStore", "a/b", "é", "e\u{301}", "100%", "%2F"])
  func store_fileWasPutBackFromACopy_isListedAndOpens(_ name: String) throws {
    let first = try registry.store(named: name), path = first.path, folder = FileSystem.folder(of: path)
    try first.registerSoup("people", indexSpecs: [IndexSpec(path: "Id", type: .string)])
    registry.close()
    for file in try FileSystem.entries(of: folder) where file != "store.sqlite" { try FileSystem.removeTree("\(folder)/\(file)") }
    let later = try TestEngine.registry(in: self.folder.path)
    defer { later.close() }
    #expect(try later.storeNames(isGlobal: false).map { Array($0.utf8) } == [Array(name.utf8)])
    #expect(try later.store(named: name).soupNames() == ["people"])
    #expect(FileSystem.read("\(folder)/name") == Array(name.utf8), "it heals")
  }

  /// As the guide makes a copy: while the store is open, with SQLite alone.
  @Test(.enabled(if: TestEngine.isSQLite, "copies a store's file"))
  func store_copiedWithVacuumInto_opensAndWritesNothingTwice() throws {
    let first = try registry.store(named: "people"), folder = FileSystem.folder(of: first.path)
    try first.registerSoup("people", indexSpecs: [IndexSpec(path: "Id", type: .string)])
    try first.upsert(#"[{"Id":"1"}]"#, into: "people")
    let copy = "\(self.folder.path)/copy.sqlite"
    let connection = try Connection(path: first.path, mode: .readOnly, storeKey: TestKey.key)
    try connection.execute("VACUUM INTO '\(copy)'")
    connection.close()
    registry.close()
    for file in try FileSystem.entries(of: folder) { try FileSystem.removeTree("\(folder)/\(file)") }
    try FileSystem.write(FileSystem.read(copy) ?? [], to: "\(folder)/store.sqlite")
    for _ in 0..<2 {
      let later = try TestEngine.registry(in: self.folder.path)
      #expect(try later.storeNames(isGlobal: false) == ["people"])
      #expect(try later.store(named: "people").count(of: "people") == 1)
      later.close()
    }
  }

  @Test(.enabled(if: TestEngine.isSQLite, "looks at the folders of stores"))
  func store_openedAgain_doesNotWriteItsName() throws {
    let folder = FileSystem.folder(of: try registry.store(named: "a").path)
    registry.close()
    func node() -> UInt64 {
      var info = stat()
      return stat("\(folder)/name", &info) == 0 ? UInt64(info.st_ino) : 0
    }
    let before = node()
    let later = try TestEngine.registry(in: self.folder.path)
    _ = try later.store(named: "a")
    later.close()
    #expect(node() == before && before != 0, "the file was not replaced")
  }

  @Test(.enabled(if: TestEngine.isSQLite, "looks at the folders of stores"))
  func storeNames_folderWithoutAStore_isNotListed() throws {
    defer { registry.close() }
    for name in ["empty", "bad%ZZ", "two"] { try FileSystem.makeDirectory("\(folder.path)/user/\(name)") }
    try FileSystem.write([], to: "\(folder.path)/user/bad%ZZ/store.sqlite")
    try FileSystem.write([], to: "\(folder.path)/user/two/store.sqlite")
    try FileSystem.write([], to: "\(folder.path)/user/two/name.unfinished")
    #expect(try registry.storeNames(isGlobal: false) == [])
  }

  @Test func store_emptyName_isRefused() { #expect(code { _ = try registry.store(named: "") } == .invalidStoreName) }

  @Test func remove_namesThatAreParts_takesOnlyItsOwn() throws {
    defer { registry.close() }
    for name in ["store", "mystore", "store2", "s"] {
      try registry.store(named: name).registerSoup(name, indexSpecs: [.string("a")])
    }
    try registry.store(named: "store", isGlobal: true).registerSoup("g", indexSpecs: [.string("a")])
    try registry.remove(named: "store", isGlobal: false)
    try registry.remove(named: "never", isGlobal: false)
    #expect(try registry.storeNames(isGlobal: false) == ["mystore", "s", "store2"])
    #expect(try registry.store(named: "store", isGlobal: true).soupNames() == ["g"])
    #expect(try registry.store(named: "store").soupNames() == [])
    try registry.removeAll(isGlobal: false)
    #expect(try registry.storeNames(isGlobal: false) == [])
    #expect(try registry.storeNames(isGlobal: true) == ["store"])
  }

  @Test func remove_whileAnotherHasItOpen_isRefusedAndRemovesNothing() throws {
    defer { registry.close() }
    let other = try TestEngine.registry(in: folder.path)
    let used = try other.store(named: "used")
    try used.registerSoup("s", indexSpecs: [.string("a")])
    _ = try registry.store(named: "used")
    let error = failure { try registry.remove(named: "used", isGlobal: false) }
    #expect(error?.code == .storeInUse)
    #expect(error?.message.contains("'used' is open in another process") == true, "\(error?.message ?? "")")
    #expect(code { try registry.removeAll(isGlobal: false) } == .storeInUse)
    try used.upsert("[{}]", into: "s")
    #expect(try registry.store(named: "used").count(of: "s") == 1, "and is opened again when it is used")
    other.close()
    try registry.remove(named: "used", isGlobal: false)
    #expect(try registry.storeNames(isGlobal: false) == [])
    if TestEngine.isSQLite { #expect(try FileSystem.entries(of: folder.path + "/user") == []) }
  }

  @Test(.ownThreads) func remove_storeOpenInAnotherProcess_isRefused() throws {
    let home = try TemporaryFolder(), process = try SecondProcess(home: home.path)
    _ = try process.call("registerSoup", ["s", [["path": "a", "type": "string"]]])
    let here = try TestEngine.registry(in: home.path)
    defer { here.close() }
    #expect(code { try here.remove(named: "defaultStore", isGlobal: true) } == .storeInUse)
    #expect(try process.call("soupExists", ["s"])["value"] == true)
    process.kill()
    try here.remove(named: "defaultStore", isGlobal: true)
    #expect(try here.storeNames(isGlobal: true) == [])
  }

  /// The remains of a removal that was killed are not a store, and the next removal deletes them.
  @Test(.enabled(if: TestEngine.isSQLite, "looks at the folders of stores"))
  func remove_afterOneThatWasKilled_takesItsRest() throws {
    defer { registry.close() }
    let left = folder.path + "/user/.removed-1-2"
    try FileSystem.makeDirectory(left)
    try FileSystem.write(Array("a".utf8), to: left + "/name")
    _ = try registry.store(named: "b")
    #expect(try registry.storeNames(isGlobal: false) == ["b"])
    try registry.remove(named: "b", isGlobal: false)
    #expect(try FileSystem.entries(of: folder.path + "/user") == [])
  }

  @Test func storeNames_comeFromDisk() throws {
    try registry.store(named: "kept").registerSoup("s", indexSpecs: [.string("a")])
    registry.close()
    #expect(code { _ = try registry.store(named: "kept") } == .storeClosed)
    let later = try TestEngine.registry(in: folder.path)
    defer { later.close() }
    #expect(try later.storeNames(isGlobal: false) == ["kept"])
    #expect(try later.store(named: "kept").soupNames() == ["s"])
  }
}
