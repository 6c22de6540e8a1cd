import FoundationEssentials
import JSON
import SmartStore

/// Edits the records of a soup offline. Each edit stores the entry with the flags that a sync up looks for.
///
///     let accounts = store.records(in: "accounts", type: "Account")
///     let id = try await accounts.create(Account(name: "Acme"))
///
/// Records are found by the member ``idField``, which must be an indexed path of the soup. Each call is one transaction.
///
/// - Note: Source: the flags of the native SDK's sync up, which its samples set by hand.
public struct SoupRecords: Sendable {
  let store: Store
  public let soupName: String
  /// The type of new records, such as `Account`.
  public let type: String
  public let idField: String

  /// Stores a new record, which the next sync up creates on the server.
  /// - Parameter fields: A dictionary, or a value whose members are named like the fields.
  /// - Returns: The record's id: a local one, unless the fields contain an id. The sync up replaces it by the server's id.
  /// - Throws: ``SmartStore/StoreError`` `.invalidEntry`, `.noSuchSoup`.
  @discardableResult
  public func create(_ fields: some Encodable & Sendable) async throws -> String {
    var entry = try Self.object(fields)
    let id = entry[idField]?.stringValue ?? SoupField.localIdPrefix + UUID().uuidString.lowercased()
    entry[idField] = .string(id)
    entry["attributes"] = ["type": .string(type)]
    try await write(Self.mark([:], entry, created: true, updated: false, deleted: false))
    return id
  }

  /// Sets the members of `changes` and marks the record for the next sync up. Other members are kept.
  /// - Throws: ``SmartStore/StoreError`` `.noSuchEntry`, `.ambiguousExternalId`, `.pathNotIndexed`, `.invalidEntry`.
  public func update(_ id: String, _ changes: some Encodable & Sendable) async throws {
    let changes = try Self.object(changes)
    try await edit(id) { Self.mark($0, changes, updated: true) }
  }

  /// Marks a record for deletion. The next sync up deletes it on the server and then locally. A record that the server does not
  /// have yet is only removed locally.
  /// - Throws: As ``update(_:_:)``.
  public func delete(_ id: String) async throws {
    try await edit(id) { Self.mark($0, deleted: true) }
  }

  /// Removes the marks of ``update(_:_:)`` and ``delete(_:)``; the fields are not changed.
  /// - Throws: As ``update(_:_:)``.
  public func unmark(_ id: String) async throws {
    try await edit(id) { Self.mark($0, updated: false, deleted: false) }
  }

  /// Returns a record by its id, decoded as the type; nil if there is none.
  /// - Throws: ``SmartStore/StoreError``.
  public func record<Record: Decodable & Sendable>(_ id: String, as type: Record.Type = Record.self) async throws -> Record? {
    let soup = soupName, path = idField
    let text = try await store.read { snapshot -> [UInt8]? in
      guard let found = try SoupRecords.entryId(id, soup, path, snapshot) else { return nil }
      return try snapshot.entry(found, in: soup)?.text
    }
    do {
      return try text.map { try JSONDecoder().decode(type, from: Data($0)) }
    } catch let error as DecodingError {
      throw StoreError(
        .invalidEntry, "the record '\(id)' of '\(soup)' cannot be decoded as \(type): \(DecodingFailure.sentence(error))")
    }
  }

  // MARK: Writing

  private func write(_ entry: JSONObject) async throws {
    let store = store, soup = soupName, text = JSONValue.array([.object(entry)]).serialized()
    try await Blocking.offPool { _ = try store.upsert(text, into: soup) }
  }

  /// Changes an entry. - Parameter changes: Returns the members to set, given the entry.
  private func edit(_ id: String, _ changes: @escaping @Sendable (JSONObject) -> JSONObject) async throws {
    let store = store, soup = soupName, path = idField
    try await Blocking.offPool {
      try store.writeBlocking(.synced) { transaction in
        guard let found = try SoupRecords.entryId(id, soup, path, transaction),
          let stored = try transaction.entry(found, in: soup)
        else {
          throw StoreError(.noSuchEntry, "the soup '\(soup)' has no record with \(path) '\(id)'")
        }
        _ = try transaction.patch(found, in: soup, setting: changes(try stored.object()))
      }
    }
  }

  private static func entryId(_ id: String, _ soup: String, _ path: String, _ snapshot: StoreSnapshot) throws -> Int64? {
    let found = try snapshot.entryIds(in: soup, where: path, equals: .text(id))
    guard found.count < 2 else {
      throw StoreError(.ambiguousExternalId, "the soup '\(soup)' has \(found.count) records with \(path) '\(id)'")
    }
    return found.first
  }

  private static func object(_ fields: some Encodable) throws -> JSONObject {
    guard let object = try JSONValue(parsing: Array(try JSONEncoder().encode(fields))).objectValue else {
      throw StoreError(.invalidEntry, "a record must be encoded as an object, unlike \(Swift.type(of: fields))")
    }
    return object
  }

  /// Returns the changes of an entry including its flags; nil keeps a flag.
  private static func mark(
    _ entry: JSONObject, _ changes: JSONObject = [:], created: Bool? = nil, updated: Bool? = nil, deleted: Bool? = nil
  ) -> JSONObject {
    let flags = [(SoupField.locallyCreated, created), (SoupField.locallyUpdated, updated), (SoupField.locallyDeleted, deleted)]
    var changes = changes, isLocal = false
    for (name, flag) in flags {
      let isSet = flag ?? entry[name]?.boolValue ?? false
      changes[name] = .bool(isSet)
      isLocal = isLocal || isSet
    }
    changes[SoupField.local] = .bool(isLocal)
    return changes
  }
}

extension Store {
  /// Returns the records of a soup for offline editing.
  public func records(in soupName: String, type: String, idField: String = "Id") -> SoupRecords {
    SoupRecords(store: self, soupName: soupName, type: type, idField: idField)
  }
}
