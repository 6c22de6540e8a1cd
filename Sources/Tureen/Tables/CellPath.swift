import JSON

/// Where the value of a CSV file's column is in an entry.
///
/// By bytes: to Swift, a dot and an accent after it are one character.
package enum CellPath {
  private static let dot = UInt8(ascii: ".")

  /// The texts before each dot of a path, the longest first.
  static func parents(of path: String) -> [String] {
    let bytes = path.utf8
    return bytes.indices.reversed().filter { bytes[$0] == dot }.map { String(path[..<$0]) }
  }

  /// Returns the keys to the member at a path: through the objects that are there, the longest names first, then a key for each
  /// part of what is left.
  static func keys(to path: String, in object: JSONObject) -> [String] {
    if object[path] != nil { return [path] }
    let parents = parents(of: path)
    for parent in parents {
      guard let inner = object[parent]?.objectValue else { continue }
      return [parent] + keys(to: rest(of: path, after: parent), in: inner)
    }
    guard let first = parents.last else { return [path] }
    return [first] + keys(to: rest(of: path, after: first), in: [:])
  }

  /// Returns the keys of every place that a column can mean, since each dot may be part of a key. If there are more than
  /// five, either all of them are or none.
  static func places(of path: String) -> [[String]] {
    let parts = path.utf8.split(separator: dot, omittingEmptySubsequences: false).map { String(Substring($0)) }
    guard parts.count > 1 else { return [[path]] }
    guard parts.count <= 6 else { return [[path], parts] }
    return parts.dropFirst().reduce([[parts[0]]]) { places, part in
      places.flatMap { keys in [keys.dropLast() + ["\(keys.last ?? "").\(part)"], keys + [part]] }
    }
  }

  private static func rest(of path: String, after parent: String) -> String {
    String(decoding: path.utf8.dropFirst(parent.utf8.count + 1), as: UTF8.self)
  }
}

extension JSONObject {
  /// Returns the value at a path such as `Account.Name`, or of the member whose name is the whole path.
  package func value(at path: String) -> JSONValue? { value(at: CellPath.keys(to: path, in: self)) }
}
