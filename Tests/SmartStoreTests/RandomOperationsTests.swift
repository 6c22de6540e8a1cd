import Foundation
import JSON
import TestSupport
import Testing

@testable import SmartStore

extension SoupOperation {
  /// Applies the operation to the soup `s` of a store.
  func run(on store: Store) throws -> SoupOutcome {
    do {
      switch self {
      case .upsert(let entries, let path):
        return .ids(try store.ids(store.upsert(JSONValue.array(entries.map { .object($0) }).text, into: "s", by: path)))
      case .remove(let ids): try store.remove(ids, from: "s")
      case .removeWhere: try store.removeEntries(matching: try QuerySpec(querySpec), from: "s")
      case .clear: try store.clearSoup("s")
      case .alter(let specs, let reIndexData): try store.alterSoup("s", indexSpecs: specs, reIndexData: reIndexData)
      case .reIndex(let paths): try store.reIndexSoup("s", paths: paths)
      }
      return .done
    } catch let error as StoreError {
      return .failed(error.code.rawValue)
    }
  }

  /// The query of `removeWhere` in the form that scripts use.
  var querySpec: JSONObject {
    guard case .removeWhere(let path, let key, let pageSize) = self else { return [:] }
    return [
      "queryType": "exact", "indexPath": .string(path), "matchKey": key, "orderPath": "_soupEntryId",
      "pageSize": .integer(Int64(pageSize)),
    ]
  }
}

/// A model and the store that it is compared with.
struct ModelComparison {
  var model: SoupModel
  /// How to repeat the operations.
  let again: String

  /// Compares sums over the rows: fast, and enough to detect extra, missing or unwritten rows.
  func compareSums(_ store: Store, _ place: String) throws {
    let sums = try store.rows("SELECT count(*), ifnull(sum(id), 0), ifnull(sum(version), 0), ifnull(max(id), 0) FROM {s}")
    let rows = model.rows
    let wanted: JSONValue = [
      [
        .integer(Int64(rows.count)), .integer(rows.reduce(0) { $0 + $1.id }), .integer(rows.reduce(0) { $0 + $1.version }),
        .integer(rows.last?.id ?? 0),
      ]
    ]
    try #require(try JSONValue(parsing: sums) == wanted, "\(again), \(place)")
  }

  /// Compares every row: its version, its index values, its whole text; also the specs, and the
  /// results of two queries.
  func compareAll(_ store: Store, _ place: String) throws {
    let label: Comment = "\(again), \(place)", paths = ["k", "n", "tags.t"]
    try #require(try store.indexSpecs(ofSoup: "s") == model.specs, label)
    let fields = (["_soupEntryId"] + paths).map { "{s:\($0)}" }.joined(separator: ", ")
    let rows = try JSONValue(parsing: store.rows("SELECT \(fields), version FROM {s} ORDER BY id", pageSize: 10_000))
    let wanted = model.rows.map { row -> JSONValue in
      .array([.integer(row.id)] + paths.map { model.value(of: row, $0) } + [.integer(row.version)])
    }
    try #require(rows == .array(wanted), label)
    let entries = try JSONValue(parsing: store.retrieve(model.rows.map(\.id), from: "s")).arrayValue ?? []
    let bare = entries.map { entry -> JSONValue in
      var members = entry.objectValue ?? [:]
      (members["_soupEntryId"], members["_soupLastModifiedDate"]) = (nil, nil)
      return .object(members)
    }
    try #require(bare == model.rows.map { .object($0.entry) }, label)
    try compareQueries(store, label)
    try #require(try store.unfinishedAlterations() == "[[0]]", label)
  }

  private func compareQueries(_ store: Store, _ label: Comment) throws {
    for row in model.rows.prefix(3) {
      for path in ["k", "n", "tags.t"] {
        let key = model.value(of: row, path)
        if key.isNull { continue }
        let spec: JSONObject = [
          "queryType": "exact", "indexPath": .string(path), "matchKey": key, "orderPath": "_soupEntryId", "pageSize": 1000,
          "selectPaths": ["_soupEntryId"],
        ]
        let found = try JSONValue(parsing: store.query(try QuerySpec(spec), soup: "s"))
        let wanted = model.rows.filter { model.value(of: $0, path) == key }.map { JSONValue.array([.integer($0.id)]) }
        try #require(found == .array(wanted), label)
      }
    }
  }
}

struct RandomOperationsTests {
  static let specs: [IndexSpec] = [.string("k"), .integer("n"), .string("tags.t")]
  /// The number of operations: `TUREEN_STEPS`, or 2,500. An operation takes several round trips to
  /// PostgreSQL.
  private static let steps = RandomSeed.count("STEPS", usual: TestEngine.isSQLite ? 2_500 : 250)
  private static let again = RandomSeed.again(Self.self, ["STEPS": steps])

  @Test(.enabled(if: TestEngine.isSQLite, "copies SQLite's files as a crash leaves them"))
  func operations_thousandsAtRandom_equalTheModel() async throws {
    try await onOwnThreads { try RandomSeed.walkBlocking(Self.again) { try Self.walkAlone() } }
  }

  /// This process and another one take turns of random length on one file; the other one is killed
  /// now and then.
  @Test func operations_twoProcessesInTurns_equalTheModel() async throws {
    try await onOwnThreads { try RandomSeed.walkBlocking(Self.again) { try Self.walkInTurns() } }
  }

  private static func walkAlone() throws {
    let folder = try TemporaryFolder()
    var store = try Store(name: "test", isGlobal: false, path: folder.path + "/0/store.sqlite"), generations = 0
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: specs)
    var comparison = ModelComparison(model: SoupModel(specs: specs), again: again)
    var random = SeededGenerator(state: RandomSeed.value)
    for step in 1...steps {
      let place = "step \(step)"
      switch random.below(400) {
      case 0..<3:
        store.close()
        store = try Store(name: "test", isGlobal: false, path: store.path)
      case 3..<5:
        generations += 1
        store = try crash(store, into: "\(folder.path)/\(generations)", isWriting: random.below(2) == 0)
      default:
        let operation = random.operation(on: comparison.model)
        let outcome = try operation.run(on: store), wanted = comparison.model.apply(operation)
        try #require(outcome == wanted, "\(again), \(place): \(operation)")
      }
      try comparison.compareSums(store, place)
      if step.isMultiple(of: 50) { try comparison.compareAll(store, place) }
    }
  }

  private static func walkInTurns() throws {
    let home = try TemporaryFolder()
    let registry = try TestEngine.registry(in: home.path)
    defer { registry.close() }
    let store = try registry.store(isGlobal: true)
    try store.registerSoup("s", indexSpecs: specs)
    var comparison = ModelComparison(model: SoupModel(specs: specs), again: again)
    var random = SeededGenerator(state: RandomSeed.value &+ 1)
    var other = try SecondProcess(home: home.path), isOthersTurn = false
    for step in 1...steps {
      if random.below(4) == 0 { isOthersTurn.toggle() }
      if random.below(250) == 0 {
        other.kill()
        other = try SecondProcess(home: home.path)
      }
      let place = "step \(step) of the \(isOthersTurn ? "other" : "first") process"
      let operation = random.operation(on: comparison.model)
      let outcome = isOthersTurn ? try other.run(operation) : try operation.run(on: store)
      let wanted = comparison.model.apply(operation)
      try #require(outcome == wanted, "\(again), \(place): \(operation)")
      try comparison.compareSums(store, place)
      if step.isMultiple(of: 50) { try comparison.compareAll(store, place) }
    }
  }

  /// Copies what a dying process leaves: the files in their current state, without a checkpoint. A
  /// transaction in progress is not in the store that opens from them.
  private static func crash(_ store: Store, into folder: String, isWriting: Bool) throws -> Store {
    struct Died: Error {}
    let old = URL(fileURLWithPath: store.path).deletingLastPathComponent()
    if isWriting {
      #expect(throws: Died.self) {
        try store.writeBlocking(.synced) { transaction in
          try transaction.clearSoup("s")
          _ = try transaction.create(["k": "never"], in: "s")
          try FileManager.default.copyItem(at: old, to: URL(fileURLWithPath: folder))
          throw Died()
        }
      }
    } else {
      try FileManager.default.copyItem(at: old, to: URL(fileURLWithPath: folder))
    }
    store.close()
    try FileManager.default.removeItem(at: old)
    return try Store(name: "test", isGlobal: false, path: folder + "/store.sqlite")
  }
}
