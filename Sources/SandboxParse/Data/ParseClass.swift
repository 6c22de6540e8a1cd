import JSON

/// One class: its columns, who may do what with it, its objects in the order they were made.
struct ParseClass: Sendable {
  let name: String
  private(set) var columns: [(name: String, type: ColumnType)] = []
  private var types: [String: ColumnType] = [:]
  /// Of the columns that have any.
  private(set) var rules: [String: ColumnRule] = [:]
  var permissions = ClassPermissions()
  /// As `/schemas` has them; they are not used.
  var indexes = JSONObject()
  /// Removed ones leave a gap until there are many.
  private var rows: [ParseObject?] = []
  private var places: [String: Int] = [:]

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

  /// Removes a column with what the objects have in it.
  mutating func drop(_ column: String) {
    columns.removeAll { $0.name == column }
    types[column] = nil
    rules[column] = nil
    for place in rows.indices { rows[place]?.fields[column] = nil }
  }

  // MARK: Objects

  var count: Int { places.count }
  var objects: [ParseObject] { rows.compactMap { $0 } }
  subscript(id: String) -> ParseObject? { places[id].flatMap { rows[$0] } }

  mutating func put(_ object: ParseObject) {
    if let place = places[object.id] {
      rows[place] = object
    } else {
      places[object.id] = rows.count
      rows.append(object)
    }
  }

  /// - Returns: Whether it was there.
  @discardableResult
  mutating func remove(_ id: String) -> Bool {
    guard let place = places.removeValue(forKey: id) else { return false }
    rows[place] = nil
    if rows.count > 2 * places.count + 100 {
      rows = rows.filter { $0 != nil }
      for (place, row) in rows.enumerated() { if let row { places[row.id] = place } }
    }
    return true
  }

  mutating func removeAll() {
    rows.removeAll()
    places.removeAll()
  }

  // MARK: Schema

  /// As `/schemas` has it.
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
