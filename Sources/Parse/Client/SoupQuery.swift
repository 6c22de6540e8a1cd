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
  private static let pageSize = 2_000

  /// Returns the matching objects in the soups, with unsent changes and without locally deleted
  /// objects.
  ///
  /// - Throws: `StoreError`; ``ParseProblem`` for conditions that only the server can evaluate.
  public func found(in store: Store) throws -> ParseClient.Found {
    let match = try ConditionMatch(query.condition.json, lookups(query.className, store))
    var rows = try self.rows(of: query.className, store).filter(match.holds)
    let count = rows.count
    try sort(&rows)
    rows = Array(rows.dropFirst(max(0, query.skip)).prefix(max(0, query.limit ?? Self.defaultLimit)))
    for field in query.include { try include(field, &rows, store) }
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

  private func rows(of className: String, _ store: Store) throws -> [JSONObject] {
    try entries(soups(of: className).soup, store).map { entry in
      entry.filtered { key, _ in !key.hasPrefix("_soup") && !(key.hasPrefix("__") && key.hasSuffix("__")) }
    }
  }

  private func entries(_ soup: String, _ store: Store) throws -> [JSONObject] {
    guard try store.soupExists(soup) else { throw StoreError(.noSuchSoup, "soup '\(soup)' does not exist") }
    var found: [JSONObject] = [], page = 0
    while true {
      let spec = QuerySpec.smart(
        "SELECT {\(soup):_soup} FROM {\(soup)} ORDER BY {\(soup):_soupEntryId}", pageSize: Self.pageSize)
      let rows = try JSONValue(parsing: store.query(spec, pageIndex: page)).arrayValue ?? []
      found += rows.compactMap { $0.arrayValue?.first?.objectValue }.filter { !$0.hasFlag(LocalField.deleted) }
      if rows.count < Self.pageSize { return found }
      page += 1
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

  private func include(_ field: String, _ rows: inout [JSONObject], _ store: Store) throws {
    var known: [String: [String: JSONObject]] = [:]
    for i in rows.indices {
      guard let value = rows[i][field], value["__type"] == "Pointer", let className = value["className"]?.stringValue,
        let id = value["objectId"]?.stringValue
      else { continue }
      if known[className] == nil {
        let all = try self.rows(of: className, store)
        known[className] = Dictionary(all.compactMap { row in row["objectId"]?.stringValue.map { ($0, row) } }) { first, _ in
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

  private func lookups(_ className: String, _ store: Store) -> ConditionMatch.Lookups {
    ConditionMatch.Lookups(
      ids: { other, condition in
        let match = try ConditionMatch(condition, lookups(other, store))
        return Set(try rows(of: other, store).filter(match.holds).compactMap { $0["objectId"]?.stringValue })
      },
      related: { owner, field in
        let owned = try soups(of: owner.className)
        if let list = owned.ids[field] {
          let rows = try rows(of: owner.className, store).filter { $0["objectId"]?.stringValue == owner.objectId }
          return Set(rows.flatMap { $0[list]?.arrayValue ?? [] }.compactMap(\.stringValue))
        }
        guard let soup = owned.links[field] else {
          throw ParseProblem(
            description: "relation '\(field)' of class \(owner.className) has no soup of link rows; name it in 'links'")
        }
        let rows = try entries(soup, store).filter {
          $0["ownerId"]?.stringValue == owner.objectId && $0["field"]?.stringValue == field
        }
        return Set(rows.compactMap { $0["relatedId"]?.stringValue })
      },
      owners: { field, targets in
        if let list = soups[className]?.ids[field] {
          let rows = try rows(of: className, store).filter { row in
            row[list]?.arrayValue?.contains { $0.stringValue.map(targets.contains) ?? false } ?? false
          }
          return Set(rows.compactMap { $0["objectId"]?.stringValue })
        }
        guard let soup = soups[className]?.links[field] else { return nil }
        let rows = try entries(soup, store).filter {
          $0["field"]?.stringValue == field && $0["relatedId"]?.stringValue.map(targets.contains) ?? false
        }
        return Set(rows.compactMap { $0["ownerId"]?.stringValue })
      })
  }
}
