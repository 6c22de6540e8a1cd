import JSON
import Support

/// Translates a query spec into smart SQL.
extension QuerySpec {
  /// - Parameter soupName: Ignored for smart queries, which name their soups themselves.
  package func smartSql(soupName: String) -> String { select(soupName) + from(soupName) + filter(soupName) + ordering(soupName) }

  package func countSmartSql(soupName: String) -> String {
    kind == .smart ? "SELECT count(*) FROM (\(smartSql ?? ""))" : "SELECT count(*) " + from(soupName) + filter(soupName)
  }

  package func idsSmartSql(soupName: String) -> String {
    kind == .smart
      ? "SELECT id FROM (\(smartSql ?? ""))" : "SELECT id " + from(soupName) + filter(soupName) + ordering(soupName)
  }

  private func select(_ soup: String) -> String {
    if kind == .smart { return smartSql ?? "" }
    let paths = selectPaths ?? [SoupField.soup]
    return "SELECT \(paths.map { "{\(soup):\($0)}" }.joined(separator: ", ")) "
  }

  private func from(_ soup: String) -> String { kind == .smart ? "" : "FROM {\(soup)} " }

  /// Returns the condition on the entries, including its `WHERE`; empty if there is none.
  package func filter(_ soup: String) -> String {
    if kind == .match { return match(soup) }
    guard kind != .smart, let indexPath else { return "" }
    let field = "{\(soup):\(indexPath)}"
    switch kind {
    case .exact: return "WHERE \(field) = ? "
    case .like: return "WHERE \(field) LIKE ? "
    case .range:
      let bounds = [beginKey.map { _ in "\(field) >= ?" }, endKey.map { _ in "\(field) <= ?" }].compactMap { $0 }
      return bounds.isEmpty ? "" : "WHERE \(bounds.joined(separator: " AND ")) "
    case .match, .smart: return ""
    }
  }

  /// Returns the condition of a `match` query. The key is part of the SQL, with its quotes doubled,
  /// so that its references become columns as in any smart SQL.
  private func match(_ soup: String) -> String {
    let key = MatchKey.qualify(matchText ?? "", with: indexPath.map { "{\(soup):\($0)}" })
    let quoted = key.quoted(with: UInt8(ascii: "'"))
    return "WHERE {\(soup):\(SoupField.entryId)} IN (SELECT rowid FROM {\(soup)}_fts WHERE {\(soup)}_fts MATCH \(quoted)) "
  }

  /// The key of a `match` query as text.
  package var matchText: String? {
    switch matchKey {
    case .string(let text)?: text
    case .integer, .number, .decimal, .bool: matchKey?.text
    default: nil
    }
  }

  private func ordering(_ soup: String) -> String {
    guard kind != .smart, let orderPath else { return "" }
    return "ORDER BY {\(soup):\(orderPath)} \(order == .ascending ? "ASC" : "DESC") "
  }

  /// Returns the values of the placeholders of a smart query. A boolean that is compared with a string or full-text index has
  /// the form that booleans have there.
  /// - Throws: See ``SmartSql/convert(_:isStatement:dialect:soup:)``.
  package func smartBindings(
    dialect: @autoclosure () -> any SQLDialect, soup: @escaping (String) throws -> Soup?
  ) throws -> [SQLValue] {
    guard arguments.contains(where: { $0.boolValue != nil }) else { return bindings(nil) }
    let texts = try SmartSql.textPlaceholders(in: smartSql ?? "", dialect: dialect(), soup: soup)
    return arguments.enumerated().map { i, argument in
      QuerySpec.value(argument, argument.boolValue != nil && texts.contains(i) ? .string : nil)
    }
  }

  /// Returns the values of the placeholders, converted to the type of the index.
  package func bindings(_ type: IndexType?) -> [SQLValue] {
    switch kind {
    case .smart: arguments.map { QuerySpec.value($0, nil) }
    // NULL equals nothing, so the query finds nothing.
    case .exact: [matchKey.map { QuerySpec.value($0, type) } ?? .null]
    case .like: [likeKey].compactMap { $0 }.map { .text($0) }
    case .range: [beginKey, endKey].compactMap { $0 }.map { QuerySpec.value($0, type) }
    case .match: []
    }
  }

  /// Converts a key to the type of its column. For string indexes, numbers and booleans become
  /// text.
  private static func value(_ key: JSONValue, _ type: IndexType?) -> SQLValue {
    switch (key, type) {
    case (.bool(let value), .string?), (.bool(let value), .fullText?): .text(value ? "true" : "false")
    case (.bool(let value), _): .integer(value ? 1 : 0)
    case (.integer(let value), .string?), (.integer(let value), .fullText?): .text(String(value))
    case (.integer(let value), .floating?): .real(Double(value))
    case (.integer(let value), _): .integer(value)
    case (.number(let value), .string?), (.number(let value), .fullText?): .text("\(value)")
    case (.number(let value), _): .real(value)
    case (.decimal(let text), .string?), (.decimal(let text), .fullText?): .text(text)
    case (.decimal, _): key.doubleValue.map { .real($0) } ?? .null
    case (.string(let value), _): .text(value)
    case (.null, _), (.array, _), (.object, _): .null
    }
  }
}
