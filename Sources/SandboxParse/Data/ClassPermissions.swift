import JSON

/// The class-level permissions. An operation that is not listed is open to everyone.
struct ClassPermissions: Sendable {
  static let operations = ["find", "count", "get", "create", "update", "delete", "addField"]
  private static let lists = ["readUserFields", "writeUserFields"]
  /// What a schema shows for a class without restrictions.
  private static let everyone = JSONObject(operations.map { ($0, ["*": true]) } + [("protectedFields", ["*": []])])

  let json: JSONObject

  init() { json = Self.everyone }

  /// - Throws: ``ParseError`` 107 for an invalid key or value.
  init(_ given: JSONObject, of parseClass: ParseClass) throws(ParseError) {
    for (key, value) in given { try Self.check(key, value, parseClass) }
    // As in parse-server, only the master key may perform operations that are left out.
    var made = JSONObject()
    for operation in Self.operations { made[operation] = given[operation] ?? [:] }
    for key in Self.lists { made[key] = given[key] }
    made["protectedFields"] = given["protectedFields"] ?? [:]
    json = made
  }

  // MARK: Reading

  private static func check(_ key: String, _ value: JSONValue, _ parseClass: ParseClass) throws(ParseError) {
    if lists.contains(key) {
      guard let columns = value.arrayValue else { throw badValue(value, "\(key) - must be an array") }
      return try check(columns: columns, parseClass, key)
    }
    guard operations.contains(key) || key == "protectedFields" else {
      throw ParseError(.invalidJSON, "\(key) is not a valid operation for class level permissions")
    }
    guard let rules = value.objectValue else { throw badValue(value, "\(key) - must be an object") }
    for (subject, right) in rules {
      try check(subject: subject, isProtection: key == "protectedFields")
      if key == "protectedFields" {
        guard right.arrayValue != nil else {
          throw ParseError(
            .invalidJSON, "'\(text(right))' is not a valid value for protectedFields[\(subject)] - expected an array.")
        }
      } else if subject == "pointerFields" {
        guard let columns = right.arrayValue else {
          throw ParseError(.invalidJSON, "'\(text(right))' is not a valid value for \(key)[pointerFields] - expected an array.")
        }
        try check(columns: columns, parseClass, key)
      } else if right != true {
        throw badValue(right, "\(key):\(subject):\(text(right))")
      }
    }
  }

  private static func badValue(_ value: JSONValue, _ place: String) -> ParseError {
    ParseError(.invalidJSON, "'\(text(value))' is not a valid value for class level permissions \(place)")
  }

  /// Formats a value as JavaScript does.
  private static func text(_ value: JSONValue) -> String {
    value.objectValue != nil ? "[object Object]" : value.stringValue ?? value.text
  }

  private static func check(subject: String, isProtection: Bool) throws(ParseError) {
    let isWord = subject == "*" || subject.hasPrefix("role:") && subject.utf8.count > 5
    let others = isProtection ? ["authenticated"] : ["requiresAuthentication", "pointerFields"]
    let isOther = others.contains(subject) || isProtection && subject.hasPrefix("userField:")
    let isUser = !subject.isEmpty && subject.utf8.allSatisfy { Names.isLetter($0) || Names.isDigit($0) }
    guard isWord || isOther || isUser else {
      throw ParseError(.invalidJSON, "'\(subject)' is not a valid key for class level permissions")
    }
  }

  /// Checks that the columns can name users.
  private static func check(columns: [JSONValue], _ parseClass: ParseClass, _ place: String) throws(ParseError) {
    for column in columns {
      let type = column.stringValue.flatMap { parseClass.type(of: $0) }
      guard type == .pointer("_User") || type == .array else {
        throw ParseError(
          .invalidJSON, "'\(text(column))' is not a valid column for class level pointer permissions \(place)")
      }
    }
  }

  // MARK: Asking

  /// What an operation requires of its caller, beyond membership in a permitted group.
  enum Verdict: Equatable {
    case allowed
    /// Only for objects that name the user in one of these columns.
    case onlyNamedUsers([String])
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
    return columns.isEmpty ? .denied : .onlyNamedUsers(columns)
  }

  /// Returns the columns that are hidden from a caller with these groups: those hidden by every
  /// matching rule.
  func hidden(_ groups: [String]) -> IdSet {
    guard let rules = json["protectedFields"]?.objectValue else { return [] }
    var hidden: IdSet?
    for (subject, columns) in rules {
      guard groups.contains(subject) || (subject == "authenticated" && groups.count > 1) else { continue }
      let names = IdSet((columns.arrayValue ?? []).compactMap(\.stringValue))
      hidden = hidden?.intersection(names) ?? names
    }
    return hidden ?? []
  }
}

/// The indexes of a class, as its schema lists them.
enum SchemaIndexes {
  private static let own: (String, JSONValue) = ("_id_", ["_id": 1])

  /// - Throws: ``ParseError`` 102 for an index that already exists, does not exist, or names an
  ///   unknown column.
  static func changed(
    _ known: JSONObject, by given: JSONValue?, _ parseClass: ParseClass, isNew: Bool
  ) throws(ParseError) -> JSONObject {
    guard let changes = given?.objectValue, !changes.isEmpty else { return known }
    var indexes = known
    if !isNew { indexes[own.0] = own.1 }
    for (name, index) in changes {
      if index["__op"] == "Delete" {
        guard indexes[name] != nil else {
          throw ParseError(.invalidQuery, "Index \(name) does not exist, cannot delete.")
        }
        indexes[name] = nil
        continue
      }
      guard indexes[name] == nil else { throw ParseError(.invalidQuery, "Index \(name) exists, cannot update.") }
      for (key, _) in index.objectValue ?? [:] {
        let column = key.hasPrefix("_p_") ? String(key.dropFirst(3)) : key
        guard parseClass.type(of: column) != nil else {
          throw ParseError(.invalidQuery, "Field \(key) does not exist, cannot add index.")
        }
      }
      indexes[name] = index
    }
    return indexes
  }
}
