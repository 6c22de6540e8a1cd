import JSON
import MobileSync

/// The settings that sync down and sync up targets of the type `parse` share.
struct ParseTarget: Sendable {
  /// The definition as stored.
  let json: JSONObject
  let connection: String
  let className: String
  let pointers: [PointerRule]
  let relations: [RelationRule]
  /// The column that marks deleted objects; nil if they are deleted on the server.
  let deletedField: String?

  static let fields = TargetFields(id: "objectId", modificationDate: "updatedAt", others: ["createdAt"])
  static let label = "parse target"
  static let keys = ["connection", "className", "pointers", "relations", "deletedField"]

  /// - Throws: ``SyncError`` `.invalidTarget`, which names the key.
  init(_ json: JSONObject) throws(SyncError) {
    let reader = TargetReader(json: json, label: Self.label)
    connection = try reader.optionalString("connection") ?? "default"
    let className = try reader.string("className")
    self.className = className
    try Self.checked("className") { () throws(ParseProblem) in try ParseNames.checkClass(className) }
    for (key, name) in [("idFieldName", Self.fields.id), ("modificationDateFieldName", Self.fields.modificationDate)] {
      guard let given = try reader.optionalString(key), given != name else { continue }
      throw Self.wrong(key, "'\(key)' is always '\(name)' on a Parse server, got '\(given)'")
    }
    pointers = try Self.members(json, "pointers").map { (field, value) throws(SyncError) in
      try PointerRule(field, value, of: className)
    }
    relations = try Self.list(json, "relations").enumerated().map { (i, value) throws(SyncError) in
      do throws(SyncError) {
        return try RelationRule(value, of: className)
      } catch {
        throw error.at(.position(i)).at(.key("relations"))
      }
    }
    for mirror in relations.compactMap(\.mirror) where mirror.className == className {
      guard pointers.contains(where: { $0.field == mirror.field }) else {
        throw Self.wrong("relations", "'mirrorOf' names '\(mirror.field)', which 'pointers' must list")
      }
    }
    deletedField = try reader.optionalString("deletedField")
    if let deletedField {
      try Self.checked("deletedField") { () throws(ParseProblem) in try ParseNames.checkField(deletedField, of: className) }
    }
    var stored = json
    stored["connection"] = .string(connection)
    self.json = Self.fields.written(to: stored)
  }

  /// The columns of the class known to be relations.
  var relationFields: IdSet { IdSet(ownRelations.map(\.field)) }

  /// The relations that are columns of the class.
  var ownRelations: [RelationRule] { relations.filter { ownerClass(of: $0) == className } }

  /// The relations that mirror a pointer column of the class.
  var mirrors: [RelationRule] { relations.filter { $0.mirror?.className == className } }

  /// The class that has the relation as a column. For a relation that mirrors a pointer of this
  /// class, that is the pointer's target class.
  func ownerClass(of rule: RelationRule) -> String {
    guard let mirror = rule.mirror, mirror.className == className else { return className }
    return pointer(mirror.field)?.className ?? className
  }

  func pointer(_ field: String) -> PointerRule? { pointers.first { $0.field == field } }

  // MARK: Parsing

  static func wrong(_ key: String, _ message: String) -> SyncError {
    SyncError(.invalidTarget, "\(label): \(message)").at(.key(key))
  }

  static func checked<T>(_ key: String, _ body: () throws(ParseProblem) -> T) throws(SyncError) -> T {
    do throws(ParseProblem) {
      return try body()
    } catch {
      throw wrong(key, error.description)
    }
  }

  static func list(_ json: JSONObject, _ key: String) throws(SyncError) -> [JSONValue] {
    guard let value = json[key], !value.isNull else { return [] }
    // An empty Lua table is encoded as an empty object.
    if value.objectValue?.isEmpty == true { return [] }
    guard let list = value.arrayValue else { throw wrong(key, "'\(key)' must be a list, got \(value.kindName)") }
    return list
  }

  static func members(_ json: JSONObject, _ key: String) throws(SyncError) -> [(String, JSONObject)] {
    guard let value = json[key], !value.isNull else { return [] }
    if value.arrayValue?.isEmpty == true { return [] }
    guard let object = value.objectValue else { throw wrong(key, "'\(key)' must be an object, got \(value.kindName)") }
    var members: [(String, JSONObject)] = []
    for (name, member) in object {
      guard let inner = member.objectValue else {
        throw wrong(key, "'\(key).\(name)' must be an object, got \(member.kindName)")
      }
      members.append((name, inner))
    }
    return members
  }

  /// Returns a list of column names; nil if the key is missing.
  static func columns(_ json: JSONObject, _ key: String, of className: String) throws(SyncError) -> [String]? {
    guard let value = json[key], !value.isNull else { return nil }
    if value.objectValue?.isEmpty == true { return [] }
    let names = (value.arrayValue ?? []).compactMap(\.stringValue)
    guard let list = value.arrayValue, names.count == list.count else {
      throw wrong(key, "'\(key)' must be a list of names, got \(value.kindName)")
    }
    for name in names where !ParseNames.serverFields.contains(name) && name != "ACL" {
      try checked(key) { () throws(ParseProblem) in try ParseNames.checkField(name, of: className) }
    }
    return names
  }
}

/// The target class of a pointer column, and the soup of that class's objects.
struct PointerRule: Sendable, Equatable {
  let field: String
  let className: String
  /// nil if they are not stored.
  let soup: String?

  init(_ field: String, _ json: JSONObject, of owner: String) throws(SyncError) {
    let label = "\(ParseTarget.label), pointers.\(field)", reader = TargetReader(json: json, label: label)
    try TargetKeys.check(json, ["className", "soup"], label: label)
    try ParseTarget.checked("pointers") { () throws(ParseProblem) in try ParseNames.checkField(field, of: owner) }
    self.field = field
    let className = try reader.string("className")
    self.className = className
    try ParseTarget.checked("pointers") { () throws(ParseProblem) in try ParseNames.checkClass(className) }
    soup = try reader.optionalString("soup")
  }
}
