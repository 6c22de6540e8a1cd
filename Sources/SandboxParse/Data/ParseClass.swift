import JSON

/// A class: its columns, its permissions, and its objects in the order of their creation.
struct ParseClass: Sendable {
  let name: String
  private(set) var columns: [(name: String, type: ColumnType)] = []
  private var types: [String: ColumnType] = [:]
  /// The rules of the columns that have one.
  private(set) var rules: [String: ColumnRule] = [:]
  var permissions = ClassPermissions()
  /// The indexes in the form of `/schemas`. They do not affect queries.
  var indexes = JSONObject()
  /// Removed objects leave gaps, which are closed once there are many.
  private var rows: [ParseObject?] = []
  private var rowIndexes: IdMap<Int> = [:]

  init(_ name: String) {
    self.name = name
    for (column, type) in [("objectId", ColumnType.string), ("createdAt", .date), ("updatedAt", .date), ("ACL", .acl)] {
      add(column, type)
    }
    for (column, type) in Names.columns(of: name) { add(column, type) }
  }

  // MARK: Columns

  func type(of column: String) -> ColumnType? { types[column] }

  mutating func add(_ column: String, _ type: ColumnType) {
    guard types[column] == nil else { return }
    columns.append((column, type))
    types[column] = type
  }

  mutating func set(_ rule: ColumnRule, of column: String) { rules[column] = rule }

  /// Removes a column and its values from all objects.
  mutating func drop(_ column: String) {
    columns.removeAll { $0.name == column }
    types[column] = nil
    rules[column] = nil
    for index in rows.indices { rows[index]?.fields[column] = nil }
  }

  // MARK: Objects

  var count: Int { rowIndexes.count }
  var objects: [ParseObject] { rows.compactMap { $0 } }
  subscript(id: String) -> ParseObject? { rowIndexes[id].flatMap { rows[$0] } }

  mutating func put(_ object: ParseObject) {
    if let index = rowIndexes[object.id] {
      rows[index] = object
    } else {
      rowIndexes[object.id] = rows.count
      rows.append(object)
    }
  }

  /// - Returns: True if the object existed.
  @discardableResult
  mutating func remove(_ id: String) -> Bool {
    guard let index = rowIndexes.removeValue(forKey: id) else { return false }
    rows[index] = nil
    if rows.count > 2 * rowIndexes.count + 100 {
      rows = rows.filter { $0 != nil }
      for (index, row) in rows.enumerated() { if let row { rowIndexes[row.id] = index } }
    }
    return true
  }

  mutating func removeAll() {
    rows.removeAll()
    rowIndexes.removeAll()
  }

  // MARK: Schema

  /// The schema in the form of `/schemas`.
  var json: JSONValue {
    let fields = columns.map { column in
      (column.name, JSONValue.object(rules[column.name]?.added(to: column.type.json) ?? column.type.json.objectValue ?? [:]))
    }
    var schema: JSONObject = [
      "className": .string(name), "fields": .object(JSONObject(fields)),
      "classLevelPermissions": .object(permissions.json),
    ]
    if !indexes.isEmpty { schema["indexes"] = .object(indexes) }
    return .object(schema)
  }
}
