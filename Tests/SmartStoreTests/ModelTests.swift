import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Random operations on a store and on a simple model of one, compared often. A failure names the
/// seed and the step.
struct ModelTests {
  private struct Row: Equatable {
    var id: Int64
    var key: String?
    var n: Int64?
    var isDirty = false
    var version: Int64 = 1
    var hasBase = false

    /// The row as the comparison query returns it.
    var json: JSONValue {
      [
        .integer(id), key.map { .string($0) } ?? .null, n.map { .integer($0) } ?? .null, .integer(isDirty ? 1 : 0),
        .integer(version),
        .integer(hasBase ? 1 : 0), key.map { .string($0) } ?? .null,
      ]
    }

    mutating func write(key: String?, n: Int64?, isDirty: Bool) {
      if isDirty, !self.isDirty { hasBase = true }
      if !isDirty { hasBase = false }
      (self.key, self.n, self.isDirty) = (key, n, isDirty)
      version += 1
    }
  }

  private struct Model {
    var rows: [Row] = []
    var lastId: Int64 = 0

    mutating func add(key: String?, n: Int64?, isDirty: Bool) {
      lastId += 1
      rows.append(Row(id: lastId, key: key, n: n, isDirty: isDirty))
    }

    func matches(_ key: String) -> [Int] { rows.indices.filter { rows[$0].key == key } }
  }

  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state ^ state >> 33) &* 0xff51_afd7_ed55_8ccd
    }

    /// Few keys, so that they collide; some need escapes.
    mutating func key() -> String { ["a", "b\n", "é", "d/\"", "e", "f", "g", "h"].randomElement(using: &self)! }
    mutating func number() -> Int64? { Bool.random(using: &self) ? Int64.random(in: -3...3, using: &self) : nil }
    mutating func flag() -> Bool { Int.random(in: 0..<3, using: &self) == 0 }
  }

  @Test(arguments: [1, 42, 20_261_121] as [UInt64])
  func operations_atRandom_matchAModel(_ seed: UInt64) throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k"), .integer("n"), .string("__local__"), .json1("j")])
    var model = Model(), random = Generator(state: seed)
    for step in 0..<1200 {
      try change(temporary, &model, &random)
      if step % 10 == 0 || step == 1199 { try compare(temporary.store, model, "seed \(seed), step \(step)") }
    }
  }

  private func compare(_ store: Store, _ model: Model, _ place: String) throws {
    let sql = """
      SELECT {s:_soupEntryId}, {s:k}, {s:n}, CASE {s:__local__} WHEN 'true' THEN 1 ELSE 0 END, version,
      EXISTS (SELECT 1 FROM soup_bases WHERE entry = {s:_soupEntryId}), {s:j} FROM {s} ORDER BY 1
      """
    let rows = try JSONValue(parsing: store.rows(sql)), expected = JSONValue.array(model.rows.map(\.json))
    #expect(rows == expected, "\(place)")
    let text = try JSONValue(parsing: store.retrieve(model.rows.map(\.id), from: "s"))
    let stored = (text.arrayValue ?? []).map { entry -> JSONValue in
      [entry["_soupEntryId"] ?? "?", entry["k"] ?? .null, entry["n"] ?? .null]
    }
    #expect(stored == model.rows.map { [$0.json.arrayValue![0], $0.json.arrayValue![1], $0.json.arrayValue![2]] }, "\(place)")
  }

  private func text(_ id: Int64?, _ key: String?, _ n: Int64?, _ isDirty: Bool) -> String {
    var entry: JSONObject = ["__local__": .bool(isDirty)]
    if let id { entry["_soupEntryId"] = .integer(id) }
    if let key { (entry["k"], entry["j"]) = (.string(key), .string(key)) }
    if let n { entry["n"] = .integer(n) }
    return entry.text
  }

  private func change(_ temporary: TemporaryStore, _ model: inout Model, _ random: inout Generator) throws {
    let store = temporary.store, key = random.key(), n = random.number(), isDirty = random.flag()
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<15:
      let found = model.rows.indices.randomElement(using: &random)
      let update = random.flag() ? found : nil
      try store.upsert("[\(text(update.map { model.rows[$0].id }, key, n, isDirty))]", into: "s")
      if let update {
        model.rows[update].write(key: key, n: n, isDirty: isDirty)
      } else {
        model.add(key: key, n: n, isDirty: isDirty)
      }
    case 15..<45: try upsertByKey(store, &model, key, n, isDirty)
    case 45..<60: try patch(store, &model, n, isDirty, &random)
    case 60..<75: try sync(store, &model, &random)
    case 75..<93:
      let doomed = model.rows.map(\.id).filter { _ in random.flag() && random.flag() } + [999_999]
      try store.remove(doomed, from: "s")
      model.rows.removeAll { doomed.contains($0.id) }
    case 93..<95:
      try store.clearSoup("s")
      model.rows = []
    case 95..<97: try temporary.reopen()
    default:
      #expect(
        code { try store.upsert("[\(text(nil, "lost", n, isDirty)),\(text(999_999, key, n, isDirty))]", into: "s") }
          == .noSuchEntry)
    }
  }

  private func upsertByKey(_ store: Store, _ model: inout Model, _ key: String, _ n: Int64?, _ isDirty: Bool) throws {
    let matches = model.matches(key)
    if matches.count > 1 {
      #expect(code { try store.upsert("[\(text(nil, key, n, isDirty))]", into: "s", by: "k") } == .ambiguousExternalId)
      return
    }
    try store.upsert("[\(text(nil, key, n, isDirty))]", into: "s", by: matches.isEmpty || n == nil ? "k" : "j")
    if let match = matches.first {
      model.rows[match].write(key: key, n: n, isDirty: isDirty)
    } else {
      model.add(key: key, n: n, isDirty: isDirty)
    }
  }

  private func patch(_ store: Store, _ model: inout Model, _ n: Int64?, _ isDirty: Bool, _ random: inout Generator) throws {
    guard let i = model.rows.indices.randomElement(using: &random) else { return }
    var members: JSONObject = ["__local__": .bool(isDirty)]
    if let n { members["n"] = .integer(n) }
    let id = model.rows[i].id, removed = n == nil ? ["n"] : [], set = members
    #expect(try store.writeBlocking(.pulled) { try $0.patch(id, in: "s", setting: set, removing: removed) })
    model.rows[i].write(key: model.rows[i].key, n: n, isDirty: isDirty)
  }

  /// Stores a page of clean records as a server sends them, without keys that several rows share.
  private func sync(_ store: Store, _ model: inout Model, _ random: inout Generator) throws {
    let keepDirty = Bool.random(using: &random)
    let keys = Set((0..<4).map { _ in random.key() }).sorted().filter { model.matches($0).count < 2 }
    var records: [String] = []
    for key in keys {
      let n = random.number()
      records.append(
        JSONObject([("k", .string(key)), ("j", .string(key)), ("__local__", true)] + (n.map { [("n", .integer($0))] } ?? [])).text
      )
      guard let i = model.matches(key).first else {
        model.add(key: key, n: n, isDirty: false)
        continue
      }
      if keepDirty, model.rows[i].isDirty { continue }
      model.rows[i].write(key: key, n: n, isDirty: false)
    }
    try store.sync("[\(records.joined(separator: ","))]", into: "s", by: "k", overlay: ["__local__": false], keepDirty: keepDirty)
  }
}
