import Database
import Foundation
import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Tests that names are read from a store's file without changing it.
@Suite(.enabled(if: TestEngine.isSQLite, "reads SQLite's files"))
struct StoredNamesTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/store.sqlite" }

  init() throws { folder = try TemporaryFolder() }

  /// Returns an open store with soups and entries that have the given values at the path `name`.
  private func store(_ names: [JSONValue] = [], key: StoreKey? = nil) throws -> Store {
    let store = try Store(name: "x", isGlobal: false, path: path, key: key)
    try store.registerSoup("notes", indexSpecs: [.json1("name")])
    try store.registerSoup("Éclairs & co", indexSpecs: [.string("a")])
    for name in names { try store.upsert(JSONValue.array([["name": name]]).text, into: "notes") }
    return store
  }

  private func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }

  @Test func names_ofAnOpenStore_areRead() throws {
    let store = try store(["b", "a", 7, .null])
    defer { store.close() }
    let names = try #require(StoredNames(path: path))
    #expect(names.soups() == ["notes", "Éclairs & co"])
    #expect(names.texts(of: "name", in: "notes") == ["b", "a"])
    #expect(names.texts(of: "other", in: "notes") == [] && names.texts(of: "name", in: "missing") == [])
  }

  @Test func names_ofAClosedStore_areReadWithoutSideFiles() throws {
    try store(["a"]).close()
    let before = try Data(contentsOf: URL(fileURLWithPath: path)), filesBefore = try files()
    #expect(StoredNames(path: path)?.texts(of: "name", in: "notes") == ["a"])
    #expect(try files() == filesBefore)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  /// Another process holds the write lock.
  @Test func names_duringAWrite_areThoseBefore() throws {
    let store = try store(["a"])
    defer { store.close() }
    let writer = try Connection(path: path, mode: .readWrite)
    defer { writer.close() }
    try writer.execute("BEGIN IMMEDIATE; DELETE FROM soup_attrs")
    #expect(StoredNames(path: path)?.soups() == ["notes", "Éclairs & co"])
    try writer.execute("ROLLBACK")
  }

  @Test func file_thatIsNoStore_hasNoNames() throws {
    #expect(StoredNames(path: path) == nil)
    #expect(try files() == [])
    try Data(repeating: UInt8(ascii: "A"), count: 5000).write(to: URL(fileURLWithPath: path))
    #expect(StoredNames(path: path)?.soups() ?? [] == [])
    #expect(try files() == ["store.sqlite"])
  }

  @Test(.enabled(if: StoreKey.isSupported, "needs the trait Encryption"))
  func encryptedStore_hasNoNames() throws {
    try store(["a"], key: TestKey.make("x'\(String(repeating: "07", count: 32))'")).close()
    #expect(StoredNames(path: path)?.soups() ?? [] == [])
  }
}
