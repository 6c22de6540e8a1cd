import JSON
import SmartStore
import TestSupport

/// An operation on a soup, as a value: applied to a store, to another process, and to the model.
enum SoupOperation: Sendable {
  case upsert([JSONObject], by: String)
  case remove([Int64])
  /// Removes the first page of an exact query.
  case removeWhere(path: String, key: JSONValue, pageSize: Int)
  case clear
  case alter([IndexSpec], reIndexData: Bool)
  case reIndex([String])
}

/// The result of an operation: the ids of an upsert, nothing for others, or the code of the error.
enum SoupOutcome: Equatable, Sendable {
  case ids([Int64])
  case done
  case failed(String)
}

/// A simple model of one soup. It knows what the indexes find, including stale values, and nothing
/// of SQL.
struct SoupModel {
  struct Row {
    var id: Int64
    var version: Int64
    var entry: JSONObject
    /// By position of the spec; json1 values are never stored.
    var columns: [JSONValue]
  }

  var specs: [IndexSpec]
  private(set) var rows: [Row] = []
  private(set) var lastId: Int64 = 0

  init(specs: [IndexSpec]) { self.specs = specs }

  mutating func apply(_ operation: SoupOperation) -> SoupOutcome {
    switch operation {
    case .upsert(let entries, let path): return upsert(entries, path)
    case .remove(let ids): rows.removeAll { ids.contains($0.id) }
    case .removeWhere(let path, let key, let pageSize):
      let doomed = rows.filter { value(of: $0, path) == key }.prefix(pageSize).map(\.id)
      rows.removeAll { doomed.contains($0.id) }
    case .clear: rows = []
    case .alter(let specs, let reIndexData): alter(specs, reIndexData)
    case .reIndex(let paths):
      for (i, spec) in specs.enumerated() where paths.contains(spec.path) {
        for row in rows.indices { rows[row].columns[i] = SoupModel.project(rows[row].entry, spec) }
      }
    }
    return .done
  }

  /// Returns the store's value of `{soup:path}` for a row.
  func value(of row: Row, _ path: String) -> JSONValue {
    guard let i = specs.firstIndex(where: { $0.path == path }), specs[i].type != .json1 else {
      return SoupModel.project(row.entry, .json1(path))
    }
    return row.columns[i]
  }

  private mutating func upsert(_ entries: [JSONObject], _ path: String) -> SoupOutcome {
    let before = self
    var ids: [Int64] = []
    for entry in entries {
      switch target(of: entry, path) {
      case .refused(let code):
        self = before
        return .failed(code.rawValue)
      case .create: ids.append(write(entry, at: nil))
      case .update(let place): ids.append(write(entry, at: place))
      }
    }
    return .ids(ids)
  }

  private mutating func write(_ entry: JSONObject, at place: Int?) -> Int64 {
    var entry = entry
    entry["_soupEntryId"] = nil
    let columns = specs.map { SoupModel.project(entry, $0) }
    guard let place else {
      lastId += 1
      rows.append(Row(id: lastId, version: 1, entry: entry, columns: columns))
      return lastId
    }
    rows[place].entry = entry
    rows[place].columns = columns
    rows[place].version += 1
    return rows[place].id
  }

  private enum Target { case create, update(Int), refused(StoreError.Code) }

  private func target(of entry: JSONObject, _ path: String) -> Target {
    if path == "_soupEntryId" {
      guard let id = entry["_soupEntryId"]?.integerValue else { return .create }
      return rows.firstIndex { $0.id == id }.map { .update($0) } ?? .refused(.noSuchEntry)
    }
    guard let spec = specs.first(where: { $0.path == path }) else { return .refused(.pathNotIndexed) }
    let key = SoupModel.project(entry, spec)
    if key.isNull { return .refused(.missingExternalId) }
    let found = rows.indices.filter { value(of: rows[$0], path) == key }
    return found.count > 1 ? .refused(.ambiguousExternalId) : found.first.map { .update($0) } ?? .create
  }

  private mutating func alter(_ new: [IndexSpec], _ reIndexData: Bool) {
    for row in rows.indices {
      rows[row].columns = new.map { spec in
        let fresh = SoupModel.project(rows[row].entry, spec)
        guard let old = specs.firstIndex(where: { $0.path == spec.path }) else { return reIndexData ? fresh : .null }
        if specs[old].type == .json1 || reIndexData && specs[old].type != spec.type { return fresh }
        return SoupModel.column(specs[old].type) == SoupModel.column(spec.type) ? rows[row].columns[old] : .null
      }
    }
    specs = new
  }

  /// Returns the column type of an index type, in SQLite's terms.
  private static func column(_ type: IndexType) -> String {
    switch type {
    case .string, .fullText: "TEXT"
    case .integer: "INTEGER"
    case .floating: "REAL"
    case .json1: "none"
    }
  }

  /// Returns the index value of an entry. The entries contain strings, integers, and arrays of
  /// objects with strings.
  private static func project(_ entry: JSONObject, _ spec: IndexSpec) -> JSONValue {
    var value: JSONValue? = .object(entry)
    for (i, key) in spec.path.split(separator: ".").map(String.init).enumerated() {
      if i > 0, let elements = value?.arrayValue {
        let found = elements.compactMap { $0[key] }
        value = spec.type == .json1 || found.isEmpty ? nil : .array(found)
      } else {
        value = value?[key]
      }
    }
    switch (value, spec.type) {
    case (.integer(let number)?, .string), (.integer(let number)?, .fullText): return .string(String(number))
    case (.integer(let number)?, .floating): return .number(Double(number))
    case (.array?, .string), (.array?, .fullText): return .string(value?.text ?? "")
    case (.string?, .integer), (.string?, .floating), (.array?, .integer), (.array?, .floating): return .null
    default: return value ?? .null
    }
  }
}

extension SeededGenerator {
  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  /// Returns an operation on the model's current contents.
  mutating func operation(on model: SoupModel) -> SoupOperation {
    switch below(100) {
    case 0..<20: return .upsert((0...below(3)).map { _ in entry(id: below(3) == 0 ? anyId(model) : nil) }, by: "_soupEntryId")
    case 20..<60: return .upsert((0...below(3)).map { _ in entry(id: nil) }, by: ["k", "k", "k", "n"][below(4)])
    case 60..<75: return .remove((0...below(4)).map { _ in anyId(model) })
    case 75..<90:
      guard let row = model.rows.randomElement(using: &self) else { return .clear }
      let path = ["k", "n", "tags.t"][below(3)], key = model.value(of: row, path)
      return key.isNull ? .remove([row.id]) : .removeWhere(path: path, key: key, pageSize: 1 + below(3))
    case 90..<91: return .clear
    case 91..<96: return .alter(specs(), reIndexData: below(2) == 0)
    default: return .reIndex([["k"], ["n", "tags.t"], ["k", "n", "tags.t", "gone"]][below(3)])
    }
  }

  /// Returns an id, usually an existing one.
  private mutating func anyId(_ model: SoupModel) -> Int64 {
    below(12) == 0 ? model.lastId + 1 + Int64(below(3)) : model.rows.randomElement(using: &self)?.id ?? 1
  }

  /// Few keys, so that they collide; some need escapes.
  private mutating func entry(id: Int64?) -> JSONObject {
    var entry: JSONObject = [:]
    if let id { entry["_soupEntryId"] = .integer(id) }
    if below(8) > 0 { entry["k"] = .string("\(["a", "b\n", "é", "\"d", "e f"][below(5)])\(below(12))") }
    if below(3) > 0 { entry["n"] = .integer(Int64(below(40) - 20)) }
    if below(3) == 0 { entry["tags"] = .array((0..<below(3)).map { _ in ["t": .string("t\(below(3))")] }) }
    return entry
  }

  private mutating func specs() -> [IndexSpec] {
    let types: [IndexType] = [.string, .string, .fullText, .json1], numbers: [IndexType] = [.string, .integer, .floating, .json1]
    var specs = [IndexSpec(path: "k", type: types[below(4)]), IndexSpec(path: "n", type: numbers[below(4)])]
    if below(3) > 0 { specs.append(IndexSpec(path: "tags.t", type: types[below(3)])) }
    return specs.shuffled(using: &self)
  }
}
