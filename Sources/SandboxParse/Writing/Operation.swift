import JSON

/// What a write does to a column or to a part of it.
enum Operation {
  case set(JSONValue)
  case increment(Double)
  case add([JSONValue])
  case addUnique([JSONValue])
  case remove([JSONValue])
  case delete
  /// Ids of the targets to link and to unlink.
  case relate(add: [String], remove: [String])
  /// A relation's own marker; changes nothing.
  case keep

  /// - Throws: ``ParseError``, as parse-server does.
  init(_ value: JSONValue) throws(ParseError) {
    guard let object = value.objectValue, let name = object["__op"], object["__type"] == nil else {
      self = value["__type"] == "Relation" ? .keep : .set(try Values.stored(value))
      return
    }
    switch name.stringValue {
    case "Increment":
      let amount = object["amount"]
      guard amount == nil || amount?.doubleValue != nil else {
        throw ParseError(.invalidJSON, "incrementing must provide a number")
      }
      self = .increment(amount?.doubleValue ?? 0)
    case "Add": self = .add(try Self.objects(object))
    case "AddUnique": self = .addUnique(try Self.objects(object))
    case "Remove": self = .remove(try Self.objects(object))
    case "Delete": self = .delete
    case "AddRelation": self = .relate(add: Self.ids(object), remove: [])
    case "RemoveRelation": self = .relate(add: [], remove: Self.ids(object))
    case "Batch":
      var added: [String] = [], removed: [String] = []
      for inner in object["ops"]?.arrayValue ?? [] {
        guard case .relate(let add, let remove) = try Operation(inner) else { continue }
        added += add
        removed += remove
      }
      self = .relate(add: added, remove: removed)
    default: throw .unexpected("unexpected op: \(name.stringValue ?? name.text)")
    }
  }

  private static func objects(_ object: JSONObject) throws(ParseError) -> [JSONValue] {
    guard let list = object["objects"]?.arrayValue else {
      throw ParseError(.invalidJSON, "objects to add must be an array")
    }
    var stored: [JSONValue] = []
    for item in list { stored.append(try Values.stored(item)) }
    return stored
  }

  private static func ids(_ object: JSONObject) -> [String] {
    (object["objects"]?.arrayValue ?? []).compactMap { $0["objectId"]?.stringValue }
  }

  /// Whether the response to an update contains the result.
  var isReported: Bool {
    switch self {
    case .increment, .add, .addUnique, .remove: true
    default: false
    }
  }

  /// Returns the value after the operation; nil if it is removed.
  ///
  /// - Throws: An unexpected ``ParseError`` if the database cannot apply it.
  func applied(to value: JSONValue?) throws(ParseError) -> JSONValue? {
    switch self {
    case .set(let new): return new
    case .delete: return nil
    case .keep, .relate: return value
    case .increment(let amount):
      guard let number = (value ?? 0).doubleValue else {
        throw .unexpected("Cannot apply $inc to a value of non-numeric type")
      }
      return Values.number(number + amount)
    case .add(let items): return .array(try Self.list(value) + items)
    case .addUnique(let items):
      var list = try Self.list(value)
      for item in items where !list.contains(item) { list.append(item) }
      return .array(list)
    case .remove(let items): return value == nil ? .array([]) : .array(try Self.list(value).filter { !items.contains($0) })
    }
  }

  private static func list(_ value: JSONValue?) throws(ParseError) -> [JSONValue] {
    guard let value else { return [] }
    guard let list = value.arrayValue else { throw .unexpected("The field must be an array") }
    return list
  }
}
