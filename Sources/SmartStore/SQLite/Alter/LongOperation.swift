import Database
import JSON
import Support

/// A row of `long_operations_status`: an alteration of a soup in progress.
struct LongOperation: Equatable {
  static let type = "alterSoup"

  let id: Int64
  let soup: String
  /// The table, `TABLE_n`: it changes if the soup is removed and registered again.
  let table: String
  let specs: [IndexSpec]
  let reIndexData: Bool
  let process: ProcessIdentity

  func numbered(_ id: Int64) -> LongOperation {
    LongOperation(id: id, soup: soup, table: table, specs: specs, reIndexData: reIndexData, process: process)
  }

  /// Whether another process may finish the alteration because the one that began it has ended. For
  /// a process of another boot this is only likely; resuming is harmless anyway, because the
  /// alteration is one transaction and the second process finds it done.
  var mayBeResumed: Bool {
    switch process.liveness() {
    case .running: false
    case .dead: true
    case .unknown: process.bootId != ProcessIdentity.current.bootId
    }
  }

  /// Returns the JSON text for the row.
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

  /// Parses the JSON text of a row; returns nil if another program wrote it.
  init?(id: Int64, details: String) {
    guard let json = try? JSONValue(parsing: details), let soup = json["soupName"]?.stringValue,
      let table = json["soupTableName"]?.stringValue, let list = json["newIndexSpecs"],
      let specs = try? IndexSpec.list(list), let reIndexData = json["reIndexData"]?.boolValue,
      let process = json["process"]?.stringValue.flatMap({ ProcessIdentity(text: $0) })
    else { return nil }
    self.init(id: id, soup: soup, table: table, specs: specs, reIndexData: reIndexData, process: process)
  }
}

extension SQLiteSnapshot {
  /// Returns the alterations in progress, oldest first.
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
