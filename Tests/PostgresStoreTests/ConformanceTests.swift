import JSON
import PostgresStore
import SmartStore
import Support
import TestSupport
import Testing

/// The same random operations on a store in SQLite and one in PostgreSQL: every result, error and observed change must be
/// the same.
@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct ConformanceTests {
  @Test(arguments: [1, 2, 3, 20_261_127] as [UInt64]) func operations_atRandom_giveTheSameAsSQLite(seed: UInt64) throws {
    let stores = try TwoStores()
    defer { stores.close() }
    var operations = RandomCalls(seed: seed)
    for soup in RandomCalls.soups { stores.compare("register \(soup)") { try $0.register(soup) } }
    try stores.observe(RandomCalls.soups)
    for step in 0..<250 {
      let operation = operations.next()
      guard stores.compare("step \(step): \(operation.name)", operation.run) else { return }
      guard stores.compareChanges("step \(step): \(operation.name)") else { return }
      if step % 10 == 0 {
        for read in operations.reads() where !stores.compare("step \(step): \(read.name)", read.run) { return }
      }
    }
  }

  @Test(arguments: [11, 12] as [UInt64]) func queries_atRandom_findTheSameAsSQLite(seed: UInt64) throws {
    let stores = try TwoStores()
    defer { stores.close() }
    var operations = RandomCalls(seed: seed)
    for soup in RandomCalls.soups { stores.compare("register") { try $0.register(soup) } }
    for _ in 0..<12 {
      let page = operations.entries(20)
      for soup in RandomCalls.soups {
        stores.compare("upsert \(page)") { try $0.text($0.store.upsert(Array(page.utf8), into: soup)) }
      }
    }
    for step in 0..<300 {
      let query = operations.query()
      guard stores.compare("query \(step): \(query.name)", query.run) else { return }
    }
  }

  /// What smart SQL means to SQLite it means to PostgreSQL, or it is refused with a code of its own.
  @Test func smartSql_anyStatement_meansTheSameOrIsRefused() throws {
    let stores = try TwoStores()
    defer { stores.close() }
    var operations = RandomCalls(seed: 5)
    stores.compare("register") { try $0.register("a") }
    stores.compare("register") { try $0.register("b") }
    for _ in 0..<5 {
      let page = operations.entries(20)
      for soup in ["a", "b"] { stores.compare("upsert") { try $0.text($0.store.upsert(Array(page.utf8), into: soup)) } }
    }
    var refused: [String] = []
    for sql in SmartSqlSamples.all {
      let here = TwoStores.result { try stores.sqlite.rows(sql) }, there = TwoStores.result { try stores.postgres.rows(sql) }
      if there == "error notOnThisEngine" {
        refused.append(sql)
      } else {
        #expect(here == there, "\(sql)")
      }
    }
    #expect(refused == SmartSqlSamples.refused)
  }
}

/// A store on each engine.
final class TwoStores {
  let sqlite: Store, postgres: Store
  private let folder: TemporaryFolder
  private var observers: [ChangeObserver] = []

  init() throws {
    folder = try TemporaryFolder()
    sqlite = try Store(name: "test", isGlobal: false, path: folder.path + "/store.sqlite")
    postgres = Store(name: "test", isGlobal: false, engine: try TestEngine.postgres(folder.path + "/store"))
  }

  func close() {
    sqlite.close()
    postgres.close()
  }

  static func result(_ body: () throws -> String) -> String {
    do { return try body() } catch { return "error \((error as? StoreError)?.code.rawValue ?? "\(error)")" }
  }

  /// - Returns: False if the results differ, which is an issue.
  @discardableResult
  func compare(_ name: String, _ body: (Caller) throws -> String) -> Bool {
    let here = TwoStores.result { try body(Caller(store: sqlite)) },
      there = TwoStores.result { try body(Caller(store: postgres)) }
    #expect(here == there, "\(name)")
    return here == there
  }

  func observe(_ soups: [String]) throws {
    observers = try [sqlite, postgres].map { try $0.observe(soups: soups, onNews: { _ in }) }
  }

  func compareChanges(_ name: String) -> Bool {
    let taken = observers.map { $0.take().sorted { $0.soupName < $1.soupName } }
    #expect(taken[0] == taken[1], "\(name)")
    return taken[0] == taken[1]
  }
}

/// A store, with results as texts that do not depend on the time.
struct Caller {
  let store: Store

  func register(_ soup: String) throws -> String {
    try store.registerSoup(soup, indexSpecs: RandomCalls.specs)
    return "\(try store.indexSpecs(ofSoup: soup)) \(try store.soupNames())"
  }

  /// JSON text with all time stamps of the store replaced.
  func text(_ json: [UInt8]) -> String {
    let parts = String(decoding: json, as: UTF8.self).components(separatedBy: "\"_soupLastModifiedDate\":")
    return parts.first.map { first in
      first + parts.dropFirst().map { "\"_soupLastModifiedDate\":T" + $0.drop { $0.isNumber } }.joined()
    } ?? ""
  }

  func write(_ body: (StoreTransaction) throws -> String) throws -> String { try store.writeBlocking(.synced, body) }
  func read(_ body: (StoreSnapshot) throws -> String) throws -> String { try store.readBlocking(body) }
}

extension String {
  fileprivate func components(separatedBy separator: String) -> [String] {
    split(separator: separator, omittingEmptySubsequences: false).map(String.init)
  }
}
