import JSON

/// Collects the scalar members of an object and its nested objects by path, and the lists of
/// objects.
struct MemberPaths {
  struct Member {
    /// In the syntax of a target's keys.
    let path: String
    /// The last key in lower case, without word separators.
    let name: String
    let value: JSONValue
  }

  private(set) var members: [Member] = []
  /// Arrays of objects.
  private(set) var lists: [(path: String, items: [JSONValue])] = []

  /// - Parameter depth: Levels of nesting to search.
  init(_ json: JSONValue, depth: Int = 3) {
    if let items = json.arrayValue {
      lists.append(("$", items))
    } else {
      collect(json, [], depth)
    }
  }

  private mutating func collect(_ json: JSONValue, _ keys: [String], _ depth: Int) {
    guard let object = json.objectValue else { return }
    for (key, value) in object {
      let path = keys + [key]
      if let items = value.arrayValue {
        if items.allSatisfy({ $0.objectValue != nil }) { lists.append((MemberPaths.text(path), items)) }
      } else if value.objectValue == nil {
        let name = key.lowercased().filter { $0.isLetter || $0.isNumber }
        members.append(Member(path: MemberPaths.text(path), name: name, value: value))
      } else if depth > 1 {
        collect(value, path, depth - 1)
      }
    }
  }

  /// Returns a dotted path if possible, otherwise a JSON pointer.
  static func text(_ keys: [String]) -> String {
    let isPlain = keys.allSatisfy { key in !key.isEmpty && !key.contains { ".[]".contains($0) } }
    guard isPlain, !keys[0].hasPrefix("$"), !keys[0].hasPrefix("/"), !keys[0].hasPrefix("header:") else {
      return keys.map { "/" + $0.replacing("~", with: "~0").replacing("/", with: "~1") }.joined()
    }
    return keys.joined(separator: ".")
  }
}
