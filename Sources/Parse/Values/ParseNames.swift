import Support

/// Validates names of classes and fields before the first request, because the server answers a
/// query of a misspelled class with an empty list.
enum ParseNames {
  /// The server's built-in classes, each with its own path.
  static let builtInPaths = ["_User": "users", "_Role": "roles", "_Session": "sessions", "_Installation": "installations"]
  /// Fields that only the server sets; never sent in a body.
  static let serverFields: Set = ["objectId", "createdAt", "updatedAt"]

  /// - Throws: ``ParseProblem`` for an invalid class name.
  static func checkClass(_ name: String) throws(ParseProblem) {
    guard builtInPaths[name] != nil || isPlain(name) else {
      throw ParseProblem(
        description: "class name '\(name)' is not valid: use a letter, then letters, digits and '_', or one of "
          + builtInPaths.keys.sorted().joined(separator: ", "))
    }
  }

  /// - Throws: ``ParseProblem`` for an invalid column name. A dot is invalid, because the server
  ///   would read the name as a path.
  static func checkField(_ name: String, of className: String) throws(ParseProblem) {
    guard isPlain(name), name != "length", name != "className" else {
      let reason =
        name.contains(".")
        ? "the server would read it as a path into an Object column" : "use a letter, then letters, digits and '_'"
      throw ParseProblem(description: "field name '\(name)' of class \(className) is not valid: \(reason)")
    }
  }

  /// Whether a condition or an order may contain the name: it is a column, or a path into one.
  static func isPath(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.first.map { isPlain(String($0)) } == true && parts.dropFirst().allSatisfy { !$0.isEmpty && isWord($0.utf8) }
  }

  /// Returns the path below the API's root, such as `/classes/Book` or `/users`.
  static func path(of className: String, id: String? = nil) -> String {
    let home = builtInPaths[className].map { "/" + $0 } ?? "/classes/" + className
    return id.map { home + "/" + $0 } ?? home
  }

  /// Returns the class of such a path; nil for any other.
  static func className(ofPath path: String) -> String? {
    if path.hasPrefix("/classes/") { return String(path.dropFirst(9).prefix { $0 != "/" }) }
    let home = path.dropFirst().prefix { $0 != "/" }
    return builtInPaths.first { $0.value == home }?.key
  }

  /// Matches `^[A-Za-z][A-Za-z0-9_]*$`.
  private static func isPlain(_ name: String) -> Bool { name.utf8.first?.isASCIILetter == true && isWord(name.utf8) }

  private static func isWord(_ text: some Sequence<UInt8>) -> Bool {
    text.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
  }
}
