import JSON

/// An object as it is stored.
struct ParseObject: Sendable {
  let id: String
  /// Milliseconds since 1970 UTC.
  var createdAt: Int64, updatedAt: Int64
  /// nil lets everyone read and write.
  var access: AccessList?
  /// The columns that are set, except the server's own and relations.
  var fields: JSONObject

  /// Returns the value of a column; nil for relations.
  func value(_ column: String) -> JSONValue? {
    switch column {
    case "objectId": .string(id)
    case "createdAt": ParseTime.date(createdAt)
    case "updatedAt": ParseTime.date(updatedAt)
    case "ACL": access?.json
    default: fields[column]
    }
  }

  /// Returns the value at a path of names. A number selects a list element; a name after a list
  /// collects the member of every element.
  func value(at path: [String]) -> JSONValue? {
    guard let first = path.first, let top = value(first) else { return nil }
    return Self.value(path.dropFirst(), in: top)
  }

  private static func value(_ path: ArraySlice<String>, in value: JSONValue) -> JSONValue? {
    guard let name = path.first else { return value }
    switch value {
    // Queries cannot look inside pointers, dates and other typed values.
    case .object(let object) where object["__type"] == nil:
      return object[name].flatMap { Self.value(path.dropFirst(), in: $0) }
    case .array(let items):
      if let index = Int(name) { return items.indices.contains(index) ? Self.value(path.dropFirst(), in: items[index]) : nil }
      let found = items.compactMap { Self.value(path, in: $0) }
      return found.isEmpty ? nil : .array(found)
    default: return nil
    }
  }
}

extension JSONObject {
  /// Sets the value at a path and creates missing objects on the way; numbers select list elements.
  /// nil removes the value.
  ///
  /// - Returns: False if the path leads through a value that is neither an object nor a list.
  @discardableResult
  mutating func set(_ path: ArraySlice<String>, _ value: JSONValue?) -> Bool {
    guard let name = path.first else { return false }
    guard path.count > 1 else {
      self[name] = value
      return true
    }
    switch self[name] {
    case nil, .null?:
      guard value != nil else { return true }
      var made = JSONObject()
      made.set(path.dropFirst(), value)
      self[name] = .object(made)
      return true
    case .object(var object)?:
      guard object.set(path.dropFirst(), value) else { return false }
      self[name] = .object(object)
      return true
    case .array(var items)?:
      guard let index = path.dropFirst().first.flatMap({ Int($0) }), (0...items.count + 1_000).contains(index) else {
        return false
      }
      while items.count <= index { items.append(.null) }
      if path.count == 2 {
        items[index] = value ?? .null
      } else {
        var member = items[index].objectValue ?? JSONObject()
        guard member.set(path.dropFirst(2), value) else { return false }
        items[index] = .object(member)
      }
      self[name] = .array(items)
      return true
    default: return false
    }
  }

  /// Returns the value at a path of names and list indexes.
  func get(_ path: ArraySlice<String>) -> JSONValue? {
    guard let name = path.first, let value = self[name] else { return nil }
    guard path.count > 1 else { return value }
    switch value {
    case .object(let object): return object.get(path.dropFirst())
    case .array(let items):
      guard let index = Int(path[path.startIndex + 1]), items.indices.contains(index) else { return nil }
      return path.count == 2 ? items[index] : items[index].objectValue?.get(path.dropFirst(2))
    default: return nil
    }
  }
}
