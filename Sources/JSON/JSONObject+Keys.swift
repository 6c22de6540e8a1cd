extension JSONObject {
  /// Returns the value at a path of keys; nil if there is none.
  package func value(at keys: some Collection<String>) -> JSONValue? {
    keys.reduce(.object(self) as JSONValue?) { value, key in value?[key] }
  }

  /// Sets a nested member, creating missing objects on the way.
  package mutating func set(_ value: JSONValue, at keys: some Collection<String>) {
    guard let key = keys.first else { return }
    guard keys.count > 1 else {
      self[key] = value
      return
    }
    var inner = self[key]?.objectValue ?? [:]
    inner.set(value, at: keys.dropFirst())
    self[key] = .object(inner)
  }

  /// Removes the value at a path of keys.
  package mutating func remove(at keys: some Collection<String>) {
    guard let key = keys.first else { return }
    guard keys.count > 1 else {
      self[key] = nil
      return
    }
    guard var inner = self[key]?.objectValue else { return }
    inner.remove(at: keys.dropFirst())
    self[key] = .object(inner)
  }
}
