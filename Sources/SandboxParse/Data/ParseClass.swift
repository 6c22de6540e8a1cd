import JSON

/// One class: its columns, who may do what with it, its objects in the order they were made.
struct ParseClass: Sendable {
  let name: String
  private(set) var columns: [(name: String, type: ColumnType)] = []
  private var types: [String: ColumnType] = [:]
  /// Of the columns that have any.
  private(set) var rules: [String: ColumnRule] = [:]
  var permissions = ClassPermissions()
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
    return [
      "className": .string(name), "fields": .object(JSONObject(fields)),
      "classLevelPermissions": .object(permissions.json), "indexes": ["_id_": ["_id": 1]],
    ]
  }
}

/// Who may do what with the objects of a class. An operation that is not named is allowed to everyone.
struct ClassPermissions: Sendable {
  static let operations = ["find", "count", "get", "create", "update", "delete", "addField"]
  /// What a schema shows for a class that was never restricted.
  private static let everyone = JSONObject(operations.map { ($0, ["*": true]) } + [("protectedFields", ["*": []])])

  let json: JSONObject

  init() { json = Self.everyone }

  /// - Throws: ``ParseError`` 107 for a key that is not an operation.
  init(_ given: JSONObject) throws(ParseError) {
    let known = Self.operations + ["readUserFields", "writeUserFields", "protectedFields"]
    for key in given.keys where !known.contains(key) {
      throw ParseError(.invalidJSON, "\(key) is not a valid operation for class level permissions")
    }
    // Those that are left out are closed, as in a real schema: only the master key may do them.
    var made = JSONObject()
    for operation in Self.operations { made[operation] = given[operation] ?? [:] }
    for key in known.suffix(3) { made[key] = given[key] }
    if made["protectedFields"] == nil { made["protectedFields"] = ["*": []] }
    json = made
  }

  /// What an operation asks of its caller beside the groups that may.
  enum Verdict: Equatable {
    case allowed
    /// Only for objects that name the user in one of these columns.
    case pointed([String])
    case needsUser
    case denied
  }

  func verdict(_ operation: String, _ groups: [String]) -> Verdict {
    guard let rules = json[operation]?.objectValue else { return .allowed }
    if groups.contains(where: { rules[$0] == true }) || rules["*"] == true { return .allowed }
    if rules["requiresAuthentication"] == true { return groups.count > 1 ? .allowed : .needsUser }
    let isRead = ["get", "find", "count"].contains(operation)
    var columns = (json[isRead ? "readUserFields" : "writeUserFields"]?.arrayValue ?? []).compactMap(\.stringValue)
    if operation == "create" { return .denied }
    columns += (rules["pointerFields"]?.arrayValue ?? []).compactMap(\.stringValue)
    return columns.isEmpty ? .denied : .pointed(columns)
  }

  /// Columns that a caller with these groups does not see: those that every matching rule hides.
  func hidden(_ groups: [String]) -> Set<String> {
    guard let rules = json["protectedFields"]?.objectValue else { return [] }
    var hidden: Set<String>?
    for (subject, columns) in rules {
      guard groups.contains(subject) || (subject == "authenticated" && groups.count > 1) else { continue }
      let names = Set((columns.arrayValue ?? []).compactMap(\.stringValue))
      hidden = hidden?.intersection(names) ?? names
    }
    return hidden ?? []
  }
}
