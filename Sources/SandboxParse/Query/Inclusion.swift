import JSON

/// Replaces pointers by their objects, and removes columns that were not requested.
struct Inclusion {
  private let state: ParseState
  private let call: ParseCall
  private let tree: Branch
  private let keys: [[String]]?
  private let excluded: [String]

  /// Columns to follow, each with the columns to follow in its target.
  private struct Branch {
    var next: [String: Branch] = [:]

    mutating func add(_ path: ArraySlice<String>) {
      guard let name = path.first else { return }
      next[name, default: Branch()].add(path.dropFirst())
    }
  }

  init(state: ParseState, call: ParseCall, options: QueryOptions, className: String) {
    self.state = state
    self.call = call
    var keys = options.keys
    excluded = options.excluded
    var tree = Branch()
    for path in options.include { tree.add(path[...]) }
    if options.includesAll {
      for (name, type) in state.classes[className]?.columns ?? [] {
        switch type {
        case .pointer, .array:
          tree.add([name])
          // Included columns are returned even if `keys` does not list them.
          keys?.append([name])
        default: break
        }
      }
    }
    self.tree = tree
    self.keys = keys
  }

  /// - Throws: ``ParseError`` if the class of an included object denies access.
  func applied(to object: JSONObject) throws(ParseError) -> JSONObject {
    try followed(projected(object, []), tree, [])
  }

  // MARK: Columns

  /// - Parameter path: The object's position in the result, which prefixes the names of its
  ///   columns.
  private func projected(_ object: JSONObject, _ path: [String]) -> JSONObject {
    var result = object
    if let keys {
      let own = keys.filter { $0.count > path.count && $0.starts(with: path) }.map { Array($0.dropFirst(path.count)) }
      // An included object is returned whole unless `keys` selects some of its columns.
      if path.isEmpty || !own.isEmpty { result = chosen(object, own) }
    }
    for name in excluded {
      let parts = name.split(separator: ".").map(String.init)
      guard parts.count == path.count + 1, parts.starts(with: path), let last = parts.last,
        !Names.serverColumns.contains(last)
      else { continue }
      result[last] = nil
    }
    return result
  }

  private func chosen(_ object: JSONObject, _ own: [[String]]) -> JSONObject {
    var result = JSONObject()
    for (name, value) in object {
      let paths = own.filter { $0[0] == name }
      if Names.serverColumns.contains(name) || paths.contains(where: { $0.count == 1 }) || name == "__type" || name == "className"
      {
        result[name] = value
      } else if !paths.isEmpty {
        result[name] = part(value, paths.map { Array($0.dropFirst()) })
      }
    }
    return result
  }

  /// Returns the selected members of an Object column; a pointer stays whole.
  private func part(_ value: JSONValue, _ paths: [[String]]) -> JSONValue {
    guard let object = value.objectValue, object["__type"] == nil else { return value }
    var result = JSONObject()
    for path in paths { if let found = object.get(path[...]) { result.set(path[...], found) } }
    return .object(result)
  }

  // MARK: Pointers

  private func followed(_ object: JSONObject, _ branch: Branch, _ path: [String]) throws(ParseError) -> JSONObject {
    guard !branch.next.isEmpty else { return object }
    var result = object
    for (name, inner) in branch.next {
      guard let value = object[name] else { continue }
      result[name] = try replaced(value, inner, path + [name])
    }
    return result
  }

  /// - Returns: nil for a pointer to an object that does not exist or that the caller may not read.
  private func replaced(_ value: JSONValue, _ branch: Branch, _ path: [String]) throws(ParseError) -> JSONValue? {
    switch value {
    case .array(let items):
      var kept: [JSONValue] = []
      for item in items { if let found = try replaced(item, branch, path) { kept.append(found) } }
      return .array(kept)
    case .object(let object) where object["__type"] == "Pointer":
      guard let className = object["className"]?.stringValue, let id = object["objectId"]?.stringValue else { return value }
      return try fetched(className, id, branch, path).map { .object($0) }
    case .object(let object) where object["__type"] == nil: return .object(try followed(object, branch, path))
    default: return value
    }
  }

  private func fetched(_ className: String, _ id: String, _ branch: Branch, _ path: [String]) throws(ParseError) -> JSONObject? {
    let visibility = Visibility(state: state, caller: call.caller)
    let columns = try visibility.check("get", className)
    guard let object = state.object(className, id), visibility.canRead(object), visibility.namesCaller(object, columns) else {
      return nil
    }
    var value: JSONObject = ["__type": "Object", "className": .string(className)]
    let hidden = visibility.hidden(in: className, of: id)
    for (name, field) in Renderer(state: state, call: call).json(object, of: className, hidden: hidden) { value[name] = field }
    return try followed(projected(value, path), branch, path)
  }
}
