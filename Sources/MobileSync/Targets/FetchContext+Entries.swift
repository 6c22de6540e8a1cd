import JSON
import SmartStore

extension FetchContext {
  /// The path of a record's id.
  package var idPath: String { fields?.id ?? "" }

  /// Returns the entries of these records, JSON texts by id.
  package func records(_ ids: [String]) async throws -> IdMap<[UInt8]> {
    let soup = soup, path = idPath
    return try await store.read { try FetchContext.entries(of: ids, soup, path, $0).mapValues(\.text) }
  }

  /// Returns these records as they were received, without local changes.
  package func receivedRecords(_ ids: [String]) async throws -> IdMap<JSONObject> {
    let soup = soup, path = idPath
    return try await store.read { snapshot in
      let entries = try FetchContext.entries(of: ids, soup, path, snapshot)
      let bases = try snapshot.baseObjects(of: entries.values.map(\.id), in: soup)
      return try entries.mapValues { try (bases[$0.id] ?? $0.object()).filtered { !LocalField.isLocalOnly($0.key) } }
    }
  }

  /// Returns the entries of these records by record id; of several entries, the oldest.
  private static func entries(
    of ids: [String], _ soup: String, _ path: String, _ snapshot: StoreSnapshot
  ) throws -> IdMap<StoredEntry> {
    guard !ids.isEmpty else { return [:] }
    let found = try snapshot.entryIds(in: soup, where: path, equalsEach: ids.map { .text($0) }).map(\.first)
    let stored = try snapshot.storedEntries(Set(found.compactMap(\.self)).sorted(), in: soup)
    let byId = Dictionary(uniqueKeysWithValues: stored.map { ($0.id, $0) })
    return zip(ids, found).reduce(into: [:]) { entries, one in entries[one.0] = one.1.flatMap { byId[$0] } }
  }

  /// Returns the ids of the entries that the sync brought and that have no local changes.
  package func cleanIds() async throws -> [String] {
    let soup = soup, path = idPath, id = syncId
    return try await store.read { try $0.externalIds(in: soup, path: path, ownedBy: id, dirty: false) }
  }

  /// Returns the distinct values at a path of the entries that the sync brought.
  package func values(at path: String) async throws -> IdSet {
    let soup = soup, id = syncId
    return try await store.read { IdSet(try $0.externalIds(in: soup, path: path, ownedBy: id, dirty: nil)) }
  }

  /// Calls a function of a script and waits for it.
  /// - Throws: ``SyncError`` `.customTarget`.
  package func call(
    implementation: String, _ function: CustomTargetCall.Function, _ arguments: JSONObject
  ) async throws -> JSONObject {
    try await CustomTargetCaller(implementation: implementation, target: [:]).object(function, arguments, control, configuration)
  }
}
