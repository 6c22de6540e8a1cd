import JSON
import MobileSync
import SmartStore

/// Finds pointers to objects that have only a local id so far.
enum LocalPointers {
  struct Found: Sendable, Equatable {
    /// The top-level member that contains the pointer.
    let field: String
    let pointer: ParsePointer
    /// The soup of the object; nil if the target does not define it.
    let soup: String?
  }

  static func find(in entry: JSONObject, _ target: ParseTarget) -> [Found] {
    var found: [Found] = []
    for (field, value) in entry {
      walk(value) { pointer in
        guard pointer.isLocal else { return }
        let rule = target.pointer(field) ?? target.pointers.first { $0.className == pointer.className }
        let one = Found(field: field, pointer: pointer, soup: rule?.soup)
        if !found.contains(one) { found.append(one) }
      }
    }
    return found
  }

  /// Returns all local pointers in a value.
  static func all(in value: JSONValue) -> [ParsePointer] {
    var found: [ParsePointer] = []
    walk(value) { if $0.isLocal, !found.contains($0) { found.append($0) } }
    return found
  }

  /// Returns the value with local ids replaced by assigned ones.
  static func resolved(_ value: JSONValue, _ ids: IdMap<String>) -> JSONValue {
    if value["__type"] == "Pointer", let id = value["objectId"]?.stringValue, let known = ids[id],
      let className = value["className"]?.stringValue
    {
      return ParsePointer(className: className, objectId: known).json
    }
    switch value {
    case .array(let items): return .array(items.map { resolved($0, ids) })
    case .object(let members): return .object(JSONObject(members.map { ($0.key, resolved($0.value, ids)) }))
    default: return value
    }
  }

  /// Returns the value without pointers to an object; nil if it is such a pointer.
  static func removing(_ id: String, from value: JSONValue) -> JSONValue? {
    if value["__type"] == "Pointer" || value["__type"] == "Object", value["objectId"]?.stringValue == id { return nil }
    switch value {
    case .array(let items): return .array(items.compactMap { removing(id, from: $0) })
    case .object(let members):
      return .object(JSONObject(members.compactMap { key, value in removing(id, from: value).map { (key, $0) } }))
    default: return value
    }
  }

  /// Returns whether no entry of the soup has a local id, and the server assigned it none.
  static func isLost(_ id: String, in soup: String, _ snapshot: StoreSnapshot) throws -> Bool {
    guard try snapshot.soupExists(soup) else { return false }
    return try snapshot.entryIds(in: soup, where: "objectId", equals: .text(id)).isEmpty
      && snapshot.assignedId(for: id, in: soup) == nil
  }

  private static func walk(_ value: JSONValue, _ visit: (ParsePointer) -> Void) {
    switch value {
    case .array(let items): for item in items { walk(item, visit) }
    case .object(let members):
      let type = members["__type"]?.stringValue
      if type == "Pointer" || type == "Object", let className = members["className"]?.stringValue,
        let id = members["objectId"]?.stringValue
      {
        return visit(ParsePointer(className: className, objectId: id))
      }
      for (_, member) in members { walk(member, visit) }
    default: break
    }
  }
}
