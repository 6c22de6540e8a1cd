import JSON
import MobileSync

/// What the server knows of types, cached in the soup `sfdcMetadata`.
///
/// - Note: Source: Mobile SDK, `MetadataSyncManager`. A failing server is an error here, never silence; and a fetch leaves no
///   row in `syncs_soup`.
public struct MetadataSyncManager: Sendable {
  public static let soupName = "sfdcMetadata"
  private let cache: RecordCache

  /// Registers the soup when it is missing. Blocks.
  /// - Throws: `StoreError`.
  public init(_ manager: SyncManager) throws { cache = try RecordCache(manager, soup: Self.soupName) }

  /// - Returns: nil when the cache has none and the mode asks no further.
  /// - Throws: ``SyncError``: why the server's answer could not be had.
  public func fetchMetadata(forObject type: String, mode: FetchMode = .cacheFirst) async throws -> ObjectMetadata? {
    try await cache.fetch(type, target: ["type": "metadata", "sobjectType": .string(type)], mode: mode).map {
      ObjectMetadata(rawData: $0)
    }
  }

  /// The same with a callback, which is called once.
  public func fetchMetadata(
    forObject type: String, mode: FetchMode = .cacheFirst,
    completion: @escaping @Sendable (Result<ObjectMetadata?, any Error>) -> Void
  ) {
    cache.manager.launch { completion(await Result(awaiting: { try await fetchMetadata(forObject: type, mode: mode) })) }
  }
}

/// The description of one type.
public struct ObjectMetadata: Sendable, Equatable {
  /// The whole answer, with the members that the store adds.
  public let rawData: JSONObject

  public var name: String? { text("name") }
  public var label: String? { text("label") }
  public var labelPlural: String? { text("labelPlural") }
  public var keyPrefix: String? { text("keyPrefix") }
  public var networkScopeFieldName: String? { text("networkScopeFieldName") }
  public var isActivateable: Bool { flag("activateable") }
  public var isCompactLayoutable: Bool { flag("compactLayoutable") }
  public var isCreateable: Bool { flag("createable") }
  public var isCustom: Bool { flag("custom") }
  public var isCustomSetting: Bool { flag("customSetting") }
  public var isDeletable: Bool { flag("deletable") }
  public var isDeprecatedAndHidden: Bool { flag("deprecatedAndHidden") }
  public var isFeedEnabled: Bool { flag("feedEnabled") }
  public var hasSubtypes: Bool { flag("hasSubtypes") }
  public var isSubtype: Bool { flag("isSubtype") }
  public var isLayoutable: Bool { flag("layoutable") }
  public var isMergeable: Bool { flag("mergeable") }
  public var isMruEnabled: Bool { flag("mruEnabled") }
  public var isQueryable: Bool { flag("queryable") }
  public var isReplicateable: Bool { flag("replicateable") }
  public var isRetrieveable: Bool { flag("retrieveable") }
  public var isSearchLayoutable: Bool { flag("searchLayoutable") }
  public var isSearchable: Bool { flag("searchable") }
  public var isTriggerable: Bool { flag("triggerable") }
  public var isUndeletable: Bool { flag("undeletable") }
  public var isUpdateable: Bool { flag("updateable") }
  public var childRelationships: [JSONValue] { rawData["childRelationships"]?.arrayValue ?? [] }
  public var fields: [JSONValue] { rawData["fields"]?.arrayValue ?? [] }
  public var urls: JSONObject { rawData["urls"]?.objectValue ?? [:] }

  private func text(_ key: String) -> String? { rawData[key]?.stringValue }
  private func flag(_ key: String) -> Bool { rawData[key]?.boolValue ?? false }
}

extension Result where Failure == any Error {
  /// What `body` returns or throws.
  init(awaiting body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
