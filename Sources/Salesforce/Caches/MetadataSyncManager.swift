import JSON
import MobileSync

/// Fetches the descriptions of types and caches them in the soup `sfdcMetadata`.
///
/// - Note: Source: Mobile SDK, `MetadataSyncManager`. Unlike there, a failed request is reported as an error, and a fetch
///   leaves no row in `syncs_soup`.
public struct MetadataSyncManager: Sendable {
  public static let soupName = "sfdcMetadata"
  private let cache: RecordCache

  /// Registers the soup if it does not exist yet. Blocks.
  /// - Throws: `StoreError`.
  public init(_ manager: SyncManager) throws { cache = try RecordCache(manager, soup: Self.soupName) }

  /// - Returns: nil if the cache has no description of the type and the mode does not allow a request.
  /// - Throws: ``SyncError`` if the server could not be asked or refused.
  public func fetchMetadata(forObject type: String, mode: FetchMode = .cacheFirst) async throws -> ObjectMetadata? {
    try await cache.fetch(type, target: ["type": "metadata", "sobjectType": .string(type)], mode: mode).map {
      ObjectMetadata(rawData: $0)
    }
  }

  /// The variant with a callback, which is called exactly once.
  public func fetchMetadata(
    forObject type: String, mode: FetchMode = .cacheFirst,
    completion: @escaping @Sendable (Result<ObjectMetadata?, any Error>) -> Void
  ) {
    cache.manager.launch { completion(await Result(awaiting: { try await fetchMetadata(forObject: type, mode: mode) })) }
  }
}

/// The server's description of one type.
public struct ObjectMetadata: Sendable, Equatable {
  /// The server's whole response, plus the members that the store adds.
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
  /// Captures what `body` returns or throws.
  init(awaiting body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
