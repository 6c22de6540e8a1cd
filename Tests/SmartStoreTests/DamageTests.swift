import Database
import Foundation
import Support
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// Files that are damaged, locked, full or read-only.
@Suite(.enabled(if: TestEngine.isSQLite, "damages SQLite's files"), .ownThreads)
struct DamageTests {
  /// A registry that records what it moved aside.
  private final class Recovering: Sendable {
    let folder: TemporaryFolder
    let reports = Mutex<[String]>([])

    init() throws { folder = try TemporaryFolder() }

    var store: String { folder.path + "/user/defaultStore" }

    func registry() -> StoreRegistry {
      StoreRegistry(
        userDirectory: folder.path + "/user", globalDirectory: folder.path + "/global",
        recovery: .moveAside { report in self.reports.withLock { $0.append(report) } })
    }
  }

  @Test func open_damagedAndNoWordAboutIt_namesFileAndOption() throws {
    let place = try Recovering()
    try FileSystem.makeDirectory(place.store)
    try FileSystem.write(Array(repeating: 0x41, count: 5000), to: place.store + "/store.sqlite")
    let registry = StoreRegistry(userDirectory: place.folder.path + "/user", globalDirectory: place.folder.path + "/global")
    defer { registry.close() }
    let error = failure { _ = try registry.store() }
    #expect(error?.code == .notADatabase)
    #expect(error?.message.contains(place.store + "/store.sqlite") == true)
    #expect(error?.message.contains("recover = \"moveAside\"") == true)
    #expect(FileSystem.read(place.store + "/store.sqlite") == Array(repeating: 0x41, count: 5000))
  }

  @Test func open_damagedWithMoveAside_keepsTheFilesBesideAnEmptyStore() throws {
    let place = try Recovering()
    for n in 1...2 {
      try FileSystem.makeDirectory(place.store)
      try FileSystem.write(Array(repeating: UInt8(n), count: 5000), to: place.store + "/store.sqlite")
      let registry = place.registry()
      try registry.store().registerSoup("s", indexSpecs: [.string("a")])
      registry.close()
      let aside = place.store + "/store.sqlite.damaged-\(n)"
      #expect(FileSystem.read(aside) == Array(repeating: UInt8(n), count: 5000))
      #expect(place.reports.withLock { $0.count } == n)
      #expect(place.reports.withLock { $0.last?.contains(aside) } == true)
    }
  }

  /// The result of a full disk, an interrupted copy or `: > store.sqlite`.
  @Test(arguments: [false, true]) func open_emptiedFile_isDamageAndNoNewStore(_ hasLog: Bool) throws {
    let place = try Recovering(), path = place.store + "/store.sqlite"
    var registry = place.registry()
    try registry.store().registerSoup("s", indexSpecs: [.string("a")])
    registry.close()
    try FileSystem.write([], to: path)
    if hasLog { try FileSystem.write(Array("log".utf8), to: path + "-wal") }
    let refusing = StoreRegistry(userDirectory: place.folder.path + "/user", globalDirectory: place.folder.path + "/global")
    let error = failure { _ = try refusing.store() }
    refusing.close()
    #expect(error?.code == .notADatabase)
    #expect(error?.message.contains("\(path) is empty") == true)
    #expect(FileSystem.read(path) == [])
    #expect(FileSystem.read(path + "-wal") == (hasLog ? Array("log".utf8) : nil))
    registry = place.registry()
    defer { registry.close() }
    #expect(try registry.store().soupNames() == [])
    #expect(FileSystem.read(path + ".damaged-1") == [])
    #expect(FileSystem.read(path + ".damaged-1-wal") == (hasLog ? Array("log".utf8) : nil))
    #expect(place.reports.withLock { $0.count } == 1)
  }

  /// "Nothing to do" would hide that the store has lost its contents.
  @Test func changeKey_ofAnEmptiedFile_saysWhatOpeningItSays() throws {
    let place = try Recovering(), path = place.store + "/store.sqlite"
    try FileSystem.makeDirectory(place.store)
    try FileSystem.write([], to: path)
    let error = failure { _ = try KeyChange(path: path, from: nil, to: nil).openSource() }
    #expect(error?.code == .notADatabase)
    #expect(error?.message.contains("\(path) is empty") == true)
    #expect(FileSystem.read(path) == [])
  }

  @Test func open_logWithoutItsFile_isDamage() throws {
    let place = try Recovering(), path = place.store + "/store.sqlite"
    try FileSystem.makeDirectory(place.store)
    try FileSystem.write(Array("log".utf8), to: path + "-wal")
    #expect(code { _ = try Store(name: "x", isGlobal: false, path: path) } == .notADatabase)
    #expect(try FileSystem.entries(of: place.store) == ["store.sqlite-wal"])
    let registry = place.registry()
    defer { registry.close() }
    #expect(try registry.store().soupNames() == [])
    #expect(FileSystem.read(path + ".damaged-1-wal") == Array("log".utf8))
  }

  /// A process that is killed while it creates a store leaves an unfinished file, and the next
  /// process creates the store.
  @Test func open_creationThatWasInterrupted_makesTheStoreAndLeavesNothing() throws {
    let folder = try TemporaryFolder(), path = folder.path + "/store.sqlite"
    for left in ["store.sqlite.new-AbC123", "store.sqlite.new-AbC123-wal", "store.sqlite.new-xyzxyz"] {
      try FileSystem.write(Array("half".utf8), to: folder.path + "/" + left)
    }
    let made = try UnfinishedFile(of: path)
    let store = try Store(name: "x", isGlobal: false, path: path)
    try store.registerSoup("s", indexSpecs: [.string("a")])
    store.close()
    let unfinished = String(made.path.split(separator: "/").last ?? "")
    let left = try FileSystem.entries(of: folder.path).sorted()
    #expect(left == ["store.sqlite", unfinished], "one that is at work is left alone")
  }

  @Test func moveAside_sideFiles_goAlong() throws {
    let folder = try TemporaryFolder(), path = folder.path + "/f"
    for suffix in ["", "-wal", ".damaged-1"] { try FileSystem.write(Array(suffix.utf8), to: path + suffix) }
    #expect(try FileSystem.moveAside(path, sideFiles: ["-wal", "-shm"]) == path + ".damaged-2")
    #expect(try FileSystem.entries(of: folder.path).sorted() == ["f.damaged-1", "f.damaged-2", "f.damaged-2-wal"])
    #expect(FileSystem.read(path + ".damaged-2-wal") == Array("-wal".utf8))
  }

  @Test func open_goodOrNewerStoreWithMoveAside_isLeftAlone() throws {
    let place = try Recovering()
    var registry = place.registry()
    try registry.store().registerSoup("s", indexSpecs: [.string("a")])
    registry.close()
    registry = place.registry()
    #expect(try registry.store().soupNames() == ["s"])
    registry.close()
    let connection = try Connection(store: place.store + "/store.sqlite", mode: .readWrite)
    try connection.execute("PRAGMA user_version = 99")
    connection.close()
    registry = place.registry()
    #expect(code { _ = try registry.store() } == .newerSchema)
    #expect(place.reports.withLock { $0 } == [])
    #expect(try FileSystem.entries(of: place.store).allSatisfy { !$0.contains("damaged") })
  }

  @Test func open_damagedByTwoAtOnce_isMovedOnce() throws {
    let place = try Recovering()
    try FileSystem.makeDirectory(place.store)
    try FileSystem.write(Array(repeating: 0x41, count: 5000), to: place.store + "/store.sqlite")
    let codes = Mutex<[StoreError.Code?]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { i in
      let registry = place.registry()
      let code = code { try registry.store().registerSoup("s\(i)", indexSpecs: [.string("a")]) }
      codes.withLock { $0.append(code) }
      registry.close()
    }
    #expect(codes.withLock { $0 } == [nil, nil, nil, nil])
    #expect(place.reports.withLock { $0.count } == 1)
    let registry = place.registry()
    defer { registry.close() }
    #expect(try registry.store().soupNames() == ["s0", "s1", "s2", "s3"])
  }

  /// A file that cannot be opened, because another process moves it aside at this moment, is opened
  /// again after that process is done.
  @Test func open_whileAnotherMovesTheFile_waitsAndOpensTheNewStore() throws {
    let place = try Recovering(), lock = place.store + "/recovery.lock"
    try FileSystem.makeDirectory(place.store + "/store.sqlite")
    let held = try FileSystem.lock(lock)
    let opened = DispatchGroup()
    DispatchQueue.global().async(group: opened) {
      let registry = place.registry()
      defer { registry.close() }
      #expect(throws: Never.self) { try registry.store().registerSoup("s", indexSpecs: [.string("a")]) }
    }
    let descriptors = {
      try FileSystem.entries(of: "/proc/self/fd").count {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == lock
      }
    }
    // Nothing signals that the other thread waits for the lock.
    while try descriptors() < 2 { usleep(2000) }
    try FileSystem.removeTree(place.store + "/store.sqlite")
    held.release()
    opened.wait()
    let registry = place.registry()
    defer { registry.close() }
    #expect(try registry.store().soupNames() == ["s"])
    #expect(place.reports.withLock { $0 } == [])
  }

  @Test func read_pageDamagedLater_isNotADatabaseAndNamesTheFile() throws {
    let store = try TemporaryStore(soup: "s", [.string("k")])
    let text = String(repeating: "x", count: 2000)
    try store.store.upsert("[" + (0..<200).map { #"{"k":"\#($0)\#(text)"}"# }.joined(separator: ",") + "]", into: "s")
    store.store.close()
    // Damage every page but the first two dozen: these hold the schema and the tables of the store,
    // and opening the file would detect it.
    var bytes = try #require(FileSystem.read(store.path))
    for i in (Tuning.pageSize * 24)..<bytes.count { bytes[i] = 0xff }
    try FileSystem.write(bytes, to: store.path)
    try store.reopen()
    let error = failure { _ = try store.store.rows("SELECT count(*), sum(length({s:_soup})) FROM {s}") }
    #expect(error?.code == .notADatabase)
    #expect(error?.message.contains(store.path) == true)
    #expect(error?.isRetryable == false)
  }

  @Test func write_lockedByAnother_isRetryableAfterTheTimeout() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")])
    let store = try Store(name: "x", isGlobal: false, path: temporary.path, busyTimeoutMs: 20)
    defer { store.close() }
    let other = try Connection(store: temporary.path, mode: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    let error = failure { try store.upsert("[{}]", into: "s") }
    #expect(error?.code == .sqlite)
    #expect(error?.isRetryable == true)
    #expect(error?.message.contains(temporary.path) == true)
    #expect(try store.soupNames() == ["s"], "reading goes on")
    try other.execute("ROLLBACK")
    try store.upsert("[{}]", into: "s")
    #expect(try store.count(of: "s") == 1)
  }

  @Test func open_lockedByAnother_isRetryable() throws {
    let folder = try TemporaryFolder(), path = folder.path + "/store.sqlite"
    try Store(name: "x", isGlobal: false, path: path, busyTimeoutMs: 20).close()
    let other = try Connection(store: path, mode: .readWrite)
    try other.execute("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
    let error = failure { _ = try Store(name: "x", isGlobal: false, path: path, busyTimeoutMs: 20) }
    #expect(error?.code == .cannotOpenStore)
    #expect(error?.isRetryable == true)
    try other.execute("ROLLBACK")
    let store = try Store(name: "x", isGlobal: false, path: path, busyTimeoutMs: 20)
    store.close()
  }

  @Test func write_fileAsLargeAsItMayGet_writesNothingAndGoesOn() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    try store.upsert(#"[{"k":"before"}]"#, into: "s")
    func limit(_ pages: String) throws {
      try store.writeBlocking(.synced) { try $0.connection.execute("PRAGMA max_page_count = \(pages)") }
    }
    try limit("1")  // SQLite raises it to the current size
    let large = "[" + (0..<100).map { #"{"k":"\#($0)\#(String(repeating: "x", count: 5000))"}"# }.joined(separator: ",") + "]"
    let error = failure { try store.upsert(large, into: "s") }
    #expect(error?.code == .sqlite)
    #expect(error.map { ($0.sqliteCode ?? 0) & 0xff } == 13)
    #expect(try store.count(of: "s") == 1)
    try limit("1000000")
    try store.upsert(large, into: "s")
    #expect(try store.count(of: "s") == 101)
  }

  @Test(.enabled(if: MemoryDisk.isPermitted, "mounting needs root")) func write_fullDisk_writesNothingAndGoesOn() throws {
    let disk = try #require(MemoryDisk(megabytes: 1))
    defer { disk.remove() }
    let store = try Store(name: "x", isGlobal: false, path: disk.path + "/a/store.sqlite")
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: [.string("k")])
    try store.upsert(#"[{"k":"before"}]"#, into: "s")
    let large = "[" + (0..<300).map { #"{"k":"\#($0)\#(String(repeating: "x", count: 5000))"}"# }.joined(separator: ",") + "]"
    let error = failure { try store.upsert(large, into: "s") }
    #expect(error?.code == .sqlite)
    #expect(
      error?.message.contains("full") == true && error?.message.contains(store.path) == true, "\(String(describing: error))")
    #expect(try store.count(of: "s") == 1)
    try store.upsert(#"[{"k":"after"}]"#, into: "s")
    #expect(try store.count(of: "s") == 2)
  }

  @Test(.enabled(if: MemoryDisk.isPermitted, "mounting needs root")) func open_readOnlyFolder_saysSo() throws {
    let disk = try #require(MemoryDisk(megabytes: 1))
    defer { disk.remove() }
    try FileSystem.makeDirectory(disk.path + "/user")
    #expect(disk.makeReadOnly())
    let registry = StoreRegistry(userDirectory: disk.path + "/user", globalDirectory: disk.path + "/global")
    defer { registry.close() }
    let error = failure { _ = try registry.store() }
    #expect(error?.code == .cannotOpenStore)
    #expect(error?.message.contains(disk.path + "/user/defaultStore") == true)
  }
}

/// A small file system in memory, for tests of full and read-only disks.
private struct MemoryDisk {
  let path: String
  private let folder: TemporaryFolder

  static let isPermitted: Bool = {
    guard let disk = MemoryDisk(megabytes: 1) else { return false }
    disk.remove()
    return true
  }()

  init?(megabytes: Int) {
    guard let folder = try? TemporaryFolder() else { return nil }
    self.folder = folder
    path = folder.path
    guard MemoryDisk.run("/usr/bin/mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "none", path]) else { return nil }
  }

  func makeReadOnly() -> Bool { MemoryDisk.run("/usr/bin/mount", ["-o", "remount,ro", path]) }

  func remove() { _ = MemoryDisk.run("/usr/bin/umount", ["-l", path]) }

  private static func run(_ program: String, _ arguments: [String]) -> Bool {
    (try? ChildProcess.run([program] + arguments))?.status == 0
  }
}
