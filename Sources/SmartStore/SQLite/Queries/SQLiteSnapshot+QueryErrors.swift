import Database

/// Translates SQLite's errors about a query into the terms of its author. SQLite reports names of
/// tables and columns, and the statement that the store wrapped around the query.
extension SQLiteSnapshot {
  /// Runs the statements of a query.
  /// - Throws: ``StoreError`` `.invalidSmartSql`, `.invalidQuerySpec`, `.notReadOnly`,
  ///   `.queryLimit` instead of SQLite's errors about the query; passes on other errors, such as
  ///   those of a damaged file.
  func translatingErrors<T>(_ spec: QuerySpec, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw translated(error, spec) ?? error
    }
  }

  private func translated(_ error: DatabaseError, _ spec: QuerySpec) -> StoreError? {
    let code: StoreError.Code, message: String
    if error.isForbidden, error.message.hasSuffix("function: snippet") {
      (code, message) = (
        .queryLimit,
        "smart SQL: snippet() takes the square of the matches, and is not available beside restricted scripts; "
          + "use highlight()"
      )
    } else if error.isForbidden {
      (code, message) = (.notReadOnly, "Only SELECT are supported (\(inPaths(error.message)))")
    } else if error.isLimit {
      (code, message) = (.queryLimit, "the query exceeds a limit: \(inPaths(error.message))")
    } else if !error.isMistake {
      return nil
    } else if spec.kind == .smart {
      (code, message) = (.invalidSmartSql, "smart SQL: \(explained(error.message))")
    } else {
      let field = spec.kind == .match ? "'matchKey': " : ""
      (code, message) = (.invalidQuerySpec, "query spec: \(field)\(inPaths(error.message))")
    }
    var result = StoreError(code, message)
    result.sqliteCode = error.code
    result.sql = spec.smartSql
    return result
  }

  private func explained(_ message: String) -> String {
    switch message {
    case "ambiguous column name: soup":
      "a path without a column of its own is ambiguous when soups are joined: write the soup or its alias in front, as in "
        + "{soup}.{soup:path}"
    case "no such column: soup":
      "the soup of a path is not in FROM, or has an alias there: write it in front, as in a.{soup:path}"
    default: inPaths(message)
    }
  }

  /// Returns the message with `{soup:path}` for `TABLE_1_0` and `{soup}` for `TABLE_1`.
  func inPaths(_ message: String) -> String {
    guard message.contains("TABLE_"), let soups = try? soupNames().compactMap({ try find($0) }) else { return message }
    var out = "", rest = message[...]
    while let start = rest.firstRange(of: "TABLE_")?.lowerBound {
      out += rest[..<start]
      let word = rest[start...].prefix { $0 == "_" || $0 == "." || $0.isLetter || $0.isNumber }
      out += SQLiteSnapshot.reference(String(word), soups) ?? String(word)
      rest = rest[word.endIndex...]
    }
    return out + rest
  }

  private static let specials = [
    "soup": SoupField.soup, "id": SoupField.entryId, "created": SoupField.created, "lastModified": SoupField.lastModified,
  ]

  /// - Parameter name: The name of a table or column, possibly followed by a dot and a column.
  private static func reference(_ name: String, _ soups: [Soup]) -> String? {
    for soup in soups {
      if name == soup.table { return "{\(soup.name)}" }
      if name == soup.table + "_fts" { return "{\(soup.name)}_fts" }
      if let i = soup.specs.indices.first(where: { soup.column($0) == name }) { return "{\(soup.name):\(soup.specs[i].path)}" }
      guard name.hasPrefix(soup.table + ".") else { continue }
      let column = String(name.dropFirst(soup.table.count + 1))
      if let special = specials[column] { return "{\(soup.name):\(special)}" }
      return "{\(soup.name)}." + (reference(column, [soup]) ?? column)
    }
    return nil
  }
}
