import Database
import JSON
import Support

/// A row of `long_operations_status`: the alteration of a soup that is under way.
struct LongOperation: Equatable {
  static let type = "alterSoup"

  let id: Int64
  let soup: String
  /// `TABLE_n`: a soup removed and registered again is another one.
  let table: String
  let specs: [IndexSpec]
  let reIndexData: Bool
  let process: ProcessIdentity

  func numbered(_ id: Int64) -> LongOperation {
    LongOperation(id: id, soup: soup, table: table, specs: specs, reIndexData: reIndexData, process: process)
  }

  /// The process that began it does not run on. Of a process of another boot this is only likely, which does no harm: the
  /// change is one transaction, and the second process finds it done.
  var mayBeResumed: Bool {
    switch process.liveness() {
    case .running: false
    case .dead: true
    case .unknown: process.bootId != ProcessIdentity.current.bootId
    }
  }

  /// As it stands in the row.
  func details(old: [IndexSpec]) -> String {
    let json: JSONObject = [
      "soupName": .string(soup), "soupTableName": .string(table), "oldIndexSpecs": .array(old.map(\.json)),
      "newIndexSpecs": .array(specs.map(\.json)), "reIndexData": .bool(reIndexData), "process": .string(process.text),
    ]
    return JSONValue.object(json).text
  }

  init(
    id: Int64, soup: String, table: String, specs: [IndexSpec], reIndexData: Bool, process: ProcessIdentity
  ) {
    self.id = id
    self.soup = soup
    self.table = table
    self.specs = specs
    self.reIndexData = reIndexData
    self.process = process
  }

  /// Nil for details that this program did not write.
  init?(id: Int64, details: String) {
    guard let json = try? JSONValue(parsing: details), let soup = json["soupName"]?.stringValue,
      let table = json["soupTableName"]?.stringValue, let list = json["newIndexSpecs"],
      let specs = try? IndexSpec.list(list), let reIndexData = json["reIndexData"]?.boolValue,
      let process = json["process"]?.stringValue.flatMap({ ProcessIdentity(text: $0) })
    else { return nil }
    self.init(id: id, soup: soup, table: table, specs: specs, reIndexData: reIndexData, process: process)
  }
}

extension StoreSnapshot {
  /// What is under way, oldest first.
  func longOperations() throws -> [LongOperation] {
    let statement = try connection.statement("SELECT id, details FROM long_operations_status WHERE type = ? ORDER BY id")
    statement.bind(1, LongOperation.type)
    defer { statement.reset() }
    var operations: [LongOperation] = []
    while try statement.step() {
      if let operation = LongOperation(id: statement.int64(0), details: statement.string(1)) { operations.append(operation) }
    }
    return operations
  }
}
