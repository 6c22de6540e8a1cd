import JSON
import SmartStore

extension FetchContext {
  /// Where the id of a record stands.
  package var idPath: String { fields?.id ?? "" }

  /// What the soup has of these records, JSON texts by id.
  package func records(_ ids: [String]) async throws -> [String: [UInt8]] {
    let soup = soup, path = idPath
    return try await store.read { snapshot in
      var records: [String: [UInt8]] = [:]
      for id in ids {
        guard let entryId = try snapshot.entryIds(in: soup, where: path, equals: .text(id)).first else { continue }
        records[id] = try snapshot.entry(entryId, in: soup)?.text
      }
      return records
    }
  }

  /// The same of records as they came: without what was changed here since.
  package func receivedRecords(_ ids: [String]) async throws -> [String: JSONObject] {
    let soup = soup, path = idPath
    return try await store.read { snapshot in
      var records: [String: JSONObject] = [:]
      for id in ids {
        guard let entryId = try snapshot.entryIds(in: soup, where: path, equals: .text(id)).first else { continue }
        let entry = try snapshot.entry(entryId, in: soup)?.object()
        let base = try snapshot.base(of: entryId, in: soup).flatMap { try JSONValue(parsing: $0).objectValue }
        records[id] = (base ?? entry)?.filtered { !LocalField.isLocalOnly($0.key) }
      }
      return records
    }
  }

  /// Ids of the entries that the sync brought and that have no local changes.
  package func cleanIds() async throws -> [String] {
    let soup = soup, path = idPath, id = syncId
    return try await store.read { try $0.externalIds(in: soup, path: path, ownedBy: id, dirty: false) }
  }

  /// Values at a path of the entries that the sync brought, each once, in no order.
  package func values(at path: String) async throws -> Set<String> {
    let soup = soup, id = syncId
    return try await store.read { Set(try $0.externalIds(in: soup, path: path, ownedBy: id, dirty: nil)) }
  }

  /// Calls a function of a script and waits for it.
  /// - Throws: ``SyncError`` `.customTarget`.
  package func call(
    implementation: String, _ function: CustomTargetCall.Function, _ arguments: JSONObject
  ) async throws -> JSONObject {
    try await CustomTargetCaller(implementation: implementation, target: [:]).object(function, arguments, control, configuration)
  }
}
