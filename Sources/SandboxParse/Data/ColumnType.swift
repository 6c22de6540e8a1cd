import JSON

enum ColumnType: Sendable, Equatable {
  case string, number, boolean, date, object, array, geoPoint, polygon, file, bytes, acl
  case pointer(String), relation(String)

  private static let plain: [(name: String, type: ColumnType)] = [
    ("String", .string), ("Number", .number), ("Boolean", .boolean), ("Date", .date), ("Object", .object), ("Array", .array),
    ("GeoPoint", .geoPoint), ("Polygon", .polygon), ("File", .file), ("Bytes", .bytes), ("ACL", .acl),
  ]

  var name: String {
    switch self {
    case .pointer: "Pointer"
    case .relation: "Relation"
    default: Self.plain.first { $0.type == self }?.name ?? ""
    }
  }

  var targetClass: String? {
    switch self {
    case .pointer(let target), .relation(let target): target
    default: nil
    }
  }

  /// The form in error messages: `Pointer<Genre>`.
  var text: String { targetClass.map { "\(name)<\($0)>" } ?? name }

  /// The form in a schema.
  var json: JSONValue {
    var object: JSONObject = ["type": .string(name)]
    if let targetClass { object["targetClass"] = .string(targetClass) }
    return .object(object)
  }

  /// Reads a field of a schema.
  ///
  /// - Throws: ``ParseError`` 107, 111 or 135.
  init(schema value: JSONValue) throws(ParseError) {
    guard let name = value["type"]?.stringValue else { throw ParseError(.invalidJSON, "invalid JSON") }
    if name == "Pointer" || name == "Relation" {
      guard let target = value["targetClass"]?.stringValue else {
        throw ParseError(.missingField, "type \(name) needs a class name")
      }
      guard Names.isClass(target) else { throw ParseError(.invalidClassName, Names.badClass(target)) }
      self = name == "Pointer" ? .pointer(target) : .relation(target)
      return
    }
    guard let found = Self.plain.first(where: { $0.name == name }), name != "ACL" else {
      throw ParseError(.incorrectType, "invalid field type: \(name)")
    }
    self = found.type
  }

  private init(_ type: ColumnType) { self = type }

  /// Returns the type of a written value; nil for null and for operations without a type.
  ///
  /// - Throws: ``ParseError`` 111 for an unknown `__type`, an unexpected error for an unknown
  ///   `__op`.
  static func of(_ value: JSONValue) throws(ParseError) -> ColumnType? {
    switch value {
    case .null: nil
    case .bool: .boolean
    case .integer, .number, .decimal: .number
    case .string: .string
    case .array: .array
    case .object(let object): try of(object)
    }
  }

  private static func of(_ object: JSONObject) throws(ParseError) -> ColumnType? {
    if let type = object["__type"], type != .null, type != "" { return try typed(object, type) }
    guard let operation = object["__op"] else { return .object }
    switch operation.stringValue {
    case "Increment": return .number
    case "Delete": return nil
    case "Add", "AddUnique", "Remove": return .array
    case "AddRelation", "RemoveRelation":
      guard let target = object["objects"]?.arrayValue?.first?["className"]?.stringValue else {
        throw .unexpected("Cannot read properties of undefined (reading 'className')")
      }
      return .relation(target)
    case "Batch":
      guard let first = object["ops"]?.arrayValue?.first?.objectValue else {
        throw .unexpected("Cannot read properties of undefined (reading '__op')")
      }
      return try of(first)
    default: throw .unexpected("unexpected op: \(operation.stringValue ?? operation.text)")
    }
  }

  private static func typed(_ object: JSONObject, _ type: JSONValue) throws(ParseError) -> ColumnType {
    switch type.stringValue {
    case "Pointer": if let target = object["className"]?.stringValue, !target.isEmpty { return .pointer(target) }
    case "Relation": if let target = object["className"]?.stringValue, !target.isEmpty { return .relation(target) }
    case "File": if let name = object["name"]?.stringValue, !name.isEmpty { return .file }
    case "Date": if ParseTime.milliseconds(of: .object(object)) != nil { return .date }
    case "GeoPoint": if GeoPoint(.object(object)) != nil { return .geoPoint }
    case "Bytes": if let text = object["base64"]?.stringValue, !text.isEmpty { return .bytes }
    case "Polygon": if object["coordinates"]?.arrayValue != nil { return .polygon }
    default: break
    }
    throw ParseError(.incorrectType, "This is not a valid \(type.stringValue ?? type.text)")
  }
}

/// Rules for the names of classes and columns.
enum Names {
  static let systemClasses = ["_User", "_Role", "_Session", "_Installation"]
  /// Built-in classes that a schema lists only once they have objects.
  static let lateClasses = ["_Session", "_Installation"]
  /// Columns that the server maintains in every object.
  static let serverColumns = ["objectId", "createdAt", "updatedAt", "ACL"]

  static func isClass(_ name: String) -> Bool { systemClasses.contains(name) || isWord(name) }
  static func isColumn(_ name: String) -> Bool { isWord(name) && name != "length" && name != "className" }

  static func badClass(_ name: String) -> String {
    "Invalid classname: \(name), classnames can only have alphanumeric characters and _, and must start with an alpha character "
  }

  /// Matches `^[A-Za-z][A-Za-z0-9_]*$`.
  static func isWord(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, isLetter(first) else { return false }
    return text.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
  }

  static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// Returns the initial columns of a built-in class, without the server's own.
  static func columns(of name: String) -> [(name: String, type: ColumnType)] {
    switch name {
    case "_User":
      [
        ("username", .string), ("password", .string), ("email", .string), ("emailVerified", .boolean), ("authData", .object),
      ]
    case "_Role": [("name", .string), ("users", .relation("_User")), ("roles", .relation("_Role"))]
    case "_Session":
      [
        ("user", .pointer("_User")), ("installationId", .string), ("sessionToken", .string), ("expiresAt", .date),
        ("createdWith", .object),
      ]
    case "_Installation":
      [
        ("installationId", .string), ("deviceToken", .string), ("channels", .array), ("deviceType", .string),
        ("pushType", .string), ("GCMSenderId", .string), ("timeZone", .string), ("localeIdentifier", .string),
        ("appVersion", .string), ("appName", .string), ("appIdentifier", .string), ("parseVersion", .string),
        ("badge", .number),
      ]
    default: []
    }
  }
}
