import JSON
import LuaBridge
import Tureen

extension BridgeCalls: ImportCalls {
  func rows(_ sql: String, _ arguments: [JSONValue]) throws -> [[JSONValue]] { try rows(sql, arguments, limit: 100_000) }
}

/// Reads names from a store through smart SQL, and suggests names for mistyped ones.
extension BridgeCalls {
  /// Returns the rows of a small result.
  func rows(_ sql: String, _ arguments: [JSONValue] = [], limit: Int64 = 100_000) throws(CallFailure) -> [[JSONValue]] {
    var spec: JSONObject = ["queryType": "smart", "smartSql": .string(sql), "pageSize": .integer(limit)]
    if !arguments.isEmpty { spec["args"] = .array(arguments) }
    let page = try value("smartstore", "pgRunSmartQuery", ["querySpec": .object(spec)])
    if let id = page["cursorId"] { _ = try text("smartstore", "pgCloseCursor", ["cursorId": id]) }
    return (page["currentPageOrderedEntries"]?.arrayValue ?? []).map { $0.arrayValue ?? [] }
  }

  /// Throws if the store does not exist, because opening it would create an empty one. With a project folder the default stores
  /// are created from its files.
  /// - Parameter mayBeNew: False for a command that only looks and needs what is in the store.
  func requireStore(_ project: ProjectOptions, mayBeNew: Bool = true) throws {
    if mayBeNew, store.name == StoreReference.defaultName, project.folder != nil { return }
    let names = try stores(isGlobal: store.isGlobal).map(\.name)
    guard !names.contains(store.name) else { return }
    // The first call fails and says what to do.
    guard try !host.isUnfinishedCopy(store) else { return }
    let kind = store.isGlobal ? "global store" : "store"
    if let near = NearestName.find(store.name, among: names) {
      throw CommandFailure("\(kind) '\(store.name)' does not exist; did you mean --store-name '\(near)'?")
    }
    throw CommandFailure(
      names.isEmpty
        ? "\(kind) '\(store.name)' does not exist yet; run a script or a sync first, or name the project's folder with --config"
        : "\(kind) '\(store.name)' does not exist; known: \(names.joined(separator: ", "))")
  }

  func stores(isGlobal: Bool) throws(CallFailure) -> [StoreReference] {
    let list = try value("smartstore", isGlobal ? "pgGetAllGlobalStores" : "pgGetAllStores").arrayValue ?? []
    return list.compactMap { $0["storeName"]?.stringValue }.map { StoreReference(name: $0, isGlobal: isGlobal) }
  }

  /// Returns the soups of the store, except the one that holds the syncs.
  func soupNames() throws(CallFailure) -> [String] {
    try rows("SELECT soupName FROM soup_attrs ORDER BY soupName").compactMap { $0.first?.stringValue }
      .filter { $0 != Self.syncsSoup }
  }

  static let syncsSoup = "syncs_soup"

  /// Returns the names of the store's named syncs.
  func syncNames() throws(CallFailure) -> [String] {
    try rows("SELECT {syncs_soup:name} FROM {syncs_soup} WHERE {syncs_soup:name} IS NOT NULL").compactMap {
      $0.first?.stringValue
    }
  }

  /// Returns the soup's index specs as path and type.
  /// - Throws: A failure that suggests a soup with a similar name.
  func indexSpecs(of soup: String) throws(CallFailure) -> [(path: String, type: String)] {
    guard try value("smartstore", "pgSoupExists", ["soupName": .string(soup)]).boolValue == true else {
      throw CallFailure(
        domain: "smartstore", code: "noSuchSoup",
        "soup '\(soup)' does not exist\(try Self.hint(for: soup, among: soupNames()))")
    }
    let specs = try value("smartstore", "pgGetSoupIndexSpecs", ["soupName": .string(soup)]).arrayValue ?? []
    return specs.map { ($0["path"]?.stringValue ?? "", $0["type"]?.stringValue ?? "") }
  }

  /// Like ``NearestName/hint(for:among:)``, but returns `none` if there are no names.
  static func hint(for word: String, among names: [String], none: String = "; the store has no soups") -> String {
    names.isEmpty ? none : NearestName.hint(for: word, among: names)
  }

  /// Returns the names of the first entries' members.
  func memberNames(of soup: String) throws(CallFailure) -> [String] {
    let sql = """
      SELECT DISTINCT member.key FROM (SELECT {\(soup):_soup} AS entry FROM {\(soup)} LIMIT 200) sample, \
      json_each(sample.entry) member
      """
    return try rows(sql).compactMap { $0.first?.stringValue }
  }
}
