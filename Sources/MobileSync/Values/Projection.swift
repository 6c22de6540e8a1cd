import JSON
import RecordScan

/// Resolves dotted paths in values. The rest of a path is applied to each element of an array.
enum Projection {
  static func value(_ object: JSONObject, _ path: String) -> JSONValue? {
    guard path.utf8.contains(UInt8(ascii: ".")) else { return object[path] }
    return value(.object(object), path.split(separator: ".", omittingEmptySubsequences: false)[...])
  }

  private static func value(_ json: JSONValue, _ path: ArraySlice<Substring>) -> JSONValue? {
    guard let key = path.first else { return json }
    switch json {
    case .object(let object): return object[String(key)].flatMap { value($0, path.dropFirst()) }
    case .array(let elements): return .array(elements.compactMap { value($0, path) })
    default: return nil
    }
  }

  /// Returns the first-level member that an object has after the value is set at the path.
  static func member(_ value: JSONValue, at path: String, in object: JSONObject) -> (key: String, value: JSONValue) {
    let keys = names(path)
    let first = keys.first ?? path
    return (first, replacing(object[first], at: keys.dropFirst(), with: value))
  }

  private static func replacing(_ value: JSONValue?, at keys: ArraySlice<String>, with new: JSONValue) -> JSONValue {
    guard let key = keys.first else { return new }
    var members = value?.objectValue ?? [:]
    members[key] = replacing(members[key], at: keys.dropFirst(), with: new)
    return .object(members)
  }

  /// Returns the object without the value at the path.
  static func removing(_ path: String, from object: JSONObject) -> JSONObject {
    removing(names(path)[...], from: object)
  }

  /// Returns the names of a path. One with more names than records may be nested stays whole.
  private static func names(_ path: String) -> [String] {
    let names = path.split(separator: ".").map(String.init)
    return names.count <= JSONWalker.maximumDepth ? names : [path]
  }

  private static func removing(_ keys: ArraySlice<String>, from object: JSONObject) -> JSONObject {
    var object = object
    guard let key = keys.first else { return object }
    if keys.count == 1 {
      object[key] = nil
    } else if let inner = object[key]?.objectValue {
      object[key] = .object(removing(keys.dropFirst(), from: inner))
    }
    return object
  }
}
