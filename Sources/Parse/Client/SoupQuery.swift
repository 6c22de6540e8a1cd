import JSON
import MobileSync
import SmartStore

/// Evaluates a query of a class on soups filled by syncs, without a server. It reads the whole
/// soup; for large soups, smart SQL with an index is faster.
public struct SoupQuery: Sendable {
  /// The soups that store the objects of a class.
  public struct ClassSoups: Sendable {
    public let soup: String
    /// Soups of link rows, by relation column.
    public let links: [String: String]
    /// Members of the records that hold lists of related ids instead of link rows, by relation
    /// column.
    public let ids: [String: String]

    public init(soup: String, links: [String: String] = [:], ids: [String: String] = [:]) {
      self.soup = soup
      self.links = links
      self.ids = ids
    }
  }

  private let query: ParseQuery
  private let soups: [String: ClassSoups]

  /// - Parameter soups: By class, including the classes in the condition and in `include`.
  public init(_ query: ParseQuery, in soups: [String: ClassSoups]) {
    self.query = query
    self.soups = soups
  }

  private static let defaultLimit = 100

  /// Returns the matching objects in the soups, with unsent changes and without locally deleted
  /// objects.
  ///
  /// - Parameter cancellation: Ends the search with `StoreError` `.cancelled`.
  /// - Throws: `StoreError`; ``ParseProblem`` for conditions that only the server can evaluate.
  public func found(in store: Store, cancellation: QueryCancellation? = nil) throws -> ParseClient.Found {
    let source = SoupSource(store: store, cancellation: cancellation)
    let match = try ConditionMatch(query.condition.json, lookups(query.className, source))
    var rows = try self.rows(of: query.className, source, where: match.holds)
    let count = rows.count
    try sort(&rows)
    rows = Array(rows.dropFirst(max(0, query.skip)).prefix(max(0, query.limit ?? Self.defaultLimit)))
    for field in query.include { try include(field, &rows, source) }
    if let keys = query.keys {
      let wanted = ParseNames.serverFields.union(keys.map { String($0.prefix { $0 != "." }) })
      rows = rows.map { $0.filtered { key, _ in wanted.contains(key) } }
    }
    return ParseClient.Found(objects: rows, count: query.counts ? count : nil)
  }

  // MARK: Rows

  private func soups(of className: String) throws(ParseProblem) -> ClassSoups {
    guard let found = soups[className] else {
      throw ParseProblem(description: "class \(className) has no soup; name it in 'soup' of the class")
    }
    return found
  }

  /// Returns a class's objects that meet a condition, without Tureen's own fields.
  private func rows(
    of className: String, _ source: SoupSource, where holds: (JSONObject) throws -> Bool = { _ in true }
  ) throws -> [JSONObject] {
    try source.entries(of: soups(of: className).soup) { entry in
      let row = entry.filtered { key, _ in !key.hasPrefix("_soup") && !(key.hasPrefix("__") && key.hasSuffix("__")) }
      return try holds(row) ? row : nil
    }
  }

  private func sort(_ rows: inout [JSONObject]) throws {
    guard !query.order.isEmpty else { return }
    let keys = query.order.map { name in
      name.hasPrefix("-") ? (path: String(name.dropFirst()), isDescending: true) : (path: name, isDescending: false)
    }
    rows = rows.enumerated().sorted { a, b in
      for key in keys {
        let order = Self.order(ConditionMatch.value(key.path, a.element), ConditionMatch.value(key.path, b.element))
        if order != 0 { return key.isDescending ? order > 0 : order < 0 }
      }
      return a.offset < b.offset
    }.map(\.element)
  }

  /// Missing values come first, as on the server.
  private static func order(_ a: JSONValue?, _ b: JSONValue?) -> Int {
    switch (a, b) {
    case (nil, nil): 0
    case (nil, _): -1
    case (_, nil): 1
    case (let a?, let b?): ConditionMatch.order(a, b) ?? 0
    }
  }

  private func include(_ field: String, _ rows: inout [JSONObject], _ source: SoupSource) throws {
    var known: IdMap<IdMap<JSONObject>> = [:]
    for i in rows.indices {
      guard let value = rows[i][field], value["__type"] == "Pointer", let className = value["className"]?.stringValue,
        let id = value["objectId"]?.stringValue
      else { continue }
      if known[className] == nil {
        let all = try self.rows(of: className, source)
        known[className] = IdMap(all.compactMap { row in row["objectId"]?.stringValue.map { ($0, row) } }) { first, _ in
          first
        }
      }
      guard var object = known[className]?[id] else { continue }
      object["__type"] = "Object"
      object["className"] = .string(className)
      rows[i][field] = .object(object)
    }
  }

  // MARK: Other classes

  private func lookups(_ className: String, _ source: SoupSource) -> ConditionMatch.Lookups {
    ConditionMatch.Lookups(
      ids: { other, condition in
        let match = try ConditionMatch(condition, lookups(other, source))
        return IdSet(try rows(of: other, source, where: match.holds).compactMap { $0["objectId"]?.stringValue })
      },
      related: { owner, field in
        let owned = try soups(of: owner.className)
        if let list = owned.ids[field] {
          let rows = try rows(of: owner.className, source) { $0["objectId"]?.stringValue == owner.objectId }
          return IdSet(rows.flatMap { $0[list]?.arrayValue ?? [] }.compactMap(\.stringValue))
        }
        guard let soup = owned.links[field] else {
          throw ParseProblem(
            description: "relation '\(field)' of class \(owner.className) has no soup of link rows; name it in 'links'")
        }
        return IdSet(
          try source.entries(of: soup) { row in
            guard row["ownerId"]?.stringValue == owner.objectId, row["field"]?.stringValue == field else { return nil }
            return row["relatedId"]?.stringValue
          })
      },
      owners: { field, targets in
        if let list = soups[className]?.ids[field] {
          let rows = try rows(of: className, source) { row in
            row[list]?.arrayValue?.contains { $0.stringValue.map(targets.contains) ?? false } ?? false
          }
          return IdSet(rows.compactMap { $0["objectId"]?.stringValue })
        }
        guard let soup = soups[className]?.links[field] else { return nil }
        return IdSet(
          try source.entries(of: soup) { row in
            guard row["field"]?.stringValue == field, row["relatedId"]?.stringValue.map(targets.contains) ?? false else {
              return nil
            }
            return row["ownerId"]?.stringValue
          })
      }, check: source.check)
  }
}

/// Reads whole soups, a page at a time.
private struct SoupSource {
  let store: Store
  let cancellation: QueryCancellation?

  private static let pageSize = 2_000

  /// - Throws: `StoreError` `.cancelled` after a cancellation.
  func check() throws { if cancellation?.isCancelled == true { throw StoreError.cancelled } }

  /// Returns what `take` makes of each entry that is not locally deleted; entries without a result
  /// are skipped.
  func entries<T>(of soup: String, _ take: (JSONObject) throws -> T?) throws -> [T] {
    guard try store.soupExists(soup) else { throw StoreError(.noSuchSoup, "soup '\(soup)' does not exist") }
    let spec = QuerySpec.smart(
      "SELECT {\(soup):_soup} FROM {\(soup)} ORDER BY {\(soup):_soupEntryId}", pageSize: Self.pageSize)
    var found: [T] = [], page = 0
    while true {
      let text = try store.query(spec, pageIndex: page, cancellation: cancellation ?? QueryCancellation())
      let rows = try JSONValue(parsing: text).arrayValue ?? []
      for row in rows {
        try check()
        guard let entry = row.arrayValue?.first?.objectValue, !entry.hasFlag(LocalField.deleted) else { continue }
        if let value = try take(entry) { found.append(value) }
      }
      if rows.count < Self.pageSize { return found }
      page += 1
    }
  }
}
