import Database
import Foundation
import JSON
import Support
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// Returns the names and bytes of all files in a folder.
private func contents(of folder: String) throws -> [String: [UInt8]] {
  var found: [String: [UInt8]] = [:]
  for name in try FileSystem.entries(of: folder) { found[name] = FileSystem.read("\(folder)/\(name)") }
  return found
}

/// Copies the files of a folder in their current state, which is what a kill leaves.
private func copy(of folder: String) throws -> TemporaryFolder {
  let new = try TemporaryFolder()
  for (name, bytes) in try contents(of: folder) { try FileSystem.write(bytes, to: "\(new.path)/\(name)") }
  return new
}

/// Fills a store with every kind of content that these tests check.
private func fill(_ store: Store) throws {
  try store.registerSoup("recipes", indexSpecs: [.string("Id"), .json1("n"), IndexSpec(path: "text", type: .fullText)])
  try store.upsert(
    "[" + (0..<200).map { #"{"Id":"id\#($0)","n":\#($0),"text":"Zwiebelkuchen number \#($0)"}"# }.joined(separator: ",") + "]",
    into: "recipes")
  try store.remove([200], from: "recipes")
  try store.keyValueStore(named: "settings").put(Array("Zwiebelkuchen".utf8), for: "favourite")
}

/// - Parameter nextId: The expected id of a new entry; each check creates one and removes it again.
private func expectFilled(_ path: String, _ key: StoreKey?, _ place: String = "", nextId: Int64 = 201) throws {
  let store = try Store(name: "x", isGlobal: false, path: path, key: key)
  defer { store.close() }
  #expect(try store.count(of: "recipes") == 199, "\(place)")
  #expect(try store.rows("SELECT {recipes:Id} FROM {recipes} WHERE {recipes:n} = 7") == #"[["id7"]]"#, "\(place)")
  let match = #"{"queryType":"match","indexPath":"text","matchKey":"zwiebelkuchen","selectPaths":["Id"],"pageSize":1000}"#
  #expect(try JSONValue(parsing: Array(store.found(match, in: "recipes").utf8)).arrayValue?.count == 199, "\(place)")
  #expect(try store.keyValueStore(named: "settings").get("favourite") == Array("Zwiebelkuchen".utf8), "\(place)")
  #expect(try store.ids(store.upsert("[{}]", into: "recipes")) == [nextId], "ids go on where they were; \(place)")
  try store.remove([nextId], from: "recipes")
}

/// Encrypted stores, in builds with the trait `Encryption`.
@Suite(
  .enabled(if: TestEngine.isSQLite, "encrypts SQLite's files"),
  .enabled(if: StoreKey.isSupported, "needs the trait Encryption"))
struct EncryptionTests {
  /// Returns a raw key: deriving one from a passphrase takes time at each connection.
  private static func key(_ n: Int) -> StoreKey {
    let digits = String(n)
    return TestKey.make("x'" + String(repeating: "0", count: 64 - digits.count) + digits + "'")
  }

  private let folder: TemporaryFolder
  private var path: String { folder.path + "/store.sqlite" }

  init() throws { folder = try TemporaryFolder() }

  /// Creates a store with content and closes it.
  private func make(_ key: StoreKey?) throws {
    let store = try Store(name: "x", isGlobal: false, path: path, key: key)
    try fill(store)
    store.close()
  }

  private func registry(_ key: StoreKey?, in folder: TemporaryFolder, _ reports: ReportList) -> StoreRegistry {
    StoreRegistry(
      userDirectory: folder.path, globalDirectory: folder.path,
      recovery: .moveAside { report in reports.list.withLock { $0.append(report) } }, key: { key })
  }

  private final class ReportList: Sendable { let list = Mutex<[String]>([]) }

  @Test(arguments: [
    "correct horse 'battery' \"staple\"", "x'" + String(repeating: "ab", count: 32) + "'", "\u{1}\0 with a NUL", "한",
  ]) func files_ofAnEncryptedStore_holdNoPlainText(_ text: String) throws {
    let key = TestKey.make(text), store = try Store(name: "x", isGlobal: false, path: path, key: key)
    try fill(store)
    let files = try contents(of: folder.path)
    #expect(files.keys.sorted() == ["store.sqlite", "store.sqlite-shm", "store.sqlite-wal"])
    for (name, bytes) in files {
      for word in ["Zwiebelkuchen", "SQLite format 3", "soup_attrs", "recipes", "favourite", "id17"] {
        #expect(Data(bytes).range(of: Data(word.utf8)) == nil, "\(word) in \(name)")
      }
    }
    store.close()
    #expect(FileKind(start: Array(try #require(FileSystem.read(path)).prefix(4096)), size: 1) == .encrypted)
    try expectFilled(path, TestKey.make(text))
  }

  /// Tests a closed store, and the files of a killed process, with a write-ahead log.
  @Test(arguments: [false, true]) func open_wrongKey_saysSoAndTouchesNothing(_ isKilled: Bool) throws {
    let reports = ReportList(), made = try TemporaryFolder()
    let right = registry(Self.key(1), in: made, reports)
    try fill(try right.store())
    if !isKilled { right.close() }
    let place = try TemporaryFolder(), store = place.path + "/defaultStore"
    try FileSystem.makeDirectory(store)
    for (name, bytes) in try contents(of: made.path + "/defaultStore") where !(isKilled && name.hasSuffix("-shm")) {
      try FileSystem.write(bytes, to: store + "/" + name)
    }
    right.close()
    let before = try contents(of: store)
    #expect(before.keys.contains("store.sqlite-wal") == isKilled)
    for (key, code) in [(Self.key(2), StoreError.Code.wrongKey), (nil, .keyRequired)] as [(StoreKey?, StoreError.Code)] {
      let wrong = registry(key, in: place, reports)
      let error = failure { _ = try wrong.store() }
      wrong.close()
      #expect(error?.code == code)
      #expect(error?.message.contains(store + "/store.sqlite") == true)
      #expect(error?.isRetryable == false)
      #expect(try contents(of: store) == before)
    }
    #expect(reports.list.withLock { $0 } == [], "no damaged store: nothing is moved away")
    try expectFilled(store + "/store.sqlite", Self.key(1))
  }

  @Test func open_plainStoreWithAKey_saysSoAndTouchesNothing() throws {
    try make(nil)
    let before = try contents(of: folder.path)
    let error = failure { _ = try Store(name: "x", isGlobal: false, path: path, key: Self.key(1)) }
    #expect(error?.code == .notEncrypted)
    #expect(error?.message.contains(path) == true)
    #expect(error?.message.contains("tureen store rekey") == true)
    #expect(try contents(of: folder.path) == before)
    try expectFilled(path, nil)
  }

  @Test func open_noDatabaseWithAKey_isDamagedNotAWrongKey() throws {
    try FileSystem.write(Array(repeating: 0x41, count: 9000), to: path)
    #expect(code { _ = try Store(name: "x", isGlobal: false, path: path, key: Self.key(1)) } == .notADatabase)
  }

  @Test func smartSql_thatWouldCopyOrUnlock_isRefused() throws {
    let store = try Store(name: "x", isGlobal: false, path: path, key: Self.key(1))
    defer { store.close() }
    try fill(store)
    for sql in [
      "SELECT sqlcipher_export('main')", "PRAGMA rekey = 'a'", "PRAGMA key = 'a'", "PRAGMA cipher_salt",
      "ATTACH DATABASE '\(folder.path)/b.sqlite' AS b KEY ''",
    ] {
      #expect(throws: (any Error).self, "\(sql)") { try store.rows(sql) }
    }
    #expect(try contents(of: folder.path).keys.sorted() == ["store.sqlite", "store.sqlite-shm", "store.sqlite-wal"])
  }

  // MARK: Change of key

  @Test(arguments: [(nil, 1), (1, 2), (2, nil)] as [(Int?, Int?)])
  func changeKey_keepsEverything(_ from: Int?, _ to: Int?) throws {
    let old = from.map(Self.key), new = to.map(Self.key)
    try make(old)
    #expect(try KeyChange(path: path, from: old, to: new).run() == .changed)
    #expect(try contents(of: folder.path).keys.sorted() == ["store.sqlite"])
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
    #expect(mode?.intValue == 0o600)
    #expect(throws: StoreError.self) { try Store(name: "x", isGlobal: false, path: path, key: old) }
    try expectFilled(path, new)
    let before = try contents(of: folder.path)
    #expect(try KeyChange(path: path, from: old, to: new).run() == .nothingToDo, "it can be run again")
    #expect(try contents(of: folder.path) == before)
  }

  @Test(arguments: [(nil, 1), (1, 2), (2, nil)] as [(Int?, Int?)])
  func changeKey_killedAtAnyStep_leavesTheOldStoreOrTheNew(_ from: Int?, _ to: Int?) throws {
    let old = from.map(Self.key), new = to.map(Self.key)
    try make(old)
    var kept: [(step: KeyChange.Step, folder: TemporaryFolder)] = []
    _ = try KeyChange(path: path, from: old, to: new) { kept.append(($0, try copy(of: folder.path))) }.run()
    #expect(kept.map(\.step) == KeyChange.Step.allCases)
    for (step, folder) in kept {
      let path = folder.path + "/store.sqlite", isNew = step == .replaced
      try expectFilled(path, isNew ? new : old, step.rawValue)
      #expect(try KeyChange(path: path, from: old, to: new).run() == (isNew ? .nothingToDo : .changed))
      try expectFilled(path, new, step.rawValue, nextId: 202)
      #expect(try contents(of: folder.path).keys.allSatisfy { !$0.contains("rekey") })
    }
  }

  @Test func changeKey_afterAKill_takesTheLogAlong() throws {
    let store = try Store(name: "x", isGlobal: false, path: path, key: Self.key(1))
    try fill(store)
    let killed = try copy(of: folder.path)
    store.close()
    #expect(try KeyChange(path: killed.path + "/store.sqlite", from: Self.key(1), to: Self.key(2)).run() == .changed)
    try expectFilled(killed.path + "/store.sqlite", Self.key(2))
  }

  @Test func changeKey_ofAStoreInUse_isRefused() throws {
    let store = try Store(name: "x", isGlobal: false, path: path, key: Self.key(1))
    try fill(store)
    let change = KeyChange(path: path, from: Self.key(1), to: Self.key(2))
    #expect(code { _ = try change.run() } == .storeInUse)
    let foreign = try Connection(path: path, mode: .readWrite, storeKey: Self.key(1))
    try foreign.execute("SELECT count(*) FROM soup_attrs")
    store.close()
    #expect(code { _ = try change.run() } == .storeInUse, "a program that knows nothing of our lock")
    foreign.close()
    try expectFilled(path, Self.key(1))
    #expect(try change.run() == .changed)
  }

  @Test func open_whileTheKeyChanges_canBeTriedAgain() throws {
    try make(Self.key(1))
    var codes: [StoreError.Code?] = [], retryable: [Bool?] = []
    _ = try KeyChange(path: path, from: Self.key(1), to: Self.key(2)) { _ in
      let error = failure { _ = try Store(name: "x", isGlobal: false, path: path, key: Self.key(1)) }
      codes.append(error?.code)
      retryable.append(error?.isRetryable)
    }.run()
    #expect(Set(codes) == [.cannotOpenStore])
    #expect(Set(retryable) == [true])
    try expectFilled(path, Self.key(2))
  }

  @Test func changeKey_withoutTheOldKey_touchesNothing() throws {
    try make(Self.key(1))
    let before = try contents(of: folder.path)
    #expect(code { _ = try KeyChange(path: path, from: Self.key(3), to: Self.key(2)).run() } == .wrongKey)
    #expect(code { _ = try KeyChange(path: path, from: nil, to: Self.key(2)).run() } == .keyRequired)
    #expect(code { _ = try KeyChange(path: path, from: Self.key(3), to: nil).run() } == .wrongKey)
    #expect(try contents(of: folder.path) == before)
  }

  @Test func changeKey_ofWhatIsNoStore_touchesNothing() throws {
    for bytes in [Array(repeating: 0x41, count: 9000), []] as [[UInt8]] {
      try FileSystem.write(bytes, to: path)
      let change = KeyChange(path: path, from: nil, to: Self.key(2))
      #expect(code { _ = try change.run() } == .notADatabase)
      #expect(try contents(of: folder.path) == ["store.sqlite": bytes])
    }
  }

  /// Whether the unfinished copy already has the new key or not.
  @Test(arguments: [(1, nil), (1, 1), (1, 2), (nil, nil), (nil, 1)] as [(Int?, Int?)])
  func changeKey_ofAnUnfinishedCopy_isRefusedAndTheCopyContinues(_ from: Int?, _ to: Int?) throws {
    struct Stop: Error {}
    let old = from.map(Self.key)
    let engines = SQLiteEngines(userDirectory: folder.path, globalDirectory: folder.path, recovery: .refuse, key: { old })
    let source = Store(name: "source", isGlobal: false, engine: try engines.open("source", isGlobal: false))
    defer { source.close() }
    try fill(source)
    func copy(_ report: @escaping (StoreCopy.Progress) throws -> Void) throws {
      let target = Store(
        name: "target", isGlobal: false, engine: try engines.openCopy("target", isGlobal: false, of: "the source"))
      defer { target.close() }
      _ = try StoreCopy(from: source, to: target, isRunning: { _ in false }, report: report).run()
    }
    #expect(throws: Stop.self) { try copy { if $0.phase == .indexing { throw Stop() } } }
    let place = folder.path + "/target", path = place + "/store.sqlite", before = try contents(of: place)
    let error = failure { _ = try KeyChange(path: path, from: old, to: to.map(Self.key)).run() }
    #expect(error?.code == .unfinishedCopy)
    #expect(error?.message.contains("unfinished copy of the source") == true)
    #expect(try contents(of: place) == before)
    try copy { _ in }
    try expectFilled(path, old)
  }

  @Test func key_isWithinItsLimits() throws {
    for count in [0, StoreKey.maximumBytes + 1] {
      let bytes = [UInt8](repeating: 1, count: count)
      #expect(code { _ = try bytes.withUnsafeBytes { try StoreKey($0) } } == .invalidKey)
    }
    #expect(!"\(TestKey.make("hunter2"))\(String(reflecting: TestKey.make("hunter2")))".contains("hunter2"))
  }
}

/// Errors about keys and encrypted files in every build.
struct NoKeyTests {
  /// Random bytes, which no build can distinguish from an encrypted store.
  private static let random: [UInt8] = {
    var generator = SystemRandomNumberGenerator()
    return (0..<8192).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }()

  @Test func open_encryptedFileWithoutAKey_isNeverTakenForADamagedOne() throws {
    let folder = try TemporaryFolder(), store = folder.path + "/defaultStore"
    try FileSystem.makeDirectory(store)
    try FileSystem.write(Self.random, to: store + "/store.sqlite")
    let registry = StoreRegistry(
      userDirectory: folder.path, globalDirectory: folder.path,
      recovery: .moveAside { Issue.record("moved away: \($0)") }, key: { nil })
    defer { registry.close() }
    let error = failure { _ = try registry.store() }
    #expect(error?.code == .keyRequired)
    #expect(error?.message.contains(store + "/store.sqlite") == true)
    #expect(error?.message.contains("--traits Encryption") == !StoreKey.isSupported)
    #expect(try FileSystem.entries(of: store).sorted() == ["name", "store.sqlite"])
    #expect(FileSystem.read(store + "/store.sqlite") == Self.random)
  }

  @Test(
    arguments: [
      ([], 0, .empty), (Array("SQLite format 3\0".utf8), 100, .plain), (Array(repeating: 0x41, count: 4096), 5000, .unknown),
      (Array(random.prefix(4096)), 8192, .encrypted), (Array(random.prefix(100)), 100, .unknown),
      (Array(random.prefix(2048)) + Array(repeating: 0, count: 2048), 8192, .unknown),
    ] as [([UInt8], Int64, FileKind)]) func fileKind_isReadOffItsStart(_ start: [UInt8], _ size: Int64, _ kind: FileKind)
  {
    #expect(FileKind(start: start, size: size) == kind)
  }

  @Test(.enabled(if: !StoreKey.isSupported, "needs a build without the trait Encryption"))
  func key_inABuildWithoutEncryption_isRefused() throws {
    let error = failure { _ = try Array("hunter2".utf8).withUnsafeBytes { try StoreKey($0) } }
    #expect(error?.code == .encryptionUnavailable)
    #expect(error?.message.contains("--traits Encryption") == true)
    #expect(error?.message.contains("hunter2") == false)
    #expect(code { _ = try KeyChange(path: "/nowhere", from: nil, to: nil).run() } == .encryptionUnavailable)
  }

  @Test func registry_whoseKeyIsNotFound_makesNothing() throws {
    struct NoKey: Error {}
    let folder = try TemporaryFolder()
    let registry = StoreRegistry(
      userDirectory: folder.path + "/user", globalDirectory: folder.path + "/global", key: { throw NoKey() })
    defer { registry.close() }
    #expect(throws: NoKey.self) { try registry.store() }
    #expect(try FileSystem.entries(of: folder.path) == [])
  }
}
